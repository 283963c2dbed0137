// Recurring jobs: when they ran and will run, and a form with a preview of the next runs.
import { useEffect, useState } from 'preact/hooks'
import { recurring } from '../api.ts'
import { duration, plural, stamp } from '../format.ts'
import { Problem } from '../http.ts'
import { compact, format, parse, rawMember } from '../json.ts'
import { reload, useLive } from '../live.ts'
import { Ago, Chip, Command, Count, Empty, ErrorNote, Facts, Head, Name, Panel, QueueLink, Skeleton, Stamp, TagLink } from '../parts/basics.tsx'
import { ask, confirm, FieldError, type Values } from '../parts/dialog.tsx'
import { bodyWith, jsonOf, listOf, numberOf, secondsOf } from '../parts/put.tsx'
import { Pager, Table } from '../parts/table.tsx'
import { act } from '../parts/toast.tsx'
import { Tree } from '../parts/tree.tsx'
import { go, param, setQuery, to, toJob } from '../route.ts'
import { can, now, utc } from '../state.ts'
import type { Recurring } from '../types.ts'

const PAGE = 50
const schedule = (r: Recurring): string => (r.cron ? r.cron + (r.zone ? ' ' + r.zone : ' UTC') : 'every ' + duration(r.interval))

export function RecurringTable({ rows }: { rows: Recurring[] }) {
  return (
    <Table caption="Recurring jobs" rows={rows} rowKey={(r) => r.jid} rowHref={(r) => to(['recurring', r.jid])} noun="recurring job" columns={[
      { name: 'Name', head: 'Name', cell: (r) => <><a href={to(['recurring', r.jid])}><Name text={r.jid} /></a> {r.paused && <Chip kind="paused" />}</> },
      { name: 'Klass', head: 'Klass', cell: (r) => <Name text={r.klass} /> },
      { name: 'Queue', head: 'Queue', cell: (r) => <QueueLink queue={r.queue} /> },
      { name: 'Schedule', head: 'Schedule', cell: (r) => <bdi class="mono">{schedule(r)}</bdi> },
      ...(rows.some((r) => r.last !== undefined) ? [{ name: 'Last', head: 'Last run', cell: (r: Recurring) => <Ago at={r.last} none="never" /> }] : []),
      { name: 'Next', head: 'Next run', cell: (r) => (r.paused ? <span class="dim">paused</span> : <span class="two-lines" title={r.runs?.map((t) => stamp(t, utc.value)).join('\n')}><Ago at={r.next} /><small class="dim"><Stamp at={r.next} /></small></span>) },
      { name: 'Runs', head: 'Runs', num: true, cell: (r) => <Count n={r.count} /> },
    ]} acts={(r) => can('operate', r.queue) && <RowActs job={r} />} />
  )
}

function RowActs({ job }: { job: Recurring }) {
  return (
    <>
      {job.paused !== undefined && <button type="button" class="small" aria-label={'Run now: ' + job.jid} onClick={() => runNow(job)}>Run now</button>}
      {job.paused !== undefined && <button type="button" class="small" aria-label={(job.paused ? 'Resume ' : 'Pause ') + job.jid} onClick={() => toggle(job)}>{job.paused ? 'Resume' : 'Pause'}</button>}
    </>
  )
}

function toggle(job: Recurring): void {
  void act(() => (job.paused ? recurring.resume(job.jid) : recurring.pause(job.jid)).then(reload), job.jid + (job.paused ? ' goes on' : ' is paused'))
}

function runNow(job: Recurring): void {
  void act(async () => {
    const made = await recurring.run(job.jid)
    reload()
    if (made?.jid) go(toJob(made.jid))
  }, job.jid + ' was put into ' + job.queue)
}

export function RecurringList() {
  const offset = Number(param('offset')) || 0
  const { data, error, again } = useLive('recurring\n' + offset, (signal) => recurring.list({ offset, count: PAGE }, signal))
  const head = (
    <Head title="Recurring" lead={data && plural(data.total, 'recurring job')}>
      {can('operate') && <button type="button" class="primary" onClick={() => edit(null, '{}')}>New</button>}
    </Head>
  )
  if (error && !data) return <>{head}<ErrorNote error={error} again={again} /></>
  if (!data) return <>{head}<Skeleton /></>
  if (data.jobs.length === 0) return <>{head}<Empty title="No job recurs yet"><p>A recurring job puts a job into a queue, by an interval or a cron expression in any time zone:</p><Command text={`sluice recur reports Nightly '{}' --jid nightly --cron '0 3 * * *' --zone Europe/Berlin`} /></Empty></>
  return (
    <>
      {head}
      <RecurringTable rows={data.jobs.slice(0, PAGE)} />
      <Pager offset={offset} size={PAGE} total={data.total} shown={Math.min(PAGE, data.jobs.length)} go={(o) => setQuery({ offset: o ? String(o) : null })} />
    </>
  )
}

