// A namespace in which every screen has something to show.
export const SCREENS = ['', 'queues', 'queues/mail', 'jobs', 'jobs/waiting-1', 'jobs/running-1', 'jobs/failed-1', 'jobs/depends-1',
  'failures', 'failures/smtp', 'workers', 'workers/worker-1', 'recurring', 'recurring/nightly', 'tracked', 'completed', 'tags',
  'limits', 'push', 'operations', 'config', 'server', 'users'];

/** Fills the namespace `app` by the API. */
export async function fill(server, options = {}) {
  const ask = (method, path, body) => server.ask(method, 'ns/app/' + path, body, options);
  const put = (queue, jid, more = {}) => ask('POST', `queues/${queue}/jobs`, { klass: 'Send', data: { to: 'ann', sizes: [1, 2, 3] }, jid, ...more });
  await put('mail', 'running-1', { priority: 9 });
  await put('mail', 'failed-1', { priority: 8 });
  await put('mail', 'done-1', { priority: 7 });
  const { jobs } = await ask('POST', 'pop', { queues: ['mail'], worker: 'worker-1', count: 3 });
  const token = (jid) => jobs.find((job) => job.jid === jid).token;
  await ask('POST', 'jobs/failed-1/fail', { worker: 'worker-1', token: token('failed-1'), group: 'smtp', message: 'connection refused\n  at send (mail.js:12)' });
  await ask('POST', 'jobs/done-1/complete', { worker: 'worker-1', token: token('done-1'), result: { sent: true } });
  await ask('POST', 'jobs/running-1/progress', { worker: 'worker-1', token: token('running-1'), fraction: 0.5, message: 'half of it' });
  await ask('POST', 'jobs/running-1/log', { worker: 'worker-1', token: token('running-1'), line: 'opened the connection' });
  await put('mail', 'waiting-1', { tags: ['urgent', 'customer-7'] });
  await put('mail', 'waiting-2', { domain: 'customer-7' });
  await put('mail', 'later-1', { delay: 3600 });
  await put('mail', 'depends-1', { depends: ['waiting-1'] });
  await put('fax', 'fax-1');
  await ask('POST', 'queues/fax/pause', {});
  await ask('PUT', 'tracked/waiting-1');
  await ask('PUT', 'recurring/nightly', { queue: 'mail', klass: 'Report', data: {}, cron: '0 3 * * *' });
}

/** What a record of a dump is about: "job ann-1", "queue mail". */
function keyOf(item) {
  const [[kind, record]] = Object.entries(item);
  const name = kind === 'limit' ? `${record.queue ?? '*'}/${record.domain ?? '*'}` : kind === 'policy' ? `${record.scope} ${record.name}` : record.jid ?? record.name ?? '';
  return [`${kind} ${name}`.trim(), record];
}

/** All that the namespace `app` holds, by what it is about. */
export async function snapshot(server, options = {}) {
  const all = new Map();
  for (let cursor = '', more = true; more;) {
    const page = await server.ask('GET', `ns/app/dump?count=1000${cursor && '&cursor=' + encodeURIComponent(cursor)}`, undefined, options);
    for (const [key, record] of page.items.map(keyOf)) all.set(key, record);
    cursor = page.next;
    more = cursor !== null;
  }
  all.delete('number'); // how many jobs were put so far
  return all;
}

/** Times that change with anything else. */
const PASSING = new Set(['moved', 'updated', 'line', 'history', 'tagged', 'rank']);

/** What differs between two snapshots: "+job b", "-job a", "~job c: priority, tags". */
export function difference(before, after) {
  const found = [];
  for (const [key, record] of after) {
    const old = before.get(key);
    if (old === undefined) {
      found.push('+' + key);
      continue;
    }
    const names = new Set([...Object.keys(old), ...Object.keys(record)]);
    const changed = [...names].filter((name) => !PASSING.has(name) && JSON.stringify(old[name]) !== JSON.stringify(record[name])).sort();
    if (changed.length) found.push(`~${key}: ${changed.join(', ')}`);
    else if (JSON.stringify(old) !== JSON.stringify(record)) found.push(`~${key}`);
  }
  for (const key of before.keys()) if (!after.has(key)) found.push('-' + key);
  return found.sort();
}
