// What the user may do, from the grants of GET /v1/whoami: NAMESPACE[/QUEUE]:RIGHT[+RIGHT]. It only
// decides which acts are shown; the server checks every call.

export type Right = 'read' | 'put' | 'work' | 'operate' | 'admin'

const WRITE: readonly string[] = ['read', 'put', 'work', 'operate']

function matches(pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name
}

function includes(grant: string, right: Right): boolean {
  return grant.split('+').some((r) => r === right || r === 'admin' || (r === 'write' && WRITE.includes(right)))
}

// Without a queue: whether the right holds on the whole namespace.
export function allows(grants: readonly string[], right: Right, ns: string, queue?: string): boolean {
  return grants.some((grant) => {
    const colon = grant.lastIndexOf(':')
    if (colon < 0 || !includes(grant.slice(colon + 1), right)) return false
    const where = grant.slice(0, colon)
    const slash = where.indexOf('/')
    if (slash < 0) return matches(where, ns)
    const queues = where.slice(slash + 1)
    return matches(where.slice(0, slash), ns) && (queue === undefined ? queues === '*' : matches(queues, queue))
  })
}

// admin of the server, not of a namespace: the grant names every namespace.
export const administersServer = (grants: readonly string[]): boolean =>
  grants.some((grant) => /^\*:/.test(grant) && includes(grant.slice(2), 'admin'))
