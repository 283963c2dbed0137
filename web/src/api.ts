// Every call of the API that the pages make, by noun.
import { get, Problem, Raw, request, send } from './http.ts'
import { ns } from './route.ts'
import * as T from './types.ts'

const seg = encodeURIComponent
const here = (): string => 'v1/ns/' + seg(ns.value)

type Query = Record<string, string | number | boolean | readonly string[] | null | undefined>

export function search(query: Query): string {
  const all = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value == null || value === '' || value === false) continue
    if (Array.isArray(value)) for (const each of value) all.append(name, each as string)
    else all.append(name, String(value))
  }
  const text = all.toString()
  return text ? '?' + text : ''
}

export const server = {
  who: (signal?: AbortSignal) => get<T.Who>('v1/whoami', signal),
  namespaces: async (signal?: AbortSignal) => (await get<{ namespaces: T.Namespace[] }>('v1/ns', signal)).namespaces,
  ready: async (signal?: AbortSignal): Promise<{ state: string; reason?: string; detail?: string }> => {
    try {
      return await get('readyz', signal)
    } catch (error) {
      if (error instanceof Problem && error.status === 503) return { state: error.code, reason: error.message }
      throw error
    }
  },
  figures: (signal?: AbortSignal) => get<T.ServerFigures>('v1/server', signal),
  audit: async (query: Query, signal?: AbortSignal) => (await get<{ entries: T.AuditEntry[] }>('v1/audit' + search(query), signal)).entries,
  backup: (path: string) => send<{ path: string }>('POST', 'v1/backup', { path }),
  users: async (signal?: AbortSignal) => (await get<{ users: T.User[] }>('v1/users', signal)).users,
  setUser: (name: string, body: { password?: string | undefined; rights?: string[] | undefined }) => send('PUT', 'v1/users/' + seg(name), body),
  removeUser: (name: string) => send('DELETE', 'v1/users/' + seg(name)),
  login: (user: string, password: string) => send('POST', 'v1/session', user === '' ? { password } : { user, password }),
  logout: () => send('DELETE', 'v1/session'),
}

export const totals = {
  get: (signal?: AbortSignal) => get<T.Totals>(here(), signal),
  metrics: (queue?: string, signal?: AbortSignal) => get<T.Metrics>(here() + '/metrics' + search({ queue }), signal),
  series: (query: Query, queue?: string, signal?: AbortSignal) =>
    get<T.Series>(here() + (queue === undefined ? '' : '/queues/' + seg(queue)) + '/series' + search(query), signal),
}

export const queues = {
  list: (query: Query = {}, signal?: AbortSignal) => get<T.QueuePage>(here() + '/queues' + search(query), signal),
  get: (queue: string, signal?: AbortSignal) => get<T.Queue>(`${here()}/queues/${seg(queue)}`, signal),
  stats: (queue: string, date: number | null, signal?: AbortSignal) =>
    get<T.DayStats>(`${here()}/queues/${seg(queue)}/stats` + search({ date }), signal),
  listeners: (queue: string, signal?: AbortSignal) => get<T.WorkerPage>(`${here()}/queues/${seg(queue)}/listeners?count=50`, signal),
  recurring: (queue: string, signal?: AbortSignal) =>
    get<{ total: number; jobs: T.Recurring[] }>(`${here()}/queues/${seg(queue)}/recurring?count=100`, signal),
  lanes: (queue: string, query: Query, signal?: AbortSignal) =>
    get<{ total: number; lanes: T.Lane[]; next: string | null }>(`${here()}/queues/${seg(queue)}/lanes` + search(query), signal),
  explain: (queue: string, signal?: AbortSignal) =>
    get<{ reason: string; sentence: string }>(`${here()}/queues/${seg(queue)}/explain`, signal),
  pause: (names: string[]) => send('POST', here() + '/pause', { queues: names }),
  unpause: (names: string[]) => send('POST', here() + '/unpause', { queues: names }),
  forget: (queue: string) => send('DELETE', `${here()}/queues/${seg(queue)}`),
  put: (queue: string, body: string) => send<{ jid: string }>('POST', `${here()}/queues/${seg(queue)}/jobs`, new Raw(body)),
}

// Names of members of the address, and of GET .../jobs but for `tag`.
export const FILTERS = ['state', 'queue', 'klass', 'tag', 'group', 'worker', 'domain'] as const
export type Filter = Partial<Record<(typeof FILTERS)[number], string>>

const CALLS_MOST = 8

