// A table: one page of rows, a card for each row on narrow screens, rows that hold still while they are
// read, selection, and movement by keys (j, k, Enter, x) through the attribute data-row.
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { choiceOf } from '../columns.ts'
import { plural } from '../format.ts'
import { useSteady } from '../live.ts'
import { frozen } from '../state.ts'
import { ColumnsMenu, isShown } from './columns-menu.tsx'
import { announce } from './toast.tsx'

export interface Column<R> {
  name: string
  head: ComponentChildren
  cell: (row: R) => ComponentChildren
  num?: boolean
  wide?: boolean
  // Left out on cards when it says nothing.
  empty?: (row: R) => boolean
  sort?: boolean
  // Not shown unless it is chosen.
  off?: boolean
}

export interface Sorting { by: string; down: boolean; set: (by: string, down: boolean) => void }

export interface Selection { keys: Set<string>; set: (keys: Set<string>) => void }

interface Props<R> {
  caption: string
  columns: Column<R>[]
  rows: R[]
  rowKey: (row: R) => string
  rowHref?: (row: R) => string
  selection?: Selection | undefined
  sorting?: Sorting
  acts?: (row: R) => ComponentChildren
  // Rows stay where they are while the pointer or the focus is on them.
  steady?: boolean
  noun?: string
  // The name under which the choice of columns is kept; the first column is always shown.
  choice?: string
}

export function Table<R>({ caption, columns: all, rows, rowKey, rowHref, selection, sorting, acts, steady = true, noun = 'row', choice }: Props<R>) {
  const chosenColumns = choice === undefined ? {} : choiceOf(choice).value
  const columns = all.filter((c, i) => i === 0 || isShown(chosenColumns, c))
  const [touched, setTouched] = useState(false)
  const box = useRef<HTMLDivElement>(null)
  const held = steady && (touched || frozen.value || (selection?.keys.size ?? 0) > 0)
  const { rows: shown, gone, fresh, show } = useSteady(rows, rowKey, held)
  const keys = shown.map(rowKey)
  const chosen = selection ? keys.filter((k) => selection.keys.has(k)).length : 0
  useEffect(() => {
    if (fresh > 0) announce(plural(fresh, 'new ' + noun))
  }, [fresh])
  const toggle = (key: string, range: boolean): void => {
    if (!selection) return
    const next = new Set(selection.keys)
    const on = !next.has(key)
    const from = range ? keys.indexOf(lastKey.current) : -1
    const at = keys.indexOf(key)
    for (const k of from < 0 ? [key] : keys.slice(Math.min(from, at), Math.max(from, at) + 1)) {
      if (on) next.add(k)
      else next.delete(k)
    }
    lastKey.current = key
    selection.set(next)
  }
  const lastKey = useRef('')
  const inside = (): boolean => box.current?.contains(document.activeElement) === true
  return (
    <div class={choice === undefined ? 'table-box' : 'table-box with-menu'} ref={box}
      onPointerEnter={(e) => e.pointerType === 'mouse' && setTouched(true)}
      onPointerLeave={() => setTouched(inside())}
      onFocusIn={() => setTouched(true)}
      onFocusOut={(e) => !box.current?.contains(e.relatedTarget as Node) && setTouched(false)}>
      {choice !== undefined && <ColumnsMenu table={choice} columns={all.slice(1)} />}
      {fresh > 0 && (
        <button type="button" class="fresh" onClick={show}>{plural(fresh, 'new ' + noun)} – show</button>
      )}
      <div class="table-scroll" tabIndex={-1}>
        <table>
          <caption class="hidden">{caption}</caption>
          <thead>
            <tr>
              {selection && (
                <th scope="col" class="pick">
                  <input type="checkbox" aria-label="Select all rows of this page" checked={chosen > 0 && chosen === keys.length}
                    ref={(e) => { if (e) e.indeterminate = chosen > 0 && chosen < keys.length }}
                    onChange={(e) => selection.set(new Set(e.currentTarget.checked ? keys : []))} />
                </th>
              )}
              {columns.map((c) => <Heading key={c.name} column={c} sorting={sorting} />)}
              {acts && <th scope="col" class="acts-head"><span class="hidden">Acts</span></th>}
            </tr>
          </thead>
          <tbody>
            {shown.map((row) => {
              const key = rowKey(row)
              const on = selection?.keys.has(key) ?? false
              return (
                <tr key={key} data-row={key} {...(rowHref ? { 'data-href': rowHref(row) } : {})} class={(gone.has(key) ? 'gone ' : '') + (on ? 'on' : '')}>
                  {selection && (
                    <td class="pick">
                      <input type="checkbox" aria-label={'Select ' + key} checked={on} onClick={(e) => toggle(key, e.shiftKey)} />
                    </td>
                  )}
                  {columns.map((c, i) => {
                    const classes = (c.num ? 'right ' : '') + (c.wide ? 'wide ' : '') + (c.empty?.(row) ? 'blank' : '')
                    return i === 0
                      ? <th key={c.name} scope="row" class={classes} data-label={c.name}>{c.cell(row)}</th>
                      : <td key={c.name} class={classes} data-label={c.name}>{c.cell(row)}</td>
                  })}
                  {acts && <td class="row-acts">{acts(row)}</td>}
                </tr>
              )
            })}
          </tbody>
        </table>
      </div>
    </div>
  )
}

function Heading<R>({ column, sorting }: { column: Column<R>; sorting: Sorting | undefined }) {
  const classes = (column.num ? 'right ' : '') + (column.wide ? 'wide' : '')
  if (!column.sort || !sorting) return <th scope="col" class={classes}>{column.head}</th>
  const on = sorting.by === column.name
  return (
    <th scope="col" class={classes} aria-sort={on ? (sorting.down ? 'descending' : 'ascending') : 'none'}>
      <button type="button" class="sort" onClick={() => sorting.set(column.name, on ? !sorting.down : (column.num ?? false))}>
        {column.head}
        <span aria-hidden="true" class="arrow">{on ? (sorting.down ? '↓' : '↑') : ''}</span>
      </button>
    </th>
  )
}

// Pages by offset.
export function Pager({ offset, size, total, shown, go }: { offset: number; size: number; total: number | null; shown: number; go: (offset: number) => void }) {
  const more = total === null ? shown === size : offset + shown < total
  if (offset === 0 && !more) return null
  return (
    <nav class="pager" aria-label="Pages">
      <button type="button" disabled={offset === 0} onClick={() => go(Math.max(0, offset - size))}>Previous</button>
      <span class="num">{(offset + 1).toLocaleString('en-US')}–{(offset + shown).toLocaleString('en-US')}{total !== null && ' of ' + total.toLocaleString('en-US')}</span>
      <button type="button" disabled={!more} onClick={() => go(offset + size)}>Next</button>
    </nav>
  )
}

// Pages by cursor: back through those that were seen.
export function CursorPager({ seen, next, go }: { seen: string[]; next: string | null; go: (seen: string[]) => void }) {
  if (seen.length === 0 && next === null) return null
  return (
    <nav class="pager" aria-label="Pages">
      <button type="button" disabled={seen.length === 0} onClick={() => go([])}>First</button>
      <button type="button" disabled={seen.length === 0} onClick={() => go(seen.slice(0, -1))}>Previous</button>
      <span class="num">Page {(seen.length + 1).toLocaleString('en-US')}</span>
      <button type="button" disabled={next === null} onClick={() => next !== null && go([...seen, next])}>Next</button>
    </nav>
  )
}
