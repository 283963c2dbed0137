// What surrounds every screen: navigation, namespace, search, live or frozen, connection, user, theme.
import { useSignal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { jobs, recurring, server } from './api.ts'
import { Problem } from './http.ts'
import { installKeys, showKeys } from './keys.tsx'
import { begin, reload, retryNow, start, useLive } from './live.ts'
import { Login } from './login.tsx'
import { Dialogs } from './parts/dialog.tsx'
import { ErrorNote, Empty, Head } from './parts/basics.tsx'
import { Toasts, announce } from './parts/toast.tsx'
import { formatHash, go, ns, route, screen, to, toJob } from './route.ts'
import { can, canServer, connection, frozen, needLogin, now, retryAt, storeProblem, theme, who, zone, type Theme } from './state.ts'
import { Overview } from './screens/overview.tsx'
import { Queues } from './screens/queues.tsx'
import { QueueScreen } from './screens/queue.tsx'
import { Jobs } from './screens/jobs.tsx'
import { JobScreen } from './screens/job.tsx'
import { FailureGroup, Failures } from './screens/failures.tsx'
import { WorkerScreen, Workers } from './screens/workers.tsx'
import { RecurringList, RecurringScreen } from './screens/recurring.tsx'
import { Limits } from './screens/limits.tsx'
import { Pushes } from './screens/push.tsx'
import { Operations } from './screens/operations.tsx'
import { Tracked } from './screens/tracked.tsx'
import { Completed } from './screens/completed.tsx'
import { Tags } from './screens/tags.tsx'
import { Config } from './screens/config.tsx'
import { Server } from './screens/server.tsx'
import { Users } from './screens/users.tsx'

interface Screen { path: string; title: string; list: ComponentType; one?: ComponentType<{ name: string }>; icon: string; group: number; key?: string; on?: () => boolean }

const ICONS: Record<string, string> = {
  overview: 'M2 2h5v6H2zM9 2h5v3H9zM9 7h5v7H9zM2 10h5v4H2z',
  queues: 'M2 3h12v2.5H2zM2 6.8h12v2.4H2zM2 10.5h12V13H2z',
  jobs: 'M3 2h10v12H3zM5 5h6v1.2H5zM5 7.6h6v1.2H5zM5 10.2h4v1.2H5z',
  failures: 'M8 1.5L15 14H1zM7.3 6v4h1.4V6zM7.3 11v1.4h1.4V11z',
  workers: 'M5.5 2a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5zM1 13c0-3 2-5 4.5-5S10 10 10 13zM11 4a2 2 0 1 1 0 4zM11.3 9c2.2 0 3.7 1.7 3.7 4h-3.7z',
  recurring: 'M8 2a6 6 0 0 1 4.6 2.2V2.4H14v4.4H9.6V5.3h2A4.5 4.5 0 1 0 12.5 9H14A6 6 0 1 1 8 2z',
  limits: 'M8 3a6.5 6.5 0 0 1 6.5 6.5V12h-13V9.5A6.5 6.5 0 0 1 8 3zM7.4 9.9l4-3.4-.9-1-3.9 3.4z',
  push: 'M2 8L14 2l-3 12-3.5-4zM7.6 9.8L12 4.5 5 8.3z',
  operations: 'M2 3h8v2H2zM2 7h12v2H2zM2 11h5v2H2zM11 2l3 2-3 2z',
  tracked: 'M8 2l1.8 4 4.2.5-3.1 2.9.8 4.3L8 11.6l-3.7 2.1.8-4.3L2 6.5 6.2 6z',
  completed: 'M6.2 12.5L2 8.3l1.4-1.4 2.8 2.8L12.6 3.3 14 4.7z',
  tags: 'M2 2h6l6 6-6 6-6-6zM5 4a1 1 0 1 0 0 2 1 1 0 0 0 0-2z',
  config: 'M2 4h6V2.5h2V4h4v1.4h-4V7H8V5.4H2zM2 10.6h3V9h2v1.6h7V12H7v1.5H5V12H2z',
  users: 'M8 2a3 3 0 1 1 0 6 3 3 0 0 1 0-6zM2 14c0-3 2.500-5 6-5s6 2 6 5z',
  server: 'M2 2h12v5H2zM2 9h12v5H2zM4 3.8h1.4v1.4H4zM4 10.8h1.4v1.4H4z',
}

const SCREENS: Screen[] = [
  { path: '', title: 'Overview', list: Overview, icon: 'overview', group: 0, key: 'o' },
  { path: 'queues', title: 'Queues', list: Queues, one: QueueScreen, icon: 'queues', group: 0, key: 'q' },
  { path: 'jobs', title: 'Jobs', list: Jobs, one: JobScreen, icon: 'jobs', group: 0, key: 'j' },
  { path: 'failures', title: 'Failures', list: Failures, one: FailureGroup, icon: 'failures', group: 0, key: 'f' },
  { path: 'workers', title: 'Workers', list: Workers, one: WorkerScreen, icon: 'workers', group: 0, key: 'w' },
  { path: 'recurring', title: 'Recurring', list: RecurringList, one: RecurringScreen, icon: 'recurring', group: 0, key: 'r' },
  { path: 'tracked', title: 'Tracked', list: Tracked, icon: 'tracked', group: 1 },
  { path: 'completed', title: 'Completed', list: Completed, icon: 'completed', group: 1 },
  { path: 'tags', title: 'Tags', list: Tags, icon: 'tags', group: 1 },
  { path: 'limits', title: 'Limits', list: Limits, icon: 'limits', group: 2 },
  { path: 'push', title: 'Push', list: Pushes, icon: 'push', group: 2 },
  { path: 'operations', title: 'Operations', list: Operations, icon: 'operations', group: 2 },
  { path: 'config', title: 'Config', list: Config, icon: 'config', group: 2 },
  { path: 'server', title: 'Server', list: Server, icon: 'server', group: 2 },
  { path: 'users', title: 'Users', list: Users, icon: 'users', group: 2, on: canServer },
]

export const screenKeys = SCREENS.filter((s) => s.key).map((s) => ({ key: s.key as string, path: s.path, title: s.title }))

function Icon({ of }: { of: string }) {
  return <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false"><path fill-rule="evenodd" d={ICONS[of] ?? ''} /></svg>
}

function Nav({ close }: { close: () => void }) {
  const groups = [0, 1, 2]
  return (
    <nav class="nav" aria-label="Screens">
      {groups.map((g) => (
        <ul key={g}>
          {SCREENS.filter((s) => s.group === g && (!s.on || s.on())).map((s) => (
            <li key={s.path}>
              <a href={to(s.path ? [s.path] : [])} aria-current={screen.value === s.path ? 'page' : undefined} onClick={close}>
                <Icon of={s.icon} />
                <span>{s.title}</span>
              </a>
            </li>
          ))}
        </ul>
      ))}
    </nav>
  )
}

function NamespaceSwitch() {
  const { data } = useLive('namespaces', server.namespaces, 15000, true)
  const names = (data ?? []).map((n) => n.name)
  if (!names.includes(ns.value)) names.unshift(ns.value)
  return (
    <label class="ns-switch">
      <span class="hidden">Namespace</span>
      <select value={ns.value} onChange={(e) => go(formatHash(e.currentTarget.value, screen.value ? [screen.value] : []))}>
        {names.map((n) => <option key={n} value={n}>{n}</option>)}
      </select>
    </label>
  )
}

// An exact jid opens the job; anything else is looked for.
function Search() {
  const busy = useSignal(false)
  const submit = async (e: Event): Promise<void> => {
    e.preventDefault()
    const input = (e.currentTarget as HTMLFormElement).elements.namedItem('q') as HTMLInputElement
    const text = input.value.trim()
    if (!text || busy.value) return
    busy.value = true
    try {
      await jobs.get(text)
      go(toJob(text))
      input.value = ''
      input.blur()
    } catch (error) {
      if (error instanceof Problem && error.status > 0) {
        const known = error.status === 404 && await recurring.find(text).catch(() => null)
        go(known ? to(['recurring', text]) : to(['jobs'], { find: text }))
      }
    } finally {
      busy.value = false
    }
  }
  return (
    <form role="search" class="search" onSubmit={submit}>
      <label class="hidden" for="search">Find a job by its id, or by text</label>
      <input id="search" name="q" type="search" placeholder="Job id, or text to find" autocomplete="off" spellcheck={false} aria-busy={busy.value} />
      <kbd aria-hidden="true">/</kbd>
    </form>
  )
}

function LiveSwitch() {
  const on = frozen.value
  const toggle = (): void => {
    frozen.value = !on
    if (on) reload()
    announce(on ? 'Live' : 'Frozen')
  }
  const state = connection.value
  const word = on ? 'Frozen' : state === 'away' ? 'Away' : state === 'starting' ? 'Connecting' : 'Live'
  return (
    <button type="button" class={'live is-' + (on ? 'frozen' : state)} aria-pressed={on} onClick={toggle}
      title={on ? 'Lists are frozen; press to make them live (f)' : 'Lists are live; press to freeze them (f)'}>
      <span class="dot" aria-hidden="true" />
      {word}
    </button>
  )
}

const THEMES: Theme[] = ['system', 'light', 'dark']

function Preferences() {
  const menu = useRef<HTMLDetailsElement>(null)
  useEffect(() => {
    const shut = (e: Event): void => {
      if (menu.current?.open && !menu.current.contains(e.target as Node)) menu.current.open = false
    }
    document.addEventListener('pointerdown', shut)
    return () => document.removeEventListener('pointerdown', shut)
  }, [])
  const rights = who.value?.rights ?? []
  const logout = async (): Promise<void> => {
    try {
      await server.logout()
    } catch {
      // no session on this server
    }
    who.value = null
    needLogin.value = true
  }
  return (
    <details class="menu" ref={menu} onKeyDown={(e) => {
      if (e.key === 'Escape' && menu.current?.open) {
        menu.current.open = false
        menu.current.querySelector('summary')?.focus()
      }
    }}>
      <summary><span class="user">{who.value?.user ?? 'no login'}</span></summary>
      <div class="menu-body">
        <p class="menu-title">{who.value?.user ?? 'No users are set up'}</p>
        <p class="dim">{can('operate') ? 'May act' : 'May look, not act'} in <bdi>{ns.value}</bdi></p>
        <ul class="rights">{rights.map((r) => <li key={r} class="mono">{r}</li>)}</ul>
        <fieldset class="choice">
          <legend>Theme</legend>
          {THEMES.map((t) => <label key={t}><input type="radio" name="theme" checked={theme.value === t} onChange={() => (theme.value = t)} />{t}</label>)}
        </fieldset>
        <fieldset class="choice">
          <legend>Times</legend>
          {(['local', 'utc'] as const).map((z) => <label key={z}><input type="radio" name="zone" checked={zone.value === z} onChange={() => (zone.value = z)} />{z === 'utc' ? 'UTC' : z}</label>)}
        </fieldset>
        <button type="button" class="wide-button" onClick={showKeys}>Keyboard (?)</button>
        {who.value?.user != null && <button type="button" class="wide-button" onClick={logout}>Log out</button>}
      </div>
    </details>
  )
}

function Banners() {
  const wait = Math.max(0, Math.ceil((retryAt.value - Date.now()) / 1000))
  void now.value
  return (
    <div class="banners" role="status">
      {connection.value === 'away' && (
        <div class="banner is-error">
          <b>The server does not reply.</b> What is shown may be old. {wait > 0 ? `Trying again in ${wait} s.` : 'Trying now.'}
          <button type="button" class="small" onClick={retryNow}>Try now</button>
        </div>
      )}
      {connection.value !== 'away' && storeProblem.value !== null && (
        <div class="banner is-warn"><b>The server is not ready:</b> {storeProblem.value}{canServer() && <> – <a href={to(['server'])}>details</a></>}</div>
      )}
      {frozen.value && (
        <div class="banner is-info"><b>Frozen.</b> Lists stay as they are. <button type="button" class="small" onClick={() => { frozen.value = false; reload() }}>Make live</button></div>
      )}
    </div>
  )
}

function Page() {
  const { path } = route.value
  const found = SCREENS.find((s) => s.path === (path[0] ?? ''))
  const name = path[1]
  useEffect(() => {
    document.title = [name, found?.title ?? 'Not found', ns.value, 'Sluice'].filter(Boolean).join(' – ')
  }, [name, found, ns.value])
  if (!found) return <><Head title="Not found" /><Empty title="There is no such page"><p><a href={to([])}>To the overview</a></p></Empty></>
  if (name !== undefined && found.one) return <found.one key={ns.value + '/' + name} name={name} />
  return <found.list key={ns.value + '/' + found.path} />
}

export function App() {
  const nav = useSignal(false)
  const failed = useSignal<Error | null>(null)
  const load = async (): Promise<void> => {
    try {
      who.value = await server.who()
      failed.value = null
      begin()
    } catch (error) {
      if (error instanceof Problem && error.status === 401) return
      failed.value = error as Error
      setTimeout(load, 2000)
    }
  }
  useEffect(() => {
    installKeys(screenKeys)
    void load()
  }, [])
  const main = useRef<HTMLElement>(null)
  const at = ns.value + '/' + route.value.path.join('/')
  const before = useRef(at)
  useEffect(() => {
    if (before.current === at) return
    before.current = at
    scrollTo(0, 0)
    main.current?.querySelector<HTMLElement>('h1')?.focus({ preventScroll: true })
  }, [at])
  if (needLogin.value) return <><Login done={() => { needLogin.value = false; if (connection.value === 'starting') void load(); else start(); reload() }} /><Toasts /></>
  if (failed.value) return <main class="alone"><h1>Sluice</h1><ErrorNote error={failed.value} again={load} /></main>
  if (who.value === null) return <main class="alone" aria-busy="true" />
  return (
    <div class={nav.value ? 'shell nav-open' : 'shell'} onKeyDown={(e) => e.key === 'Escape' && (nav.value = false)}>
      <a class="skip" href="#main" onClick={(e) => { e.preventDefault(); main.current?.focus() }}>Skip to the content</a>
      <header class="top">
        <button type="button" class="nav-button" aria-expanded={nav.value} aria-label="Screens" onClick={() => (nav.value = !nav.value)}>
          <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"><path d="M2 3h12v1.6H2zM2 7.2h12v1.6H2zM2 11.4h12V13H2z" /></svg>
        </button>
        <a class="brand" href={to([])} aria-label="Sluice, overview">
          <svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true"><path d="M2 3h3v14H2zM15 3h3v14h-3zM6 5h8v2H6zM6 9h8v2.2c-1.3 0-1.3 1-2.7 1S10 11.2 8.700 11.200 7.300 12.200 6 12.200zM6 14c1.300 0 1.300-1 2.700-1s1.300 1 2.600 1 1.400-1 2.700-1v3H6z" /></svg>
          <span>Sluice</span>
        </a>
        <NamespaceSwitch />
        <Search />
        <LiveSwitch />
        <Preferences />
      </header>
      <Nav close={() => (nav.value = false)} />
      <main id="main" ref={main} tabIndex={-1} onPointerDown={() => (nav.value = false)}>
        <Banners />
        <Page />
      </main>
      <Dialogs />
      <Toasts />
    </div>
  )
}
