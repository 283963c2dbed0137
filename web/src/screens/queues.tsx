// All queues: counts by state, rates, age of the oldest job, workers. The server filters, sorts and pages.
import { useEffect, useState } from 'preact/hooks'
import { queues, totals } from '../api.ts'
import { bytes, plural, rate } from '../format.ts'
import { useKey } from '../keys.tsx'
import { reload, useLive } from '../live.ts'
import { Chip, Count, Empty, ErrorNote, Head, QueueLink, Seconds, Skeleton } from '../parts/basics.tsx'
import { confirm } from '../parts/dialog.tsx'
import { Spark } from '../parts/spark.tsx'
import { CursorPager, Table, type Column } from '../parts/table.tsx'
import { act } from '../parts/toast.tsx'
import { ns, param, setQuery, toQueue } from '../route.ts'
import { can, frozen, now } from '../state.ts'
import type { Queue } from '../types.ts'
import { Start } from './overview.tsx'

const PAGE = 50

export function togglePause(q: { queue: string; paused: boolean }): void {
  void act(() => (q.paused ? queues.unpause([q.queue]) : queues.pause([q.queue])), q.queue + (q.paused ? ' goes on' : ' is paused')).then(reload)
}

export function forget(q: Queue, then: () => void): void {
  forgetAll([q], then)
}

function forgetAll(list: Queue[], then: () => void): void {
  const jobs = list.reduce((n, q) => n + q.waiting + q.running + q.stalled + q.scheduled + q.depends, 0)
  const what = list.length === 1 ? 'the queue ' + list[0]?.queue : plural(list.length, 'queue')
  confirm({
    title: 'Forget ' + what,
    body: <p>{list.length === 1 ? 'It leaves the list of queues until it is used again.' : 'They leave the list of queues until they are used again.'}{jobs > 0 && ` ${plural(jobs, 'job is', 'jobs are')} not complete: the server refuses to forget a queue that has such jobs.`}</p>,
    verb: 'Forget',
    act: async () => {
      for (const q of list) await queues.forget(q.queue)
      reload()
      then()
    },
    done: list.length === 1 ? list[0]?.queue + ' is forgotten' : plural(list.length, 'queue') + ' forgotten',
  })
}

// The columns that the server can sort by, and its words for them.
const ORDERS: Record<string, string> = {
  Queue: 'name',
  Waiting: 'waiting',
  Running: 'running',
  Stalled: 'stalled',
  Failed: 'failed',
  Oldest: 'age',
  'Put/s': 'put',
  'Done/s': 'completed',
}

// A pattern of the server that matches names with this text in them.
export const containing = (text: string): string | undefined => (text === '' ? undefined : '*' + text.replace(/[*?[\]\\]/g, '\\$&') + '*')

const SPARKS_EVERY_MS = 15000

// Runs of the last 15 minutes for each row that is shown: a few calls at a time, every 15 s.
function useSparks(names: string[]): Map<string, number[]> {
  const [sparks, setSparks] = useState<Map<string, number[]>>(new Map())
  const key = ns.value + '\n' + names.join('\n')
  useEffect(() => {
    const abort = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const look = async (): Promise<void> => {
      if (!document.hidden && !frozen.peek()) {
        const next = new Map<string, number[]>()
        const rest = [...names]
        const one = async (): Promise<void> => {
          for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
            const series = await totals.series({ step: 15 }, name, abort.signal)
            next.set(name, series.popped)
          }
        }
        try {
          await Promise.all([one(), one(), one()])
          if (!abort.signal.aborted && next.size > 0) setSparks(next)
        } catch {
          // the lines stay as they were
        }
      }
      if (!abort.signal.aborted) timer = setTimeout(look, SPARKS_EVERY_MS)
    }
    void look()
    return () => {
      abort.abort()
      clearTimeout(timer)
    }
  }, [key])
  return sparks
}

