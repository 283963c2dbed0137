// Numbers, times and sizes as text. Counts are exact; what is rounded has the exact figure in a title.

const integers = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })
const decimals = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 3 })

export const count = (n: number): string => integers.format(n)

export function rate(perSecond: number | null | undefined): string {
  if (perSecond == null || !Number.isFinite(perSecond)) return '–'
  if (perSecond === 0) return '0'
  return perSecond >= 100 ? integers.format(Math.round(perSecond)) : decimals.format(perSecond)
}

// Two units at most: 3.2 s, 4 min 12 s, 2 h 5 min, 3 d 4 h.
export function duration(seconds: number | null | undefined): string {
  if (seconds == null || !Number.isFinite(seconds)) return '–'
  const s = Math.abs(seconds)
  const sign = seconds < 0 ? '−' : ''
  if (s === 0) return '0 s'
  if (s < 0.001) return sign + decimals.format(s * 1e6) + ' µs'
  if (s < 1) return sign + decimals.format(s * 1e3) + ' ms'
  if (s < 60) return sign + decimals.format(s) + ' s'
  return sign + units(Math.round(s))
}

// The same in whole seconds, for clocks that run: no digits that change more than once a second.
export function span(seconds: number): string {
  const s = Math.max(0, Math.floor(seconds))
  return s < 60 ? s + ' s' : units(s)
}

function units(s: number): string {
  const steps: [number, string][] = [[86400, 'd'], [3600, 'h'], [60, 'min'], [1, 's']]
  for (const [i, [size, name]] of steps.entries()) {
    if (s < size) continue
    const next = steps[i + 1]
    const rest = next ? Math.floor((s % size) / next[0]) : 0
    return Math.floor(s / size) + ' ' + name + (next && rest > 0 ? ' ' + rest + ' ' + next[1] : '')
  }
  return '0 s'
}

export function bytes(n: number | null | undefined): string {
  if (n == null) return '–'
  const names = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  let i = 0
  let value = n
  while (value >= 1024 && i < names.length - 1) {
    value /= 1024
    i++
  }
  return (i === 0 ? integers.format(value) : decimals.format(value)) + ' ' + names[i]
}

export const plural = (n: number, one: string, many = one + 's'): string => count(n) + ' ' + (n === 1 ? one : many)

const two = (n: number): string => String(n).padStart(2, '0')

// 2026-11-18 19:52:14, in UTC or in the zone of the browser.
export function stamp(seconds: number, utc: boolean, millis = false): string {
  const d = new Date(seconds * 1000)
  if (Number.isNaN(d.getTime())) return String(seconds)
  const date = utc
    ? [d.getUTCFullYear(), d.getUTCMonth() + 1, d.getUTCDate(), d.getUTCHours(), d.getUTCMinutes(), d.getUTCSeconds()]
    : [d.getFullYear(), d.getMonth() + 1, d.getDate(), d.getHours(), d.getMinutes(), d.getSeconds()]
  const [y, mo, da, h, mi, s] = date as [number, number, number, number, number, number]
  const fraction = millis ? '.' + String(d.getUTCMilliseconds()).padStart(3, '0') : ''
  return `${y}-${two(mo)}-${two(da)} ${two(h)}:${two(mi)}:${two(s)}${fraction}${utc ? ' UTC' : ''}`
}

export function iso(seconds: number): string {
  const d = new Date(seconds * 1000)
  return Number.isNaN(d.getTime()) ? '' : d.toISOString()
}

// "12 s ago", "in 4 min"
export function relative(seconds: number, now: number): string {
  const away = seconds - now
  if (Math.abs(away) < 1) return 'now'
  return away < 0 ? span(-away) + ' ago' : 'in ' + span(away)
}

// One line of data for a row; the page of the job has all of it.
export function preview(value: unknown, most = 140): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  return text.length > most ? text.slice(0, most) + '…' : text
}

// "90", "90s", "5m", "2h", "1d" as seconds; NaN if it is none of these.
export function parseDuration(text: string): number {
  const match = /^\s*(\d+(?:\.\d+)?)\s*(ms|s|sec|m|min|h|d|w)?\s*$/.exec(text)
  if (!match) return NaN
  const factor = { ms: 0.001, s: 1, sec: 1, m: 60, min: 60, h: 3600, d: 86400, w: 604800 }[match[2] ?? 's'] ?? 1
  return Number(match[1]) * factor
}
