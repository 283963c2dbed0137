// What the HTTP API sends, as far as the pages read it. docs/openapi.json is the specification.
// Members that older servers do not send are optional.

export type State = 'waiting' | 'running' | 'stalled' | 'scheduled' | 'depends' | 'complete' | 'failed'
export const STATES: readonly State[] = ['waiting', 'running', 'stalled', 'scheduled', 'depends', 'complete', 'failed']

export type Counts = Record<State, number>

export interface Who { user: string | null; address: string; rights: string[] }

export interface Namespace { name: string; clock: string; qless: boolean; queues: number; clients_waiting: number; jobs: Counts }

export interface Rates { '1s': number; '1m': number; '15m': number; '24h'?: number }

export interface Quantiles { count: number; mean: number; max: number; p50: number; p90: number; p99: number; p999: number }

export interface Metrics {
  latency: Quantiles
  runtime: Quantiles
  lifetime: Quantiles
  queued: Rates
  run: Rates
}

export interface Queue {
  queue: string
  waiting: number
  running: number
  stalled: number
  scheduled: number
  depends: number
  recurring: number
  listeners: number
  paused: boolean
  failed: number
  complete: number
  paused_since: number | null
  bytes: number
  age: number | null
  rates: Happened
}

export interface Lease { worker: string; token: number; expires: number; popped?: number; started?: number | null; pid?: number | null; grace?: number | null }

export interface Failure { group: string; message: string; when: number; worker: string | null }

export interface Job {
  jid: string
  klass: string
  queue: string
  state: State
  stage: string | null
  data: unknown
  data_size?: number
  data_cut?: boolean
  result_cut?: boolean
  priority: number
  retries: number
  remaining: number
  attempts: number
  crashes: number
  domain: string | null
  tags: string[]
  tracked: boolean
  created: number
  moved: number
  updated: number
  eta: number | null
  scheduled: number | null
  deadline: number | null
  lease: Lease | null
  last_run: { worker: string; popped: number; started: number | null; pid: number | null } | null
  failure: Failure | null
  result: unknown
  result_until: number | null
  progress: { fraction: number; message: string | null } | null
  checkpoint: unknown
  depends: string[]
  dependents: string[]
  members: { done: number; failed: number }
  unique: unknown
  spawned_from: string | null
}

export interface JobPage { total: number | null; jobs: Job[]; next: string | null }

export interface Explain {
  reason: string
  sentence: string
  state: State
  earliest: number | null
  until: number | null
  behind: number
  queue: string
  domain: string | null
  worker: string | null
  group: string | null
  attempts: number
  blockers: string[]
  at_least: boolean
  expires: number | null
}

export interface HistoryEntry {
  when: number
  what: string
  queue: string | null
  worker: string | null
  group: string | null
  message: string | null
  data: unknown
  until: number | null
}

export interface JobOptions {
  backoff: string | null
  timeout: number | null
  lease: number | null
  result_ttl: number | null
  max_crashes: number | null
  on_dependency_failure: string | null
}

export interface FailureGroup { group: string; count: number; first?: number | null; last?: number | null; jid?: string; klass?: string; message?: string }

export interface Worker {
  worker: string
  seen: number
  running: number
  expired: number // of those that run: with a lease that has expired
  offline: boolean
  host: string | null
  started: number | null
  pid?: number | null
  queues?: string[]
  queue_count?: number
  done?: number
}

export interface WorkerPage { total: number; workers: Worker[] }

export interface WorkerDetail {
  running: { total: number; jobs: Job[] }
  expired: number
  seen: number
  started: number | null
  host: string | null
  pid?: number | null
  done?: number
  offline: boolean
  queues: string[]
}

export interface Recurring {
  jid: string
  klass: string
  queue: string
  data: unknown
  interval: number | null
  cron: string | null
  zone: string | null
  next: number | null
  count: number
  missed: string
  overlap: string
  backlog: number
  priority: number
  retries: number
  domain: string | null
  tags: string[]
  options: JobOptions
  last?: number | null
  paused?: boolean
  runs?: number[]
}

