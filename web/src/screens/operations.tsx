// Acts on many jobs, under way and done, and the audit log.
import { bulk, server } from '../api.ts'
import { count, plural } from '../format.ts'
import { Problem } from '../http.ts'
import { reload, useLive } from '../live.ts'
import { Ago, Bar, Chip, Count, Empty, ErrorNote, Head, Name, Skeleton } from '../parts/basics.tsx'
import { Table } from '../parts/table.tsx'
import { act } from '../parts/toast.tsx'
import { param, setQuery } from '../route.ts'
import { can } from '../state.ts'
import type { AuditEntry, Operation } from '../types.ts'

const dash = <span class="dim">–</span>

function filterText(op: Operation): string {
  const { jids, ...filter } = op.filter ?? {}
  const parts = Object.entries(filter)
    .filter(([, v]) => v !== null && v !== false && v !== undefined && !(Array.isArray(v) && v.length === 0))
    .map(([k, v]) => `${k} ${Array.isArray(v) ? v.join(', ') : String(v)}`)
  if (typeof jids === 'number' && jids > 0) parts.unshift(plural(jids, 'chosen job'))
  if (op.to) parts.push('to ' + op.to)
  if (op.tags?.length) parts.push('tags ' + op.tags.join(', '))
  if (op.priority != null) parts.push('priority ' + op.priority)
  return parts.join('; ') || 'all jobs'
}

function Bulk() {
  const { data, error, again } = useLive('bulk', (signal) => bulk.list(signal))
  if (error && !data) return <ErrorNote error={error} again={again} />
  if (!data) return <Skeleton />
  if (data.length === 0) return <Empty title="No bulk operation yet"><p>Select jobs, or filter them and act on all that match: on the pages of jobs, queues and failures. Each act begins with a dry run.</p></Empty>
  const rows = [...data].reverse()
  const status = (o: Operation) => (o.stopped ? <Chip kind="warn">stopped</Chip> : o.done ? <Chip kind="ok">done</Chip> : <Chip kind="running">under way</Chip>)
  return (
    <Table caption="Bulk operations" rows={rows} rowKey={(o) => String(o.id)} noun="operation" columns={[
      { name: 'Operation', head: 'Operation', cell: (o) => <><b>{o.act}</b> <span class="dim num">{o.dry_run ? `dry run ${o.id}` : o.as ? `of dry run ${o.as}` : ''}</span></> },
      { name: 'Status', head: 'Status', cell: status },
      ...(rows.some((o) => o.filter) ? [{ name: 'Filter', head: 'Filter', wide: true, cell: (o: Operation) => <Name text={filterText(o)} /> }] : []),
      ...(rows.some((o) => o.user !== undefined) ? [{ name: 'User', head: 'User', cell: (o: Operation) => (o.user ? <Name text={o.user} /> : dash) }] : []),
      { name: 'Began', head: 'Began', cell: (o) => <Ago at={o.began} /> },
      { name: 'Looked at', head: 'Looked at', num: true, cell: (o) => <Count n={o.looked_at} /> },
      { name: 'Matched', head: 'Matched', num: true, cell: (o) => <Count n={o.matched} /> },
      { name: 'Changed', head: 'Changed', num: true, cell: (o) => <>{!o.done && o.matched > 0 ? <Bar part={o.changed / o.matched} label="Progress" /> : <Count n={o.changed} />}</> },
    ]} acts={can('operate') && rows.some((o) => !o.done) ? (o) => !o.done && <button type="button" class="small" onClick={() => void act(() => bulk.stop(o.id).then(reload), 'Stopped')}>Stop</button> : undefined as never} />
  )
}

const KINDS = ['', 'act', 'denied', 'login']

function Audit() {
  const kind = param('kind')
  const before = param('before')
  const { data, error, again } = useLive('audit\n' + kind + '\n' + before, (signal) => server.audit({ count: 50, kind: kind || undefined, before: before || undefined }, signal), 2000)
  if (error && !data) {
    const denied = error instanceof Problem && error.status === 403
    return denied ? <Empty title="Your user may not read the audit log"><p>That needs the right <code>*:admin</code>.</p></Empty> : <ErrorNote error={error} again={again} />
  }
  if (!data) return <Skeleton rows={10} />
  const last = data[data.length - 1]
  return (
    <>
      <div class="row-line">
        <label>Kind <select value={kind} onChange={(e) => setQuery({ kind: e.currentTarget.value || null, before: null })}>{KINDS.map((k) => <option key={k} value={k}>{k || 'all'}</option>)}</select></label>
        {before && <button type="button" class="small" onClick={() => setQuery({ before: null })}>Newest</button>}
      </div>
      {data.length === 0 ? <Empty title="No entries" /> : (
        <Table caption="Audit log" rows={data} rowKey={(e) => String(e.id)} noun="entry" columns={[
          { name: 'When', head: 'When', cell: (e) => <Ago at={e.at} /> },
          { name: 'User', head: 'User', cell: (e) => (e.user ? <Name text={e.user} /> : dash), empty: (e) => !e.user },
          { name: 'Command', head: 'Command', cell: (e) => <span class="mono">{e.command}</span> },
          { name: 'Namespace', head: 'Namespace', cell: (e) => (e.namespace ? <Name text={e.namespace} /> : dash) },
          { name: 'Arguments', head: 'Arguments', wide: true, cell: (e: AuditEntry) => <bdi class="mono name" title={e.arguments}>{e.arguments}</bdi> },
          { name: 'Outcome', head: 'Outcome', cell: (e) => (e.outcome === 'ok' ? <Chip kind="ok" /> : <Chip kind="warn"><bdi>{e.outcome}</bdi></Chip>) },
          { name: 'Address', head: 'Address', cell: (e) => <span class="mono dim"><bdi>{e.address ?? '–'}</bdi></span> },
        ]} />
      )}
      {last && data.length === 50 && <nav class="pager" aria-label="Pages"><button type="button" onClick={() => setQuery({ before: String(last.id) })}>Older than entry {count(last.id)}</button></nav>}
    </>
  )
}

export function Operations() {
  const view = param('view') || 'bulk'
  return (
    <>
      <Head title="Operations" />
      <div class="tabs views" role="group" aria-label="View">
        <button type="button" aria-pressed={view === 'bulk'} onClick={() => setQuery({ view: null, kind: null, before: null })}>Bulk operations</button>
        <button type="button" aria-pressed={view === 'audit'} onClick={() => setQuery({ view: 'audit' })}>Audit log</button>
      </div>
      {view === 'audit' ? <Audit /> : <Bulk />}
    </>
  )
}
