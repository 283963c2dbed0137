// Small parts: states, times, counts, empty pages, errors, skeletons.
import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import * as format from '../format.ts'
import { to, toJob, toQueue } from '../route.ts'
import { now, utc } from '../state.ts'
import type { State } from '../types.ts'

// Each state has a shape of its own, so that colour is never needed to tell them apart.
const SHAPES: Record<string, string> = {
  waiting: 'M6 1.5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 0 0 0-9zM6 3a3 3 0 1 1 0 6a3 3 0 0 1 0-6z',
  running: 'M3 1.5v9L10.5 6z',
  stalled: 'M6 1L11.5 11H.5zM5.4 4.5v3h1.2v-3zM5.4 8.3v1.2h1.2V8.3z',
  scheduled: 'M6 1a5 5 0 1 0 0 10A5 5 0 0 0 6 1zm0 1.4a3.6 3.6 0 1 1 0 7.2a3.6 3.6 0 0 1 0-7.2zM5.4 3.2v3.1l2.3 1.5.6-1-1.7-1.1V3.2z',
  depends: 'M1 1h4v4H3.7v1.3H7V5h4v5H7V7.7H2.3V5H1zM8.3 6.3v2.4h1.4V6.3z',
  complete: 'M4.6 9.9L.9 6.2l1.2-1.2 2.5 2.5 5.3-5.3 1.2 1.2z',
  failed: 'M2.3 1.1L6 4.8l3.7-3.7 1.2 1.2L7.2 6l3.7 3.7-1.2 1.2L6 7.2l-3.7 3.7-1.2-1.2L4.8 6 1.1 2.3z',
  paused: 'M2 1.5h3v9H2zM7 1.5h3v9H7z',
  recurring: 'M6 1.2a4.8 4.8 0 0 1 4 2.2V1.6h1.2v4H7.3V4.4H9A3.4 3.4 0 1 0 9.3 7h1.5A4.8 4.8 0 1 1 6 1.2z',
  ok: 'M4.6 9.9L.9 6.2l1.2-1.2 2.5 2.5 5.3-5.3 1.2 1.2z',
  warn: 'M6 1L11.5 11H.5zM5.4 4.5v3h1.2v-3zM5.4 8.3v1.2h1.2V8.3z',
}

export function Shape({ of }: { of: string }) {
  return (
    <svg class="shape" viewBox="0 0 12 12" width="12" height="12" aria-hidden="true" focusable="false">
      <path fill-rule="evenodd" d={SHAPES[of] ?? SHAPES['waiting']} />
    </svg>
  )
}

export function Chip({ kind, children }: { kind: State | 'paused' | 'ok' | 'warn' | 'recurring' | 'plain'; children?: ComponentChildren }) {
  return (
    <span class={'chip is-' + kind}>
      {kind !== 'plain' && <Shape of={kind} />}
      {children ?? kind}
    </span>
  )
}

export function Count({ n, zero = 'dim' }: { n: number | null | undefined; zero?: 'dim' | 'plain' }) {
  if (n == null) return <span class="dim">–</span>
  return <span class={n === 0 && zero === 'dim' ? 'num dim' : 'num'}>{format.count(n)}</span>
}

// A moment: how long ago or when, with the exact time in the title.
export function Ago({ at, none = '–' }: { at: number | null | undefined; none?: string }) {
  if (at == null || at === 0) return <span class="dim">{none}</span>
  return (
    <time dateTime={format.iso(at)} title={format.stamp(at, utc.value, true)}>
      {format.relative(at, now.value)}
    </time>
  )
}

// A moment: the time of day, with how long ago in the title.
export function Stamp({ at, millis = false }: { at: number | null | undefined; millis?: boolean }) {
  if (at == null || at === 0) return <span class="dim">–</span>
  return (
    <time class="num" dateTime={format.iso(at)} title={format.iso(at)}>
      {format.stamp(at, utc.value, millis)}
    </time>
  )
}

