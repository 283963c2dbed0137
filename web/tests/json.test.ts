import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compact, format, member, parse } from '../src/json.ts'

test('numbers, the order of members and duplicates are kept', () => {
  for (const text of ['12345678901234567890', '1.50', '-0', '1E400', '{"b":1,"a":2,"b":3}', '[1,[],{},null,true]', '"\\u00e9\\n"']) {
    assert.equal(compact(parse(text)), text === '"\\u00e9\\n"' ? '"é\\n"' : text)
  }
})

test('what is not JSON is refused', () => {
  for (const text of ['', '{', '[1,]', '{"a"}', '01', 'nul', '"a', '1 2', "{'a':1}", '[1 2]', 'NaN']) {
    assert.throws(() => parse(text), SyntaxError, text)
  }
})

test('a member is found by its name', () => {
  const node = parse('{"jid":"x","data":{"big":9007199254740993}}')
  assert.equal(compact(member(node, 'data') ?? parse('null')), '{"big":9007199254740993}')
  assert.equal(member(node, 'result'), undefined)
})

test('names that objects of JavaScript have are names like others', () => {
  assert.equal(compact(parse('{"__proto__":1,"constructor":2}')), '{"__proto__":1,"constructor":2}')
})

test('a thousand levels are read', () => {
  const text = '['.repeat(1000) + ']'.repeat(1000)
  assert.equal(compact(parse(text)), text)
})

test('a text for editing is indented', () => {
  assert.equal(format(parse('{"a":[1,{}]}')), '{\n  "a": [\n    1,\n    {}\n  ]\n}')
})
