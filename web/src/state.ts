// What the whole page shares: the user, the connection, preferences. Preferences are in localStorage;
// credentials never are.
import { computed, effect, signal } from '@preact/signals'
import { allows, administersServer, type Right } from './rights.ts'
import { ns } from './route.ts'
import type { Who } from './types.ts'

export const who = signal<Who | null>(null)
export const needLogin = signal(false)

// starting: no reply yet; live: the event stream is open; polling: it is not, but the server replies;
// away: it does not.
export type Connection = 'starting' | 'live' | 'polling' | 'away'
export const connection = signal<Connection>('starting')
export const retryAt = signal(0)

// null while the server accepts everything; otherwise what /readyz says.
export const storeProblem = signal<string | null>(null)

export const frozen = signal(false)

export type Theme = 'system' | 'light' | 'dark'

function preference<T extends string>(name: string, all: readonly T[], initial: T) {
  let stored: string | null = null
  try {
    stored = localStorage.getItem('sluice.' + name)
  } catch {
    // Storage can be forbidden; the preference then lasts as long as the page.
  }
  const value = signal<T>(all.includes(stored as T) ? (stored as T) : initial)
  let first = true
  effect(() => {
    const now = value.value
    if (first) {
      first = false
      return
    }
    try {
      localStorage.setItem('sluice.' + name, now)
    } catch {
      // see above
    }
  })
  return value
}

export const theme = preference<Theme>('theme', ['system', 'light', 'dark'], 'system')
export const zone = preference<'local' | 'utc'>('zone', ['local', 'utc'], 'local')
export const utc = computed(() => zone.value === 'utc')

const systemDark = signal(matchMedia('(prefers-color-scheme: dark)').matches)
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', (e) => {
  systemDark.value = e.matches
})
export const dark = computed(() => (theme.value === 'system' ? systemDark.value : theme.value === 'dark'))
effect(() => {
  document.documentElement.dataset['theme'] = dark.value ? 'dark' : 'light'
})

export const can = (right: Right, queue?: string): boolean => allows(who.value?.rights ?? [], right, ns.value, queue)
export const canServer = (): boolean => administersServer(who.value?.rights ?? [])

// The time of the server in seconds, once a second. The clock of the browser may be wrong: the offset
// comes from the server's replies.
const offset = signal(0)
export const now = signal(Date.now() / 1000)
export function setServerTime(seconds: number, exact: boolean): void {
  const measured = seconds - Date.now() / 1000
  if (Math.abs(measured - offset.value) > (exact ? 0.5 : 1.5)) {
    offset.value = measured
    now.value = Date.now() / 1000 + measured
  }
}
setInterval(() => {
  if (!document.hidden) now.value = Date.now() / 1000 + offset.value
}, 1000)
