// The server: its version, memory, connections, the store, namespaces, users, and a backup.
import type { ComponentChildren } from 'preact'
import { server } from '../api.ts'
import { bytes, count, duration, span } from '../format.ts'
import { useLive } from '../live.ts'
import { Chip, Count, ErrorNote, Facts, Head, Name, Panel, Seconds, Skeleton } from '../parts/basics.tsx'
import { ask } from '../parts/dialog.tsx'
import { Table } from '../parts/table.tsx'
import { formatHash } from '../route.ts'
import { canServer } from '../state.ts'
import { STATES } from '../types.ts'

type Row = [string, ComponentChildren]

function backup(): void {
  ask({
    title: 'Back up', verb: 'Back up',
    intro: <p class="dim">The server writes a complete copy of the store while it goes on working.</p>,
    fields: [{ name: 'path', label: 'Folder on the server', required: true, hint: 'An absolute path that does not exist yet' }],
    act: (v) => server.backup((v['path'] ?? '').trim()),
    done: (v) => 'The backup is in ' + v['path'],
  })
}

const Part = ({ of, whole, label }: { of: number; whole: number; label: string }) => (
  <span class="bar"><progress max={whole || 1} value={of} aria-label={label} /><span class="num" title={of + ' of ' + whole + ' bytes'}>{bytes(of)}{whole > 0 && ' of ' + bytes(whole)}</span></span>
)

const Bytes = ({ n }: { n: number }) => <span class="num" title={count(n) + ' bytes'}>{bytes(n)}</span>

export function Server() {
  const spaces = useLive('namespaces', server.namespaces, 2000)
  const { data, error } = useLive('figures', server.figures, 2000)
  const head = <Head title="Server">{canServer() && <button type="button" onClick={backup}>Back up…</button>}</Head>
  const inside = data?.inside
  const store = data?.store
  return (
    <>
      {head}
      {error && !data && <ErrorNote error={error} />}
      {!data && !error && <Skeleton />}
      {data && store && (
        <div class="grid three">
          <Panel title="Process">
            <Facts rows={[
              ['Version', data.version],
              ['Up for', <span class="num" title={data.uptime + ' s'}>{span(data.uptime)}</span>],
              ...(inside ? [
                ...(inside.process_id ? [['Process', <span class="num">{inside.process_id}</span>] as Row] : []),
                ...(inside.process_id ? [['Config file', inside.config_file ? <bdi class="mono">{inside.config_file}</bdi> : <span class="dim">none</span>] as Row] : []),
                ['Resident memory', <Bytes n={inside.resident_bytes} />] as Row,
                ['Commands', <Count n={inside.commands} />] as Row,
                ['Errors', <Count n={inside.errors} />] as Row,
                ['Turn of the loop', <span class="num">p50 {duration(inside.loop.p50)}, p99 {duration(inside.loop.p99)}</span>] as Row,
                ['Longest turn', <Seconds s={inside.loop.max} />] as Row,
              ] : []),
            ]} />
          </Panel>
          <Panel title="Memory and connections">
            <Facts rows={[
              ['Memory used', <Part of={data.memory.used} whole={data.memory.limit} label="Memory used" />],
              ['Connections', <span class="num">{count(data.connections.open)} of {count(data.connections.limit)}</span>],
              ['Waiting for jobs', <Count n={data.connections.waiting} />],
              ['Listening to events', <Count n={data.connections.listening} />],
              ...(inside ? [
                ['Rejected', <Count n={inside.connections_rejected} />] as Row,
                ['Received', <Bytes n={inside.input_bytes} />] as Row,
                ['Sent', <Bytes n={inside.output_bytes} />] as Row,
              ] : []),
            ]} />
          </Panel>
          <Panel title="Store">
            <Facts rows={[
              ['State', <><Chip kind={store.state === 'ready' ? 'ok' : 'warn'}>{store.state}</Chip>{store.reason && <> {store.reason}</>}{store.hint && <span class="dim"> {store.hint}</span>}</>],
              ...(data.durability ? [['Durability', data.durability] as Row] : []),
              ...(inside ? [
                ['Base', <Bytes n={inside.store.base_bytes} />] as Row,
                ['of it live', <Bytes n={inside.store.base_live_bytes} />] as Row,
                ['Journal', <Bytes n={inside.store.journal_bytes} />] as Row,
                ['Free on the volume', <Bytes n={inside.store.volume_free_bytes} />] as Row,
                ['Commit groups', <><Count n={inside.store.groups} /> <span class="dim num">({count(inside.store.groups_behind)} behind)</span></>] as Row,
                ['Longest sync', <Seconds s={inside.store.sync_max} />] as Row,
              ] : []),
            ]} />
          </Panel>
        </div>
      )}
      <Panel title="Namespaces" flush>
        {spaces.data ? (
          <Table caption="Namespaces" rows={spaces.data} rowKey={(s) => s.name} rowHref={(s) => formatHash(s.name, [])} noun="namespace" columns={[
            { name: 'Namespace', head: 'Namespace', cell: (s) => <><a href={formatHash(s.name, [])}><Name text={s.name} /></a> {s.qless && <span class="tag">qless</span>}</> },
            { name: 'Clock', head: 'Clock', cell: (s) => s.clock },
            { name: 'Queues', head: 'Queues', num: true, cell: (s) => <Count n={s.queues} /> },
            ...STATES.map((st) => ({ name: st[0]?.toUpperCase() + st.slice(1), head: st[0]?.toUpperCase() + st.slice(1), num: true, cell: (s: { jobs: Record<string, number> }) => <Count n={s.jobs[st]} />, empty: (s: { jobs: Record<string, number> }) => !s.jobs[st] })),
            { name: 'Clients waiting', head: 'Clients waiting', num: true, cell: (s) => <Count n={s.clients_waiting} /> },
          ]} />
        ) : spaces.error ? <ErrorNote error={spaces.error} /> : <Skeleton rows={3} />}
      </Panel>
      {data && <p class="dim">All figures: <a href="metrics">/metrics</a>. The API: <a href="v1/openapi.json">openapi.json</a>.</p>}
    </>
  )
}
