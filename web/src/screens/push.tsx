// Where the server pushes jobs to, and how that goes.
import { pushes } from '../api.ts'
import { count, duration } from '../format.ts'
import { reload, useLive } from '../live.ts'
import { Ago, Chip, Command, Count, Empty, ErrorNote, Facts, Head, Name, QueueLink, Skeleton } from '../parts/basics.tsx'
import { ask, confirm, FieldError } from '../parts/dialog.tsx'
import { listOf, numberOf, secondsOf } from '../parts/put.tsx'
import { act } from '../parts/toast.tsx'
import { can } from '../state.ts'
import type { Push } from '../types.ts'

function edit(old: Push | null): void {
  const s = (v: number | undefined): string => (v === undefined ? '' : String(v))
  ask({
    title: old ? 'Edit the push of ' + old.pattern : 'New push',
    wide: true,
    intro: old && (old.signed || old.headers.length > 0) ? <p class="dim">Secrets and headers are never shown. Setting a push replaces all of it: give them again, or they are gone.</p> : undefined,
    fields: [
      ...(old ? [] : [{ name: 'pattern', label: 'Klass', required: true, hint: 'A klass, or a pattern with *' }]),
      { name: 'href', label: 'Address', value: old?.href ?? '', required: true, placeholder: 'https://' },
      { name: 'queues', label: 'Queues', value: old?.queues.join(', ') ?? '', placeholder: 'all', hint: 'Separated by commas' },
      { name: 'concurrency', label: 'Concurrency', kind: 'number', value: s(old?.concurrency), placeholder: '10' },
      { name: 'timeout', label: 'Timeout of a request', value: s(old?.timeout), placeholder: '60' },
      { name: 'report_within', label: 'Lease after 202', value: s(old?.report_within), placeholder: '3600' },
      { name: 'backoff', label: 'First wait before a retry', value: s(old?.backoff), placeholder: '1' },
      { name: 'failures', label: 'Failures in a row that open the breaker', kind: 'number', value: s(old?.failures), placeholder: '10' },
      { name: 'cooldown', label: 'Time that it stays open', value: s(old?.cooldown), placeholder: '30' },
      { name: 'fail_4xx', label: 'A 4xx response fails the job at once', kind: 'check', value: String(old?.fail_4xx ?? false) },
      { name: 'headers', label: 'Headers', kind: 'area', hint: 'One on a line: Name: value' },
      { name: 'secret', label: 'Secret', kind: 'password', hint: 'What requests are signed with' },
      { name: 'old_secret', label: 'Old secret', kind: 'password', hint: 'The secret before: requests are signed with both' },
    ],
    verb: 'Set',
    act: async (v) => {
      const href = v['href'] ?? ''
      if (old && href.endsWith('/...')) throw new FieldError('href', 'the path is not shown to you: give the whole address')
      await pushes.set(old?.pattern ?? v['pattern'] ?? '', {
        href, queues: listOf(v['queues'] ?? ''), concurrency: numberOf('concurrency', v['concurrency'] ?? ''), timeout: secondsOf('timeout', v['timeout'] ?? ''),
        report_within: secondsOf('report_within', v['report_within'] ?? ''), backoff: secondsOf('backoff', v['backoff'] ?? ''), failures: numberOf('failures', v['failures'] ?? ''),
        cooldown: secondsOf('cooldown', v['cooldown'] ?? ''), fail_4xx: v['fail_4xx'] === 'true' || undefined,
        headers: (v['headers'] ?? '').split('\n').map((l) => l.trim()).filter(Boolean), secret: v['secret'] || undefined, old_secret: v['old_secret'] || undefined, free_attempts: old?.free_attempts,
      })
      reload()
    },
    done: 'The push is set',
  })
}

function One({ push }: { push: Push }) {
  const admin = can('admin')
  const breaker = push.breaker === 'closed' ? <Chip kind="ok">closed</Chip> : <Chip kind="warn">{push.breaker}</Chip>
  return (
    <section class="panel">
      <header>
        <h2><Name text={push.pattern} /></h2>
        <div class="aside">
          {admin && push.breaker !== 'closed' && <button type="button" class="small" onClick={() => void act(() => pushes.attempt(push.pattern).then(reload), 'One job is tried now')}>Try now</button>}
          {admin && push.source === 'command' && <button type="button" class="small" onClick={() => edit(push)}>Edit…</button>}
          {admin && push.source === 'command' && <button type="button" class="small" onClick={() => confirm({ title: 'End the push of ' + push.pattern, body: <p>What is under way goes on. Waiting jobs stay in their queues for other workers.</p>, verb: 'End it', danger: true, act: () => pushes.unset(push.pattern).then(reload), done: 'The push has ended' })}>Remove…</button>}
        </div>
      </header>
      <div class="body">
        <p class="mono"><bdi>{push.href}</bdi></p>
        <Facts rows={[
          ['Breaker', <>{breaker}{push.next_try && push.breaker !== 'closed' && <span class="dim"> next try <Ago at={push.next_try} /></span>}</>],
          ['In flight', <span class="bar"><progress max={push.concurrency} value={Math.min(push.running, push.concurrency)} aria-label="In flight" /><span class="num">{count(push.running)} of {count(push.concurrency)}</span></span>],
          ['Waiting for a report', <Count n={push.waiting_for_report} />],
          ['Queues', push.queues.length ? <span class="tags">{push.queues.map((q) => <QueueLink key={q} queue={q} />)}</span> : 'all'],
          ['Timeout', duration(push.timeout)],
          ['Set in', push.source === 'command' ? 'the store' : 'the config file'],
          ['Signed', push.signed ? 'yes' : 'no'],
        ]} />
        <Facts rows={Object.entries(push.counts).map(([name, n]) => [name, <Count n={n} />])} />
        {push.last_error && <div class="note is-error"><span><b>Last error</b> {push.last_error_at && <Ago at={push.last_error_at} />} <bdi>{push.last_error}</bdi></span></div>}
      </div>
    </section>
  )
}

export function Pushes() {
  const { data, error, again } = useLive('pushes', (signal) => pushes.list(signal))
  const head = <Head title="Push" lead="Jobs that the server sends to HTTP workers">{can('admin') && <button type="button" class="primary" onClick={() => edit(null)}>New</button>}</Head>
  if (error && !data) return <>{head}<ErrorNote error={error} again={again} /></>
  if (!data) return <>{head}<Skeleton /></>
  if (data.length === 0) return <>{head}<Empty title="Nothing is pushed"><p>Any program that serves HTTP can be a worker. The server takes the jobs of a klass and sends each with POST:</p><Command text="sluice push set Backfill https://jobs.example.com/backfill --concurrency 20" />{!can('admin') && <p class="dim">Setting a push needs the right admin on the namespace.</p>}</Empty></>
  return <>{head}<div class="grid two">{data.map((p) => <One key={p.pattern} push={p} />)}</div></>
}
