// Rates, depths and times over time: from the server, or, where the server does not keep them, from what
// the page has seen since it was opened.
import { useEffect } from 'preact/hooks'
import { signal } from '@preact/signals'
import { queues, server, totals } from './api.ts'
import { pulse, useLive } from './live.ts'
import type { Line } from './parts/chart.tsx'
import { ns } from './route.ts'
import { connection, frozen, now } from './state.ts'
import type { Series } from './types.ts'

export const WINDOWS = [
  { name: '1m', label: '1 min', step: 1, every: 1000 },
  { name: '15m', label: '15 min', step: 15, every: 5000 },
  { name: '24h', label: '24 h', step: 60, every: 30000 },
] as const

export interface SeriesView { times: number[]; rates: Line[]; depths: Line[]; waits: Line[]; runs: Line[] }

interface Sample { at: number; put: number; run: number; waiting: number; running: number }
const seen = new Map<string, Sample[]>()
const SAMPLES_MOST = 900
const seenChanged = signal(0)

// Remembers what the server says now; only where it keeps no series.
async function sample(key: string, queue: string | undefined): Promise<void> {
  const metrics = await totals.metrics(queue)
  const counts = queue === undefined ? (await server.namespaces()).find((n) => n.name === ns.value)?.jobs : await queues.get(queue)
  const list = seen.get(key) ?? []
  const at = Math.floor(now.peek())
  if (!counts || list[list.length - 1]?.at === at) return
  list.push({ at, put: metrics.queued['1s'], run: metrics.run['1s'], waiting: counts.waiting, running: counts.running })
  if (list.length > SAMPLES_MOST) list.shift()
  seen.set(key, list)
  seenChanged.value++
}

// null on servers that keep no series; undefined before the first reply.
export function useSeriesData(window: string, queue?: string): Series | null | undefined {
  const choice = WINDOWS.find((w) => w.name === window) ?? WINDOWS[1]
  return useLive('series\n' + (queue ?? '') + '\n' + choice.step, (abort) => totals.series({ step: choice.step }, queue, abort), choice.every).data
}

export function useSeries(data: Series | null | undefined, queue?: string): SeriesView {
  const key = ns.value + '\n' + (queue ?? '')
  const local = data === null
  useEffect(() => {
    if (!local) return
    let last = 0
    return pulse.subscribe(() => {
      if (frozen.peek() || connection.peek() === 'away' || performance.now() - last < 900) return
      last = performance.now()
      sample(key, queue).catch(() => {})
    })
  }, [local, key])
  if (local) void seenChanged.value
  return data ? fromSeries(data) : fromSamples(local ? (seen.get(key) ?? []) : [])
}

const viewed = new WeakMap<Series, SeriesView>()

export function fromSeries(s: Series): SeriesView {
  const before = viewed.get(s)
  if (before) return before
  const line = (name: string, color: string, values: (number | null)[], dash = false): Line => ({ name, color, values, dash })
  const perSecond = (counts: number[]): number[] => counts.map((n) => n / s.step)
  const view: SeriesView = {
    times: Array.from({ length: s.count }, (_, i) => s.from + i * s.step),
    rates: [line('put', 'c1', perSecond(s.put)), line('completed', 'c3', perSecond(s.completed)), line('failed', 'c4', perSecond(s.failed), true), line('retried', 'c2', perSecond(s.retried), true)],
    depths: [line('waiting', 'c1', s.depth.waiting), line('running', 'c3', s.depth.running), line('scheduled', 'c5', s.depth.scheduled, true), line('stalled', 'c2', s.depth.stalled, true)],
    waits: [line('p50', 'c1', s.wait.p50), line('p90', 'c5', s.wait.p90), line('p99', 'c2', s.wait.p99, true)],
    runs: [line('p50', 'c1', s.run.p50), line('p90', 'c5', s.run.p90), line('p99', 'c2', s.run.p99, true)],
  }
  viewed.set(s, view)
  return view
}

function fromSamples(list: Sample[]): SeriesView {
  return {
    times: list.map((s) => s.at),
    rates: [
      { name: 'put', color: 'c1', values: list.map((s) => s.put) },
      { name: 'run', color: 'c3', values: list.map((s) => s.run), dash: true },
    ],
    depths: [
      { name: 'waiting', color: 'c1', values: list.map((s) => s.waiting) },
      { name: 'running', color: 'c3', values: list.map((s) => s.running), dash: true },
    ],
    waits: [],
    runs: [],
  }
}
