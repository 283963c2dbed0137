// Addresses as text: #/NAMESPACE/SCREEN/NAME?filter=value.

export interface Route { ns: string; path: string[]; query: URLSearchParams }

export function parseHash(hash: string): Route {
  const text = hash.replace(/^#\/?/, '')
  const mark = text.indexOf('?')
  const path = (mark < 0 ? text : text.slice(0, mark)).split('/').filter((s) => s !== '').map(decode)
  const query = new URLSearchParams(mark < 0 ? '' : text.slice(mark + 1))
  return { ns: path[0] ?? 'default', path: path.slice(1), query }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

export function formatHash(ns: string, path: string[], query?: Record<string, string | null | undefined>): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value != null && value !== '') search.set(name, value)
  }
  const tail = search.toString()
  return '#/' + [ns, ...path].map(encodeURIComponent).join('/') + (tail ? '?' + tail : '')
}
