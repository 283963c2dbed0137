// One queue: its jobs by state, throughput, lanes with limits and use, times by day, recurring jobs, workers.
import { queues, settings, totals } from '../api.ts'
import { count, duration, plural, rate } from '../format.ts'
import { useKey } from '../keys.tsx'
import { reload, useLive } from '../live.ts'
import { Ago, Chip, Count, Empty, ErrorNote, Facts, Head, Name, Panel, Seconds, Skeleton, WorkerLink } from '../parts/basics.tsx'
import { startBulk } from '../parts/bulk.tsx'
import { Bars } from '../parts/chart.tsx'
import { ask, FieldError, type Values } from '../parts/dialog.tsx'
import { putJob } from '../parts/put.tsx'
import { CursorPager, Table } from '../parts/table.tsx'
import { useState } from 'preact/hooks'
import { go, param, setQuery, to } from '../route.ts'
import { can, now } from '../state.ts'
import { type DayTimes, type Lane, type Queue } from '../types.ts'
import { filterOf, JobList, StateTabs } from './jobs.tsx'
import { Throughput, WindowChoice } from './overview.tsx'
import { forget, togglePause } from './queues.tsx'
import { RecurringTable } from './recurring.tsx'

const VIEWS = [['jobs', 'Jobs'], ['throughput', 'Throughput'], ['lanes', 'Lanes'], ['days', 'Times by day'], ['recurring', 'Recurring'], ['workers', 'Workers']] as const

// Why nothing runs, from the server or, on servers that cannot say, from the counts.
function reason(q: Queue): { kind: 'paused' | 'warn' | 'ok' | 'plain'; text: string } {
  if (q.paused) return { kind: 'paused', text: 'The queue is paused: no job of it is handed out until it is resumed.' }
  if (q.waiting > 0 && q.listeners === 0) return { kind: 'warn', text: `${plural(q.waiting, 'job waits', 'jobs wait')} and no worker listens to the queue.` }
  if (q.waiting > 0) return { kind: 'ok', text: `${plural(q.waiting, 'job waits', 'jobs wait')}; ${plural(q.running, 'runs', 'run')}, ${plural(q.listeners, 'worker listens', 'workers listen')}.` }
  if (q.running > 0) return { kind: 'ok', text: `No job waits; ${plural(q.running, 'job runs', 'jobs run')}.` }
  if (q.scheduled > 0) return { kind: 'plain', text: `No job waits; ${plural(q.scheduled, 'job is', 'jobs are')} scheduled for later.` }
  return { kind: 'plain', text: 'The queue is empty.' }
}

function Lanes({ queue }: { queue: string }) {
  const [seen, setSeen] = useState<string[]>([])
  const cursor = seen[seen.length - 1]
  const { data, error, again } = useLive('lanes\n' + queue + '\n' + (cursor ?? ''), (signal) => queues.lanes(queue, { cursor, count: 50 }, signal))
  if (error && !data) return <ErrorNote error={error} again={again} />
  if (!data) return <Skeleton rows={4} />
  const rows: Lane[] = data.lanes
  if (rows.length === 0) return <Empty title="No lane has jobs"><p>Jobs with a domain form a lane of their own: <code>sluice put {queue} Send '1' --domain customer-7</code></p></Empty>
  const use = (l: Lane) => (l.concurrency > 0
    ? <span class="bar"><progress max={l.concurrency} value={Math.min(l.running, l.concurrency)} aria-label="Use of the concurrency" /><span class="num">{count(l.running)} of {count(l.concurrency)}</span></span>
    : <Count n={l.running} />)
  return (
    <>
      <Table key={cursor} caption={'Lanes of ' + queue} rows={rows} rowKey={(l) => l.domain ?? ''} noun="lane" columns={[
        { name: 'Domain', head: 'Domain', cell: (l) => (l.domain ? <a href={to(['jobs'], { queue, domain: l.domain })}><Name text={l.domain} /></a> : <span class="dim">without a domain</span>) },
        { name: 'Waiting', head: 'Waiting', num: true, cell: (l) => <Count n={l.waiting} /> },
        { name: 'Running', head: 'Running', num: true, cell: use },
        { name: 'Rate', head: 'Rate', num: true, cell: (l) => (l.rate > 0 ? <span class="num">{count(l.rate)} in {duration(l.period)}, burst {count(l.burst)}{l.tokens != null && <span class="dim"> ({count(l.tokens)} left)</span>}</span> : <span class="dim">any</span>) },
        { name: 'Weight', head: 'Weight', num: true, cell: (l) => <Count n={l.weight} /> },
        { name: 'Next may run', head: 'Next may run', cell: (l) => (l.ready === null ? <span>when one ends</span> : l.ready <= now.value ? <span>now</span> : <Ago at={l.ready} />) },
      ]} />
      <CursorPager seen={seen} next={data.next} go={setSeen} />
    </>
  )
}

