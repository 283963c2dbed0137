// The overview: how much there is, how fast it goes, what needs a person.
import { failures, jobs, pushes, queues, totals } from '../api.ts'
import { count, duration, plural, rate } from '../format.ts'
import { tick, useLive } from '../live.ts'
import { Chart } from '../parts/chart.tsx'
import { Ago, Chip, Command, Count, Empty, ErrorNote, Head, JobLink, Name, Panel, QueueLink, Seconds, Shape, Skeleton } from '../parts/basics.tsx'
import { Table } from '../parts/table.tsx'
import { ns, param, setQuery, to, toJob, toQueue } from '../route.ts'
import { fromSeries, useSeriesData, WINDOWS } from '../series.ts'
import { can, frozen, storeProblem } from '../state.ts'
import { STATES, type Counts, type FailureGroup, type Happened, type Job, type Push, type Queue, type Series, type Totals } from '../types.ts'

// The counts of the last tick, which come before the reply of the next call.
function Tiles({ known }: { known: Counts }) {
  const told = tick.value?.['jobs'] as Counts | undefined
  const counts = told && !frozen.value ? told : known
  return (
    <ul class="tiles">
      {STATES.map((s) => (
        <li key={s}>
          <a href={to(['jobs'], { state: s })} class={'tile is-' + s}>
            <span class="tile-name"><Shape of={s} />{s}</span>
            <span class="tile-count num" data-state={s}>{count(counts[s])}</span>
          </a>
        </li>
      ))}
    </ul>
  )
}

// What a person should look at, the worst first. Nothing to look at is said, too.
function Attention({ data }: { data: Loaded }) {
  const items: { key: string; kind: string; text: string; href: string }[] = []
  const { list, push } = data
  if (storeProblem.value) items.push({ key: 'store', kind: 'warn', text: 'The store: ' + storeProblem.value, href: to(['server']) })
  for (const p of push) {
    if (p.breaker !== 'closed') items.push({ key: 'p' + p.pattern, kind: 'warn', text: `Push ${p.pattern}: breaker ${p.breaker}`, href: to(['push']) })
  }
  for (const q of list) {
    if (q.stalled > 0) items.push({ key: 's' + q.queue, kind: 'stalled', text: `${q.queue}: ${plural(q.stalled, 'stalled job')}`, href: toQueue(q.queue, { state: 'stalled' }) })
    if (q.paused) items.push({ key: 'q' + q.queue, kind: 'paused', text: `${q.queue} is paused${q.waiting ? ', ' + plural(q.waiting, 'job') + ' waiting' : ''}`, href: toQueue(q.queue) })
    else if (q.waiting > 0 && q.listeners === 0) items.push({ key: 'l' + q.queue, kind: 'warn', text: `${q.queue}: ${plural(q.waiting, 'job')} waiting, no worker listens`, href: toQueue(q.queue) })
  }
  const paused = list.filter((q) => q.paused).length
  if (data.totals.paused > paused) items.push({ key: 'paused', kind: 'paused', text: `${plural(data.totals.paused, 'queue')} paused in all`, href: to(['queues']) })
  if (data.totals.jobs.failed > 0) items.push({ key: 'f', kind: 'failed', text: `${plural(data.totals.jobs.failed, 'failed job')} in ${plural(data.totals.failures, 'group')}`, href: to(['failures']) })
  if (items.length === 0) return <p class="calm"><Shape of="ok" /> Nothing needs attention.</p>
  return (
    <ul class="attention">
      {items.slice(0, 7).map((i) => <li key={i.key}><a href={i.href}><span class={'mark is-' + i.kind}><Shape of={i.kind} /></span><bdi>{i.text}</bdi></a></li>)}
      {items.length > 7 && <li class="dim">and {plural(items.length - 7, 'more', 'more')}: <a href={to(['queues'])}>queues</a></li>}
    </ul>
  )
}

export function WindowChoice() {
  const chosen = param('window') || '15m'
  return (
    <div class="segments" role="group" aria-label="Time window">
      {WINDOWS.map((w) => <button key={w.name} type="button" aria-pressed={chosen === w.name} onClick={() => setQuery({ window: w.name === '15m' ? null : w.name })}>{w.label}</button>)}
    </div>
  )
}

