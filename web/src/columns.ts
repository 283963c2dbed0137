// Which columns of a table are shown. The choice is kept in localStorage, for each table by its name, as
// the columns that differ from what is shown without a choice.
import { signal, type Signal } from '@preact/signals'

export type Choice = Record<string, boolean>

// What is stored may be anything: only members that are true or false count.
export function parseChoice(text: string | null): Choice {
  try {
    const all: unknown = JSON.parse(text ?? '{}')
    if (typeof all !== 'object' || all === null) return {}
    return Object.fromEntries(Object.entries(all).filter((entry): entry is [string, boolean] => typeof entry[1] === 'boolean'))
  } catch {
    return {}
  }
}

const choices = new Map<string, Signal<Choice>>()

export function choiceOf(table: string): Signal<Choice> {
  let choice = choices.get(table)
  if (!choice) {
    let stored: string | null = null
    try {
      stored = localStorage.getItem('sluice.columns.' + table)
    } catch {
      // Storage can be forbidden; the choice then lasts as long as the page.
    }
    choice = signal(parseChoice(stored))
    choices.set(table, choice)
  }
  return choice
}

export function choose(table: string, next: Choice): void {
  choiceOf(table).value = next
  try {
    if (Object.keys(next).length) localStorage.setItem('sluice.columns.' + table, JSON.stringify(next))
    else localStorage.removeItem('sluice.columns.' + table)
  } catch {
    // see above
  }
}
