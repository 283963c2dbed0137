// ioredis, which asks for INFO before it calls a connection ready.
'use strict';

const assert = require('node:assert');
const Redis = require('ioredis');
const { port, run, signal } = require('./tap.js');

async function using(options, work) {
  const client = new Redis({ port, retryStrategy: null, lazyConnect: true, ...options });
  client.on('error', () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    client.disconnect();
  }
}

run({
  'connects, with a name and a database': () =>
    using({ connectionName: 'ann', db: 3 }, async (client) => {
      assert.strictEqual(client.status, 'ready');
      assert.strictEqual(await client.ping(), 'PONG');
      assert.strictEqual(await client.client('GETNAME'), 'ann');
      assert.match(await client.client('INFO'), / db=3 /);
    }),

  'puts, pops and completes': () => using({}, async (client) => {
    assert.strictEqual(await client.call('Q.PUT', 'app', 'mail', 'Send', '{}', 'JID', 'bob'), 'bob');
    const jobs = await client.call('Q.POP', 'app', 'w1', '1', 'mail');
    assert.strictEqual(jobs[0][1], 'bob');
    assert.strictEqual(await client.call('Q.COMPLETE', 'app', 'bob', 'w1'), 'complete');
    await assert.rejects(client.call('Q.COMPLETE', 'app', 'nobody', 'w1'), /NOT_FOUND/);
  }),

  'sends a pipeline': () => using({}, async (client) => {
    const answers = await client.pipeline().ping().echo('x').call('NONSENSE').echo('y').exec();
    assert.deepStrictEqual(answers.map(([, answer]) => answer), ['PONG', 'x', undefined, 'y']);
    assert.match(answers[2][0].message, /unknown command/);
  }),

  'runs a transaction': () => using({}, async (client) => {
    const answers = await client.multi()
      .ping()
      .call('Q.PUT', 'app', 'multi', 'Send', '{}', 'JID', 'eve')
      .exec();
    assert.deepStrictEqual(answers, [[null, 'PONG'], [null, 'eve']]);
  }),

  'listens': () => using({}, (client) => using({}, async (listener) => {
    const message = signal(), event = signal();
    listener.on('message', (channel, text) => message.give([channel, text]));
    listener.on('pmessage', (pattern, channel, text) => event.give([channel, text]));
    assert.strictEqual(await listener.subscribe('news'), 1);
    assert.strictEqual(await listener.psubscribe('sluice:heard:*'), 2);
    assert.strictEqual(await client.publish('news', 'hello'), 1);
    assert.deepStrictEqual(await message.promise, ['news', 'hello']);
    await client.call('Q.PUT', 'heard', 'mail', 'Send', '{}');
    const [channel, text] = await event.promise;
    assert.strictEqual(channel, 'sluice:heard:log');
    assert.strictEqual(JSON.parse(text).event, 'put');
    await listener.unsubscribe('news');
    await listener.punsubscribe();
    assert.strictEqual(await listener.echo('x'), 'x');
  })),

  'gets a reply to a script that is not known': () => using({}, async (client) => {
    await assert.rejects(client.evalsha('0'.repeat(40), 0), /NOSCRIPT No matching script/);
    await assert.rejects(client.eval('return 1', 0), /UNSUPPORTED/);
  }),

  'waits for a job': () => using({}, (client) => using({}, async (worker) => {
    const popped = worker.call('Q.POP', 'wait', 'w1', '1', 'WAIT', '60', 'mail');
    await client.call('Q.PUT', 'wait', 'mail', 'Send', '{}', 'JID', 'bob');
    assert.strictEqual((await popped)[0][1], 'bob');
  })),
});