export function Throughput({ queue }: { queue?: string }) {
  const data = useSeriesData(param('window') || '15m', queue)
  if (data === undefined) return <Skeleton rows={5} />
  const view = fromSeries(data)
  const whole = (v: number | null | undefined): string => (v == null ? '–' : count(v))
  return (
    <>
      <div class="charts">
        <Chart title="Jobs a second" times={view.times} lines={view.rates} />
        <Chart title="Jobs by state" times={view.times} lines={view.depths} format={whole} />
        {view.waits.length > 0 && <Chart title="How long jobs waited" times={view.times} lines={view.waits} format={duration} />}
        {view.runs.length > 0 && <Chart title="How long jobs ran" times={view.times} lines={view.runs} format={duration} />}
      </div>
    </>
  )
}

const HAPPENED: [keyof Happened, string, string][] = [
  ['put', 'Put', 'jobs that came into a queue'],
  ['popped', 'Handed out', 'runs that began'],
  ['completed', 'Completed', 'runs that completed'],
  ['failed', 'Failed', 'jobs that failed'],
]

type Row = { name: string; what: string; cells: [string, string][] }

function useRows(queue?: string): { heads: string[]; rows: Row[] } {
  const all = [useSeriesData('1m', queue), useSeriesData('15m', queue), useSeriesData('24h', queue)]
  const cell = (v: number | null): [string, string] => [rate(v), v === null ? '' : v + ' a second']
  const time = (v: number | null | undefined, n?: number): [string, string] => [duration(v), v == null ? '' : v + ' s' + (n === undefined ? '' : ', ' + plural(n, 'job'))]
  const sum = (s: Series | undefined, name: keyof Happened): number | null => (s && s.count > 0 ? s[name].reduce((a, b) => a + b, 0) / (s.count * s.step) : null)
  const quantile = (which: 'wait' | 'run', q: 'p50' | 'p99'): [string, string][] => all.map((s) => time(s?.[which].window[q], s?.[which].window.count))
  return {
    heads: WINDOWS.map((w) => w.label),
    rows: [
      ...HAPPENED.map(([name, label, what]) => ({ name: label, what: what + ', a second', cells: all.map((s) => cell(sum(s, name))) })),
      { name: 'Wait p50', what: 'from when a job could first run to its first run', cells: quantile('wait', 'p50') },
      { name: 'Wait p99', what: 'from when a job could first run to its first run', cells: quantile('wait', 'p99') },
      { name: 'Run p50', what: 'of runs that completed', cells: quantile('run', 'p50') },
      { name: 'Run p99', what: 'of runs that completed', cells: quantile('run', 'p99') },
    ],
  }
}

export function Figures({ queue }: { queue?: string }) {
  const { heads, rows } = useRows(queue)
  return (
    <Table caption="Rates and times" rows={rows} rowKey={(r) => r.name} steady={false} columns={[
      { name: 'Figure', head: <span class="hidden">Figure</span>, cell: (r) => <span title={r.what}>{r.name}{!/p\d/.test(r.name) && <span class="dim"> a second</span>}</span> },
      ...heads.map((h, i) => ({ name: h, head: h, num: true, cell: (r: Row) => <span class="num" title={r.cells[i]?.[1]}>{r.cells[i]?.[0]}</span> })),
    ]} />
  )
}

interface Loaded { totals: Totals; list: Queue[]; oldest: Queue[]; groups: FailureGroup[]; push: Push[]; tracked: Job[] }

const TRACKED = 6

let last: { parts: unknown[]; loaded: Loaded | null } | null = null

// The same object when every part is the same, so that nothing is drawn again. null: there is nothing yet.
async function load(signal: AbortSignal): Promise<Loaded | null> {
  const parts = await Promise.all([
    totals.get(signal),
    queues.list({ sort: 'age', count: 10 }, signal),
    queues.list({ sort: 'stalled', count: 5 }, signal),
    failures.list({ count: 25 }, signal),
    pushes.list(signal),
    jobs.tracked({ count: TRACKED, data_max: 1 }, signal),
  ])
  const key = [ns.value, ...parts]
  if (last && last.parts.every((p, i) => p === key[i])) return last.loaded
  const [all, byAge, byStalled, groups, push, tracked] = parts
  const list = [...byAge.queues, ...byStalled.queues.filter((q) => !byAge.queues.some((o) => o.queue === q.queue))]
  const nothing = list.length === 0 && STATES.every((s) => all.jobs[s] === 0)
  const loaded = nothing ? null : { totals: all, list, oldest: byAge.queues.filter((q) => q.waiting > 0), groups: groups.failures, push, tracked: tracked.jobs }
  last = { parts: key, loaded }
  return loaded
}