export function Queues() {
  const [chosen, setChosen] = useState<Set<string>>(new Set())
  const find = param('find')
  const by = param('sort')
  const key = by + '\n' + find
  const [pages, setPages] = useState<{ key: string; seen: string[] }>({ key, seen: [] })
  const seen = pages.key === key ? pages.seen : []
  const cursor = seen[seen.length - 1]
  const { data, error, again } = useLive('queues\n' + key + '\n' + (cursor ?? ''), (signal) => queues.list({ sort: ORDERS[by], match: containing(find), count: PAGE, cursor }, signal), 1000, true)
  const page = data?.queues ?? []
  const sparks = useSparks(page.map((q) => q.queue))
  useKey('p', () => {
    const name = (document.activeElement?.closest('tr[data-row]') as HTMLElement | null)?.dataset['row']
    const q = page.find((o) => o.queue === name)
    if (q && can('operate', q.queue)) togglePause(q)
  })
  const total = data?.total ?? 0
  const head = (
    <Head title="Queues" lead={data && (find ? `${plural(total, 'queue')} with ${find} in the name` : plural(total, 'queue'))}>
      <label class="filter"><span class="hidden">Filter by name</span>
        <input type="search" placeholder="Filter by name" value={find} onInput={(e) => setQuery({ find: e.currentTarget.value || null })} />
      </label>
    </Head>
  )
  if (error && !data) return <>{head}<ErrorNote error={error} again={again} /></>
  if (!data) return <>{head}<Skeleton rows={8} /></>
  if (data.queues.length === 0 && seen.length === 0 && !find) return <>{head}<Start /></>
  const link = (q: Queue, state: string, n: number | undefined) => (n ? <a class="num" href={toQueue(q.queue, { state })}><Count n={n} /></a> : <Count n={n} />)
  const state = (name: string, key: 'waiting' | 'running' | 'stalled' | 'scheduled' | 'depends' | 'failed' | 'complete', more: Partial<Column<Queue>> = {}): Column<Queue> =>
    ({ name, head: name, num: true, sort: name in ORDERS, cell: (q) => link(q, key, q[key]), empty: (q) => !q[key], ...more })
  const perSecond = (name: string, key: 'put' | 'completed', what: string, more: Partial<Column<Queue>> = {}): Column<Queue> =>
    ({ name, head: name, num: true, sort: true, cell: (q) => <span class="num" title={`${q.rates[key]} ${what} a second, over the last minute`}>{rate(q.rates[key])}</span>, empty: (q) => !q.rates[key], ...more })
  const columns: Column<Queue>[] = [
    { name: 'Queue', head: 'Queue', sort: true, cell: (q) => <><QueueLink queue={q.queue} /> {q.paused && <span title={q.paused_since ? 'for ' + Math.round(now.peek() - q.paused_since) + ' s' : undefined}><Chip kind="paused" /></span>}</> },
    state('Waiting', 'waiting'),
    { name: 'Oldest', head: 'Oldest', num: true, sort: true, cell: (q: Queue) => <Seconds s={q.age} whole />, empty: (q: Queue) => q.age == null },
    state('Running', 'running'),
    state('Scheduled', 'scheduled'),
    state('Depends', 'depends'),
    state('Stalled', 'stalled'),
    state('Failed', 'failed'),
    state('Complete', 'complete', { off: true }),
    { name: 'Recurring', head: 'Recurring', num: true, off: true, cell: (q) => <Count n={q.recurring} />, empty: (q) => !q.recurring },
    { name: 'Data', head: 'Data', num: true, off: true, cell: (q) => <span class="num" title={q.bytes + ' bytes of data of unfinished jobs'}>{bytes(q.bytes)}</span>, empty: (q) => !q.bytes },
    perSecond('Put/s', 'put', 'puts', { off: true }),
    perSecond('Done/s', 'completed', 'jobs completed'),
    { name: 'Trend', head: '15 min', cell: (q: Queue) => { const s = sparks.get(q.queue); return s ? <Spark values={s} label={`Runs of ${q.queue} in the last 15 minutes`} /> : null }, empty: (q: Queue) => !sparks.has(q.queue) },
    { name: 'Workers', head: 'Workers', num: true, cell: (q) => <Count n={q.listeners} /> },
  ]
  const selected = page.filter((q) => chosen.has(q.queue))
  const operates = can('operate') || page.some((q) => can('operate', q.queue))
  return (
    <>
      {head}
      {operates && chosen.size === 0 && <p class="bulk-bar dim">Select queues to act on them.</p>}
      {chosen.size > 0 && (
        <div class="bulk-bar on" role="group" aria-label="Acts on selected queues">
          <b>{plural(chosen.size, 'queue')} selected</b>
          <button type="button" disabled={selected.every((q) => q.paused)} onClick={() => void act(() => queues.pause([...chosen]), plural(chosen.size, 'queue') + ' paused').then(reload)}>Pause</button>
          <button type="button" disabled={selected.every((q) => !q.paused)} onClick={() => void act(() => queues.unpause([...chosen]), plural(chosen.size, 'queue') + ' resumed').then(reload)}>Resume</button>
          <button type="button" onClick={() => forgetAll(selected, () => setChosen(new Set()))}>Forget…</button>
          <button type="button" class="plain" onClick={() => setChosen(new Set())}>Clear</button>
        </div>
      )}
      {data.queues.length > 0 && <Table key={key + '\n' + (cursor ?? '')} caption="Queues" rows={page} columns={columns} choice="queues" rowKey={(q) => q.queue} rowHref={(q) => toQueue(q.queue)} noun="queue"
        selection={operates ? { keys: chosen, set: setChosen } : undefined}
        sorting={{ by, down: by !== 'Queue', set: (name) => setQuery({ sort: name === by ? null : name }) }}
        acts={operates ? (q) => can('operate', q.queue) && (
          <button type="button" class="small" onClick={() => togglePause(q)} aria-label={(q.paused ? 'Resume ' : 'Pause ') + q.queue}>{q.paused ? 'Resume' : 'Pause'}</button>
        ) : undefined as never} />}
      {total === 0 && find && <Empty title={`No queue has ${find} in its name`}><p><button type="button" onClick={() => setQuery({ find: null })}>Show all queues</button></p></Empty>}
      <CursorPager seen={seen} next={data.next ?? null} go={(s) => { setPages({ key, seen: s }); scrollTo(0, 0) }} />
    </>
  )
}
