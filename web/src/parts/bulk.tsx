// Acts on many jobs: a dry run first, then a dialog that says the exact number, then progress. What is
// executed is the set of the dry run.
import { useEffect, useRef, useState } from 'preact/hooks'
import { bulk } from '../api.ts'
import { count, plural } from '../format.ts'
import { reload } from '../live.ts'
import { show } from './dialog.tsx'
import { ErrorNote, Skeleton } from './basics.tsx'
import type { Operation } from '../types.ts'

export type BulkAct = 'cancel' | 'retry' | 'move' | 'tag' | 'untag' | 'delete' | 'priority' | 'timeout'

export interface BulkFilter {
  queue?: string
  klass?: string
  state?: string
  group?: string
  tagged?: string
  domain?: string
  worker?: string
  older?: number
  newer?: number
  jids?: string[]
}

export interface BulkRequest { act: BulkAct; filter: BulkFilter; extra?: { to?: string; tags?: string[]; priority?: number } }

const VERBS: Record<BulkAct, string> = { cancel: 'Cancel', retry: 'Retry', move: 'Move', tag: 'Tag', untag: 'Untag', delete: 'Delete', priority: 'Change the priority of', timeout: 'Take the leases away of' }
const PAST: Record<string, string> = { cancel: 'canceled', retry: 'retried', move: 'moved', tag: 'tagged', untag: 'untagged', delete: 'deleted', priority: 'changed', timeout: 'released' }

export function describe(filter: BulkFilter): string {
  const parts: string[] = []
  if (filter.jids) return 'that are selected'
  if (filter.state) parts.push('in state ' + filter.state)
  if (filter.klass) parts.push('of klass ' + filter.klass)
  if (filter.group) parts.push('failed with ' + filter.group)
  if (filter.tagged) parts.push('tagged ' + filter.tagged)
  if (filter.domain) parts.push('of domain ' + filter.domain)
  if (filter.worker) parts.push('held by ' + filter.worker)
  if (filter.older) parts.push(`older than ${filter.older} s`)
  if (filter.newer) parts.push(`newer than ${filter.newer} s`)
  if (filter.queue) parts.push('in ' + filter.queue)
  return parts.join(', ') || 'in the namespace'
}

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms))

// The dry run of an operation, or the operation itself: on the set of its dry run, unless the set is too
// large for the server to keep.
function begin(request: BulkRequest, dry: Operation | null): Promise<Operation> {
  if (dry?.executable) return bulk.start({ act: request.act, as: dry.id })
  return bulk.start({ act: request.act, ...request.filter, ...request.extra, ...(dry ? {} : { dry_run: true }) })
}

function Steps({ request, close }: { request: BulkRequest; close: () => void }) {
  const [dry, setDry] = useState<Operation | null>(null)
  const [run, setRun] = useState<Operation | null>(null)
  const [typed, setTyped] = useState('')
  const [error, setError] = useState<Error | null>(null)
  const alive = useRef(true)
  const verb = VERBS[request.act]
  const follow = async (op: Operation, set: (op: Operation) => void): Promise<void> => {
    set(op)
    while (!op.done && alive.current) {
      await pause(400)
      op = await bulk.get(op.id)
      if (alive.current) set(op)
    }
  }
  const look = (): void => {
    setError(null)
    begin(request, null).then((op) => follow(op, setDry)).catch(setError)
  }
  useEffect(() => {
    look()
    return () => {
      alive.current = false
    }
  }, [])
  const n = dry?.changed ?? 0
  const mustType = n > 1000
  const ready = dry?.done === true && n > 0 && (!mustType || typed.replace(/[,\s._]/g, '') === String(n))
  const submit = (e: Event): void => {
    e.preventDefault()
    if (!ready || run || !dry) return
    setError(null)
    begin(request, dry).then(async (op) => {
      await follow(op, setRun)
      reload()
    }).catch(setError)
  }
  if (run) {
    const part = n > 0 ? run.changed / n : 1
    return (
      <div>
        <h2>{run.done ? (run.stopped ? 'Stopped: ' : 'Done: ') : ''}{plural(run.changed, 'job')} {PAST[request.act]}</h2>
        <div class="dialog-body">
          <progress max={1} value={run.done ? 1 : part} aria-label="Progress" />
          <p class="num" role="status">{count(run.changed)} of {count(n)} {PAST[request.act]}, {count(run.looked_at)} looked at{run.stopped && '; stopped'}</p>
          {error && <ErrorNote error={error} />}
        </div>
        <footer>
          {!run.done && <button type="button" class="danger" onClick={() => bulk.stop(run.id).catch(setError)}>Stop</button>}
          <button type="button" class="primary" onClick={close}>{run.done ? 'Close' : 'Go on in the background'}</button>
        </footer>
      </div>
    )
  }
  return (
    <form onSubmit={submit}>
      <h2>{dry?.done ? `${verb} ${plural(n, 'job')}` : `${verb} jobs`}</h2>
      <div class="dialog-body">
        <p><bdi>{describe(request.filter)}</bdi>{request.extra?.to && <>, to <b>{request.extra.to}</b></>}{request.extra?.tags && <>, with <b>{request.extra.tags.join(', ')}</b></>}{request.extra?.priority !== undefined && <>, to <b>{request.extra.priority}</b></>}</p>
        {!dry && !error && <Skeleton rows={2} />}
        {dry && !dry.done && <p class="num" role="status">Dry run: {count(dry.looked_at)} looked at, {count(dry.changed)} so far</p>}
        {dry?.done && n === 0 && <p>Nothing would change: {plural(dry.matched, 'job')} matched.</p>}
        {dry?.done && n > 0 && n !== dry.matched && <p>{plural(dry.matched, 'job')} matched; {count(dry.matched - n)} of them cannot be {PAST[request.act]}.</p>}
        {dry?.done && n > 0 && dry.executable && <p class="dim">Exactly the jobs of the dry run are {PAST[request.act]}. Jobs that are put from now on stay untouched.</p>}
        {dry?.done && n > 0 && !dry.executable && <p class="dim">All jobs that match when it begins are {PAST[request.act]}.</p>}
        {error && <ErrorNote error={error} again={look} />}
      </div>
      {ready || (dry?.done && mustType) ? mustType && (
        <label class="field">
          <span>Type <b class="num">{count(n)}</b> to confirm</span>
          <input type="text" inputMode="numeric" autocomplete="off" value={typed} onInput={(e) => setTyped(e.currentTarget.value)} />
        </label>
      ) : null}
      <footer>
        <button type="button" onClick={close}>Back</button>
        <button type="submit" class={request.act === 'cancel' || request.act === 'delete' ? 'danger' : 'primary'} disabled={!ready}>{verb} {dry?.done ? plural(n, 'job') : ''}</button>
      </footer>
    </form>
  )
}

export function startBulk(request: BulkRequest): void {
  show(VERBS[request.act] + ' jobs', (close) => <Steps request={request} close={close} />)
}
