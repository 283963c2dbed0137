// Dialogs: a confirmation and a form, both on the <dialog> element, which keeps the focus inside and
// returns it. They are opened by a call and answered by a promise.
import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { count } from '../format.ts'
import { Problem } from '../http.ts'
import { toast } from './toast.tsx'

interface Open { id: number; render: (close: () => void) => ComponentChildren; label: string; wide: boolean }
const open = signal<Open[]>([])
let ids = 0

export const anyDialog = (): boolean => open.value.length > 0

export function show(label: string, render: (close: () => void) => ComponentChildren, wide = false): void {
  open.value = [...open.value, { id: ++ids, render, label, wide }]
}

// A dialog belongs to the page that it was opened on.
addEventListener('hashchange', () => {
  open.value = []
})

function closeDialog(id: number): void {
  open.value = open.value.filter((o) => o.id !== id)
}

function Modal({ dialog }: { dialog: Open }) {
  const element = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null
    element.current?.showModal()
    return () => {
      if (before?.isConnected) before.focus()
      else document.querySelector<HTMLElement>('h1')?.focus()
    }
  }, [])
  const close = (): void => closeDialog(dialog.id)
  return (
    <dialog ref={element} class={dialog.wide ? 'roomy' : ''} aria-label={dialog.label} onClose={close}
      onClick={(e) => element.current && e.target === element.current && e.detail > 0 && outside(e, element.current) && close()}>
      {dialog.render(close)}
    </dialog>
  )
}

function outside(e: MouseEvent, element: HTMLElement): boolean {
  const box = element.getBoundingClientRect()
  return e.clientX < box.left || e.clientX > box.right || e.clientY < box.top || e.clientY > box.bottom
}

export function Dialogs() {
  return <>{open.value.map((o) => <Modal key={o.id} dialog={o} />)}</>
}

export interface Question {
  title: string
  body?: ComponentChildren
  verb: string
  danger?: boolean
  // Above 1,000 the number has to be typed.
  affected?: number
  act: () => Promise<unknown>
  done?: string
}

const TYPED_ABOVE = 1000

function Confirm({ q, close }: { q: Question; close: () => void }) {
  const [typed, setTyped] = useState('')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<string | null>(null)
  const n = q.affected ?? 0
  const mustType = n > TYPED_ABOVE
  const ready = !mustType || typed.replace(/[,\s._]/g, '') === String(n)
  const submit = async (e: Event): Promise<void> => {
    e.preventDefault()
    if (!ready || busy) return
    setBusy(true)
    try {
      await q.act()
      close()
      if (q.done) toast(q.done)
    } catch (failure) {
      setError((failure as Error).message)
      setBusy(false)
    }
  }
  return (
    <form onSubmit={submit}>
      <h2>{q.title}</h2>
      {q.body && <div class="dialog-body">{q.body}</div>}
      {mustType && (
        <label class="field">
          <span>Type <b class="num">{count(n)}</b> to confirm</span>
          <input type="text" inputMode="numeric" autocomplete="off" value={typed} onInput={(e) => setTyped(e.currentTarget.value)} />
        </label>
      )}
      {error && <p class="field-error" role="alert">{error}</p>}
      <footer>
        <button type="button" onClick={close}>Back</button>
        <button type="submit" class={q.danger ? 'danger' : 'primary'} disabled={!ready || busy}>{busy ? 'Working…' : q.verb}</button>
      </footer>
    </form>
  )
}

export function confirm(question: Question): void {
  show(question.title, (close) => <Confirm q={question} close={close} />)
}

export interface Field {
  name: string
  label: string
  kind?: 'text' | 'number' | 'select' | 'area' | 'check' | 'password'
  value?: string
  hint?: ComponentChildren
  options?: (string | [string, string])[]
  required?: boolean
  placeholder?: string
  list?: string[]
}

export type Values = Record<string, string>

export interface FormQuestion {
  title: string
  intro?: ComponentChildren
  fields: Field[]
  verb: string
  danger?: boolean
  // Throws Problem with a field, or Error; its message is shown at the field or below.
  act: (values: Values) => Promise<unknown>
  done?: string | ((values: Values) => string)
  preview?: (values: Values) => ComponentChildren
  wide?: boolean
}

