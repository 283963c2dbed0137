// The address of a page is the fragment: #/NAMESPACE/SCREEN/NAME?filter=value. Paths stay relative to
// the page, so that a proxy may serve it below any path. Filters live in the address.
import { computed, signal } from '@preact/signals'
import { formatHash, parseHash, type Route } from './hash.ts'

export { formatHash } from './hash.ts'

export const route = signal<Route>(parseHash(location.hash))
export const ns = computed(() => route.value.ns)
export const screen = computed(() => route.value.path[0] ?? '')

addEventListener('hashchange', () => {
  route.value = parseHash(location.hash)
})

// An address in the present namespace.
export function to(path: string[], query?: Record<string, string | null | undefined>): string {
  return formatHash(ns.value, path, query)
}

export const toJob = (jid: string): string => to(['jobs', jid])
export const toQueue = (queue: string, query?: Record<string, string | null>): string => to(['queues', queue], query)

export function go(hash: string): void {
  location.hash = hash
}

// Changes filters of the present page. The history gets no entry: Back leaves the page.
export function setQuery(change: Record<string, string | null>): void {
  const query: Record<string, string | null> = Object.fromEntries(route.value.query)
  Object.assign(query, change)
  history.replaceState(null, '', formatHash(ns.value, route.value.path, query))
  route.value = parseHash(location.hash)
}

export const param = (name: string): string => route.value.query.get(name) ?? ''
