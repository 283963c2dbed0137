// One job: why it does not run, its history as a time line, data and result, dependencies, log, options.
import type { ComponentChildren } from 'preact'
import { jobs, recurring } from '../api.ts'
import { count, duration, plural, stamp } from '../format.ts'
import { Problem } from '../http.ts'
import { format, parse, rawMember } from '../json.ts'
import { reload, useLive } from '../live.ts'
import { Ago, Bar, Chip, Count, Empty, ErrorNote, Facts, Head, JobLink, Name, Panel, QueueLink, Shape, Skeleton, Stamp, TagLink, WorkerLink } from '../parts/basics.tsx'
import { ask, confirm, FieldError } from '../parts/dialog.tsx'
import { Graph } from '../parts/graph.tsx'
import { listOf, numberOf, putJob, requeueJob } from '../parts/put.tsx'
import { act, toast } from '../parts/toast.tsx'
import { Tree } from '../parts/tree.tsx'
import { startBulk } from '../parts/bulk.tsx'
import { go, to, toQueue } from '../route.ts'
import { can, now, utc } from '../state.ts'
import type { Explain, HistoryEntry, Job, JobOptions } from '../types.ts'

interface Loaded { job: Job; text: string; explain: Explain | null; history: HistoryEntry[]; log: { when: number; line: string }[]; options: { given: JobOptions; in_effect: JobOptions } | null }

const loaded = new Map<string, Loaded>()

async function load(jid: string, signal: AbortSignal): Promise<Loaded> {
  const orNull = <R,>(p: Promise<R>): Promise<R | null> => p.catch((e) => {
    if (e instanceof Problem && e.status > 0) return null
    throw e
  })
  const [job, explain, history, log, options] = await Promise.all([
    jobs.get(jid, signal),
    orNull(jobs.explain(jid, signal)),
    jobs.history(jid, signal),
    orNull(jobs.log(jid, signal)),
    orNull(jobs.options(jid, signal)),
  ])
  const text = await jobs.text(jid, signal)
  const before = loaded.get(jid)
  const next: Loaded = { job, text, explain, history, log: log ?? [], options }
  if (before && before.text === text && JSON.stringify([before.explain, before.history, before.log]) === JSON.stringify([explain, history, next.log])) return before
  loaded.clear()
  loaded.set(jid, next)
  return next
}

const WHAT: Record<string, { word: string; kind: string }> = {
  put: { word: 'Put', kind: 'waiting' },
  popped: { word: 'Handed out', kind: 'running' },
  started: { word: 'Started', kind: 'running' },
  done: { word: 'Completed', kind: 'complete' },
  failed: { word: 'Failed', kind: 'failed' },
  'failed-retries': { word: 'Failed: no retries left', kind: 'failed' },
  retried: { word: 'Given back to be tried again', kind: 'scheduled' },
  'timed-out': { word: 'Lease ended', kind: 'stalled' },
  lost: { word: 'Lease lost', kind: 'stalled' },
  advanced: { word: 'Went on to the next queue', kind: 'complete' },
  canceled: { word: 'Canceled', kind: 'failed' },
  accepted: { word: 'Accepted by the HTTP worker', kind: 'running' },
}

function TimeLine({ entries, job }: { entries: HistoryEntry[]; job: Job }) {
  const newestFirst = [...entries].reverse()
  return (
    <ol class="time-line">
      {job.state === 'running' && job.lease && <li class="is-running now"><span class="mark"><Shape of="running" /></span><div><b>Running</b> on <WorkerLink worker={job.lease.worker} /> <span class="dim">lease ends <Ago at={job.lease.expires} /></span></div></li>}
      {newestFirst.map((e, i) => {
        const what = WHAT[e.what] ?? { word: e.what, kind: 'plain' }
        const before = newestFirst[i + 1]
        return (
          <li key={entries.length - i} class={'is-' + what.kind}>
            <span class="mark">{what.kind === 'plain' ? <span class="dot" aria-hidden="true" /> : <Shape of={what.kind} />}</span>
            <div>
              <div class="t-head"><b><bdi>{what.word}</bdi></b><Stamp at={e.when} millis />{before && <span class="dim num">+{duration(e.when - before.when)}</span>}</div>
              <div class="t-detail">
                {e.queue && <span>queue <QueueLink queue={e.queue} /></span>}
                {e.worker && <span>worker <WorkerLink worker={e.worker} /></span>}
                {e.until && <span>until <Stamp at={e.until} /></span>}
                {e.group && <span>group <a href={to(['failures', e.group])}><Name text={e.group} /></a></span>}
                {e.data != null && <code><bdi>{JSON.stringify(e.data)}</bdi></code>}
              </div>
              {e.message && <pre class="message">{e.message}</pre>}
            </div>
          </li>
        )
      })}
    </ol>
  )
}

