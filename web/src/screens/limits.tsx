// Limits of lanes, and policies of klasses and queues.
import { useState } from 'preact/hooks'
import { settings } from '../api.ts'
import { count, duration } from '../format.ts'
import { reload, useLive } from '../live.ts'
import { Command, Count, Empty, ErrorNote, Head, Name, Panel, QueueLink, Skeleton } from '../parts/basics.tsx'
import { ask, confirm, type Values } from '../parts/dialog.tsx'
import { numberOf, secondsOf } from '../parts/put.tsx'
import { CursorPager, Table } from '../parts/table.tsx'
import { can } from '../state.ts'
import type { JobOptions, Limit, Policy } from '../types.ts'

const PAGE = 50

const any = <span class="dim">any</span>
const given = (v: unknown): string => (v === null || v === undefined ? '' : String(v))

function editLimit(old: Limit | null): void {
  ask({
    title: old ? 'Edit the limit' : 'New limit',
    intro: <p class="dim">A limit counts for each lane by itself. The most specific one applies; limits do not add up.</p>,
    fields: [
      { name: 'queue', label: 'Queue', value: given(old?.queue), placeholder: 'all' },
      { name: 'domain', label: 'Domain', value: given(old?.domain), placeholder: 'every lane', hint: 'A name, or a pattern with *' },
      { name: 'rate', label: 'Rate', kind: 'number', value: given(old?.rate), hint: 'Jobs that may start in a period; 0: any number' },
      { name: 'period', label: 'Period', value: given(old?.period), placeholder: '1', hint: 'Seconds, or such as 1m' },
      { name: 'burst', label: 'Burst', kind: 'number', value: given(old?.burst), hint: 'Jobs that may start at once after a pause' },
      { name: 'concurrency', label: 'Concurrency', kind: 'number', value: given(old?.concurrency), hint: 'Jobs of a lane that may run at a time; 0: any number' },
      { name: 'weight', label: 'Weight', kind: 'number', value: given(old?.weight), hint: 'Turns in a fair queue, where others get 1' },
    ],
    verb: 'Set',
    act: async (v: Values) => {
      const n = (name: string): number | undefined => numberOf(name, v[name] ?? '')
      const next = { queue: v['queue'] || undefined, domain: v['domain'] || undefined, rate: n('rate'), period: secondsOf('period', v['period'] ?? ''), burst: n('burst'), concurrency: n('concurrency'), weight: n('weight') }
      await settings.setLimit(next)
      if (old && (given(old.queue) !== given(next.queue) || given(old.domain) !== given(next.domain))) await settings.unsetLimit(old.queue, old.domain)
      reload()
    },
    done: 'The limit is in effect',
  })
}

const OPTIONS: { name: keyof JobOptions; label: string; hint: string; seconds?: boolean }[] = [
  { name: 'backoff', label: 'Backoff', hint: 'fixed:S, linear:S, exponential:S or list:S,S,…, then perhaps :CAP and :JITTER' },
  { name: 'timeout', label: 'Longest run', hint: 'Seconds, or such as 10m; 0: none', seconds: true },
  { name: 'lease', label: 'Lease', hint: 'Seconds that a lease lasts without a heartbeat; 0: as the queue says', seconds: true },
  { name: 'result_ttl', label: 'Results are kept', hint: 'Seconds, or such as 1d; 0: as long as the job', seconds: true },
  { name: 'max_crashes', label: 'Most crashes', hint: 'Lost leases after which a job fails; 0: no limit' },
]

function editPolicy(old: Policy | null): void {
  ask({
    title: old ? 'Edit the policy' : 'New policy',
    intro: <p class="dim">For jobs that do not say it themselves. A klass comes before a queue.</p>,
    fields: [
      ...(old ? [] : [
        { name: 'scope', label: 'For', kind: 'select' as const, value: 'klass', options: [['klass', 'a klass'], ['queue', 'a queue']] as [string, string][] },
        { name: 'name', label: 'Name', required: true },
      ]),
      ...OPTIONS.map((o) => ({ name: o.name as string, label: o.label, hint: o.hint, value: given(old?.options[o.name]) })),
      { name: 'on_dependency_failure', label: 'When a dependency fails', kind: 'select' as const, value: old?.options.on_dependency_failure ?? '', options: [['', 'default (hold)'], 'hold', 'cancel', 'fail', 'run'] as (string | [string, string])[] },
    ],
    verb: 'Set',
    act: async (v) => {
      const body = {
        backoff: v['backoff'] || undefined, timeout: secondsOf('timeout', v['timeout'] ?? ''), lease: secondsOf('lease', v['lease'] ?? ''), result_ttl: secondsOf('result_ttl', v['result_ttl'] ?? ''),
        max_crashes: numberOf('max_crashes', v['max_crashes'] ?? ''), on_dependency_failure: v['on_dependency_failure'] || undefined,
      }
      await settings.setPolicy(old?.scope ?? v['scope'] ?? 'klass', old?.name ?? v['name'] ?? '', body)
      reload()
    },
    done: 'The policy is in effect',
  })
}

const option = (v: string | number | null, show: (v: never) => string = String): preact.ComponentChild => (v === null ? <span class="dim">–</span> : show(v as never))

