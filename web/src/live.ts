// One event stream for the page: a tick once a second when something changed. Ticks and, without a
// stream, a timer make the pulse; everything that is shown and live asks again after a pulse. No work is
// done for single events of jobs. The stream is closed while the page is hidden.
import { effect, signal, untracked } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import { server } from './api.ts'
import { eventParser, type Event } from './events.ts'
import { address, forgetReplies, headers, Problem } from './http.ts'
import { ns } from './route.ts'
import { connection, frozen, needLogin, retryAt, setServerTime, storeProblem, who } from './state.ts'

export const pulse = signal(0)
export const tick = signal<Record<string, unknown> | null>(null)

// Asks for everything again now, frozen or not.
export const refresh = signal(0)
// How many replies to that are on their way.
const reloading = signal(0)
export function reload(): void {
  refresh.value++
}

const POLL_MS = 1500
const POLLS_MOST = 20
const BACKOFF_MS = [500, 1000, 2000, 4000, 8000, 15000]

let current: AbortController | null = null
let timer: ReturnType<typeof setTimeout> | undefined
let failures = 0
let lastId = ''
let withoutStream = false

function beat(): void {
  pulse.value++
}

function onEvent(event: Event): void {
  if (event.id) lastId = event.id
  if (event.event === 'tick') {
    try {
      const value = JSON.parse(event.data) as Record<string, unknown>
      if (typeof value['when'] === 'number') setServerTime(value['when'], true)
      tick.value = value
    } catch {
      // the pulse is what counts
    }
  } else if (event.event === 'gap') {
    forgetReplies()
    refresh.value++
  }
  beat()
}

async function listen(abort: AbortController): Promise<void> {
  const sent: Record<string, string> = { ...headers(), Accept: 'text/event-stream' }
  if (lastId) sent['Last-Event-ID'] = lastId
  const path = `v1/ns/${encodeURIComponent(ns.value)}/events?kind=tick`
  const response = await fetch(address(path), { headers: sent, signal: abort.signal, credentials: 'same-origin', cache: 'no-store' })
  if (!response.ok || !response.body) throw new Problem(response.status, '', '', null)
  back('live')
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  const parse = eventParser(onEvent)
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    parse(value)
  }
}

// The server replies (again).
function back(state: 'live' | 'polling'): void {
  const was = connection.value
  failures = 0
  connection.value = state
  if (was === 'away') {
    forgetReplies()
    refresh.value++
  }
  beat()
}

function away(): void {
  const wait = BACKOFF_MS[Math.min(failures, BACKOFF_MS.length - 1)] as number
  failures++
  if (failures > 1) connection.value = 'away'
  retryAt.value = Date.now() + wait
  timer = setTimeout(start, wait)
}

// For a while; then a stream is tried again: the namespace may exist by now.
async function poll(abort: AbortController): Promise<void> {
  for (let polls = 0; polls < POLLS_MOST; polls++) {
    const me = await server.who(abort.signal)
    who.value = me
    back('polling')
    await new Promise((done) => setTimeout(done, POLL_MS))
    if (abort.signal.aborted) return
  }
}

async function run(abort: AbortController): Promise<void> {
  try {
    if (withoutStream) {
      await poll(abort)
      withoutStream = false
      if (!abort.signal.aborted) void run(abort)
      return
    }
    await listen(abort)
    if (!abort.signal.aborted) away()
  } catch (error) {
    if (abort.signal.aborted) return
    if (error instanceof Problem && error.status === 401) {
      needLogin.value = true
    } else if (error instanceof Problem && error.status >= 400 && error.status < 500 && !withoutStream) {
      // No such events, no right to them, or no such namespace yet.
      withoutStream = true
      void run(abort)
    } else {
      away()
    }
  }
}

export function start(): void {
  stop()
  if (document.hidden || needLogin.value) return
  current = new AbortController()
  void run(current)
}

function stop(): void {
  clearTimeout(timer)
  current?.abort()
  current = null
}

export function retryNow(): void {
  start()
}

// Begins to listen, and follows the namespace and the visibility of the page.
export function begin(): void {
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) stop()
    else start()
  })
  effect(() => {
    void ns.value
    lastId = ''
    withoutStream = false
    tick.value = null
    queueMicrotask(start)
  })
  const look = async (): Promise<void> => {
    if (document.hidden || needLogin.peek()) return
    try {
      const ready = await server.ready()
      storeProblem.value = ready.state === 'ready' ? null : (ready.reason ?? ready.detail ?? ready.state)
    } catch {
      // the connection says so
    }
  }
  void look()
  setInterval(look, 5000)
}

export interface Live<R> { data: R | undefined; error: Error | undefined; loading: boolean; again: () => void }

const shown = new Map<string, unknown>()
const SHOWN_MOST = 30

