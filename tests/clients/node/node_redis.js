// node-redis, in both versions of the protocol.
'use strict';

const assert = require('node:assert');
const { createClient } = require('redis');
const { port, run, signal } = require('./tap.js');

async function using(options, work) {
  const client = createClient({ socket: { port }, ...options });
  client.on('error', () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    client.destroy();
  }
}

function testsOf(RESP) {
  return {
    [`RESP${RESP} connects, with a name`]: () => using({ RESP, name: 'ann' }, async (client) => {
      assert.strictEqual(await client.ping(), 'PONG');
      assert.strictEqual(await client.clientGetName(), 'ann');
      assert.match(await client.info('server'), /redis_version:7\.2\.0/);
    }),

    [`RESP${RESP} puts, pops and completes`]: () => using({ RESP }, async (client) => {
      const queue = `mail-${RESP}`;
      assert.strictEqual(
        await client.sendCommand(['Q.PUT', 'app', queue, 'Send', '{}', 'JID', `bob-${RESP}`]),
        `bob-${RESP}`);
      const jobs = await client.sendCommand(['Q.POP', 'app', 'w1', '1', queue]);
      assert.strictEqual(jobs.length, 1);
      assert.strictEqual(RESP === 3 ? jobs[0].jid : jobs[0][1], `bob-${RESP}`);
      assert.strictEqual(
        await client.sendCommand(['Q.COMPLETE', 'app', `bob-${RESP}`, 'w1']), 'complete');
      await assert.rejects(client.sendCommand(['Q.COMPLETE', 'app', 'nobody', 'w1']), /NOT_FOUND/);
    }),

    [`RESP${RESP} runs many at once`]: () => using({ RESP }, async (client) => {
      const answers = await Promise.all(
        Array.from({ length: 1000 }, (_, i) => client.echo(String(i))));
      assert.deepStrictEqual(answers, Array.from({ length: 1000 }, (_, i) => String(i)));
    }),

    [`RESP${RESP} runs a transaction`]: () => using({ RESP }, async (client) => {
      const answers = await client.multi()
        .ping()
        .addCommand(['Q.PUT', 'app', 'multi', 'Send', '{}', 'JID', 'eve'])
        .exec();
      assert.deepStrictEqual(answers, ['PONG', 'eve']);
    }),

    [`RESP${RESP} listens`]: () => using({ RESP }, (client) =>
      using({ RESP }, async (listener) => {
        const message = signal(), event = signal();
        await listener.subscribe('news', message.give);
        await listener.pSubscribe('sluice:heard:*', event.give);
        assert.strictEqual(await client.publish('news', 'hello'), 1);
        assert.strictEqual(await message.promise, 'hello');
        await client.sendCommand(['Q.PUT', 'heard', 'mail', 'Send', '{}']);
        assert.strictEqual(JSON.parse(await event.promise).event, 'put');
        await listener.unsubscribe('news');
        await listener.pUnsubscribe();
        assert.strictEqual(await client.publish('news', 'hello'), 0);
        assert.strictEqual(String(await listener.ping()), 'PONG');
      })),
  };
}

run({ ...testsOf(2), ...testsOf(3) });