function Input({ field, value, set, error }: { field: Field; value: string; set: (v: string) => void; error: string | null }) {
  const id = 'f-' + field.name
  const described = [field.hint ? id + '-hint' : '', error ? id + '-error' : ''].filter(Boolean).join(' ')
  const common = { id, name: field.name, 'aria-invalid': error !== null, ...(described ? { 'aria-describedby': described } : {}) }
  let control
  if (field.kind === 'select') {
    control = (
      <select {...common} value={value} onChange={(e) => set(e.currentTarget.value)}>
        {(field.options ?? []).map((o) => {
          const [v, label] = typeof o === 'string' ? [o, o] : o
          return <option key={v} value={v}>{label}</option>
        })}
      </select>
    )
  } else if (field.kind === 'area') {
    control = <textarea {...common} rows={8} spellcheck={false} value={value} onInput={(e) => set(e.currentTarget.value)} />
  } else if (field.kind === 'check') {
    return (
      <label class="field check">
        <input {...common} type="checkbox" checked={value === 'true'} onChange={(e) => set(String(e.currentTarget.checked))} />
        <span>{field.label}</span>
        {field.hint && <small id={id + '-hint'}>{field.hint}</small>}
      </label>
    )
  } else {
    control = (
      <>
        {field.kind === 'password' ? <input {...common} type="password" autocomplete="new-password" value={value} onInput={(e) => set(e.currentTarget.value)} /> : (
          <input {...common} type="text" inputMode={field.kind === 'number' ? 'decimal' : 'text'} autocomplete="off" spellcheck={false}
            placeholder={field.placeholder ?? ''} required={field.required ?? false} value={value} list={field.list ? id + '-list' : undefined}
            onInput={(e) => set(e.currentTarget.value)} />
        )}
        {field.list && <datalist id={id + '-list'}>{field.list.map((v) => <option key={v} value={v} />)}</datalist>}
      </>
    )
  }
  return (
    <div class="field">
      <label for={id}>{field.label}{field.required && <span class="dim"> (required)</span>}</label>
      {control}
      {field.hint && <small id={id + '-hint'}>{field.hint}</small>}
      {error && <small id={id + '-error'} class="field-error">{error}</small>}
    </div>
  )
}

function Form({ q, close }: { q: FormQuestion; close: () => void }) {
  const [values, setValues] = useState<Values>(() => Object.fromEntries(q.fields.map((f) => [f.name, f.value ?? (f.kind === 'check' ? 'false' : '')])))
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<{ field: string | null; message: string } | null>(null)
  const submit = async (e: Event): Promise<void> => {
    e.preventDefault()
    if (busy) return
    setBusy(true)
    setError(null)
    try {
      await q.act(values)
      close()
      if (q.done) toast(typeof q.done === 'string' ? q.done : q.done(values))
    } catch (failure) {
      const field = failure instanceof Problem || failure instanceof FieldError ? failure.field : null
      setError({ field, message: (failure as Error).message })
      setBusy(false)
    }
  }
  const known = error?.field != null && q.fields.some((f) => f.name === error.field)
  return (
    <form onSubmit={submit}>
      <h2>{q.title}</h2>
      {q.intro && <div class="dialog-body">{q.intro}</div>}
      <div class="fields">
        {q.fields.map((f) => (
          <Input key={f.name} field={f} value={values[f.name] ?? ''} error={error?.field === f.name ? error.message : null}
            set={(v) => setValues((old) => ({ ...old, [f.name]: v }))} />
        ))}
      </div>
      {q.preview && <div class="preview">{q.preview(values)}</div>}
      {error && !known && <p class="field-error" role="alert">{error.message}</p>}
      <footer>
        <button type="button" onClick={close}>Back</button>
        <button type="submit" class={q.danger ? 'danger' : 'primary'} disabled={busy}>{busy ? 'Working…' : q.verb}</button>
      </footer>
    </form>
  )
}

export class FieldError extends Error {
  field: string
  constructor(field: string, message: string) {
    super(message)
    this.field = field
  }
}

export function ask(question: FormQuestion): void {
  show(question.title, (close) => <Form q={question} close={close} />, question.wide ?? false)
}
