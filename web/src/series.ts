// Rates, depths and times over time, as the server keeps them.
import { totals } from './api.ts'
import { useLive } from './live.ts'
import type { Line } from './parts/chart.tsx'
import type { Series } from './types.ts'

export const WINDOWS = [
  { name: '1m', label: '1 min', step: 1, every: 1000 },
  { name: '15m', label: '15 min', step: 15, every: 5000 },
  { name: '24h', label: '24 h', step: 60, every: 30000 },
] as const

export interface SeriesView { times: number[]; rates: Line[]; depths: Line[]; waits: Line[]; runs: Line[] }

// undefined before the first reply.
export function useSeriesData(window: string, queue?: string): Series | undefined {
  const choice = WINDOWS.find((w) => w.name === window) ?? WINDOWS[1]
  return useLive('series\n' + (queue ?? '') + '\n' + choice.step, (abort) => totals.series({ step: choice.step }, queue, abort), choice.every).data
}

const viewed = new WeakMap<Series, SeriesView>()

export function fromSeries(s: Series): SeriesView {
  const before = viewed.get(s)
  if (before) return before
  const line = (name: string, color: string, values: (number | null)[], dash = false): Line => ({ name, color, values, dash })
  const perSecond = (counts: number[]): number[] => counts.map((n) => n / s.step)
  const view: SeriesView = {
    times: Array.from({ length: s.count }, (_, i) => s.from + i * s.step),
    rates: [line('put', 'c1', perSecond(s.put)), line('completed', 'c3', perSecond(s.completed)), line('failed', 'c4', perSecond(s.failed), true), line('retried', 'c2', perSecond(s.retried), true)],
    depths: [line('waiting', 'c1', s.depth.waiting), line('running', 'c3', s.depth.running), line('scheduled', 'c5', s.depth.scheduled, true), line('stalled', 'c2', s.depth.stalled, true)],
    waits: [line('p50', 'c1', s.wait.p50), line('p90', 'c5', s.wait.p90), line('p99', 'c2', s.wait.p99, true)],
    runs: [line('p50', 'c1', s.run.p50), line('p90', 'c5', s.run.p90), line('p99', 'c2', s.run.p99, true)],
  }
  viewed.set(s, view)
  return view
}