export function Seconds({ s, whole }: { s: number | null | undefined; whole?: boolean }) {
  if (s == null) return <span class="dim">–</span>
  return <span class="num" title={s + ' s'}>{whole ? format.span(s) : format.duration(s)}</span>
}

// How long something has lasted.
export function Age({ since }: { since: number | null | undefined }) {
  if (since == null) return <span class="dim">–</span>
  return <span class="num" title={format.stamp(since, utc.value, true)}>{format.span(now.value - since)}</span>
}

// Text in a row that may hold anything: one line, isolated from the direction of the text around it.
export function Name({ text, title }: { text: string; title?: string }) {
  return <bdi class="name" title={title ?? text}>{text}</bdi>
}

export function JobLink({ jid, short = true }: { jid: string; short?: boolean }) {
  const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(jid)
  return <a class="mono jid" href={toJob(jid)} title={jid}><bdi>{short && uuid ? jid.slice(0, 8) + '…' + jid.slice(-6) : jid}</bdi></a>
}

export function QueueLink({ queue }: { queue: string }) {
  return queue === '' ? <span class="dim">–</span> : <a href={toQueue(queue)}><Name text={queue} /></a>
}

export function WorkerLink({ worker }: { worker: string }) {
  return <a href={to(['workers', worker])}><Name text={worker} /></a>
}

export function TagLink({ tag }: { tag: string }) {
  return <a class="tag" href={to(['jobs'], { tag })}><Name text={tag} /></a>
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  )
}

export function Command({ text }: { text: string }) {
  const button = useRef<HTMLButtonElement>(null)
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text)
      if (button.current) button.current.textContent = 'Copied'
    } catch {
      if (button.current) button.current.textContent = 'Select and copy'
    }
    setTimeout(() => button.current && (button.current.textContent = 'Copy'), 1500)
  }
  return (
    <div class="command">
      <pre tabIndex={0}>{text}</pre>
      <button type="button" ref={button} class="small" onClick={copy}>Copy</button>
    </div>
  )
}

export function ErrorNote({ error, again }: { error: Error; again?: () => void }) {
  return (
    <div class="note is-error" role="alert">
      <Shape of="warn" />
      <span>{error.message}</span>
      {again && <button type="button" class="small" onClick={again}>Try again</button>}
    </div>
  )
}

export function Skeleton({ rows = 6 }: { rows?: number }) {
  return (
    <div class="skeleton" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, i) => <div key={i} class={'bone w' + (i % 4)} />)}
    </div>
  )
}

export function Panel({ title, aside, children, id, flush }: { title: ComponentChildren; aside?: ComponentChildren; children?: ComponentChildren; id?: string; flush?: boolean }) {
  return (
    <section class={flush ? 'panel flush' : 'panel'} {...(id ? { id } : {})}>
      <header>
        <h2>{title}</h2>
        {aside && <div class="aside">{aside}</div>}
      </header>
      <div class="body">{children}</div>
    </section>
  )
}

export function Bar({ part, label }: { part: number; label: string }) {
  const value = Math.max(0, Math.min(1, part))
  return (
    <span class="bar">
      <progress max={1} value={value} aria-label={label} />
      <span class="num">{Math.floor(value * 100)}%</span>
    </span>
  )
}

// The title of a page, what leads to it, and its acts.
export function Head({ title, crumbs, lead, children }: { title: ComponentChildren; crumbs?: ComponentChildren; lead?: ComponentChildren; children?: ComponentChildren }) {
  return (
    <div class="head">
      <div class="head-text">
        {crumbs && <nav class="crumbs" aria-label="Breadcrumb">{crumbs}</nav>}
        <h1 tabIndex={-1}>{title}</h1>
        {lead && <div class="lead">{lead}</div>}
      </div>
      {children && <div class="acts" role="group" aria-label="Acts">{children}</div>}
    </div>
  )
}

export function Facts({ rows }: { rows: [string, ComponentChildren][] }) {
  return (
    <dl class="facts">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
