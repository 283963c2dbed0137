// Short messages about acts, and the live region for what changes by itself: at most one every 5 s.
import { signal } from '@preact/signals'
import { Shape } from './basics.tsx'

interface Message { id: number; text: string; bad: boolean }
const messages = signal<Message[]>([])
let ids = 0

export function toast(text: string, bad = false): void {
  const id = ++ids
  messages.value = [...messages.value.slice(-2), { id, text, bad }]
  setTimeout(() => {
    messages.value = messages.value.filter((m) => m.id !== id)
  }, bad ? 10000 : 5000)
}

// Runs an act of a button; says how it went.
export async function act(call: () => Promise<unknown>, done?: string): Promise<boolean> {
  try {
    await call()
    if (done) toast(done)
    return true
  } catch (error) {
    toast((error as Error).message, true)
    return false
  }
}

const ANNOUNCE_MS = 5000
const announced = signal('')
let next = ''
let last = 0
let waiting = false

export function announce(text: string): void {
  next = text
  if (waiting) return
  waiting = true
  setTimeout(() => {
    waiting = false
    last = performance.now()
    announced.value = next
  }, Math.max(0, last + ANNOUNCE_MS - performance.now()))
}

export function Toasts() {
  return (
    <>
      <div class="toasts" role="status" aria-live="polite">
        {messages.value.map((m) => (
          <div key={m.id} class={m.bad ? 'toast bad' : 'toast'}>
            <Shape of={m.bad ? 'warn' : 'ok'} />
            <span>{m.text}</span>
            <button type="button" class="plain" aria-label="Dismiss" onClick={() => (messages.value = messages.value.filter((o) => o !== m))}>×</button>
          </div>
        ))}
      </div>
      <div class="hidden" role="status" aria-live="polite">{announced.value}</div>
    </>
  )
}