export function Overview() {
  const { data, error, again } = useLive('overview', load)
  const head = <Head title="Overview" lead={data && [plural(data.totals.queues, 'queue'), plural(data.totals.workers, 'worker'), plural(data.totals.recurring, 'recurring job')].join(', ')}><WindowChoice /></Head>
  if (error && data === undefined) return <>{head}<ErrorNote error={error} again={again} /></>
  if (data === undefined) return <>{head}<Skeleton rows={8} /></>
  if (data === null) return <><Head title="Overview" /><Start /></>
  const groups = [...data.groups].sort((a, b) => b.count - a.count).slice(0, 6)
  return (
    <>
      {head}
      <Tiles known={data.totals.jobs} />
      <div class="grid two">
        <div class="column">
          <Panel title="Needs attention"><Attention data={data} /></Panel>
          <Panel title="Oldest queues" aside={<a href={to(['queues'])}>All queues</a>} flush>
            {data.oldest.length === 0 ? <p class="calm"><Shape of="ok" /> No job waits.</p> : (
              <Table caption="Queues with the oldest waiting jobs" rows={data.oldest.slice(0, 6)} rowKey={(q) => q.queue} rowHref={(q) => toQueue(q.queue)} columns={[
                { name: 'Queue', head: 'Queue', cell: (q) => <><QueueLink queue={q.queue} /> {q.paused && <Chip kind="paused" />}</> },
                { name: 'Oldest', head: 'Oldest', num: true, cell: (q) => <Seconds s={q.age} whole /> },
                { name: 'Waiting', head: 'Waiting', num: true, cell: (q) => <Count n={q.waiting} /> },
                { name: 'Running', head: 'Running', num: true, cell: (q) => <Count n={q.running} /> },
                { name: 'Workers', head: 'Workers', num: true, cell: (q) => <Count n={q.listeners} /> },
              ]} />
            )}
          </Panel>
        </div>
        <Panel title="Rates and times" flush><Figures /></Panel>
      </div>
      <Panel title="Throughput"><Throughput /></Panel>
      {data.tracked.length > 0 && (
        <Panel title="Tracked" aside={<a href={to(['tracked'])}>All tracked jobs</a>} flush>
          <Table caption="Tracked jobs" rows={data.tracked} rowKey={(j) => j.jid} rowHref={(j) => toJob(j.jid)} columns={[
            { name: 'Job', head: 'Job', cell: (j) => <JobLink jid={j.jid} /> },
            { name: 'State', head: 'State', cell: (j) => <Chip kind={j.state} /> },
            { name: 'Klass', head: 'Klass', cell: (j) => <Name text={j.klass} /> },
            { name: 'Queue', head: 'Queue', cell: (j) => <QueueLink queue={j.queue} /> },
            { name: 'Changed', head: 'Changed', cell: (j) => <Ago at={j.updated} /> },
          ]} />
        </Panel>
      )}
      <Panel title="Top failures" aside={<a href={to(['failures'])}>All failures</a>} flush>
        {groups.length === 0 ? <p class="calm"><Shape of="ok" /> No job has failed.</p> : (
          <Table caption="Failure groups with the most jobs" rows={groups} rowKey={(g) => g.group} rowHref={(g) => to(['failures', g.group])} columns={[
            { name: 'Group', head: 'Group', cell: (g) => <a href={to(['failures', g.group])}><Name text={g.group} /></a> },
            ...(groups.some((g) => g.message) ? [{ name: 'Newest message', head: 'Newest message', wide: true, cell: (g: FailureGroup) => <Name text={g.message ?? ''} /> }] : []),
            ...(groups.some((g) => g.last) ? [{ name: 'Last', head: 'Last', cell: (g: FailureGroup) => <Ago at={g.last} /> }] : []),
            { name: 'Jobs', head: 'Jobs', num: true, cell: (g) => <Count n={g.count} /> },
          ]} />
        )}
      </Panel>
    </>
  )
}

// What an empty namespace teaches.
export function Start() {
  const flag = ns.value === 'default' ? '' : ' --ns ' + ns.value
  return (
    <Empty title={`No jobs in ${ns.value} yet`}>
      {can('put') ? (
        <>
          <p>Put the first job. The queue <b>mail</b> is created by the put:</p>
          <Command text={`sluice put${flag} mail Send '{"to":"ann"}'`} />
          <p>Run a worker. It starts <code>./send</code> for each job of the queue:</p>
          <Command text={`sluice work${flag} -q mail -- ./send`} />
          <p>Or over HTTP:</p>
          <Command text={`curl ${new URL('.', document.baseURI).href}v1/ns/${encodeURIComponent(ns.value)}/queues/mail/jobs \\\n  --json '{"klass":"Send","data":{"to":"ann"}}'`} />
        </>
      ) : <p>Your user may not put jobs here: that needs the right <code>{ns.value}:put</code>.</p>}
    </Empty>
  )
}
