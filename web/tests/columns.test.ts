import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseChoice } from '../src/columns.ts'

test('a stored choice of columns may be anything', () => {
  assert.deepEqual(parseChoice('{"Queue":true,"Data":false}'), { Queue: true, Data: false })
  for (const text of [null, '', '{', '7', 'null', '"a"', '[]']) assert.deepEqual(parseChoice(text), {})
  assert.deepEqual(parseChoice('{"Queue":"yes","Data":1,"Run":true}'), { Run: true })
})
