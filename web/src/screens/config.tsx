// Options of the namespace.
import { settings } from '../api.ts'
import { reload, useLive } from '../live.ts'
import { ErrorNote, Head, Name, Skeleton } from '../parts/basics.tsx'
import { ask, confirm } from '../parts/dialog.tsx'
import { Table } from '../parts/table.tsx'
import { ns, param, setQuery } from '../route.ts'
import { can } from '../state.ts'

const ABOUT: Record<string, string> = {
  heartbeat: 'seconds that a lease lasts without a heartbeat; also QUEUE-heartbeat',
  'grace-period': 'seconds that a worker has left after its lease ran out',
  'jobs-history': 'seconds that complete jobs are kept',
  'jobs-history-count': 'complete jobs that are kept',
  'jobs-history-jids': 'ids of complete jobs that are remembered after the jobs are gone',
  'stats-history': 'days of statistics that are kept',
  'histogram-history': 'days of histograms that are kept',
  'max-worker-age': 'seconds after which a worker that was not seen is forgotten',
  'max-job-history': 'entries of the history that a job keeps',
  'max-job-log': 'lines of the log that a job keeps',
  'max-jobs': 'jobs that the namespace may hold; 0: any number; also QUEUE-max-jobs',
  'max-bytes': 'bytes that jobs may take; 0: any number; also QUEUE-max-bytes',
  'max-queues': 'queues that may exist; 0: any number',
  'max-recurring': 'recurring jobs that may exist; 0: any number',
  'max-tags': 'tags that a job may have',
  'max-depends': 'jobs that a job may depend on',
  'max-dependents': 'jobs that may depend on one job',
  'max-dependency-search': 'jobs that are searched for a cycle',
  'max-limit-patterns': 'limits with a pattern that may exist',
  'max-promise-bytes': 'bytes of locks and results of jobs that are gone; 0: any number',
  'min-interval': 'seconds between runs of a recurring job, at the least',
  'missed-after': 'seconds after which a run of a recurring job counts as missed',
  'rate-catch-up': 'part of a rate that may be used up again after a stall',
}

function about(option: string): string {
  if (option.startsWith('x-')) return 'an option of your own'
  const own = ABOUT[option]
  if (own) return own
  const words: Record<string, string> = { heartbeat: 'seconds that a lease lasts', 'max-concurrency': 'jobs that may run at a time', fair: 'whether lanes take turns', 'max-jobs': 'jobs that the queue may hold', 'max-bytes': 'bytes that the queue may hold' }
  for (const [end, what] of Object.entries(words)) if (option.endsWith('-' + end)) return 'of the queue ' + option.slice(0, -end.length - 1) + ': ' + what
  return ''
}

function edit(option: string | null, value: string): void {
  ask({
    title: option ?? 'Set an option',
    intro: option ? <p class="dim">{about(option)}</p> : undefined,
    fields: [
      ...(option ? [] : [{ name: 'option', label: 'Option', required: true, hint: 'One of the list, QUEUE-heartbeat and such, or x-NAME', list: Object.keys(ABOUT) }]),
      { name: 'value', label: 'Value', value, required: true },
    ],
    verb: 'Set',
    act: async (v) => {
      await settings.set(option ?? (v['option'] ?? '').trim(), v['value'] ?? '')
      reload()
    },
    done: 'The option is in effect',
  })
}

export function Config() {
  const find = param('find')
  const { data, error, again } = useLive('config', (signal) => settings.config(signal), 2000)
  const operates = can('operate')
  const head = (
    <Head title="Config" lead={<>Options of the namespace <b><bdi>{ns.value}</bdi></b></>}>
      <label class="filter"><span class="hidden">Filter by name</span><input type="search" placeholder="Filter by name" value={find} onInput={(e) => setQuery({ find: e.currentTarget.value || null })} /></label>
      {operates && <button type="button" class="primary" onClick={() => edit(null, '')}>Set an option</button>}
    </Head>
  )
  if (error && !data) return <>{head}<ErrorNote error={error} again={again} /></>
  if (!data) return <>{head}<Skeleton rows={10} /></>
  const rows = Object.entries(data).filter(([name]) => name.includes(find)).map(([name, value]) => ({ name, value: value ?? '' }))
  return (
    <>
      {head}
      <Table caption="Options" rows={rows} rowKey={(o) => o.name} noun="option" columns={[
        { name: 'Option', head: 'Option', cell: (o) => <bdi class="mono">{o.name}</bdi> },
        { name: 'Value', head: 'Value', num: true, cell: (o) => <span class="num"><Name text={o.value} /></span> },
        { name: 'Meaning', head: 'Meaning', wide: true, cell: (o) => <span class="dim">{about(o.name)}</span>, empty: (o) => about(o.name) === '' },
      ]} acts={operates ? (o) => (
        <>
          <button type="button" class="small" aria-label={'Set… ' + o.name} onClick={() => edit(o.name, o.value)}>Set…</button>
          <button type="button" class="small" aria-label={'Unset… ' + o.name} onClick={() => confirm({ title: 'Unset ' + o.name, body: <p>Its default counts again.</p>, verb: 'Unset', act: () => settings.unset(o.name).then(reload), done: 'The default counts again' })}>Unset…</button>
        </>
      ) : undefined as never} />
    </>
  )
}
