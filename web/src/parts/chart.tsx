// A chart over time (uPlot, loaded when the first chart is shown) and its twin: the same figures as a
// table, for readers of screens and for exact values.
import { useEffect, useRef, useState } from 'preact/hooks'
import type uPlot from 'uplot'
import { rate, stamp } from '../format.ts'
import { dark, utc } from '../state.ts'

export interface Line { name: string; color: string; values: (number | null)[]; dash?: boolean }

// The labels of the axis: seconds only where they differ.
function clock(at: number, step: number): string {
  const text = stamp(at, utc.value)
  return step >= 86400 ? text.slice(5, 10) : text.slice(11, step < 60 ? 19 : 16)
}

interface Props { title: string; times: number[]; lines: Line[]; format?: (v: number | null | undefined) => string; height?: number }

const color = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim()

export function Chart({ title, times, lines, format = rate, height = 180 }: Props) {
  const [table, setTable] = useState(false)
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | null>(null)
  const data = [times, ...lines.map((l) => l.values)] as uPlot.AlignedData
  const latest = useRef(data)
  latest.current = data
  const shape = lines.map((l) => l.name).join('\n') + dark.value + utc.value + table
  useEffect(() => {
    if (table || !box.current) return
    let gone = false
    let watch: ResizeObserver | undefined
    void import('uplot').then(({ default: Plot }) => {
      const element = box.current
      if (gone || !element) return
      const axis = { stroke: color('dim'), grid: { stroke: color('line'), width: 1 }, ticks: { show: false }, font: '12px system-ui, sans-serif' }
      plot.current = new Plot({
        width: element.clientWidth,
        height,
        padding: [8, 8, 0, 0],
        cursor: { y: false, points: { size: 6 } },
        legend: { live: true },
        ...(utc.value ? { tzDate: (ts: number) => Plot.tzDate(new Date(ts * 1000), 'Etc/UTC') } : {}),
        axes: [{ ...axis, values: (_u: uPlot, ticks: number[], _axis: number, _space: number, step: number) => ticks.map((t) => clock(t, step)) }, { ...axis, size: 56, values: (_u: uPlot, ticks: number[]) => ticks.map((t) => format(t)) }],
        scales: { y: { range: (_u: uPlot, _min: number, max: number) => [0, max > 0 ? max * 1.1 : 1] } },
        series: [
          { value: (_u: uPlot, v: number | null) => (v == null ? '' : stamp(v, utc.value)) },
          ...lines.map((l) => ({
            label: l.name,
            stroke: color(l.color),
            width: 1.5,
            ...(l.dash ? { dash: [5, 3] } : {}),
            points: { show: false },
            value: (_u: uPlot, v: number | null) => format(v),
          })),
        ],
      }, latest.current, element)
      watch = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height }))
      watch.observe(element)
    })
    return () => {
      gone = true
      watch?.disconnect()
      plot.current?.destroy()
      plot.current = null
    }
  }, [shape])
  useEffect(() => {
    plot.current?.setData(data)
  })
  return (
    <figure class="chart">
      <figcaption>
        <span>{title}</span>
        <button type="button" class="small" aria-pressed={table} onClick={() => setTable(!table)}>Table</button>
      </figcaption>
      {table ? (
        <div class="twin" tabIndex={0} role="region" aria-label={title + ', as a table'}>
          <table>
            <caption class="hidden">{title}</caption>
            <thead><tr><th scope="col">Time</th>{lines.map((l) => <th key={l.name} scope="col" class="right">{l.name}</th>)}</tr></thead>
            <tbody>
              {times.map((_, i) => times.length - 1 - i).slice(0, 300).map((i) => (
                <tr key={times[i]}>
                  <th scope="row" class="num">{stamp(times[i] as number, utc.value)}</th>
                  {lines.map((l) => <td key={l.name} class="right num" title={l.values[i] == null ? '' : String(l.values[i])}>{format(l.values[i])}</td>)}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      ) : <div ref={box} class="plot" role="img" aria-label={title + '. The button Table shows the figures.'} />}
    </figure>
  )
}

// Bars for a histogram, as SVG; the table twin has the figures.
export function Bars({ title, rows }: { title: string; rows: { label: string; value: number }[] }) {
  const [table, setTable] = useState(false)
  while (rows.length < 20) rows = [...rows, { label: '', value: 0 }]
  const most = Math.max(1, ...rows.map((r) => r.value))
  const width = 14
  return (
    <figure class="chart">
      <figcaption>
        <span>{title}</span>
        <button type="button" class="small" aria-pressed={table} onClick={() => setTable(!table)}>Table</button>
      </figcaption>
      {table ? (
        <div class="twin" tabIndex={0} role="region" aria-label={title + ', as a table'}>
          <table>
            <caption class="hidden">{title}</caption>
            <thead><tr><th scope="col">From</th><th scope="col" class="right">Jobs</th></tr></thead>
            <tbody>{rows.filter((r) => r.label).map((r) => <tr key={r.label}><th scope="row">{r.label}</th><td class="right num">{r.value.toLocaleString('en-US')}</td></tr>)}</tbody>
          </table>
        </div>
      ) : (
        <>
          <svg class="bars" viewBox={`0 0 ${Math.max(1, rows.length) * width} 80`} preserveAspectRatio="none" role="img" aria-label={title}>
            {rows.map((r, i) => {
              const h = r.value === 0 ? 0 : Math.max(1.5, (r.value / most) * 76)
              return <rect key={i} x={i * width + 1} y={80 - h} width={width - 2} height={h}><title>{r.label}: {r.value.toLocaleString('en-US')}</title></rect>
            })}
          </svg>
          <div class="bars-scale dim"><span>{rows[0]?.label}</span><span>{rows[Math.floor(rows.length / 2)]?.label}</span><span>{rows[rows.length - 1]?.label}</span></div>
        </>
      )}
    </figure>
  )
}