const BUCKETS: { label: string; from: number }[] = [
  ...Array.from({ length: 60 }, (_, i) => ({ label: i + ' s', from: i })),
  ...Array.from({ length: 59 }, (_, i) => ({ label: i + 1 + ' min', from: (i + 1) * 60 })),
  ...Array.from({ length: 23 }, (_, i) => ({ label: i + 1 + ' h', from: (i + 1) * 3600 })),
  ...Array.from({ length: 6 }, (_, i) => ({ label: i + 1 + ' d', from: (i + 1) * 86400 })),
]

// From the first bucket with a job to the last: the others say nothing.
function bars(times: DayTimes): { label: string; value: number }[] {
  const all = times.histogram.map((value, i) => ({ label: BUCKETS[i]?.label ?? String(i), value }))
  let last = all.length - 1
  while (last > 9 && all[last]?.value === 0) last--
  return all.slice(0, last + 1)
}

function Days({ queue }: { queue: string }) {
  const back = Number(param('day')) || 0
  const today = Math.floor(now.peek() / 86400) * 86400
  const date = today - back * 86400
  const { data, error, again } = useLive('stats\n' + queue + '\n' + back, (signal) => queues.stats(queue, date, signal), 5000)
  const day = new Date(date * 1000).toISOString().slice(0, 10)
  return (
    <>
      <div class="row-line">
        <button type="button" class="small" disabled={back >= 29} onClick={() => setQuery({ day: String(back + 1) })}>Day before</button>
        <b class="num">{day}</b> <span class="dim">UTC{back === 0 && ', today'}</span>
        <button type="button" class="small" disabled={back === 0} onClick={() => setQuery({ day: back > 1 ? String(back - 1) : null })}>Day after</button>
      </div>
      {error && !data ? <ErrorNote error={error} again={again} /> : !data ? <Skeleton rows={4} /> : (
        <>
          <Facts rows={[
            ['Waited', <>{count(data.wait.count)} <span class="dim">jobs, mean</span> {duration(data.wait.mean)} <span class="dim">± {duration(data.wait.std)}</span></>],
            ['Ran', <>{count(data.run.count)} <span class="dim">jobs, mean</span> {duration(data.run.mean)} <span class="dim">± {duration(data.run.std)}</span></>],
            ['Failures', <>{count(data.failures)} <span class="dim">({count(data.failed)} still failed)</span></>],
            ['Retries', count(data.retries)],
            ['Lost leases', count(data.lost_leases)],
          ]} />
          <div class="charts">
            <Bars title={`How long jobs waited on ${day}`} rows={bars(data.wait)} />
            <Bars title={`How long jobs ran on ${day}`} rows={bars(data.run)} />
          </div>
        </>
      )}
    </>
  )
}

function Listeners({ queue }: { queue: string }) {
  const { data, error, again } = useLive('listeners\n' + queue, (signal) => queues.listeners(queue, signal))
  if (error && !data) return <ErrorNote error={error} again={again} />
  if (!data) return <Skeleton rows={4} />
  if (data.workers.length === 0) return <Empty title={'No worker listens to ' + queue}><p>Start one: <code>sluice work -q {queue} -- ./program</code></p></Empty>
  return (
    <Table caption={'Workers of ' + queue} rows={data.workers} rowKey={(w) => w.worker} rowHref={(w) => to(['workers', w.worker])} noun="worker" columns={[
      { name: 'Worker', head: 'Worker', cell: (w) => <WorkerLink worker={w.worker} /> },
      { name: 'Running', head: 'Running', num: true, cell: (w) => <Count n={w.running} /> },
      { name: 'Expired', head: 'Lease expired', num: true, cell: (w) => <Count n={w.expired} /> },
      { name: 'Host', head: 'Host', cell: (w) => <span>{w.host ?? '–'}</span> },
      { name: 'Seen', head: 'Seen', cell: (w) => <Ago at={w.seen} /> },
    ]} />
  )
}

function RecurringOf({ queue }: { queue: string }) {
  const { data, error, again } = useLive('recurring-of\n' + queue, (signal) => queues.recurring(queue, signal))
  if (error && !data) return <ErrorNote error={error} again={again} />
  if (!data) return <Skeleton rows={4} />
  if (data.jobs.length === 0) return <Empty title={'No recurring job puts into ' + queue}><p>Make one: <code>sluice recur {queue} Nightly '{'{}'}' --cron '0 3 * * *'</code></p></Empty>
  return <RecurringTable rows={data.jobs} />
}

const OPTIONS = [
  { name: 'heartbeat', label: 'Heartbeat', hint: 'Seconds that a lease lasts without a heartbeat' },
  { name: 'max-concurrency', label: 'Largest concurrency', hint: 'Jobs of the queue that may run at a time; 0: any number' },
  { name: 'fair', label: 'Fair lanes', hint: '1: the lanes of the queue take turns' },
  { name: 'max-jobs', label: 'Most jobs', hint: '0: any number' },
  { name: 'max-bytes', label: 'Most bytes', hint: '0: any number' },
]

