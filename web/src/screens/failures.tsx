// Failed jobs by group, and the jobs of one group.
import { useState } from 'preact/hooks'
import { failures, jobs } from '../api.ts'
import { count, plural } from '../format.ts'
import { useLive } from '../live.ts'
import { Ago, Count, Empty, ErrorNote, Head, Name, Shape, Skeleton } from '../parts/basics.tsx'
import { startBulk, type BulkAct } from '../parts/bulk.tsx'
import { ask } from '../parts/dialog.tsx'
import { columnsFor, JobTable } from '../parts/jobs-table.tsx'
import { CursorPager, Pager, Table, type Column } from '../parts/table.tsx'
import { param, setQuery, to } from '../route.ts'
import { can } from '../state.ts'
import type { FailureGroup as Group } from '../types.ts'

const PAGE = 50

function actOn(name: BulkAct, group: string): void {
  if (name !== 'move') return startBulk({ act: name, filter: { group, state: 'failed' } })
  ask({
    title: 'Move the failed jobs', verb: 'Go on',
    fields: [{ name: 'to', label: 'Queue', required: true, hint: 'They are put into this queue, to run again.' }],
    act: async (v) => startBulk({ act: 'move', filter: { group, state: 'failed' }, extra: { to: (v['to'] ?? '').trim() } }),
  })
}

function GroupActs({ group, small }: { group: string; small?: boolean }) {
  if (!can('operate')) return null
  const all: [BulkAct, string][] = [['retry', 'Retry all…'], ['move', 'Move all…'], ['cancel', 'Cancel all…']]
  return <>{all.map(([name, label]) => <button key={name} type="button" class={(small ? 'small ' : '') + (name === 'cancel' && !small ? 'danger-text' : name === 'retry' && !small ? 'primary' : '')} onClick={() => actOn(name, group)}>{label}</button>)}</>
}

export function Failures() {
  const offset = Number(param('offset')) || 0
  const { data, error, again } = useLive('failures\n' + offset, (signal) => failures.list({ offset, count: PAGE }, signal))
  const total = useLive('failed-count', (signal) => jobs.count({ state: 'failed' }, signal))
  const head = <Head title="Failures" lead={data && total.data !== undefined && `${plural(total.data, 'failed job')} in ${plural(data.total ?? data.failures.length, 'group')}`} />
  if (error && !data) return <>{head}<ErrorNote error={error} again={again} /></>
  if (!data) return <>{head}<Skeleton /></>
  if (data.failures.length === 0) {
    return <>{head}<Empty title="No job has failed"><p class="calm"><Shape of="ok" /> Jobs that fail are grouped here by the name that the worker gives with the failure, and stay until they are retried or canceled.</p></Empty></>
  }
  const rows = [...data.failures].sort((a, b) => (b.last ?? 0) - (a.last ?? 0) || b.count - a.count)
  const has = (name: keyof Group): boolean => rows.some((g) => g[name] != null)
  const columns: Column<Group>[] = [
    { name: 'Group', head: 'Group', cell: (g) => <a href={to(['failures', g.group])}><Name text={g.group} /></a> },
    { name: 'Jobs', head: 'Jobs', num: true, cell: (g) => <Count n={g.count} /> },
    ...(has('message') ? [{ name: 'Newest', head: 'Newest message', wide: true, cell: (g: Group) => <span class="two-lines"><bdi class="name">{g.message ?? ''}</bdi>{g.klass && <small class="dim"><bdi>{g.klass}</bdi></small>}</span> }] : []),
    ...(has('first') ? [{ name: 'First', head: 'First', cell: (g: Group) => <Ago at={g.first} /> }] : []),
    ...(has('last') ? [{ name: 'Last', head: 'Last', cell: (g: Group) => <Ago at={g.last} /> }] : []),
  ]
  return (
    <>
      {head}
      <Table key={offset} caption="Groups of failures" rows={rows} columns={columns} rowKey={(g) => g.group} rowHref={(g) => to(['failures', g.group])} noun="group"
        acts={can('operate') ? (g) => <GroupActs group={g.group} small /> : undefined as never} />
      <Pager offset={offset} size={PAGE} total={data.total ?? null} shown={data.failures.length} go={(o) => setQuery({ offset: o ? String(o) : null })} />
    </>
  )
}

export function FailureGroup({ name }: { name: string }) {
  const [seen, setSeen] = useState<string[]>([])
  const cursor = seen[seen.length - 1]
  const { data, error, again } = useLive('group\n' + name + '\n' + (cursor ?? ''), (signal) => failures.jobs(name, PAGE, cursor, signal))
  const newest = seen.length === 0 ? data?.jobs[0] : undefined
  return (
    <>
      <Head title={<Name text={name} />} crumbs={<a href={to(['failures'])}>Failures</a>} lead={data && data.total !== null && `${count(data.total)} failed`}>
        {data && data.jobs.length > 0 && <GroupActs group={name} />}
      </Head>
      {newest?.failure && <div class="why is-failed"><p><b>Newest message</b> <span class="dim"><Ago at={newest.failure.when} /></span></p><pre class="message">{newest.failure.message}</pre></div>}
      {error && !data ? <ErrorNote error={error} again={again} /> : !data ? <Skeleton rows={8} /> : data.jobs.length === 0 ? (
        <Empty title={`No job is failed in ${name}`}><p><a href={to(['failures'])}>All failures</a></p></Empty>
      ) : (
        <>
          <JobTable key={cursor} caption={'Jobs failed in ' + name} rows={data.jobs} columns={columnsFor('failed', false)} choice="jobs-failed" total={data.total} />
          <CursorPager seen={seen} next={data.next} go={setSeen} />
        </>
      )}
    </>
  )
}
