import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as format from '../src/format.ts'

test('durations have two units at most', () => {
  const rows: [number | null, string][] = [
    [0, '0 s'], [0.0000021, '2.1 µs'], [0.0421, '42.1 ms'], [3.21, '3.21 s'], [59.9, '59.9 s'],
    [60, '1 min'], [252, '4 min 12 s'], [7500, '2 h 5 min'], [3600, '1 h'], [90061, '1 d 1 h'], [-5, '−5 s'], [null, '–'],
  ]
  for (const [seconds, text] of rows) assert.equal(format.duration(seconds), text)
})

test('counts are exact', () => {
  assert.equal(format.count(12431), '12,431')
  assert.equal(format.count(10_000_000), '10,000,000')
  assert.equal(format.plural(1, 'job'), '1 job')
  assert.equal(format.plural(0, 'retry', 'retries'), '0 retries')
})

test('what was and what will be are told apart', () => {
  assert.equal(format.relative(100, 112), '12 s ago')
  assert.equal(format.relative(352, 100), 'in 4 min 12 s')
  assert.equal(format.relative(100.4, 100), 'now')
})

test('durations are read with and without a unit', () => {
  for (const [text, seconds] of [['90', 90], ['1.5h', 5400], [' 2 d ', 172800], ['250ms', 0.25]] as const) {
    assert.equal(format.parseDuration(text), seconds)
  }
  for (const text of ['', 'x', '5 years', '-1', '1e3']) assert.ok(Number.isNaN(format.parseDuration(text)), text)
})

test('stamps in UTC say so', () => {
  assert.equal(format.stamp(1784000000.5, true, true), '2026-07-14 03:33:20.500 UTC')
})

test('sizes are in powers of 1024', () => {
  assert.equal(format.bytes(1023), '1,023 B')
  assert.equal(format.bytes(1536), '1.5 KiB')
})