// The next runs of what is typed into the form.
function Preview({ values }: { values: Values }) {
  const [runs, setRuns] = useState<number[] | string>([])
  const { cron = '', zone = '', interval = '' } = values
  useEffect(() => {
    let gone = false
    const wait = setTimeout(async () => {
      if (cron.trim()) {
        try {
          const next = await recurring.preview(cron.trim(), zone.trim())
          if (!gone) setRuns(next)
        } catch (error) {
          if (!gone) setRuns((error as Error).message)
        }
      } else {
        const s = Number(interval)
        setRuns(s > 0 ? Array.from({ length: 5 }, (_, i) => now.peek() + (i + 1) * s) : [])
      }
    }, 250)
    return () => {
      gone = true
      clearTimeout(wait)
    }
  }, [cron, zone, interval])
  return (
    <div aria-live="polite">
      <b>Next runs</b>
      {typeof runs === 'string' ? <p class="field-error">{runs}</p> : runs.length === 0 ? <p class="dim">An interval or a cron expression is needed.</p> : (
        <ol class="plain-list">{runs.map((r) => <li key={r} class="num">{stamp(r, utc.value)} <span class="dim">(<Ago at={r} />)</span></li>)}</ol>
      )}
    </div>
  )
}

function edit(old: Recurring | null, data: string): void {
  ask({
    title: old ? 'Edit ' + old.jid : 'New recurring job',
    wide: true,
    verb: old ? 'Set' : 'Make',
    fields: [
      ...(old ? [] : [{ name: 'jid', label: 'Name', required: true, hint: 'Its id; the jobs that it makes have ids of their own.' }]),
      { name: 'queue', label: 'Queue', value: old?.queue ?? '', required: true },
      { name: 'klass', label: 'Klass', value: old?.klass ?? '', required: true },
      { name: 'cron', label: 'Cron expression', value: old?.cron ?? '', placeholder: '0 3 * * *', hint: '[second] minute hour day month weekday, or @daily and such' },
      { name: 'zone', label: 'Time zone', value: old?.zone ?? '', placeholder: 'UTC', list: ['UTC', Intl.DateTimeFormat().resolvedOptions().timeZone, 'Europe/Berlin', 'Europe/London', 'America/New_York', 'Asia/Tokyo'] },
      { name: 'interval', label: 'Or interval', value: old?.interval ? String(old.interval) : '', placeholder: 'none', hint: 'Seconds, or such as 5m, 2h; instead of cron' },
      { name: 'data', label: 'Data', kind: 'area', value: data, hint: 'JSON' },
      { name: 'missed', label: 'Missed runs', kind: 'select', value: old?.missed ?? 'one', options: [['one', 'one: run once for all that were missed'], ['all', 'all: run each of them'], ['skip', 'skip: run none of them']] },
      { name: 'overlap', label: 'While the last run is not finished', kind: 'select', value: old?.overlap ?? 'allow', options: [['allow', 'allow: run all the same'], ['skip', 'skip: leave that run out']] },
      { name: 'priority', label: 'Priority', kind: 'number', value: old?.priority ? String(old.priority) : '', placeholder: '0' },
      { name: 'retries', label: 'Retries', kind: 'number', value: old ? String(old.retries) : '', placeholder: '5' },
      { name: 'tags', label: 'Tags', value: old?.tags.join(', ') ?? '', hint: 'Separated by commas' },
    ],
    preview: (values) => <Preview values={{ ...values, interval: values['interval'] ? String(trySeconds(values['interval'])) : '' }} />,
    act: async (v) => {
      const cron = (v['cron'] ?? '').trim()
      const interval = secondsOf('interval', v['interval'] ?? '')
      if (!cron && interval === undefined) throw new FieldError('cron', 'a cron expression or an interval is needed')
      if (cron && interval !== undefined) throw new FieldError('interval', 'must be empty when there is a cron expression')
      const jid = old?.jid ?? (v['jid'] ?? '').trim()
      const json = jsonOf('data', v['data'] ?? '')
      const members: Members = {
        queue: v['queue'], klass: v['klass'], cron: cron || undefined, zone: (v['zone'] ?? '').trim(), interval,
        missed: v['missed'], overlap: v['overlap'], priority: numberOf('priority', v['priority'] ?? '') ?? (old ? 0 : undefined), retries: numberOf('retries', v['retries'] ?? ''),
      }
      if (old) await change(old, members, json === compact(parse(data)) ? null : json, listOf(v['tags'] ?? ''))
      else await recurring.set(jid, bodyWith({ ...members, zone: (cron && members.zone) || undefined, tags: listOf(v['tags'] ?? '') }, 'data', json))
      reload()
      go(to(['recurring', jid]))
    },
    done: 'The recurring job is set',
  })
}

type Members = Partial<Record<'queue' | 'klass' | 'cron' | 'zone' | 'missed' | 'overlap', string | undefined>> & Partial<Record<'interval' | 'priority' | 'retries', number | undefined>>

