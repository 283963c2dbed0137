// A page of jobs with selection and the acts on what is selected or on all that match.
import { useState } from 'preact/hooks'
import { jobs as api } from '../api.ts'
import { plural, preview } from '../format.ts'
import { useKey } from '../keys.tsx'
import { reload } from '../live.ts'
import { toJob } from '../route.ts'
import { can } from '../state.ts'
import type { Job } from '../types.ts'
import { Age, Ago, Bar, Chip, JobLink, QueueLink, WorkerLink, TagLink, Seconds } from './basics.tsx'
import { startBulk, type BulkAct, type BulkFilter } from './bulk.tsx'
import { ask, confirm, FieldError } from './dialog.tsx'
import { numberOf } from './put.tsx'
import { Table, type Column } from './table.tsx'
import { act } from './toast.tsx'
import { now } from '../state.ts'

export type JobColumn = 'state' | 'queue' | 'klass' | 'data' | 'when' | 'worker' | 'progress' | 'failure' | 'tags' | 'attempts' | 'priority' | 'ran'

// The time that matters most in the state of a job.
function When({ job }: { job: Job }) {
  switch (job.state) {
    case 'running':
      return <span class="two-lines"><span>for <Age since={job.last_run?.popped ?? job.moved} /></span>{job.lease && <small class="dim">lease ends <Ago at={job.lease.expires} /></small>}</span>
    case 'scheduled':
      return <span>due <Ago at={job.scheduled ?? job.eta} /></span>
    case 'complete':
      return <span>done <Ago at={job.moved} /></span>
    case 'failed':
      return <span>failed <Ago at={job.failure?.when ?? job.moved} /></span>
    default:
      return <span>put <Ago at={job.created} /></span>
  }
}

const COLUMNS: Record<JobColumn, Column<Job>> = {
  state: { name: 'State', head: 'State', cell: (j) => <Chip kind={j.state} /> },
  queue: { name: 'Queue', head: 'Queue', cell: (j) => <QueueLink queue={j.queue} /> },
  klass: { name: 'Klass', head: 'Klass', cell: (j) => <bdi class="name">{j.klass}</bdi> },
  data: { name: 'Data', head: 'Data', wide: true, cell: (j) => <bdi class="mono data" title={preview(j.data, 600)}>{preview(j.data)}</bdi> },
  when: { name: 'When', head: 'When', cell: (j) => <When job={j} /> },
  worker: { name: 'Worker', head: 'Worker', cell: (j) => (j.lease ? <WorkerLink worker={j.lease.worker} /> : <span class="dim">–</span>), empty: (j) => !j.lease },
  progress: { name: 'Progress', head: 'Progress', cell: (j) => (j.progress ? <Bar part={j.progress.fraction} label={'Progress of ' + j.jid} /> : <span class="dim">–</span>), empty: (j) => !j.progress },
  failure: { name: 'Failure', head: 'Failure', wide: true, cell: (j) => (j.failure ? <span class="two-lines"><bdi class="name">{j.failure.group}</bdi><small class="dim"><bdi class="name">{j.failure.message}</bdi></small></span> : <span class="dim">–</span>), empty: (j) => !j.failure },
  tags: { name: 'Tags', head: 'Tags', cell: (j) => (j.tags.length ? <span class="tags">{j.tags.slice(0, 3).map((t) => <TagLink key={t} tag={t} />)}{j.tags.length > 3 && <span class="dim">+{j.tags.length - 3}</span>}</span> : <span class="dim">–</span>), empty: (j) => j.tags.length === 0 },
  attempts: { name: 'Attempts', head: 'Attempts', num: true, cell: (j) => <span class="num" title={`${plural(j.remaining, 'retry', 'retries')} left of ${j.retries}`}>{j.attempts}</span> },
  priority: { name: 'Priority', head: 'Priority', num: true, cell: (j) => <span class={j.priority === 0 ? 'num dim' : 'num'}>{j.priority}</span>, empty: (j) => j.priority === 0 },
  ran: { name: 'Ran', head: 'Ran', num: true, cell: (j) => <Seconds s={j.last_run ? (j.lease ? now.value : j.moved) - j.last_run.popped : null} /> },
}

export function columnsFor(state: string, inQueue: boolean): JobColumn[] {
  const queue: JobColumn[] = inQueue ? [] : ['queue']
  switch (state) {
    case 'running':
      return ['klass', ...queue, 'worker', 'progress', 'when', 'data']
    case 'failed':
      return ['klass', ...queue, 'failure', 'when', 'attempts']
    case 'complete':
      return ['klass', ...queue, 'data', 'when', 'ran', 'attempts']
    case 'scheduled':
      return ['klass', ...queue, 'data', 'when', 'priority', 'tags']
    case '':
      return ['state', 'klass', ...queue, 'data', 'when', 'tags']
    default:
      return ['klass', ...queue, 'data', 'when', 'priority', 'attempts', 'tags']
  }
}

// All columns: first those that are shown without a choice, then the others.
function arranged(columns: JobColumn[]): Column<Job>[] {
  const others = (Object.keys(COLUMNS) as JobColumn[]).filter((c) => !columns.includes(c))
  return [...columns.map((c) => COLUMNS[c]), ...others.map((c) => ({ ...COLUMNS[c], off: true }))]
}

interface Props {
  caption: string
  rows: Job[]
  columns: JobColumn[]
  // The name under which the choice of columns is kept.
  choice: string
  // What "all matching" means, and how many that are, if that is known.
  filter?: BulkFilter | undefined
  total?: number | null
  queue?: string | undefined
}

