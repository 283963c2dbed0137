// Jobs by state, queue, klass, tag, group, worker, domain. The filter is the address.
import { useEffect, useState } from 'preact/hooks'
import { FILTERS, jobs, queues, totals, type Filter } from '../api.ts'
import { count, plural } from '../format.ts'
import { useLive } from '../live.ts'
import { Chip, Empty, ErrorNote, Head, Skeleton } from '../parts/basics.tsx'
import { CursorPager, Pager } from '../parts/table.tsx'
import { columnsFor, JobTable } from '../parts/jobs-table.tsx'
import type { BulkFilter } from '../parts/bulk.tsx'
import { param, setQuery, to } from '../route.ts'
import { STATES, type Counts, type Job, type Search, type State } from '../types.ts'
import { Start } from './overview.tsx'

const PAGE = 50
// Under load all rows of the newest complete jobs are others each time: drawn anew every second, they
// would take too much of the page's thread.
const COMPLETE_MS = 2000

export function filterOf(): Filter {
  return Object.fromEntries(FILTERS.map((name) => [name, param(name)]).filter(([, v]) => v)) as Filter
}

// The filter of a bulk act.
export function bulkFilter(filter: Filter): BulkFilter {
  const { state, queue, klass, tag, group, worker, domain } = filter
  const all: BulkFilter = {}
  if (state) all.state = state
  if (queue) all.queue = queue
  if (klass) all.klass = klass
  if (tag) all.tagged = tag
  if (group) all.group = group
  if (worker) all.worker = worker
  if (domain) all.domain = domain
  return all
}

function Chips({ filter }: { filter: Filter }) {
  const [adding, setAdding] = useState('')
  const add = (e: Event): void => {
    e.preventDefault()
    const input = (e.currentTarget as HTMLFormElement).elements.namedItem('value') as HTMLInputElement
    if (input.value.trim()) setQuery({ [adding]: input.value.trim() })
    setAdding('')
  }
  const set = FILTERS.filter((f) => f !== 'state' && filter[f])
  const free = FILTERS.filter((f) => f !== 'state' && !filter[f])
  return (
    <div class="chips">
      {set.map((f) => (
        <span key={f} class="filter-chip">
          <span class="dim">{f}</span> <bdi class="name">{filter[f]}</bdi>
          <button type="button" class="plain" aria-label={`Remove the filter ${f} ${filter[f]}`} onClick={() => setQuery({ [f]: null })}>×</button>
        </span>
      ))}
      {adding ? (
        <form onSubmit={add} class="filter-form">
          <label><span class="dim">{adding}</span> <input name="value" autocomplete="off" spellcheck={false} ref={(e) => e?.focus()} onKeyDown={(e) => e.key === 'Escape' && setAdding('')} /></label>
          <button type="submit" class="small">Set</button>
          <button type="button" class="small" onClick={() => setAdding('')}>Back</button>
        </form>
      ) : free.length > 0 && (
        <label class="add-filter"><span class="hidden">Add a filter</span>
          <select value="" onChange={(e) => setAdding(e.currentTarget.value)}>
            <option value="">Filter by…</option>
            {free.map((f) => <option key={f} value={f}>{f}</option>)}
          </select>
        </label>
      )}
    </div>
  )
}

export function StateTabs({ state, counts, all = true }: { state: string; counts?: Partial<Record<string, number>> | undefined; all?: boolean }) {
  return (
    <div class="tabs" role="group" aria-label="State">
      {all && <button type="button" aria-pressed={state === ''} onClick={() => setQuery({ state: null })}>Any</button>}
      {STATES.map((s) => (
        <button key={s} type="button" aria-pressed={state === s} onClick={() => setQuery({ state: s })}>
          <Chip kind={s} />
          {counts?.[s] !== undefined && <span class="num">{count(counts[s] as number)}</span>}
        </button>
      ))}
    </div>
  )
}

// A page of a list, and the way through its pages. Changing the filter begins at the first page.
export function JobList({ filter, queue, counts }: { filter: Filter; queue?: string; counts?: number | null }) {
  const key = JSON.stringify(filter)
  const [pages, setPages] = useState<{ key: string; seen: string[] }>({ key, seen: [] })
  const seen = pages.key === key ? pages.seen : []
  const cursor = seen[seen.length - 1]
  const { data, error, again } = useLive('jobs\n' + key + '\n' + (cursor ?? ''), (signal) => jobs.list(filter, { count: PAGE, cursor }, signal), filter.state === 'complete' ? COMPLETE_MS : 1000)
  if (error && !data) return <ErrorNote error={error} again={again} />
  if (!data) return <Skeleton rows={10} />
  const total = data.total ?? counts ?? null
  if (data.jobs.length === 0 && seen.length === 0 && data.next === null) return <NoJobs filter={filter} />
  return (
    <>
      <JobTable key={key + (cursor ?? '')} caption="Jobs" rows={data.jobs} columns={columnsFor(filter.state ?? '', queue !== undefined)} choice={'jobs-' + (filter.state || 'any')} filter={bulkFilter(filter)} total={total} queue={queue ?? filter.queue} />
      {data.jobs.length === 0 && <p class="dim">No match among the jobs looked at so far; the next page goes on.</p>}
      <CursorPager seen={seen} next={data.next} go={(s) => { setPages({ key, seen: s }); scrollTo(0, 0) }} />
    </>
  )
}

