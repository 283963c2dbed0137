// A line without axes, for a row of a table. Its figures are in the label and in the page of the queue.
interface Props { values: readonly (number | null)[]; label: string; width?: number; height?: number }

export function Spark({ values, label, width = 60, height = 22 }: Props) {
  let most = 0
  for (const v of values) if (v !== null && v > most) most = v
  const step = values.length > 1 ? width / (values.length - 1) : width
  const y = (v: number): number => height - 1 - (most > 0 ? (v / most) * (height - 3) : 0)
  let line = ''
  let pen = false
  values.forEach((v, i) => {
    if (v === null) {
      pen = false
      return
    }
    line += (pen ? 'L' : 'M') + (i * step).toFixed(1) + ' ' + y(v).toFixed(1)
    pen = true
  })
  return (
    <svg class="spark" viewBox={`0 0 ${width} ${height}`} width={width} height={height} role="img" aria-label={label}>
      {line !== '' && most > 0 && <path class="area" d={line + `L${width} ${height}L0 ${height}Z`} />}
      <path class="line" d={line || `M0 ${height - 1}L${width} ${height - 1}`} />
    </svg>
  )
}
