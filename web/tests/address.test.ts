import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventParser, type Event } from '../src/events.ts'
import { formatHash, parseHash } from '../src/hash.ts'

test('names with any characters survive the address', () => {
  for (const name of ['mail', 'a/b', 'ä ö', '100%', '<img src=x>', '?x=1#y', '‮evil']) {
    const route = parseHash(formatHash('default', ['queues', name], { state: 'failed', tag: name }))
    assert.deepEqual(route.path, ['queues', name])
    assert.equal(route.query.get('tag'), name)
    assert.equal(route.query.get('state'), 'failed')
  }
})

test('an address without a namespace is that of default', () => {
  assert.equal(parseHash('').ns, 'default')
  assert.deepEqual(parseHash('#/app').path, [])
  assert.deepEqual(parseHash('#/app/%E0%A4%A').path, ['%E0%A4%A'])
})

test('events are read from chunks cut anywhere', () => {
  const text = 'id: 7\n\n: beat\nevent: tick\ndata: {"when":1}\n\nid: 8\r\nevent: gap\r\ndata: {}\r\n\r\n'
  for (let cut = 0; cut <= text.length; cut++) {
    const events: Event[] = []
    const push = eventParser((event) => events.push(event))
    push(text.slice(0, cut))
    push(text.slice(cut))
    assert.deepEqual(events, [
      { id: '7', event: 'tick', data: '{"when":1}' },
      { id: '8', event: 'gap', data: '{}' },
    ])
  }
})
