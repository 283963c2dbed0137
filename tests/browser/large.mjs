// A namespace with many jobs and queues, and a load on it, by the API.

const BATCH = 1000;

/** Puts `count` jobs into `queues` queues, several requests at a time. */
export async function fillLarge(server, count, queues) {
  let next = 0;
  const one = async () => {
    for (let at = next; at < count; at = next) {
      next += BATCH;
      const size = Math.min(BATCH, count - at);
      const queue = `queue-${(at / BATCH) % queues}`;
      await server.ask('POST', `ns/app/queues/${queue}/jobs`, Array.from({ length: size }, (_, i) => (
        { klass: 'Send', data: { to: 'ann', number: at + i }, priority: (at + i) % 3, ...((at + i) % 50 === 0 ? { delay: 86400, tags: ['late'] } : {}) })));
    }
  };
  await Promise.all([one(), one(), one(), one()]);
  // The other queues have a job each.
  for (let at = Math.ceil(count / BATCH); at < queues; at += 100) {
    await Promise.all(Array.from({ length: Math.min(100, queues - at) }, (_, i) => server.ask('POST', `ns/app/queues/queue-${at + i}/jobs`, { klass: 'Send', data: 1 })));
  }
}

/** Puts, pops and completes `rate` jobs a second until it is stopped; gives how many it has done. */
export function startLoad(server, rate) {
  const state = { done: 0, stopped: false };
  const size = Math.max(1, Math.min(BATCH, Math.round(rate / 20)));
  const jobs = Array.from({ length: size }, (_, i) => ({ klass: 'Load', data: i }));
  const lanes = ['load-1', 'load-2'];
  const began = performance.now();
  const one = async (queue) => {
    while (!state.stopped) {
      const ahead = state.done / rate - (performance.now() - began) / 1000;
      if (ahead > 0) await new Promise((resolve) => setTimeout(resolve, ahead * 1000));
      await server.ask('POST', `ns/app/queues/${queue}/jobs`, jobs);
      const { jobs: popped } = await server.ask('POST', 'ns/app/pop', { queues: [queue], worker: 'load', count: size });
      await server.ask('POST', 'ns/app/complete', popped.map(({ jid, token }) => ({ jid, token, worker: 'load' })));
      state.done += popped.length;
    }
  };
  const ended = Promise.all(lanes.map(one));
  return {
    get done() { return state.done; },
    stop: async () => {
      state.stopped = true;
      await ended;
      return state.done / ((performance.now() - began) / 1000);
    },
  };
}