async function pageOf(query: Query, page: { count: number; cursor?: string | undefined }, signal?: AbortSignal): Promise<T.JobPage> {
  const ask = (count: number, cursor: string | undefined) => get<T.JobPage>(here() + '/jobs' + search({ ...query, count, cursor }), signal)
  const first = await ask(page.count, page.cursor)
  if (first.next === null || first.jobs.length >= page.count) return first
  let jobs = first.jobs
  let next: string | null = first.next
  for (let calls = 1; next !== null && jobs.length < page.count && calls < CALLS_MOST; calls++) {
    const more: T.JobPage = await ask(page.count - jobs.length, next ?? undefined)
    jobs = [...jobs, ...more.jobs]
    next = more.next
  }
  return { total: first.total, jobs, next }
}

export const jobs = {
  // One page of jobs. Where few jobs match, the server looks at some jobs in a call and leads on: a few
  // calls fill the page.
  list: (filter: Filter, page: { count: number; cursor?: string | undefined }, signal?: AbortSignal): Promise<T.JobPage> => {
    const { tag, state, ...rest } = filter
    return pageOf({ state: state || 'any', ...rest, tagged: tag, data_max: 200 }, page, signal)
  },
  // A search in the background.
  find: (text: string) => send<T.Search>('POST', here() + '/find', { texts: [text] }),
  found: (id: number, query: Query, signal?: AbortSignal) => get<T.Search & { jobs: (T.Job | null)[] }>(`${here()}/find/${id}` + search({ data_max: 200, ...query }), signal),
  dropFind: (id: number) => send('DELETE', `${here()}/find/${id}`),
  count: async (query: Query, signal?: AbortSignal) => (await get<{ count: number }>(here() + '/count' + search(query), signal)).count,
  // The reply as text: its numbers are kept as the client wrote them.
  text: (jid: string, signal?: AbortSignal) => request('GET', `${here()}/jobs/${seg(jid)}`, undefined, signal),
  get: (jid: string, signal?: AbortSignal) => get<T.Job>(`${here()}/jobs/${seg(jid)}`, signal),
  many: async (jids: string[]) => (await send<{ jobs: (T.Job | null)[] }>('POST', here() + '/get', { jids })).jobs,
  history: async (jid: string, signal?: AbortSignal) =>
    (await get<{ history: T.HistoryEntry[] }>(`${here()}/jobs/${seg(jid)}/history`, signal)).history,
  log: async (jid: string, signal?: AbortSignal) =>
    (await get<{ log: { when: number; line: string }[] }>(`${here()}/jobs/${seg(jid)}/log`, signal)).log,
  explain: (jid: string, signal?: AbortSignal) => get<T.Explain>(`${here()}/jobs/${seg(jid)}/explain`, signal),
  options: (jid: string, signal?: AbortSignal) =>
    get<{ given: T.JobOptions; in_effect: T.JobOptions }>(`${here()}/jobs/${seg(jid)}/options`, signal),
  run: (jid: string) => send('POST', `${here()}/jobs/${seg(jid)}/run`),
  runMany: (jids: string[]) => send('POST', here() + '/run', { jids }),
  cancel: (jids: string[], dependents = false) => send<{ canceled: string[] | number }>('POST', here() + '/cancel', { jids, dependents }),
  remove: (jid: string) => send('DELETE', `${here()}/jobs/${seg(jid)}`),
  priority: (jid: string, priority: number) => send('PUT', `${here()}/jobs/${seg(jid)}/priority`, { priority }),
  tag: (jid: string, tags: string[]) => send('POST', `${here()}/jobs/${seg(jid)}/tags`, { tags }),
  untag: (jid: string, tag: string) => send('DELETE', `${here()}/jobs/${seg(jid)}/tags/${seg(tag)}`),
  track: (jid: string) => send('PUT', `${here()}/tracked/${seg(jid)}`),
  untrack: (jid: string) => send('DELETE', `${here()}/tracked/${seg(jid)}`),
  // Takes the lease away: the next pop gets the job.
  timeout: (jids: string[]) => send('POST', here() + '/timeout', { jids }),
  requeue: (jid: string, body: string) => send('POST', `${here()}/jobs/${seg(jid)}/requeue`, new Raw(body)),
  tracked: (query: Query, signal?: AbortSignal) => get<{ total: number; jobs: T.Job[]; gone: string[] }>(here() + '/tracked' + search({ data_max: 200, ...query }), signal),
  note: (jid: string, message: string) => send('POST', `${here()}/jobs/${seg(jid)}/history`, { message }),
}

export const failures = {
  list: async (query: Query, signal?: AbortSignal) => (await get<{ failures: T.FailureGroup[]; total?: number }>(here() + '/failures' + search(query), signal)),
  jobs: (group: string, count: number, cursor: string | undefined, signal?: AbortSignal) =>
    get<T.JobPage>(`${here()}/failures/${seg(group)}/jobs` + search({ count, cursor }), signal),
  unfail: (group: string, queue: string, count: number) =>
    send<{ count: number }>('POST', `${here()}/failures/${seg(group)}/unfail`, { queue, count }),
}

