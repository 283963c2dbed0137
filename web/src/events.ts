export interface Event { id: string; event: string; data: string }

// Server-sent events from chunks of text.
export function eventParser(emit: (event: Event) => void): (chunk: string) => void {
  let rest = ''
  let event = ''
  let data = ''
  let id = ''
  return (chunk) => {
    rest += chunk
    for (;;) {
      const end = rest.indexOf('\n')
      if (end < 0) return
      const line = rest.slice(0, end).replace(/\r$/, '')
      rest = rest.slice(end + 1)
      if (line === '') {
        if (event !== '') emit({ id, event, data })
        event = data = ''
      } else if (!line.startsWith(':')) {
        const colon = line.indexOf(':')
        const name = colon < 0 ? line : line.slice(0, colon)
        const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
        if (name === 'event') event = value
        else if (name === 'data') data += value
        else if (name === 'id') id = value
      }
    }
  }
}