export interface Limit {
  queue: string | null
  domain: string | null
  rate: number | null
  period: number | null
  burst: number | null
  concurrency: number | null
  weight: number | null
  waiting: number // in line in the lanes in which it holds
  running: number
  held: number // in line in lanes that have used it up
}

export interface Policy { scope: 'klass' | 'queue'; name: string; options: JobOptions }

export interface Lane {
  domain?: string | null
  waiting: number
  running: number
  ready: number | null
  rate: number
  period: number
  burst: number
  tokens?: number | null
  concurrency: number
  weight: number
}

export interface Push {
  pattern: string
  href: string
  source: string
  concurrency: number
  timeout: number
  report_within: number
  backoff: number
  failures: number
  cooldown: number
  free_attempts: number
  fail_4xx: boolean
  headers: string[]
  signed: boolean
  queues: string[]
  breaker: string
  running: number
  waiting_for_report: number
  last_error: string | null
  last_error_at?: number | null
  next_try?: number | null
  counts: Record<string, number>
}

export interface Operation {
  id: number
  act: string
  dry_run: boolean
  done: boolean
  stopped: boolean
  began: number
  looked_at: number
  matched: number
  changed: number
  user?: string | null
  as?: number | null
  executable?: boolean
  to?: string | null
  tags?: string[]
  priority?: number | null
  filter?: Record<string, unknown>
}

export interface AuditEntry {
  id: number
  at: number
  kind: string
  user: string | null
  address: string | null
  namespace: string | null
  command: string
  arguments: string
  outcome: string
}

export interface DayTimes { count: number; mean: number; std: number; histogram: number[] }
export interface DayStats { retries: number; lost_leases: number; failures: number; failed: number; wait: DayTimes; run: DayTimes }

// A search in the background; `total` is how many jobs there were when it began.
export interface Search { id: number; done: boolean; full: boolean; began: number; looked_at: number; total: number; found: number }

// `inside` is for administrators of the server.
export interface ServerFigures {
  version: string
  time: number
  uptime: number
  stopping: boolean
  durability: string
  store: { state: string; reason: string | null; hint: string | null }
  memory: { state: string; used: number; limit: number }
  connections: { open: number; limit: number; waiting: number; listening: number }
  namespaces: number
  inside: {
    process_id: number
    config_file: string | null
    resident_bytes: number
    store: { groups: number; group_bytes: number; syncs: number; sync_max: number; groups_behind: number; journal_bytes: number; base_bytes: number; base_live_bytes: number; volume_free_bytes: number }
    loop: { turns: number; turns_cut: number; p50: number; p99: number; max: number }
    commands: number
    errors: number
    input_bytes: number
    output_bytes: number
    connections_rejected: number
  } | null
}

export interface TagCount { tag: string; count: number }

// How often each thing happened.
export type Happened = Record<'put' | 'popped' | 'completed' | 'failed' | 'retried' | 'lost', number>

// GET /v1/ns/{ns}: the figures of a namespace in one reply. Rates are those of the last minute.
export interface Totals {
  jobs: Counts
  queues: number
  paused: number
  workers: number
  recurring: number
  failures: number
  bytes: number
  oldest: { queue: string; age: number } | null
  rates: Happened
  last_second: Happened
}

export interface QueuePage { queues: Queue[]; total: number; next: string | null }

// `stored` is false for users of the settings.
export interface User { user: string; stored: boolean; rights: string[] }

export interface WindowTimes { count: number; p50: number | null; p90: number | null; p99: number | null }
export interface SeriesTimes { p50: (number | null)[]; p90: (number | null)[]; p99: (number | null)[]; window: WindowTimes }

// Periods of `step` seconds, the oldest first.
export interface Series extends Record<keyof Happened, number[]> {
  step: number
  from: number
  count: number
  depth: Record<Exclude<State, 'complete'>, number[]>
  wait: SeriesTimes
  run: SeriesTimes
}
