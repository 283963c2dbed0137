// The menu that chooses the columns of a table.
import { useEffect, useRef } from 'preact/hooks'
import { choiceOf, choose, type Choice } from '../columns.ts'

interface Named { name: string; off?: boolean }

export const isShown = (choice: Choice, column: Named): boolean => choice[column.name] ?? !column.off

// `columns` are those that can be left out.
export function ColumnsMenu({ table, columns }: { table: string; columns: Named[] }) {
  const menu = useRef<HTMLDetailsElement>(null)
  useEffect(() => {
    const shut = (e: Event): void => {
      if (menu.current?.open && !menu.current.contains(e.target as Node)) menu.current.open = false
    }
    document.addEventListener('pointerdown', shut)
    return () => document.removeEventListener('pointerdown', shut)
  }, [])
  const choice = choiceOf(table).value
  const set = (column: Named, on: boolean): void => {
    const { [column.name]: _, ...rest } = choice
    choose(table, on === !column.off ? rest : { ...rest, [column.name]: on })
  }
  return (
    <details class="menu columns-menu" ref={menu} onKeyDown={(e) => {
      if (e.key === 'Escape' && menu.current?.open) {
        e.stopPropagation()
        menu.current.open = false
        menu.current.querySelector('summary')?.focus()
      }
    }}>
      <summary>Columns</summary>
      <div class="menu-body">
        <fieldset class="choice">
          <legend>Columns</legend>
          {columns.map((c) => <label key={c.name}><input type="checkbox" checked={isShown(choice, c)} onChange={(e) => set(c, e.currentTarget.checked)} />{c.name}</label>)}
        </fieldset>
        <button type="button" class="wide-button" disabled={Object.keys(choice).length === 0} onClick={() => choose(table, {})}>Default columns</button>
      </div>
    </details>
  )
}
