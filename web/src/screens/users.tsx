// The users of the server and their rights.
import { server } from '../api.ts'
import { Problem } from '../http.ts'
import { reload, useLive } from '../live.ts'
import { Chip, Command, Empty, ErrorNote, Head, Name, Skeleton } from '../parts/basics.tsx'
import { ask, confirm, FieldError } from '../parts/dialog.tsx'
import { Table } from '../parts/table.tsx'
import { ns, to } from '../route.ts'
import { canServer, who } from '../state.ts'
import type { User } from '../types.ts'

const lines = (text: string): string[] => text.split(/[\n\s]+/).filter(Boolean)

function edit(old: User | null): void {
  ask({
    title: old ? 'Edit the user ' + old.user : 'New user',
    fields: [
      ...(old ? [] : [{ name: 'name', label: 'Name', required: true }]),
      { name: 'password', label: 'Password', kind: 'password', required: !old, hint: old ? 'Empty: as it was. Another password closes the connections and ends the sessions of the user.' : undefined },
      { name: 'rights', label: 'Rights', kind: 'area', value: old?.rights.join('\n') ?? ns.value + ':read', hint: 'One on a line: NAMESPACE[/QUEUE]:RIGHT[+RIGHT]. The rights are read, put, work, operate, write (these four) and admin; * stands for any namespace or queue.' },
    ],
    verb: old ? 'Set' : 'Add',
    act: async (v) => {
      const name = old?.user ?? (v['name'] ?? '').trim()
      const rights = lines(v['rights'] ?? '')
      // An empty list would leave the rights as they were.
      if (rights.length === 0) throw new FieldError('rights', 'at least one right is needed')
      await server.setUser(name, { password: v['password'] || undefined, rights })
      reload()
    },
    done: (v) => `The user ${old?.user ?? v['name']} is ${old ? 'changed' : 'added'}`,
  })
}

function remove(user: User): void {
  confirm({
    title: 'Remove the user ' + user.user,
    body: <p>The user's connections are closed and its sessions end. Jobs and audit entries stay.</p>,
    verb: 'Remove', danger: true,
    act: () => server.removeUser(user.user).then(reload), done: `The user ${user.user} is removed`,
  })
}

export function Users() {
  const { data, error, again } = useLive('users', (signal) => server.users(signal), 5000)
  const head = <Head title="Users" lead="Who may use the server, and for what" crumbs={<a href={to(['server'])}>Server</a>}>{canServer() && <button type="button" class="primary" onClick={() => edit(null)}>New user</button>}</Head>
  if (error && !data) {
    const denied = error instanceof Problem && error.status === 403
    return <>{head}{denied ? <Empty title="Your user may not see the users"><p>That needs the right <code>*:admin</code>.</p></Empty> : <ErrorNote error={error} again={again} />}</>
  }
  if (!data) return <>{head}<Skeleton /></>
  if (data.length === 0) return <>{head}<Empty title="There are no users"><p>Without users every client that can reach the server may do everything. Begin with an administrator, in the config file or here; from then on a login is needed:</p><Command text="sluiced --user 'ann SECRET *:admin'" /></Empty></>
  const admin = canServer()
  return (
    <>
      {head}
      <Table caption="Users" rows={data} rowKey={(u) => u.user} noun="user" columns={[
        { name: 'User', head: 'User', cell: (u) => <><Name text={u.user} /> {u.user === who.value?.user && <Chip kind="plain">you</Chip>}</> },
        { name: 'Rights', head: 'Rights', wide: true, cell: (u) => <span class="tags">{u.rights.map((r) => <span key={r} class="tag mono"><bdi>{r}</bdi></span>)}</span> },
        { name: 'Set in', head: 'Set in', cell: (u) => (u.stored ? 'the store' : <span class="dim">the settings</span>) },
      ]} acts={admin ? (u) => u.stored && (
        <>
          <button type="button" class="small" aria-label={'Edit ' + u.user} onClick={() => edit(u)}>Edit…</button>
          <button type="button" class="small" aria-label={'Remove ' + u.user} onClick={() => remove(u)}>Remove…</button>
        </>
      ) : undefined as never} />
    </>
  )
}
