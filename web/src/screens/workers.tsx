// Workers, and one worker with the jobs that it holds.
import { useState } from 'preact/hooks'
import { jobs, workers } from '../api.ts'
import { plural, span } from '../format.ts'
import { reload, useLive } from '../live.ts'
import { Ago, Chip, Command, Count, Empty, ErrorNote, Facts, Head, Name, Panel, QueueLink, Skeleton, WorkerLink } from '../parts/basics.tsx'
import { confirm } from '../parts/dialog.tsx'
import { columnsFor, JobTable } from '../parts/jobs-table.tsx'
import { Pager, Table, type Column } from '../parts/table.tsx'
import { go, ns, param, setQuery, to } from '../route.ts'
import { can, now } from '../state.ts'
import type { Worker } from '../types.ts'

const PAGE = 50

function forget(names: string[], then: () => void): void {
  const what = names.length === 1 ? 'the worker' : plural(names.length, 'worker')
  confirm({
    title: 'Forget ' + what,
    body: <p>{names.length === 1 && <b><bdi>{names[0]} </bdi></b>}{names.length === 1 ? 'leaves the list until it pops again. What it holds it keeps.' : 'They leave the list until they pop again. What they hold they keep.'}</p>,
    verb: 'Forget',
    act: async () => {
      for (const name of names) await workers.forget(name)
      reload()
      then()
    },
    done: names.length === 1 ? 'The worker is forgotten' : plural(names.length, 'worker') + ' forgotten',
  })
}

function takeAway(names: string[], held: number, then: () => void): void {
  confirm({
    title: 'Take the leases away', affected: held, danger: true, verb: `Take ${plural(held, 'lease')} away`,
    body: <p>{names.length === 1 ? <b><bdi>{names[0]}</bdi></b> : plural(names.length, 'worker')} {names.length === 1 ? 'loses' : 'lose'} {plural(held, 'job')}; the next pop gets them. If a worker still runs its job, the job runs twice.</p>,
    act: async () => {
      for (const name of names) {
        for (;;) {
          const worker = await workers.get(name)
          const jids = worker.running.jobs.map((j) => j.jid)
          if (jids.length > 0) await jobs.timeout(jids)
          if (worker.running.total <= jids.length) break
        }
      }
      reload()
      then()
    },
    done: 'The leases are taken away',
  })
}

export function Status({ worker }: { worker: Pick<Worker, 'offline' | 'expired' | 'running'> }) {
  if (worker.expired > 0) return <Chip kind="warn">lease expired</Chip>
  if (worker.offline) return <Chip kind="plain">offline</Chip>
  return worker.running > 0 ? <Chip kind="running">busy</Chip> : <Chip kind="ok">idle</Chip>
}

