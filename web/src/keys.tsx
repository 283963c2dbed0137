// The keyboard: g and a letter for a screen, / to search, j and k through rows, Enter opens, x selects,
// p pauses, f freezes, t changes the theme, ? shows this. A screen adds keys with useKey.
import { useEffect } from 'preact/hooks'
import { reload } from './live.ts'
import { anyDialog, show } from './parts/dialog.tsx'
import { announce } from './parts/toast.tsx'
import { go, to } from './route.ts'
import { frozen, theme } from './state.ts'

const extra = new Map<string, () => void>()

export function useKey(key: string, act: () => void, on = true): void {
  useEffect(() => {
    if (!on) return
    extra.set(key, act)
    return () => {
      if (extra.get(key) === act) extra.delete(key)
    }
  })
}

function rows(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>('main tr[data-row]')]
}

function rowOf(element: Element | null): HTMLElement | null {
  return element?.closest<HTMLElement>('tr[data-row]') ?? null
}

function move(by: number): void {
  const all = rows()
  if (all.length === 0) return
  const at = rowOf(document.activeElement)
  const next = all[at ? Math.max(0, Math.min(all.length - 1, all.indexOf(at) + by)) : 0] as HTMLElement
  next.tabIndex = -1
  next.focus()
  next.scrollIntoView({ block: 'nearest' })
}

let chord = 0

export function installKeys(screens: { key: string; path: string; title: string }[]): void {
  document.addEventListener('keydown', (e) => {
    const target = e.target as HTMLElement
    if (e.ctrlKey || e.metaKey || e.altKey || anyDialog()) return
    if (target.matches('input:not([type=checkbox]):not([type=radio]), textarea, select')) {
      if (e.key === 'Escape') target.blur()
      return
    }
    if (chord && performance.now() - chord < 1500) {
      chord = 0
      const found = screens.find((s) => s.key === e.key)
      if (found) {
        e.preventDefault()
        go(to(found.path ? [found.path] : []))
      }
      return
    }
    const row = rowOf(document.activeElement)
    switch (e.key) {
      case 'g':
        chord = performance.now()
        break
      case '/':
        document.getElementById('search')?.focus()
        break
      case 'j':
        move(1)
        break
      case 'k':
        move(-1)
        break
      case 'x':
        row?.querySelector<HTMLInputElement>('.pick input')?.click()
        break
      case 'Enter':
        if (!row || document.activeElement !== row || !row.dataset['href']) return
        go(row.dataset['href'])
        break
      case 'f':
        frozen.value = !frozen.value
        if (!frozen.value) reload()
        announce(frozen.value ? 'Frozen' : 'Live')
        break
      case 't':
        theme.value = theme.value === 'system' ? 'light' : theme.value === 'light' ? 'dark' : 'system'
        announce('Theme: ' + theme.value)
        break
      case '?':
        showKeys()
        break
      default: {
        const act = extra.get(e.key)
        if (!act) return
        act()
      }
    }
    e.preventDefault()
  })
}

const KEYS: [string, string][] = [
  ['g then o, q, j, f, w, r', 'Overview, queues, jobs, failures, workers, recurring'],
  ['/', 'Search'],
  ['j, k', 'Next row, previous row'],
  ['Enter', 'Open the row'],
  ['x', 'Select the row'],
  ['p', 'Pause or resume the queue'],
  ['f', 'Freeze the lists, or make them live'],
  ['t', 'Theme: system, light, dark'],
  ['?', 'This help'],
  ['Esc', 'Close a dialog, leave a field'],
]

export function showKeys(): void {
  show('Keyboard', (close) => (
    <div>
      <h2>Keyboard</h2>
      <table class="keys">
        <caption class="hidden">Keys</caption>
        <tbody>{KEYS.map(([key, what]) => <tr key={key}><th scope="row"><kbd>{key}</kbd></th><td>{what}</td></tr>)}</tbody>
      </table>
      <footer><button type="button" class="primary" onClick={close}>Close</button></footer>
    </div>
  ))
}
