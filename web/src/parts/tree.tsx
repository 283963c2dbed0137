// JSON as a tree that opens level by level. Everything is a text node. Long lists and long texts are
// shown in parts; nothing is drawn before it is opened.
import { useMemo, useState } from 'preact/hooks'
import { bytes, count } from '../format.ts'
import { format, parse, type Node } from '../json.ts'
import { Command } from './basics.tsx'

const CHILDREN_MOST = 100
const TEXT_MOST = 400

function size(node: Node): string {
  if (node.kind === 'object') return '{ ' + count(node.values.length) + ' }'
  if (node.kind === 'array') return '[ ' + count(node.values.length) + ' ]'
  return ''
}

function Text({ text }: { text: string }) {
  const [whole, setWhole] = useState(text.length <= TEXT_MOST)
  return (
    <span class="t-string">
      <bdi>{JSON.stringify(whole ? text : text.slice(0, TEXT_MOST))}</bdi>
      {!whole && <button type="button" class="small" onClick={() => setWhole(true)}>All {count(text.length)} characters</button>}
    </span>
  )
}

function Leaf({ node }: { node: Node }) {
  if (node.kind === 'string') return <Text text={node.text} />
  if (node.kind === 'number' || node.kind === 'word') return <span class={'t-' + node.kind}>{node.text}</span>
  return <span class="dim">{node.kind === 'object' ? '{}' : '[]'}</span>
}

function Branch({ name, node, open }: { name: string | null; node: Node; open: number }) {
  const [isOpen, setOpen] = useState(open > 0)
  const [shown, setShown] = useState(CHILDREN_MOST)
  const label = name !== null && <span class="t-name"><bdi>{name}</bdi></span>
  if ((node.kind !== 'object' && node.kind !== 'array') || node.values.length === 0) {
    return <div class="t-row">{label}<Leaf node={node} /></div>
  }
  const names = node.kind === 'object' ? node.names : null
  return (
    <details open={isOpen} onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>{label}<span class="dim num">{size(node)}</span></summary>
      {isOpen && (
        <div class="t-children">
          {node.values.slice(0, shown).map((v, i) => <Branch key={i} name={names ? (names[i] as string) : String(i)} node={v} open={open - 1} />)}
          {node.values.length > shown && (
            <button type="button" class="small" onClick={() => setShown(shown + CHILDREN_MOST)}>
              {count(node.values.length - shown)} more
            </button>
          )}
        </div>
      )}
    </details>
  )
}

const AT_ONCE = 131072

export function Tree({ text }: { text: string }) {
  const [wanted, setWanted] = useState(text.length <= AT_ONCE)
  const [raw, setRaw] = useState(false)
  const node = useMemo(() => {
    if (!wanted) return null
    try {
      return parse(text)
    } catch {
      return null
    }
  }, [text, wanted])
  if (!wanted) {
    return <button type="button" onClick={() => setWanted(true)}>Show {bytes(text.length)}</button>
  }
  if (node === null) return <Command text={text} />
  return (
    <div class="tree">
      <div class="tree-bar">
        <span class="dim">{bytes(text.length)}</span>
        <button type="button" class="small" aria-pressed={raw} onClick={() => setRaw(!raw)}>Raw</button>
      </div>
      {raw ? <Command text={format(node)} /> : <Branch name={null} node={node} open={2} />}
    </div>
  )
}
