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
import { STATES, type ServerFigures } from '../types.ts'

type Row = [string, ComponentChildren]

// Lines of /metrics that have no label of a namespace: name, or name{label="value"}, and a number.
export function parseMetrics(text: string): Map<string, number> {
  const all = new Map<string, number>()
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#') || line.includes('namespace="')) continue
    const space = line.lastIndexOf(' ')
    all.set(line.slice(0, space), Number(line.slice(space + 1)))
  }
  return all
}

// Servers without GET /v1/server: the same from /metrics, which only administrators may read.
function fromMetrics(all: Map<string, number>): ServerFigures {
  const n = (name: string): number => all.get(name) ?? 0
  const version = [...all.keys()].find((key) => key.startsWith('sluice_build_info')) ?? ''
  const turns = n('sluice_loop_turn_seconds_count')
  const mean = turns ? n('sluice_loop_turn_seconds_sum') / turns : 0
  return {
    version: /"([^"]*)"/.exec(version)?.[1] ?? '', time: 0, uptime: n('sluice_uptime_seconds'), stopping: false, durability: '',
    store: { state: ['ready', 'full', 'stuck', 'busy', 'failed'].find((s) => n(`sluice_store_state{state="${s}"}`) === 1) ?? 'ready', reason: null, hint: null },
    memory: { state: '', used: n('sluice_memory_used_bytes'), limit: n('sluice_memory_limit_bytes') },
    connections: { open: n('sluice_connections{protocol="resp"}') + n('sluice_connections{protocol="http"}'), limit: n('sluice_connections_limit'), waiting: n('sluice_connections_blocked'), listening: n('sluice_subscribers{to="events"}') },
    namespaces: n('sluice_namespaces'),
    inside: {
      process_id: 0, config_file: null, resident_bytes: n('process_resident_memory_bytes'),
      store: {
        groups: n('sluice_store_groups_total'), group_bytes: n('sluice_store_group_bytes_total'), syncs: n('sluice_store_sync_seconds_count'), sync_max: n('sluice_store_sync_longest_seconds'),
        groups_behind: n('sluice_store_groups_behind'), journal_bytes: n('sluice_store_journal_bytes'), base_bytes: n('sluice_store_base_bytes'), base_live_bytes: n('sluice_store_base_live_bytes'), volume_free_bytes: n('sluice_store_volume_free_bytes'),
      },
      loop: { turns, turns_cut: n('sluice_loop_turns_cut_total'), p50: mean, p99: mean, max: mean },
      commands: n('sluice_commands_total'), errors: n('sluice_errors_total'), input_bytes: n('sluice_network_received_bytes_total'), output_bytes: n('sluice_network_sent_bytes_total'),
      connections_rejected: n('sluice_connections_refused_total'),
    },
  }
}

async function figures(signal: AbortSignal): Promise<ServerFigures> {
  return (await server.figures(signal)) ?? fromMetrics(parseMetrics(await server.metricsText(signal)))
}

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
  const { data, error } = useLive('figures', figures, 2000)
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