export function JobTable({ caption, rows, columns, choice, filter, total, queue }: Props) {
  const [chosen, setChosen] = useState<Set<string>>(new Set())
  const operates = can('operate', queue)
  const selected = rows.filter((j) => chosen.has(j.jid))
  const clear = (): void => setChosen(new Set())
  useKey('Escape', clear, chosen.size > 0)
  return (
    <>
      {operates && (chosen.size > 0 || (filter && rows.length > 0)) && (
        <BulkBar jids={[...chosen]} selected={selected} filter={filter} total={total ?? null} clear={clear} />
      )}
      <Table caption={caption} rows={rows} rowKey={(j) => j.jid} rowHref={(j) => toJob(j.jid)} noun="job"
        selection={operates ? { keys: chosen, set: setChosen } : undefined}
        choice={choice} columns={[{ name: 'Job', head: 'Job', cell: (j) => <JobLink jid={j.jid} /> }, ...arranged(columns)]} />
    </>
  )
}

function BulkBar({ jids, selected, filter, total, clear }: { jids: string[]; selected: Job[]; filter: BulkFilter | undefined; total: number | null; clear: () => void }) {
  const some = jids.length > 0
  const all = (name: BulkAct): void => {
    if (name === 'move') return askWith('to', 'Move all that match', 'To queue', (to) => startBulk({ act: 'move', filter: filter as BulkFilter, extra: { to } }))
    if (name === 'tag' || name === 'untag') return askWith('tag', (name === 'tag' ? 'Tag' : 'Untag') + ' all that match', 'Tag', (tag) => startBulk({ act: name, filter: filter as BulkFilter, extra: { tags: [tag] } }))
    if (name === 'priority') return askWith('priority', 'Priority of all that match', 'Priority', (v) => startBulk({ act: 'priority', filter: filter as BulkFilter, extra: { priority: numberOf('priority', v) ?? 0 } }))
    startBulk({ act: name, filter: filter as BulkFilter })
  }
  const after = (): void => {
    clear()
    reload()
  }
  const label = plural(jids.length, 'selected job')
  const acts: { name: BulkAct; label: string; on: boolean; run: () => void }[] = [
    {
      name: 'retry', label: 'Run now', on: selected.every((j) => j.state === 'failed' || j.state === 'scheduled'),
      run: () => void act(() => api.runMany(jids), plural(jids.length, 'job') + ' in line').then((ok) => ok && after()),
    },
    { name: 'move', label: 'Move…', on: true, run: () => askWith('to', 'Move ' + label, 'To queue', (to) => startBulk({ act: 'move', filter: { jids }, extra: { to } })) },
    { name: 'tag', label: 'Tag…', on: true, run: () => askWith('tag', 'Tag ' + label, 'Tag', async (tag) => {
      for (const jid of jids) await api.tag(jid, [tag])
      after()
    }) },
    {
      name: 'priority', label: 'Priority…', on: true,
      run: () => askWith('priority', 'Priority of ' + label, 'Priority', (v) => startBulk({ act: 'priority', filter: { jids }, extra: { priority: numberOf('priority', v) ?? 0 } })),
    },
    { name: 'delete', label: 'Delete…', on: selected.every((j) => j.state === 'complete' || j.state === 'failed'), run: () => startBulk({ act: 'delete', filter: { jids } }) },
    {
      name: 'cancel', label: 'Cancel…', on: selected.every((j) => j.state !== 'complete'),
      run: () => confirm({ title: 'Cancel ' + plural(jids.length, 'job'), body: 'A canceled job is removed. Its worker is told.', verb: 'Cancel ' + plural(jids.length, 'job'), danger: true, act: () => api.cancel(jids).then(after), done: plural(jids.length, 'job') + ' canceled' }),
    },
  ]
  if (some) {
    return (
      <div class="bulk-bar on" role="group" aria-label="Acts on selected jobs">
        <b>{plural(jids.length, 'job')} selected</b>
        {acts.map((a) => <button key={a.name} type="button" disabled={!a.on} onClick={a.run}>{a.label}</button>)}
        <button type="button" class="plain" onClick={clear}>Clear</button>
      </div>
    )
  }
  const names: [BulkAct, string][] = [['retry', 'Run now…'], ['move', 'Move…'], ['tag', 'Tag…'], ['untag', 'Untag…'], ['priority', 'Priority…'], ['delete', 'Delete…'], ['cancel', 'Cancel…']]
  const offered = names.filter(([name]) => {
    if (name === 'retry') return filter?.state === 'failed' || filter?.state === 'scheduled' || filter?.group !== undefined
    if (name === 'delete') return filter?.state === 'complete' || filter?.state === 'failed'
    if (name === 'priority') return filter?.state !== 'complete' && filter?.state !== 'failed'
    if (name === 'cancel') return filter?.state !== 'complete'
    if (name === 'move') return filter?.state !== 'complete' && filter?.state !== 'running'
    return true
  })
  return (
    <div class="bulk-bar" role="group" aria-label="Acts on all matching jobs">
      <span class="dim">All {total === null ? 'that match' : plural(total, 'job')}:</span>
      {offered.map(([name, text]) => <button key={name} type="button" class="small" onClick={() => all(name)}>{text}</button>)}
    </div>
  )
}

function askWith(name: string, title: string, label: string, then: (value: string) => unknown): void {
  ask({
    title,
    verb: 'Go on',
    fields: [{ name, label, required: true }],
    act: async (values) => {
      const value = (values[name] ?? '').trim()
      if (!value) throw new FieldError(name, 'must not be empty')
      await then(value)
    },
  })
}
