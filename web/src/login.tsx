// The login in the page. The password goes to POST /v1/session, which sets an HttpOnly cookie.
import { useState } from 'preact/hooks'
import { server } from './api.ts'
import { Problem } from './http.ts'
import { needLogin, who } from './state.ts'

export function Login({ done }: { done: () => void }) {
  const [user, setUser] = useState('')
  const [password, setPassword] = useState('')
  const [error, setError] = useState<string | null>(null)
  const [busy, setBusy] = useState(false)
  const submit = async (e: Event): Promise<void> => {
    e.preventDefault()
    setBusy(true)
    setError(null)
    try {
      await server.login(user, password)
      who.value = await server.who()
      needLogin.value = false
      setPassword('')
      done()
    } catch (failure) {
      const status = failure instanceof Problem ? failure.status : 0
      setError(status === 401 || status === 403 ? 'The name or the password is wrong.' : (failure as Error).message)
      needLogin.value = true
    } finally {
      setBusy(false)
    }
  }
  return (
    <main class="alone">
      <form class="login" onSubmit={submit}>
        <h1>Log in to Sluice</h1>
        <div class="field">
          <label for="login-user">User</label>
          <input id="login-user" name="user" autocomplete="username" autocapitalize="off" spellcheck={false} placeholder="default" value={user} onInput={(e) => setUser(e.currentTarget.value)} />
        </div>
        <div class="field">
          <label for="login-password">Password</label>
          <input id="login-password" name="password" type="password" autocomplete="current-password" required value={password} onInput={(e) => setPassword(e.currentTarget.value)} />
        </div>
        {error && <p class="field-error" role="alert">{error}</p>}
        <button type="submit" class="primary" disabled={busy}>{busy ? 'Working…' : 'Log in'}</button>
      </form>
    </main>
  )
}