async function editSettings(queue: string): Promise<void> {
  const all = await settings.config()
  const before: Values = Object.fromEntries(OPTIONS.map((o) => [o.name, all[`${queue}-${o.name}`] ?? '']))
  ask({
    title: 'Settings of ' + queue,
    intro: <p class="dim">An empty field leaves the setting to the namespace or its default.</p>,
    fields: OPTIONS.map((o) => ({ ...o, value: before[o.name] ?? '', kind: 'number' as const, placeholder: o.name === 'heartbeat' ? (all['heartbeat'] ?? '60') : 'default' })),
    verb: 'Set',
    act: async (values) => {
      for (const o of OPTIONS) {
        const value = (values[o.name] ?? '').trim()
        if (value === before[o.name]) continue
        try {
          if (value === '') await settings.unset(`${queue}-${o.name}`)
          else await settings.set(`${queue}-${o.name}`, value)
        } catch (error) {
          throw new FieldError(o.name, (error as Error).message)
        }
      }
      reload()
    },
    done: 'The settings are in effect',
  })
}

export function QueueScreen({ name }: { name: string }) {
  const view = param('view') || 'jobs'
  const { data: q, error, again } = useLive('queue\n' + name, (signal) => queues.get(name, signal))
  const metrics = useLive('metrics\n' + name, (signal) => totals.metrics(name, signal), 2000)
  const why = useLive('why\n' + name, (signal) => queues.explain(name, signal), 2000)
  const operates = can('operate', name)
  useKey('p', () => q && operates && togglePause(q))
  const crumbs = <><a href={to(['queues'])}>Queues</a></>
  if (error && !q) return <><Head title={<Name text={name} />} crumbs={crumbs} /><ErrorNote error={error} again={again} /></>
  if (!q) return <><Head title={<Name text={name} />} crumbs={crumbs} /><Skeleton rows={8} /></>
  const counts = q as unknown as Record<string, number>
  const state = param('state') || 'waiting'
  const own = reason(q)
  const text = why.data?.sentence ?? own.text
  return (
    <>
      <Head crumbs={crumbs} title={<Name text={name} />}
        lead={<span class="sentence">{own.kind !== 'plain' && <span class={'mark is-' + own.kind}><Chip kind={own.kind === 'ok' ? 'ok' : own.kind === 'paused' ? 'paused' : 'warn'}>{own.kind === 'ok' ? 'working' : own.kind === 'paused' ? 'paused' : 'attention'}</Chip></span>}<bdi>{text}</bdi></span>}>
        {can('put', name) && <button type="button" class="primary" onClick={() => putJob({ queue: name })}>Put a job</button>}
        {operates && <button type="button" onClick={() => togglePause(q)} aria-keyshortcuts="p">{q.paused ? 'Resume' : 'Pause'}</button>}
        {can('operate') && <button type="button" onClick={() => void editSettings(name)}>Settings</button>}
        {operates && <button type="button" onClick={() => startBulk({ act: 'cancel', filter: { queue: name } })}>Clear…</button>}
        {operates && <button type="button" onClick={() => forget(q, () => go(to(['queues'])))}>Forget…</button>}
      </Head>
      <Facts rows={[
        ['Put', <span class="num">{rate(q.rates.put)} <span class="dim">a second</span></span>],
        ['Run', <span class="num">{rate(q.rates.popped)} <span class="dim">a second</span></span>],
        ['Wait p50, p99', <span class="num">{metrics.data?.latency.count ? duration(metrics.data.latency.p50) + ', ' + duration(metrics.data.latency.p99) : '–'}</span>],
        ['Run p50, p99', <span class="num">{metrics.data?.runtime.count ? duration(metrics.data.runtime.p50) + ', ' + duration(metrics.data.runtime.p99) : '–'}</span>],
        ['Oldest waiting', <Seconds s={q.age} whole />],
        ['Workers', <a href={to(['queues', name], { view: 'workers' })}><Count n={q.listeners} zero="plain" /></a>],
        ...(q.paused_since ? [['Paused', <Ago at={q.paused_since} />] as [string, preact.ComponentChild]] : []),
      ]} />
      <div class="tabs views" role="group" aria-label="View">
        {VIEWS.map(([v, label]) => (
          <button key={v} type="button" aria-pressed={view === v} onClick={() => setQuery({ view: v === 'jobs' ? null : v, offset: null })}>
            {label}{v === 'recurring' && q.recurring > 0 && <span class="num">{count(q.recurring)}</span>}
          </button>
        ))}
      </div>
      {view === 'jobs' && (
        <>
          <StateTabs state={state} counts={counts} all={false} />
          <JobList filter={{ ...filterOf(), queue: name, state }} queue={name} counts={counts[state] ?? null} />
        </>
      )}
      {view === 'throughput' && <Panel title="Throughput" aside={<WindowChoice />}><Throughput queue={name} /></Panel>}
      {view === 'lanes' && <Lanes queue={name} />}
      {view === 'days' && <Panel title="Times by day"><Days queue={name} /></Panel>}
      {view === 'recurring' && <RecurringOf queue={name} />}
      {view === 'workers' && <Listeners queue={name} />}
    </>
  )
}