function NoJobs({ filter }: { filter: Filter }) {
  const some = Object.keys(filter).length > 0
  if (!some) return <Start />
  const { state, ...rest } = filter
  return (
    <Empty title={state && Object.keys(rest).length === 0 ? `No job is ${state}` : 'No job matches'}>
      {Object.keys(rest).length > 0 && <p><button type="button" onClick={() => setQuery(Object.fromEntries(FILTERS.filter((f) => f !== 'state').map((f) => [f, null])))}>Remove the filters</button></p>}
      {state === 'failed' && <p>A job fails when its retries are used up, or when its worker says so. It then stays here until it is retried, canceled or removed by retention.</p>}
      {state === 'scheduled' && <p>A job put with a delay waits here for its time: <code>sluice put mail Send '1' --delay 60</code></p>}
      {state === 'depends' && <p>A job put with <code>--depends JID</code> waits here until the other job is complete.</p>}
      {state === 'stalled' && <p>A stalled job is first in line again: its lease was lost, or ended.</p>}
    </Empty>
  )
}

export function Jobs() {
  const filter = filterOf()
  const find = param('find')
  const { data } = useLive<Counts>('counts\n' + (filter.queue ?? ''), async (signal) => (filter.queue ? queues.get(filter.queue, signal) : (await totals.get(signal)).jobs), 1000, true)
  const plain = Object.keys(filter).every((f) => f === 'state' || f === 'queue')
  const counts = plain ? data : undefined
  return (
    <>
      <Head title={find ? <>Find <bdi>{find}</bdi></> : 'Jobs'} crumbs={find && <a href={to(['jobs'])}>Jobs</a>} />
      {!find && <StateTabs state={filter.state ?? ''} counts={counts} />}
      {!find && <Chips filter={filter} />}
      {find ? <Found key={find} text={find} /> : <JobList filter={filter} counts={filter.state ? (counts?.[filter.state as State] ?? null) : null} />}
    </>
  )
}

// What a search finds: it goes through all jobs in the background, and this page shows how far it is.
function Found({ text }: { text: string }) {
  const [state, setState] = useState<{ search?: Search & { jobs: (Job | null)[] }; error?: Error; offset: number }>({ offset: 0 })
  const { offset } = state
  const [run, setRun] = useState(0)
  useEffect(() => {
    const abort = new AbortController()
    let id: number | undefined
    const look = async (): Promise<void> => {
      try {
        const begun = await jobs.find(text)
        id = begun.id
        for (;;) {
          const search = await jobs.found(id, { offset, count: PAGE }, abort.signal)
          if (abort.signal.aborted) return
          setState((old) => ({ offset: old.offset, search }))
          if (search.done) return
          await new Promise((done) => setTimeout(done, 300))
          if (abort.signal.aborted) return
        }
      } catch (error) {
        if (!abort.signal.aborted) setState({ error: error as Error, offset: 0 })
      }
    }
    void look()
    return () => {
      abort.abort()
      if (id !== undefined) jobs.dropFind(id).catch(() => {})
    }
  }, [text, run, offset])
  const { search, error } = state
  if (error) return <ErrorNote error={error} again={() => setRun(run + 1)} />
  if (!search) return <Skeleton rows={6} />
  const rows = (search?.jobs ?? []).filter((j): j is Job => j !== null)
  const by = (
    <ul class="plain-list">
      <li><button type="button" onClick={() => setQuery({ find: null, tag: text })}>Jobs tagged {text}</button></li>
      <li><button type="button" onClick={() => setQuery({ find: null, klass: text })}>Jobs of klass {text}</button></li>
      <li><button type="button" onClick={() => setQuery({ find: null, queue: text })}>Jobs in queue {text}</button></li>
    </ul>
  )
  return (
    <>
      <p class="dim num" role="status">
        {search.done ? `${search.full ? `The first ${plural(search.found, 'job')}; there may be more` : plural(search.found, 'job') + ' found'}. ${count(search.looked_at)} looked at.` : <>Looking: {count(search.looked_at)} of {count(search.total)} jobs, {count(search.found)} found <progress max={search.total || 1} value={search.looked_at} aria-label="Progress of the search" /></>}
      </p>
      {rows.length > 0 && <JobTable caption={'Jobs found for ' + text} rows={rows} columns={columnsFor('', false)} choice="jobs-any" />}
      {rows.length === 0 && search.done && <Empty title={`Nothing found for ${text}`}><p>The search looks into ids, klasses and data of the jobs of this namespace.</p>{by}</Empty>}
      <Pager offset={offset} size={PAGE} total={search.found} shown={search.jobs.length} go={(o) => setState({ offset: o })} />
    </>
  )
}
