import assert from 'node:assert/strict'
import { test } from 'node:test'
import { administersServer, allows } from '../src/rights.ts'

test('a grant is of a namespace, or of some of its queues', () => {
  assert.ok(allows(['app:read'], 'read', 'app'))
  assert.ok(allows(['app:read'], 'read', 'app', 'mail'))
  assert.ok(!allows(['app:read'], 'read', 'other'))
  assert.ok(!allows(['app/mail-*:put'], 'put', 'app'))
  assert.ok(allows(['app/mail-*:put'], 'put', 'app', 'mail-1'))
  assert.ok(!allows(['app/mail-*:put'], 'put', 'app', 'fax'))
  assert.ok(allows(['team-*:write'], 'operate', 'team-a', 'q'))
  assert.ok(allows(['app/*:operate'], 'operate', 'app'))
})

test('write is four rights, admin is all of them', () => {
  for (const right of ['read', 'put', 'work', 'operate'] as const) assert.ok(allows(['app:write'], right, 'app'))
  assert.ok(!allows(['app:write'], 'admin', 'app'))
  assert.ok(allows(['app:admin'], 'operate', 'app'))
  assert.ok(allows(['app:put+work'], 'work', 'app'))
  assert.ok(!allows(['app:put+work'], 'operate', 'app'))
})

test('the server is administered by those who administer every namespace', () => {
  assert.ok(administersServer(['*:admin']))
  assert.ok(!administersServer(['app:admin', '*:write']))
})
