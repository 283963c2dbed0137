// Jobs that are tracked, with those that are gone.
import { jobs } from '../api.ts'
import { count, plural } from '../format.ts'
import { reload, useLive } from '../live.ts'
import { Ago, Bar, Chip, Command, Empty, ErrorNote, Head, JobLink, Name, QueueLink, Skeleton } from '../parts/basics.tsx'
import { Pager, Table } from '../parts/table.tsx'
import { act } from '../parts/toast.tsx'
import { param, setQuery, toJob } from '../route.ts'
import { can } from '../state.ts'
import { STATES, type Job } from '../types.ts'

const PAGE = 100

export function Tracked() {
  const offset = Number(param('offset')) || 0
  const state = param('state')
  const { data, error, again } = useLive('tracked\n' + offset, (signal) => jobs.tracked({ offset, count: PAGE }, signal))
  const head = <Head title="Tracked" lead={data && plural(data.total, 'tracked job')} />
  if (error && !data) return <>{head}<ErrorNote error={error} again={again} /></>
  if (!data) return <>{head}<Skeleton /></>
  const untrack = (jid: string) => can('operate') && <button type="button" class="small" aria-label={'Untrack ' + jid} onClick={() => void act(() => jobs.untrack(jid).then(reload), 'No longer tracked')}>Untrack</button>
  if (data.jobs.length === 0 && data.gone.length === 0 && offset === 0) return <>{head}<Empty title="No job is tracked"><p>Track a job from its page, or with the tool. Tracked jobs send an event for everything that happens to them.</p><Command text="sluice track JID" /></Empty></>
  const rows = state ? data.jobs.filter((j) => j.state === state) : data.jobs
  const known = data.jobs.length + data.gone.length
  return (
    <>
      {head}
      <div class="tabs" role="group" aria-label="State">
        <button type="button" aria-pressed={state === ''} onClick={() => setQuery({ state: null })}>Any <span class="num">{count(data.jobs.length)}</span></button>
        {STATES.map((s) => <button key={s} type="button" aria-pressed={state === s} onClick={() => setQuery({ state: s })}><Chip kind={s} /><span class="num">{count(data.jobs.filter((j) => j.state === s).length)}</span></button>)}
      </div>
      {rows.length === 0 && data.jobs.length > 0 && <Empty title={`No tracked job is ${state}`} />}
      {rows.length > 0 && <Table key={state + offset} caption="Tracked jobs" rows={rows} rowKey={(j) => j.jid} rowHref={(j) => toJob(j.jid)} noun="job" columns={[
        { name: 'Job', head: 'Job', cell: (j) => <JobLink jid={j.jid} /> },
        { name: 'State', head: 'State', cell: (j) => <Chip kind={j.state} /> },
        { name: 'Klass', head: 'Klass', cell: (j) => <Name text={j.klass} /> },
        { name: 'Queue', head: 'Queue', cell: (j) => <QueueLink queue={j.queue} /> },
        { name: 'Progress', head: 'Progress', cell: (j) => (j.progress ? <Bar part={j.progress.fraction} label={'Progress of ' + j.jid} /> : <span class="dim">–</span>), empty: (j) => !j.progress },
        { name: 'Changed', head: 'Changed', cell: (j: Job) => <Ago at={j.updated} /> },
      ]} acts={(j) => untrack(j.jid)} />}
      {data.gone.length > 0 && !state && <><h2 class="section">Gone</h2><ul class="jid-list">{data.gone.map((jid) => <li key={jid}><bdi class="mono">{jid}</bdi> {untrack(jid)}</li>)}</ul></>}
      <Pager offset={offset} size={PAGE} total={data.total} shown={known} go={(o) => setQuery({ offset: o ? String(o) : null })} />
    </>
  )
}