export const workers = {
  list: (query: Query, signal?: AbortSignal) => get<T.WorkerPage>(here() + '/workers' + search(query), signal),
  get: (worker: string, signal?: AbortSignal) => get<T.WorkerDetail>(`${here()}/workers/${seg(worker)}?count=100`, signal),
  forget: (worker: string) => send('DELETE', `${here()}/workers/${seg(worker)}`),
  offline: (worker: string) => send('POST', `${here()}/workers/${seg(worker)}/offline`),
}

export const recurring = {
  list: (query: Query, signal?: AbortSignal) => get<{ total: number; jobs: T.Recurring[] }>(here() + '/recurring' + search({ ...query, runs: 5 }), signal),
  get: (jid: string, signal?: AbortSignal) => get<T.Recurring>(`${here()}/recurring/${seg(jid)}`, signal),
  // null if there is none of that jid.
  find: async (jid: string, signal?: AbortSignal): Promise<T.Recurring | null> => {
    try {
      return await get<T.Recurring>(`${here()}/recurring/${seg(jid)}`, signal)
    } catch (error) {
      if (error instanceof Problem && error.status === 404) return null
      throw error
    }
  },
  runs: async (jid: string, count: number, signal?: AbortSignal) =>
    (await get<{ runs: number[] }>(`${here()}/recurring/${seg(jid)}/runs?count=${count}`, signal)).runs,
  preview: async (expression: string, zone: string, count = 5) =>
    (await get<{ runs: number[] }>(here() + '/cron' + search({ expression, zone, count }))).runs,
  set: (jid: string, body: string) => send('PUT', `${here()}/recurring/${seg(jid)}`, new Raw(body)),
  change: (jid: string, body: string) => send('PATCH', `${here()}/recurring/${seg(jid)}`, new Raw(body)),
  tag: (jid: string, tags: string[]) => send('POST', `${here()}/recurring/${seg(jid)}/tags`, { tags }),
  untag: (jid: string, tag: string) => send('DELETE', `${here()}/recurring/${seg(jid)}/tags/${seg(tag)}`),
  text: (jid: string, signal?: AbortSignal) => request('GET', `${here()}/recurring/${seg(jid)}`, undefined, signal),
  remove: (jid: string) => send('DELETE', `${here()}/recurring/${seg(jid)}`),
  pause: (jid: string) => send('POST', `${here()}/recurring/${seg(jid)}/pause`),
  resume: (jid: string) => send('POST', `${here()}/recurring/${seg(jid)}/resume`),
  run: (jid: string) => send<{ jid: string }>('POST', `${here()}/recurring/${seg(jid)}/run`),
}

export const settings = {
  config: (signal?: AbortSignal) => get<Record<string, string | null>>(here() + '/config', signal),
  set: (option: string, value: string) => send('PUT', `${here()}/config/${seg(option)}`, { value }),
  unset: (option: string) => send('DELETE', `${here()}/config/${seg(option)}`),
  limits: (query: Query, signal?: AbortSignal) => get<{ limits: T.Limit[]; total: number; next: string | null }>(here() + '/limits' + search(query), signal),
  setLimit: (limit: Query) => send('PUT', here() + '/limits', limit),
  unsetLimit: (queue: string | null, domain: string | null) => send('DELETE', here() + '/limits' + search({ queue, domain })),
  policies: async (signal?: AbortSignal) => (await get<{ policies: T.Policy[] }>(here() + '/policies', signal)).policies,
  setPolicy: (scope: string, name: string, body: Query) => send('PUT', `${here()}/policies/${seg(scope)}/${seg(name)}`, body),
  unsetPolicy: (scope: string, name: string) => send('DELETE', `${here()}/policies/${seg(scope)}/${seg(name)}`),
}

export const pushes = {
  list: async (signal?: AbortSignal) => (await get<{ pushes: T.Push[] }>(here() + '/pushes', signal)).pushes,
  set: (pattern: string, body: Query) => send('PUT', `${here()}/pushes/${seg(pattern)}`, body),
  unset: (pattern: string) => send('DELETE', `${here()}/pushes/${seg(pattern)}`),
  attempt: (pattern: string) => send('POST', `${here()}/pushes/${seg(pattern)}/try`),
}

export const bulk = {
  list: async (signal?: AbortSignal) => (await get<{ operations: T.Operation[] }>(here() + '/bulk', signal)).operations,
  get: (id: number) => get<T.Operation>(`${here()}/bulk/${id}`),
  start: (body: Query) => send<T.Operation>('POST', here() + '/bulk', body),
  stop: (id: number) => send('POST', `${here()}/bulk/${id}/stop`),
}

export const tags = {
  list: async (query: Query, signal?: AbortSignal) => (await get<{ tags: T.TagCount[] }>(here() + '/tags' + search(query), signal)).tags,
}
