// What a job waits for and what waits for it: three columns, the job in the middle. The neighbours are
// links with their state; the lines are drawn behind them.
import { jobs } from '../api.ts'
import { useLive } from '../live.ts'
import { toJob } from '../route.ts'
import type { Job, State } from '../types.ts'
import { Shape } from './basics.tsx'

const ROW = 34
const WIDTH = 158
const GAP = 44

function Box({ jid, job, x, y, self }: { jid: string; job: Job | null | undefined; x: number; y: number; self?: boolean }) {
  const state: State | 'gone' = job?.state ?? 'gone'
  const label = jid.length > 17 ? jid.slice(0, 6) + '…' + jid.slice(-8) : jid
  const inside = (
    <g transform={`translate(${x} ${y})`} class={'node is-' + state + (self ? ' self' : '')}>
      <title>{`${jid}: ${job ? job.klass + ', ' + job.state : 'gone'}`}</title>
      <rect width={WIDTH} height={ROW - 8} rx="5" />
      <g transform="translate(8 7)"><Shape of={state === 'gone' ? 'waiting' : state} /></g>
      <text x="26" y="17">{label}</text>
    </g>
  )
  return self ? inside : <a href={toJob(jid)} aria-label={`${jid}, ${state}`}>{inside}</a>
}

export function Graph({ job }: { job: Job }) {
  const around = [...job.depends, ...job.dependents]
  const { data } = useLive('around\n' + job.jid + '\n' + around.join(','), () => jobs.many(around), 3000)
  const known = new Map((data ?? []).filter((j): j is Job => j !== null).map((j) => [j.jid, j]))
  const rows = Math.max(job.depends.length, job.dependents.length, 1)
  const height = rows * ROW
  const top = (n: number): number => ((rows - n) * ROW) / 2
  const left = job.depends.length > 0
  const right = job.dependents.length > 0
  const selfX = left ? WIDTH + GAP : 0
  const width = selfX + WIDTH + (right ? GAP + WIDTH : 0)
  const mid = height / 2
  const line = (x1: number, y1: number, x2: number, y2: number): string => `M${x1} ${y1}C${x1 + GAP / 2} ${y1} ${x2 - GAP / 2} ${y2} ${x2} ${y2}`
  return (
    <div class="graph" tabIndex={0} role="group" aria-label="Dependencies">
      <svg width={width + 2} height={height + 20} viewBox={`-1 -20 ${width + 2} ${height + 20}`}>
        {left && <text class="graph-title" x="0" y="-7">waits for</text>}
        {right && <text class="graph-title" x={selfX + WIDTH + GAP} y="-7">waited for by</text>}
        {job.depends.map((d, i) => <path key={d} class="edge" d={line(WIDTH, top(job.depends.length) + i * ROW + ROW / 2 - 4, selfX, mid - 4)} />)}
        {job.dependents.map((d, i) => <path key={d} class="edge" d={line(selfX + WIDTH, mid - 4, selfX + WIDTH + GAP, top(job.dependents.length) + i * ROW + ROW / 2 - 4)} />)}
        {job.depends.map((d, i) => <Box key={d} jid={d} job={known.get(d)} x={0} y={top(job.depends.length) + i * ROW} />)}
        <Box jid={job.jid} job={job} x={selfX} y={mid - ROW / 2} self />
        {job.dependents.map((d, i) => <Box key={d} jid={d} job={known.get(d)} x={selfX + WIDTH + GAP} y={top(job.dependents.length) + i * ROW} />)}
      </svg>
    </div>
  )
}
