// What a program writes with the types that openapi-typescript makes of docs/openapi.json. It has to
// compile, and is then run with the address of a server.
import createClient from 'openapi-fetch'

import type { components, operations, paths } from './sluice.js'

type Problem = components['schemas']['Problem']
type PutJob = operations['putJob']
type Completed = operations['completeJob']['responses'][200]['content']['application/json']

declare const process: { argv: string[] }

function check(holds: unknown, what: string): asserts holds {
  if (!holds) throw new Error(what)
}

const baseUrl = process.argv[2]
check(baseUrl, 'the address of a server is missing')
const client = createClient<paths>({ baseUrl })
const ns = 'app'

const header: PutJob['parameters']['header'] = { 'Idempotency-Key': 'order 42' }
const put = await client.POST('/v1/ns/{ns}/queues/{queue}/jobs', {
  params: { path: { ns, queue: 'mail' }, header },
  body: { klass: 'Send', data: { to: 'ann' }, jid: 'ann/1', tags: ['paid'], priority: 5 },
})
check(put.response.status === 201, 'put')
const location = put.response.headers.get('Location')
check(location === '/v1/ns/app/jobs/ann%2F1', `Location: ${location}`)
const made = await fetch(new URL(location, baseUrl))
check((await made.json()).jid === 'ann/1', 'the job is at its location')

const popped = await client.POST('/v1/ns/{ns}/pop', {
  params: { path: { ns } },
  body: { queues: ['mail'], worker: 'w1' },
})
const job = popped.data?.jobs[0]
check(job && job.jid === 'ann/1' && job.klass === 'Send', 'pop')

const done = await client.POST('/v1/ns/{ns}/jobs/{jid}/complete', {
  params: { path: { ns, jid: job.jid } },
  body: { worker: 'w1', token: job.token ?? undefined, result: { sent: true } },
})
const completed: Completed | undefined = done.data
check(completed && 'state' in completed && completed.state === 'complete', 'complete')

const missing = await client.GET('/v1/ns/{ns}/jobs/{jid}', { params: { path: { ns, jid: 'none' } } })
const problem: Problem | undefined = missing.error
check(problem?.code === 'not_found' && missing.response.status === 404, 'a problem')

const metrics = await client.GET('/metrics', { parseAs: 'text', headers: { Accept: 'text/plain' } })
const text: string | undefined = metrics.data
check(text?.includes('sluice_jobs'), 'metrics')