export function Workers() {
  const offset = Number(param('offset')) || 0
  const [chosen, setChosen] = useState<Set<string>>(new Set())
  const { data, error, again } = useLive('workers\n' + offset, (signal) => workers.list({ offset, count: PAGE }, signal))
  const head = <Head title="Workers" lead={data && plural(data.total, 'worker')} />
  if (error && !data) return <>{head}<ErrorNote error={error} again={again} /></>
  if (!data) return <>{head}<Skeleton /></>
  if (data.workers.length === 0) {
    return <>{head}<Empty title="No worker has asked for a job yet"><p>Start one. It runs <code>./send</code> for each job of the queue:</p><Command text={`sluice work${ns.value === 'default' ? '' : ' --ns ' + ns.value} -q mail -- ./send`} /></Empty></>
  }
  const clear = (): void => setChosen(new Set())
  const held = data.workers.reduce((n, w) => n + (chosen.has(w.worker) ? w.running : 0), 0)
  const has = (name: keyof Worker): boolean => data.workers.some((w) => w[name] != null)
  const columns: Column<Worker>[] = [
    { name: 'Worker', head: 'Worker', cell: (w) => <WorkerLink worker={w.worker} /> },
    { name: 'Status', head: 'Status', cell: (w) => <Status worker={w} /> },
    ...(has('queues') ? [{ name: 'Queues', head: 'Queues', cell: (w: Worker) => <span class="tags">{(w.queues ?? []).slice(0, 3).map((q) => <QueueLink key={q} queue={q} />)}{(w.queue_count ?? 0) > 3 && <span class="dim">+{(w.queue_count ?? 0) - 3}</span>}</span> }] : []),
    { name: 'Running', head: 'Running', num: true, cell: (w) => <Count n={w.running} /> },
    { name: 'Expired', head: 'Lease expired', num: true, cell: (w) => <Count n={w.expired} />, empty: (w) => w.expired === 0 },
    ...(has('done') ? [{ name: 'Done', head: 'Jobs done', num: true, cell: (w: Worker) => <Count n={w.done} /> }] : []),
    { name: 'Host', head: 'Host', cell: (w) => (w.host ? <span class="mono"><bdi>{w.host}</bdi>{w.pid != null && <span class="dim"> pid {w.pid}</span>}</span> : <span class="dim">–</span>), empty: (w) => !w.host },
    { name: 'Seen', head: 'Seen', cell: (w) => <Ago at={w.seen} /> },
    { name: 'Up', head: 'Listening for', num: true, cell: (w) => (w.started && !w.offline ? <span class="num">{span(now.value - w.started)}</span> : <span class="dim">–</span>), empty: (w) => !w.started || w.offline },
  ]
  return (
    <>
      {head}
      {can('operate') && chosen.size === 0 && <p class="bulk-bar dim">Select workers to act on them.</p>}
      {chosen.size > 0 && (
        <div class="bulk-bar on" role="group" aria-label="Acts on selected workers">
          <b>{plural(chosen.size, 'worker')} selected</b>
          <button type="button" disabled={held === 0} onClick={() => takeAway([...chosen], held, clear)}>Take the leases away…</button>
          <button type="button" onClick={() => forget([...chosen], clear)}>Forget…</button>
          <button type="button" class="plain" onClick={clear}>Clear</button>
        </div>
      )}
      <Table key={offset} caption="Workers" rows={data.workers} columns={columns} rowKey={(w) => w.worker} rowHref={(w) => to(['workers', w.worker])} noun="worker"
        selection={can('operate') ? { keys: chosen, set: setChosen } : undefined} />
      <Pager offset={offset} size={PAGE} total={data.total} shown={data.workers.length} go={(o) => setQuery({ offset: o ? String(o) : null })} />
    </>
  )
}

export function WorkerScreen({ name }: { name: string }) {
  const { data, error, again } = useLive('worker\n' + name, (signal) => workers.get(name, signal))
  const crumbs = <a href={to(['workers'])}>Workers</a>
  if (error && !data) return <><Head title={<Name text={name} />} crumbs={crumbs} /><ErrorNote error={error} again={again} /></>
  if (!data) return <><Head title={<Name text={name} />} crumbs={crumbs} /><Skeleton /></>
  const held = data.running.total
  const rows = data.running.jobs
  return (
    <>
      <Head title={<Name text={name} />} crumbs={crumbs} lead={<Status worker={{ offline: data.offline, expired: data.expired, running: data.running.total }} />}>
        {can('operate') && held > 0 && <button type="button" onClick={() => takeAway([name], held, () => {})}>Take the leases away…</button>}
        {can('operate') && <button type="button" onClick={() => forget([name], () => go(to(['workers'])))}>Forget…</button>}
      </Head>
      <Facts rows={[
        ['Queues', data.queues.length ? <span class="tags">{data.queues.map((q) => <QueueLink key={q} queue={q} />)}</span> : <span class="dim">none</span>],
        ['Address', <span class="mono"><bdi>{data.host ?? '–'}</bdi></span>],
        ['Seen', <Ago at={data.seen} />],
        ...(data.pid != null ? [['Process', <span class="num">{data.pid}</span>] as [string, preact.ComponentChild]] : []),
        ...(data.done !== undefined ? [['Jobs done', <Count n={data.done} zero="plain" />] as [string, preact.ComponentChild]] : []),
        ['Listening since', <Ago at={data.started} />],
        ['Running', <Count n={data.running.total} />],
        ['Lease expired', <Count n={data.expired} />],
      ]} />
      <Panel title="Jobs that it holds" flush>
        {rows.length === 0 ? <p class="calm">It holds no job.</p> : <JobTable caption={'Jobs of ' + name} rows={rows} columns={columnsFor('running', false)} choice="jobs-running" />}
        {held > rows.length && <p class="dim pad">The first {plural(rows.length, 'job')} of {held.toLocaleString('en-US')}.</p>}
      </Panel>
    </>
  )
}
