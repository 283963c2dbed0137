// Jobs that are tracked, with those that are gone.
import { jobs } from '../api.ts'
import { plural } from '../format.ts'
import { reload, useLive } from '../live.ts'
import { Ago, Bar, Chip, Command, Empty, ErrorNote, Head, JobLink, Name, QueueLink, Skeleton } from '../parts/basics.tsx'
import { Table } from '../parts/table.tsx'
import { act } from '../parts/toast.tsx'
import { toJob } from '../route.ts'
import { can } from '../state.ts'

export function Tracked() {
  const { data, error, again } = useLive('tracked', (signal) => jobs.tracked(signal))
  const head = <Head title="Tracked" lead={data && plural(data.total, 'tracked job')} />
  if (error && !data) return <>{head}<ErrorNote error={error} again={again} /></>
  if (!data) return <>{head}<Skeleton /></>
  const untrack = (jid: string) => can('operate') && <button type="button" class="small" aria-label={'Untrack ' + jid} onClick={() => void act(() => jobs.untrack(jid).then(reload), 'No longer tracked')}>Untrack</button>
  if (data.jobs.length === 0 && data.gone.length === 0) return <>{head}<Empty title="No job is tracked"><p>Track a job from its page, or with the tool. Tracked jobs send an event for everything that happens to them.</p><Command text="sluice track JID" /></Empty></>
  return (
    <>
      {head}
      {data.jobs.length > 0 && <Table caption="Tracked jobs" rows={data.jobs} rowKey={(j) => j.jid} rowHref={(j) => toJob(j.jid)} noun="job" columns={[
        { name: 'Job', head: 'Job', cell: (j) => <JobLink jid={j.jid} /> },
        { name: 'State', head: 'State', cell: (j) => <Chip kind={j.state} /> },
        { name: 'Klass', head: 'Klass', cell: (j) => <Name text={j.klass} /> },
        { name: 'Queue', head: 'Queue', cell: (j) => <QueueLink queue={j.queue} /> },
        { name: 'Progress', head: 'Progress', cell: (j) => (j.progress ? <Bar part={j.progress.fraction} label={'Progress of ' + j.jid} /> : <span class="dim">–</span>), empty: (j) => !j.progress },
        { name: 'Changed', head: 'Changed', cell: (j) => <Ago at={j.updated} /> },
      ]} acts={(j) => untrack(j.jid)} />}
      {data.gone.length > 0 && <><h2 class="section">Gone</h2><ul class="jid-list">{data.gone.map((jid) => <li key={jid}><bdi class="mono">{jid}</bdi> {untrack(jid)}</li>)}</ul></>}
    </>
  )
}