// What `load` gives, asked for again after a pulse, at most every `every` milliseconds. The old data
// stays while new data is on its way. A new key begins anew, with what it had last if that is known.
export function useLive<R>(key: string, load: (signal: AbortSignal) => Promise<R>, every = 1000, keepOld = false): Live<R> {
  const [, redraw] = useState(0)
  const self = useRef<{ key: string; data: R | undefined; error: Error | undefined; again: () => void }>({ key: '', data: undefined, error: undefined, again: () => {} })
  const full = ns.value + '\n' + key
  if (self.current.key !== full) {
    const before = keepOld ? self.current.data : undefined
    self.current = { key: full, data: (shown.get(full) as R | undefined) ?? before, error: undefined, again: () => {} }
  }
  const latest = useRef(load)
  latest.current = load
  useEffect(() => {
    const mine = self.current
    const abort = new AbortController()
    let flying = false
    let dirty = false
    let last = 0
    let wait: ReturnType<typeof setTimeout> | undefined
    let flight: Promise<void> | undefined
    const ask = (): Promise<void> => {
      if (!flying) return (flight = fly())
      dirty = true
      return flight ?? Promise.resolve()
    }
    const fly = async (): Promise<void> => {
      clearTimeout(wait)
      wait = undefined
      flying = true
      last = performance.now()
      try {
        const data = await latest.current(abort.signal)
        if (abort.signal.aborted) return
        const changed = data !== mine.data || mine.error !== undefined
        mine.data = data
        mine.error = undefined
        shown.delete(full)
        shown.set(full, data)
        if (shown.size > SHOWN_MOST) shown.delete(shown.keys().next().value as string)
        if (changed) redraw((n) => n + 1)
      } catch (error) {
        if (abort.signal.aborted) return
        // While the server is away the old data stays, and the banner says so.
        if (!(error instanceof Problem && error.status === 0) || mine.data === undefined) {
          const same = mine.error?.message === (error as Error).message
          mine.error = error as Error
          if (!same) redraw((n) => n + 1)
        }
      } finally {
        flying = false
      }
      if (dirty && !abort.signal.aborted) {
        dirty = false
        soon()
      }
    }
    const soon = (): void => {
      if (wait !== undefined || document.hidden) return
      wait = setTimeout(() => {
        wait = undefined
        if (!frozen.peek()) void ask()
      }, Math.max(0, last + every - performance.now()))
    }
    // What is on its way may be older than the act that made the reload.
    const answer = async (): Promise<void> => {
      untracked(() => reloading.value++)
      await flight
      await ask()
      reloading.value--
    }
    mine.again = () => void ask()
    void ask()
    let firstPulse = true
    const offPulse = effect(() => {
      void pulse.value
      if (firstPulse) firstPulse = false
      else if (!frozen.peek()) soon()
    })
    let firstRefresh = true
    const offRefresh = effect(() => {
      void refresh.value
      if (firstRefresh) firstRefresh = false
      else void answer()
    })
    return () => {
      abort.abort()
      clearTimeout(wait)
      offPulse()
      offRefresh()
    }
  }, [full])
  const { data, error } = self.current
  return { data, error, loading: data === undefined && error === undefined, again: () => self.current.again() }
}

// What is shown at first may be what was known of a list when it was last shown: the rows of the reply
// that follows are taken as they are.
const SETTLE_MS = 1500

// Rows that hold still while they are read: with `held`, the rows shown stay where they are and only
// their content follows; new ones are counted. The first rows after a reload (an act of the user, say)
// are shown as they are. Returns the rows to show, those that are gone, and how many new ones wait.
export function useSteady<R>(rows: R[], key: (row: R) => string, held: boolean): { rows: R[]; gone: Set<string>; fresh: number; show: () => void } {
  const [, redraw] = useState(0)
  const order = useRef<{ keys: string[]; rows: Map<string, R>; reloads: number } | null>(null)
  const born = useRef(performance.now())
  const reloads = refresh.value
  const old = order.current
  const anew = old === null || !held || performance.now() - born.current < SETTLE_MS || (old.reloads !== reloads && reloading.value === 0)
  const now = new Map(rows.map((row) => [key(row), row]))
  if (anew) {
    // While a reload is under way these rows are still those from before it.
    order.current = { keys: [...now.keys()], rows: now, reloads: reloading.value === 0 ? reloads : (old?.reloads ?? reloads - 1) }
    return { rows, gone: new Set(), fresh: 0, show: () => {} }
  }
  const known = new Set(old.keys)
  const gone = new Set<string>()
  const steady: R[] = []
  for (const k of old.keys) {
    const row = now.get(k)
    if (row !== undefined) old.rows.set(k, row)
    else gone.add(k)
    steady.push(old.rows.get(k) as R)
  }
  let fresh = 0
  for (const k of now.keys()) if (!known.has(k)) fresh++
  const show = (): void => {
    order.current = null
    redraw((n) => n + 1)
  }
  return { rows: steady, gone, fresh, show }
}