// The sentence of the server; its times as the user wants them, and the job itself as "this job".
function Sentence({ text, jid }: { text: string; jid: string }) {
  const own = 'Job ' + jid + ' '
  const short = text.startsWith(own) ? 'This job ' + text.slice(own.length) : text
  return <bdi>{short.split(/(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/).map((part, i) => (i % 2 ? <Stamp key={i} at={Date.parse(part) / 1000} /> : part))}</bdi>
}

function Why({ job, explain }: { job: Job; explain: Explain | null }) {
  const late = explain?.earliest != null && explain.earliest > now.value && !job.lease
  return (
    <div class={'why is-' + job.state}>
      <Chip kind={job.state} />
      <p><Sentence text={explain?.sentence ?? `Job ${job.jid} is ${job.state}.`} jid={job.jid} /></p>
      {late && <p class="dim">At the earliest <Ago at={explain.earliest} /> (<Stamp at={explain.earliest} />){explain.at_least && ', or later'}</p>}
      {job.progress && job.state === 'running' && <p><Bar part={job.progress.fraction} label="Progress" /> {job.progress.message && <bdi class="dim">{job.progress.message}</bdi>}</p>}
    </div>
  )
}

const OPTION_WORDS: [keyof JobOptions, string, (v: string | number) => string][] = [
  ['backoff', 'Backoff', (v) => String(v)],
  ['timeout', 'Longest run', (v) => (v === 0 ? 'none' : duration(v as number))],
  ['lease', 'Lease', (v) => (v === 0 ? 'as the queue says' : duration(v as number))],
  ['result_ttl', 'Result kept', (v) => (v === 0 ? 'as long as the job' : duration(v as number))],
  ['max_crashes', 'Most crashes', (v) => (v === 0 ? 'no limit' : String(v))],
  ['on_dependency_failure', 'When a dependency fails', (v) => String(v)],
]

function Options({ options }: { options: NonNullable<Loaded['options']> }) {
  if (OPTION_WORDS.every(([name]) => options.in_effect[name] === null)) return <p class="dim">All are the defaults: neither the job nor a policy says otherwise.</p>
  return (
    <Facts rows={OPTION_WORDS.map(([name, label, show]) => {
      const value = options.in_effect[name]
      return [label, value === null ? <span class="dim">default</span> : <>{show(value)} {options.given[name] === null && <span class="dim">(policy)</span>}</>]
    })} />
  )
}

function acts(job: Job, text: string): { label: string; on: boolean; danger?: boolean; primary?: boolean; run: () => void }[] {
  const { jid, queue } = job
  const operates = can('operate', queue)
  const start = { queue, klass: job.klass, priority: job.priority, retries: job.retries, tags: job.tags, domain: job.domain }
  const data = (): string => format(parse(rawMember(text, 'data')))
  const done = (call: Promise<unknown>): Promise<unknown> => call.then((r) => { reload(); return r })
  return [
    { label: 'Run now', primary: true, on: operates && (job.state === 'scheduled' || job.state === 'failed'), run: () => void act(() => done(jobs.run(jid)), 'The job is in line') },
    { label: 'Edit and retry…', on: operates && job.state !== 'running', run: () => requeueJob(jid, { ...start, data: data() }) },
    {
      label: 'Take the lease away…', on: operates && job.lease !== null,
      run: () => confirm({ title: 'Take the lease away', body: <p>The worker <b><bdi>{job.lease?.worker}</bdi></b> loses the job, and the next pop gets it. If the worker still runs it, the job runs twice.</p>, verb: 'Take the lease away', danger: true, act: () => done(jobs.timeout([jid])), done: 'The job is in line again' }),
    },
    {
      label: 'Move…', on: operates && !['running', 'complete'].includes(job.state),
      run: () => ask({
        title: 'Move to another queue', fields: [{ name: 'to', label: 'Queue', required: true }], verb: 'Move',
        act: async (v) => {
          const target = (v['to'] ?? '').trim()
          if (!target) throw new FieldError('to', 'must not be empty')
          startBulk({ act: 'move', filter: { jids: [jid] }, extra: { to: target } })
        },
      }),
    },
    {
      label: 'Priority…', on: operates && !['complete'].includes(job.state),
      run: () => ask({ title: 'Priority', fields: [{ name: 'priority', label: 'Priority', kind: 'number', value: String(job.priority), required: true, hint: 'A lower number runs first.' }], verb: 'Set', act: (v) => done(jobs.priority(jid, numberOf('priority', v['priority'] ?? '') ?? 0)), done: 'The priority is set' }),
    },
    { label: 'Tags…', on: operates, run: () => editTags(job) },
    { label: job.tracked ? 'Stop tracking' : 'Track', on: operates, run: () => void act(() => done(job.tracked ? jobs.untrack(jid) : jobs.track(jid)), job.tracked ? 'No longer tracked' : 'Tracked') },
    { label: 'Duplicate…', on: can('put', queue), run: () => putJob({ ...start, data: data() }, 'Put a copy') },
    { label: 'Note…', on: operates, run: () => ask({ title: 'Note in the history', fields: [{ name: 'message', label: 'Note', required: true }], verb: 'Add', act: (v) => done(jobs.note(jid, v['message'] ?? '')), done: 'Noted' }) },
    {
      label: 'Cancel…', danger: true, on: operates && job.state !== 'complete',
      run: () => cancelJob(job),
    },
    {
      label: 'Delete…', danger: true, on: operates && (job.state === 'complete' || job.state === 'failed'),
      run: () => confirm({ title: 'Delete the job', body: <p>The job, its result and its history are gone. This cannot be undone.</p>, verb: 'Delete', danger: true, act: () => jobs.remove(jid).then(() => go(to(['jobs'], { state: job.state }))), done: 'The job is deleted' }),
    },
  ]
}

function cancelJob(job: Job): void {
  const more = job.dependents.length
  ask({
    title: 'Cancel the job',
    intro: <p>The job is removed{job.lease && ', and its worker is told'}.</p>,
    fields: more > 0 ? [{ name: 'dependents', label: `Also cancel what depends on it (${plural(more, 'job')} and what depends on these)`, kind: 'check' }] : [],
    verb: 'Cancel the job',
    danger: true,
    act: async (v) => {
      await jobs.cancel([job.jid], v['dependents'] === 'true')
      go(toQueue(job.queue))
    },
    done: 'The job is canceled',
  })
}

function editTags(job: Job): void {
  ask({
    title: 'Tags',
    fields: [{ name: 'tags', label: 'Tags', value: job.tags.join(', '), hint: 'Separated by commas' }],
    verb: 'Set',
    act: async (v) => {
      const wanted = listOf(v['tags'] ?? '')
      const added = wanted.filter((t) => !job.tags.includes(t))
      if (added.length) await jobs.tag(job.jid, added)
      for (const tag of job.tags) if (!wanted.includes(tag)) await jobs.untag(job.jid, tag)
      reload()
    },
    done: 'The tags are set',
  })
}

function Dependencies({ job }: { job: Job }) {
  const n = job.depends.length + job.dependents.length
  if (n === 0) return null
  const list = (title: string, jids: string[]): ComponentChildren => jids.length > 0 && (
    <div><h3>{title} <span class="dim num">{count(jids.length)}</span></h3><ul class="jid-list">{jids.slice(0, 200).map((j) => <li key={j}><JobLink jid={j} /></li>)}</ul>{jids.length > 200 && <p class="dim">and {plural(jids.length - 200, 'more', 'more')}</p>}</div>
  )
  return (
    <Panel title="Dependencies" aside={job.members.done + job.members.failed > 0 && <span class="dim">{count(job.members.done)} done, {count(job.members.failed)} failed</span>}>
      {n <= 200 ? <Graph job={job} /> : <div class="grid two">{list('Waits for', job.depends)}{list('Waited for by', job.dependents)}</div>}
    </Panel>
  )
}

// A jid may also be that of a recurring job, which makes jobs and is none itself.
function Missing({ jid }: { jid: string }) {
  const { data } = useLive('is-recurring\n' + jid, (signal) => recurring.find(jid, signal), 5000)
  if (data) return <Empty title={`${jid} is a recurring job`}><p><a href={to(['recurring', jid])}>Its page</a> has its next runs and its acts.</p></Empty>
  return <Empty title={`There is no job ${jid}`}><p>It was canceled or deleted, its time of retention is over, or it is in another namespace.</p></Empty>
}

export function JobScreen({ name }: { name: string }) {
  const { data, error, again } = useLive('job\n' + name, (signal) => load(name, signal))
  const crumbs = <><a href={to(['jobs'])}>Jobs</a>{data && <> / <a href={toQueue(data.job.queue, { state: data.job.state })}><bdi>{data.job.queue}</bdi></a></>}</>
  if (error && (!data || (error instanceof Problem && error.status === 404))) {
    const missing = error instanceof Problem && error.status === 404
    return (
      <>
        <Head title="Job" crumbs={crumbs} />
        {missing ? <Missing jid={name} /> : <ErrorNote error={error} again={again} />}
      </>
    )
  }
  if (!data) return <><Head title="Job" crumbs={crumbs} /><Skeleton rows={10} /></>
  const { job, text, explain, history, log, options } = data
  const all = acts(job, text).filter((a) => a.on)
  const run = job.last_run
  return (
    <>
      <Head crumbs={crumbs} title={<><Name text={job.klass} /> {job.tracked && <Chip kind="plain">tracked</Chip>}</>}
        lead={<span class="jid-line"><bdi class="mono">{job.jid}</bdi> <button type="button" class="small" onClick={() => void navigator.clipboard.writeText(job.jid).then(() => toast('The id is copied'))}>Copy</button></span>}>
        {all.map((a) => <button key={a.label} type="button" class={a.danger ? 'danger-text' : a.primary ? 'primary' : ''} onClick={a.run}>{a.label}</button>)}
      </Head>
      <Why job={job} explain={explain} />
      <div class="grid job">
        <div class="column">
          {job.failure && (
            <Panel title="Failure" aside={<a href={to(['failures', job.failure.group])}><bdi>{job.failure.group}</bdi></a>}>
              <pre class="message is-failed">{job.failure.message}</pre>
              <p class="dim"><Stamp at={job.failure.when} />{job.failure.worker && <> on <WorkerLink worker={job.failure.worker} /></>}</p>
            </Panel>
          )}
          <Panel title="Data"><Tree text={rawMember(text, 'data')} /></Panel>
          {(job.state === 'complete' || job.result != null) && <Panel title="Result" aside={job.result_until && <span class="dim">kept until <Stamp at={job.result_until} /></span>}>{job.result == null ? <span class="dim">none</span> : <Tree text={rawMember(text, 'result')} />}</Panel>}
          {job.checkpoint != null && <Panel title="Checkpoint"><Tree text={rawMember(text, 'checkpoint')} /></Panel>}
          <Dependencies job={job} />
          {log.length > 0 && (
            <Panel title="Log" aside={<span class="dim">{plural(log.length, 'line')}</span>}>
              <ol class="log" tabIndex={0} aria-label="Log">{log.map((l, i) => <li key={i}><time class="dim num" title={stamp(l.when, utc.value, true)}>{stamp(l.when, utc.value, true).slice(11, 23)}</time> <bdi>{l.line}</bdi></li>)}</ol>
            </Panel>
          )}
        </div>
        <div class="column">
          <Panel title="Job">
            <Facts rows={[
              ['Queue', <QueueLink queue={job.queue} />],
              ['State', <Chip kind={job.state} />],
              ['Priority', <span class="num">{job.priority}</span>],
              ...(job.domain ? [['Domain', <a href={to(['jobs'], { queue: job.queue, domain: job.domain })}><Name text={job.domain} /></a>] as [string, ComponentChildren]] : []),
              ['Attempts', <><Count n={job.attempts} zero="plain" /> <span class="dim">({job.remaining} of {plural(job.retries, 'retry', 'retries')} left{job.crashes > 0 && ', ' + plural(job.crashes, 'crash', 'crashes')})</span></>],
              ['Tags', job.tags.length ? <span class="tags">{job.tags.map((t) => <TagLink key={t} tag={t} />)}</span> : <span class="dim">none</span>],
              ['Created', <><Stamp at={job.created} /> <span class="dim">(<Ago at={job.created} />)</span></>],
              ...(job.scheduled ? [['Scheduled', <Stamp at={job.scheduled} />] as [string, ComponentChildren]] : []),
              ...(job.deadline ? [['Deadline', <Stamp at={job.deadline} />] as [string, ComponentChildren]] : []),
              ...(job.lease ? [
                ['Worker', <WorkerLink worker={job.lease.worker} />] as [string, ComponentChildren],
                ['Lease ends', <><Ago at={job.lease.expires} /> <span class="dim">token {job.lease.token}</span></>] as [string, ComponentChildren],
              ] : []),
              ...(run && !job.lease ? [['Last run', <><WorkerLink worker={run.worker} /> <span class="dim"><Ago at={run.popped} />{run.pid != null && ', pid ' + run.pid}</span></>] as [string, ComponentChildren]] : []),
              ...(job.unique ? [['Unique', <code><bdi>{JSON.stringify(job.unique)}</bdi></code>] as [string, ComponentChildren]] : []),
              ...(job.spawned_from ? [['Made by', <a href={to(['recurring', job.spawned_from])}><Name text={job.spawned_from} /></a>] as [string, ComponentChildren]] : []),
            ]} />
          </Panel>
          <Panel title="History"><TimeLine entries={history} job={job} /></Panel>
          {options && <Panel title="Options in effect"><Options options={options} /></Panel>}
        </div>
      </div>
    </>
  )
}