export function Limits() {
  const [seen, setSeen] = useState<string[]>([])
  const cursor = seen[seen.length - 1]
  const { data, error, again } = useLive('limits\n' + (cursor ?? ''), async (signal) => {
    const [{ limits, next }, policies] = await Promise.all([settings.limits({ cursor, count: PAGE }, signal), settings.policies(signal)])
    return { limits, next, policies }
  }, 2000, true)
  const operates = can('operate')
  const head = <Head title="Limits and policies" />
  if (error && !data) return <>{head}<ErrorNote error={error} again={again} /></>
  if (!data) return <>{head}<Skeleton /></>
  const key = (l: Limit): string => given(l.queue) + '\n' + given(l.domain)
  return (
    <>
      {head}
      <Panel title="Limits" flush aside={operates && <button type="button" class="small" onClick={() => editLimit(null)}>New limit</button>}>
        {data.limits.length === 0 && seen.length === 0 ? (
          <Empty title="No limits"><p>A limit says how often and how many at a time jobs may run:</p><Command text="sluice limits set --queue mail --domain 'customer-*' --rate 10 --period 60" /></Empty>
        ) : (
          <Table caption="Limits" rows={data.limits} rowKey={key} noun="limit" columns={[
            { name: 'Queue', head: 'Queue', cell: (l) => (l.queue === null ? any : <QueueLink queue={l.queue} />) },
            { name: 'Domain', head: 'Domain', cell: (l) => (l.domain === null ? any : <Name text={l.domain} />) },
            { name: 'Rate', head: 'Rate', num: true, cell: (l) => (l.rate === null ? <span class="dim">–</span> : l.rate === 0 ? any : <span class="num">{count(l.rate)} in {duration(l.period)}</span>) },
            { name: 'Burst', head: 'Burst', num: true, cell: (l) => option(l.burst) },
            { name: 'Concurrency', head: 'Concurrency', num: true, cell: (l) => (l.concurrency === 0 ? any : option(l.concurrency)) },
            { name: 'Weight', head: 'Weight', num: true, cell: (l) => option(l.weight) },
            { name: 'Running', head: 'Running', num: true, cell: (l) => <Count n={l.running} /> },
            { name: 'Waiting', head: 'Waiting', num: true, cell: (l) => <Count n={l.waiting} /> },
            { name: 'Held back', head: <span title="Jobs in line in lanes that have used up the rate or the concurrency">Held back</span>, num: true, cell: (l) => <Count n={l.held} /> },
          ]} acts={operates ? (l) => (
            <>
              <button type="button" class="small" onClick={() => editLimit(l)}>Edit…</button>
              <button type="button" class="small" onClick={() => confirm({ title: 'Remove the limit', body: <p>Jobs of {l.queue ?? 'all queues'}{l.domain && <>, domain <bdi>{l.domain}</bdi></>} are no longer limited by it.</p>, verb: 'Remove', danger: true, act: () => settings.unsetLimit(l.queue, l.domain).then(reload), done: 'The limit is removed' })}>Remove…</button>
            </>
          ) : undefined as never} />
        )}
      </Panel>
      <CursorPager seen={seen} next={data.next} go={setSeen} />
      <Panel title="Policies" flush aside={operates && <button type="button" class="small" onClick={() => editPolicy(null)}>New policy</button>}>
        {data.policies.length === 0 ? (
          <Empty title="No policies"><p>A policy says how the jobs of a klass or a queue are run:</p><Command text="sluice policies set klass Send --backoff exponential:1:300:20 --timeout 600" /></Empty>
        ) : (
          <Table caption="Policies" rows={data.policies} rowKey={(p) => p.scope + '\n' + p.name} noun="policy" columns={[
            { name: 'For', head: 'For', cell: (p) => <><span class="dim">{p.scope}</span> {p.scope === 'queue' ? <QueueLink queue={p.name} /> : <Name text={p.name} />}</> },
            { name: 'Backoff', head: 'Backoff', cell: (p) => <span class="mono">{option(p.options.backoff)}</span> },
            { name: 'Longest run', head: 'Longest run', num: true, cell: (p) => option(p.options.timeout, duration) },
            { name: 'Lease', head: 'Lease', num: true, cell: (p) => option(p.options.lease, duration) },
            { name: 'Results kept', head: 'Results kept', num: true, cell: (p) => option(p.options.result_ttl, duration) },
            { name: 'Most crashes', head: 'Most crashes', num: true, cell: (p) => option(p.options.max_crashes) },
            { name: 'When a dependency fails', head: 'When a dependency fails', cell: (p) => option(p.options.on_dependency_failure) },
          ]} acts={operates ? (p) => (
            <>
              <button type="button" class="small" onClick={() => editPolicy(p)}>Edit…</button>
              <button type="button" class="small" onClick={() => confirm({ title: 'Remove the policy', verb: 'Remove', danger: true, act: () => settings.unsetPolicy(p.scope, p.name).then(reload), done: 'The policy is removed' })}>Remove…</button>
            </>
          ) : undefined as never} />
        )}
      </Panel>
    </>
  )
}
