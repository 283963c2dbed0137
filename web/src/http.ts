// Requests to the API. Addresses are relative to the page. GET replies are kept with their ETag: an
// unchanged reply is the same object, so that nothing is drawn again.
import { connection, needLogin, setServerTime } from './state.ts'

export class Problem extends Error {
  status: number
  code: string
  field: string | null
  constructor(status: number, code: string, detail: string, field: string | null) {
    super(detail)
    this.status = status
    this.code = code
    this.field = field
  }
}

// X-Sluice proves that a request comes from this page and not from a form of another one.
export const headers = (): Record<string, string> => ({ 'X-Sluice': '1' })

// The browser would keep an entry for each request.
performance.setResourceTimingBufferSize(0)

const base = new URL('.', document.baseURI)
export const address = (path: string): string => new URL(path.replace(/^\//, ''), base).href

type Kept = { etag: string; value: unknown; text: string }
const kept = new Map<string, Kept>()
const KEPT_MOST = 60

function keep(path: string, entry: Kept): void {
  kept.delete(path)
  if (entry.text.length > 262144) return
  kept.set(path, entry)
  if (kept.size > KEPT_MOST) kept.delete(kept.keys().next().value as string)
}

export function forgetReplies(): void {
  kept.clear()
}

async function problem(response: Response): Promise<Problem> {
  let detail = response.statusText || 'status ' + response.status
  let code = 'status'
  let field: string | null = null
  try {
    const body = await response.json()
    detail = body.detail ?? detail
    code = body.code ?? code
    field = body.field ?? null
  } catch {
    // not a problem of the API, such as a proxy's page
  }
  return new Problem(response.status, code, detail, field)
}

export async function request(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<string> {
  const old = method === 'GET' ? kept.get(path) : undefined
  const sent: Record<string, string> = headers()
  if (body !== undefined) sent['Content-Type'] = 'application/json'
  if (old) sent['If-None-Match'] = old.etag
  let response: Response
  try {
    const init: RequestInit = { method, headers: sent, cache: 'no-store', credentials: 'same-origin', redirect: 'error' }
    if (body !== undefined) init.body = body instanceof Raw ? body.text : JSON.stringify(body)
    if (signal) init.signal = signal
    response = await fetch(address(path), init)
  } catch (error) {
    if ((error as Error).name === 'AbortError') throw error
    throw new Problem(0, 'away', 'the server does not reply', null)
  }
  const date = Date.parse(response.headers.get('Date') ?? '')
  if (!Number.isNaN(date)) setServerTime(date / 1000 + 0.5, false)
  if (response.status === 304 && old) return old.text
  // The cookie of a session is not sent to pages outside the API, such as /metrics.
  if (response.status === 401 && path.startsWith('v1/')) needLogin.value = true
  if (response.status === 502 || response.status === 504) throw new Problem(0, 'away', 'the proxy cannot reach the server', null)
  if (!response.ok) throw await problem(response)
  const text = await response.text()
  const etag = response.headers.get('ETag')
  if (method === 'GET' && etag) keep(path, { etag, value: undefined, text })
  if (connection.value === 'starting') connection.value = 'polling'
  return text
}

// A body that is JSON already, so that numbers keep every digit.
export class Raw {
  text: string
  constructor(text: string) {
    this.text = text
  }
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  const before = kept.get(path)
  const text = await request('GET', path, undefined, signal)
  if (before && before.text === text && before.value !== undefined) {
    const now = kept.get(path)
    if (now) now.value = before.value
    return before.value as T
  }
  const value = (text === '' ? null : JSON.parse(text)) as T
  const now = kept.get(path)
  if (now) now.value = value
  return value
}

export async function send<T = null>(method: 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: unknown): Promise<T> {
  const text = await request(method, path, body ?? (method === 'DELETE' ? undefined : {}))
  return (text === '' ? null : JSON.parse(text)) as T
}
