// The form that puts a job, also used to put a copy of one and to edit and retry one.
import { jobs, queues } from '../api.ts'
import { parseDuration } from '../format.ts'
import { compact, parse } from '../json.ts'
import { reload } from '../live.ts'
import { go, toJob } from '../route.ts'
import { ask, FieldError, type Field, type Values } from './dialog.tsx'

// Data as the user typed it, checked, with every digit.
export function jsonOf(name: string, text: string): string {
  try {
    return compact(parse(text.trim() === '' ? 'null' : text))
  } catch (error) {
    throw new FieldError(name, (error as Error).message)
  }
}

export function numberOf(name: string, text: string): number | undefined {
  if (text.trim() === '') return undefined
  const n = Number(text)
  if (!Number.isFinite(n)) throw new FieldError(name, 'must be a number')
  return n
}

export function secondsOf(name: string, text: string): number | undefined {
  if (text.trim() === '') return undefined
  const n = parseDuration(text)
  if (Number.isNaN(n)) throw new FieldError(name, 'must be a duration, such as 90, 5m or 2h')
  return n
}

export const listOf = (text: string): string[] => text.split(',').map((t) => t.trim()).filter(Boolean)

// An object as JSON, with one member that is JSON already.
export function bodyWith(members: Record<string, unknown>, name: string, json: string): string {
  const rest = JSON.stringify(members)
  return rest === '{}' ? `{${JSON.stringify(name)}:${json}}` : rest.slice(0, -1) + `,${JSON.stringify(name)}:${json}}`
}

export interface PutStart { queue: string; klass?: string; data?: string; priority?: number; retries?: number; tags?: string[]; domain?: string | null }

function fields(start: PutStart): Field[] {
  return [
    { name: 'queue', label: 'Queue', value: start.queue, required: true },
    { name: 'klass', label: 'Klass', value: start.klass ?? '', required: true, hint: 'The kind of work; the worker reads it.' },
    { name: 'data', label: 'Data', kind: 'area', value: start.data ?? '{}', hint: 'JSON' },
    { name: 'delay', label: 'Delay', placeholder: 'none', hint: 'Seconds, or such as 5m, 2h, 1d' },
    { name: 'priority', label: 'Priority', kind: 'number', value: start.priority ? String(start.priority) : '', placeholder: '0', hint: 'A lower number runs first.' },
    { name: 'retries', label: 'Retries', kind: 'number', value: start.retries === undefined ? '' : String(start.retries), placeholder: '5' },
    { name: 'tags', label: 'Tags', value: (start.tags ?? []).join(', '), hint: 'Separated by commas' },
    { name: 'domain', label: 'Domain', value: start.domain ?? '', hint: 'The lane in the queue, for limits and fairness' },
  ]
}

function bodyOf(values: Values, more: Record<string, unknown> = {}): string {
  const members = {
    ...more,
    klass: values['klass'],
    delay: secondsOf('delay', values['delay'] ?? ''),
    priority: numberOf('priority', values['priority'] ?? ''),
    retries: numberOf('retries', values['retries'] ?? ''),
    tags: listOf(values['tags'] ?? '').length ? listOf(values['tags'] ?? '') : undefined,
    domain: values['domain'] || undefined,
  }
  return bodyWith(members, 'data', jsonOf('data', values['data'] ?? ''))
}

export function putJob(start: PutStart, title = 'Put a job'): void {
  let jid = ''
  ask({
    title,
    fields: fields(start),
    verb: 'Put',
    wide: true,
    act: async (values) => {
      jid = (await queues.put(values['queue'] ?? '', bodyOf(values))).jid
      reload()
      go(toJob(jid))
    },
    done: () => 'Put job ' + jid,
  })
}

// The same job, in its queue again with other data or options.
export function requeueJob(jid: string, start: PutStart): void {
  ask({
    title: 'Edit and retry',
    intro: <p>The job <bdi class="mono">{jid}</bdi> goes into the queue anew, with these values. Its history stays.</p>,
    fields: fields(start),
    verb: 'Put again',
    wide: true,
    act: async (values) => {
      await jobs.requeue(jid, bodyOf(values, { queue: values['queue'] }))
      reload()
    },
    done: 'The job is in its queue again',
  })
}