// Sends what differs; the rest, also what the form does not show, stays as it was. `json` is null for the same data.
async function change(old: Recurring, members: Members, json: string | null, tags: string[]): Promise<void> {
  if (old.cron && members.interval !== undefined) {
    // The one change that PATCH does not know: from cron to an interval. Everything that was set is said again.
    const { zone: _, ...rest } = members
    const options = Object.fromEntries(Object.entries(old.options).filter(([, value]) => value !== null))
    await recurring.set(old.jid, bodyWith({ ...rest, ...options, backlog: old.missed === 'all' ? old.backlog : undefined, domain: old.domain ?? undefined, tags }, 'data', json ?? rawMember(await recurring.text(old.jid), 'data')))
    return
  }
  const differs = Object.entries(members).filter(([name, value]) => value !== undefined && value !== (old[name as keyof Members] ?? (name === 'zone' ? '' : null)))
  if (differs.length > 0 || json !== null) {
    const changed = Object.fromEntries(differs)
    await recurring.change(old.jid, json === null ? JSON.stringify(changed) : bodyWith(changed, 'data', json))
  }
  const added = tags.filter((tag) => !old.tags.includes(tag))
  if (added.length) await recurring.tag(old.jid, added)
  for (const tag of old.tags) if (!tags.includes(tag)) await recurring.untag(old.jid, tag)
}

function trySeconds(text: string): number {
  try {
    return secondsOf('interval', text) ?? NaN
  } catch {
    return NaN
  }
}

export function RecurringScreen({ name }: { name: string }) {
  const { data, error, again } = useLive('recurring-one\n' + name, async (signal) => {
    const [job, runs] = await Promise.all([recurring.get(name, signal), recurring.runs(name, 5, signal)])
    return { job, runs, data: rawMember(await recurring.text(name, signal), 'data') }
  }, 2000)
  const crumbs = <a href={to(['recurring'])}>Recurring</a>
  if (error && (!data || (error instanceof Problem && error.status === 404))) {
    const missing = error instanceof Problem && error.status === 404
    return <><Head title={<Name text={name} />} crumbs={crumbs} />{missing ? <Empty title={`There is no recurring job ${name}`} /> : <ErrorNote error={error} again={again} />}</>
  }
  if (!data) return <><Head title={<Name text={name} />} crumbs={crumbs} /><Skeleton /></>
  const { job, runs, data: text } = data
  const operates = can('operate', job.queue)
  return (
    <>
      <Head title={<Name text={job.jid} />} crumbs={crumbs} lead={<><Chip kind={job.paused ? 'paused' : 'recurring'}>{job.paused ? 'paused' : 'recurring'}</Chip> <bdi class="mono">{schedule(job)}</bdi></>}>
        {operates && job.paused !== undefined && <button type="button" class="primary" onClick={() => runNow(job)}>Run now</button>}
        {operates && job.paused !== undefined && <button type="button" onClick={() => toggle(job)}>{job.paused ? 'Resume' : 'Pause'}</button>}
        {operates && <button type="button" onClick={() => edit(job, format(parse(text)))}>Edit…</button>}
        {operates && <button type="button" class="danger-text" onClick={() => confirm({ title: 'Remove the recurring job', body: <p>The jobs that it has made stay.</p>, verb: 'Remove', danger: true, act: () => recurring.remove(job.jid).then(() => go(to(['recurring']))), done: 'The recurring job is removed' })}>Remove…</button>}
      </Head>
      <div class="grid job">
        <div class="column">
          <Panel title="Next runs">
            {runs.length === 0 ? <span class="dim">none</span> : <ol class="plain-list">{runs.map((r) => <li key={r}><Stamp at={r} /> <span class="dim">(<Ago at={r} />)</span></li>)}</ol>}
          </Panel>
          <Panel title="Data"><Tree text={text} /></Panel>
        </div>
        <div class="column">
          <Panel title="Recurring job">
            <Facts rows={[
              ['Klass', <Name text={job.klass} />],
              ['Queue', <QueueLink queue={job.queue} />],
              ['Zone', job.cron ? (job.zone ?? 'UTC') : <span class="dim">none</span>],
              ...(job.last !== undefined ? [['Last run', <Ago at={job.last} none="never" />] as [string, preact.ComponentChild]] : []),
              ['Runs so far', <Count n={job.count} zero="plain" />],
              ['Missed runs', { one: 'run once for all', all: 'run each', skip: 'are left out' }[job.missed] ?? job.missed],
              ['Overlap', { allow: 'allowed', skip: 'left out while the last run is not finished' }[job.overlap] ?? job.overlap],
              ['Priority', <span class="num">{job.priority}</span>],
              ['Retries', <span class="num">{job.retries}</span>],
              ['Tags', job.tags.length ? <span class="tags">{job.tags.map((t) => <TagLink key={t} tag={t} />)}</span> : <span class="dim">none</span>],
            ]} />
          </Panel>
        </div>
      </div>
    </>
  )
}
