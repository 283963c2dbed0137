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
