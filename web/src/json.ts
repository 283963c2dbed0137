// JSON that keeps what JavaScript would lose: the digits of numbers, the order and the duplicates of
// members. Data of jobs is shown and edited through this.

export type Node =
  | { kind: 'object'; names: string[]; values: Node[] }
  | { kind: 'array'; values: Node[] }
  | { kind: 'string'; text: string }
  | { kind: 'number' | 'word'; text: string }

export function parse(text: string): Node {
  let i = 0
  const fail = (): never => {
    throw new SyntaxError('not JSON at position ' + i)
  }
  const space = (): void => {
    while (i < text.length && ' \t\n\r'.includes(text[i] as string)) i++
  }
  const string = (): string => {
    const from = i++
    while (text[i] !== '"') {
      if (i >= text.length) fail()
      i += text[i] === '\\' ? 2 : 1
    }
    i++
    return JSON.parse(text.slice(from, i)) as string
  }
  const value = (): Node => {
    space()
    const c = text[i]
    if (c === '"') return { kind: 'string', text: string() }
    if (c === '{') {
      const node: Node = { kind: 'object', names: [], values: [] }
      i++
      space()
      if (text[i] === '}') return i++, node
      for (;;) {
        space()
        if (text[i] !== '"') fail()
        node.names.push(string())
        space()
        if (text[i++] !== ':') fail()
        node.values.push(value())
        space()
        if (text[i] === ',') i++
        else break
      }
      if (text[i++] !== '}') fail()
      return node
    }
    if (c === '[') {
      const node: Node = { kind: 'array', values: [] }
      i++
      space()
      if (text[i] === ']') return i++, node
      for (;;) {
        node.values.push(value())
        space()
        if (text[i] === ',') i++
        else break
      }
      if (text[i++] !== ']') fail()
      return node
    }
    const token = /[-+0-9.eE]+|true|false|null/y
    token.lastIndex = i
    const found = token.exec(text)
    if (!found) return fail()
    JSON.parse(found[0])
    i += found[0].length
    return { kind: /[tfn]/.test(found[0][0] as string) ? 'word' : 'number', text: found[0] }
  }
  const node = value()
  space()
  if (i < text.length) fail()
  return node
}

export function format(node: Node, indent = ''): string {
  const inner = indent + '  '
  switch (node.kind) {
    case 'string':
      return JSON.stringify(node.text)
    case 'object':
      if (node.names.length === 0) return '{}'
      return '{\n' + node.values.map((v, i) => inner + JSON.stringify(node.names[i]) + ': ' + format(v, inner)).join(',\n') + '\n' + indent + '}'
    case 'array':
      if (node.values.length === 0) return '[]'
      return '[\n' + node.values.map((v) => inner + format(v, inner)).join(',\n') + '\n' + indent + ']'
    default:
      return node.text
  }
}

export function member(node: Node, name: string): Node | undefined {
  return node.kind === 'object' ? node.values[node.names.indexOf(name)] : undefined
}

// The text without spaces, for a request.
export function compact(node: Node): string {
  switch (node.kind) {
    case 'string':
      return JSON.stringify(node.text)
    case 'object':
      return '{' + node.values.map((v, i) => JSON.stringify(node.names[i]) + ':' + compact(v)).join(',') + '}'
    case 'array':
      return '[' + node.values.map(compact).join(',') + ']'
    default:
      return node.text
  }
}

// One member of an object as the client wrote it, with every digit; null without it.
export function rawMember(text: string, name: string): string {
  const node = member(parse(text), name)
  return node ? compact(node) : 'null'
}
