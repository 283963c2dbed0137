// Takes the pictures of the documents: `MINUTES=16 run-browser FOLDER pictures` lets a made-up shop work for so many minutes, then
// writes them into docs/images of $TEST_SOURCE.
import { join } from 'node:path';
import { closeBrowser, newContext, openPage } from './browser.mjs';
import { seconds } from './measure.mjs';
import { Server } from './server.mjs';
import { run, test, until } from './tap.mjs';

const MINUTES = Number(process.env.MINUTES ?? 16);
const FOLDER = join(process.env.TEST_SOURCE, 'docs/images');

const KINDS = [
  { queue: 'mail', klass: 'SendMail', rate: 4, workers: 3, run: 0.4, data: (i) => ({ to: `customer-${i % 400}@example.com`, template: 'receipt', order: 10000 + i }) },
  { queue: 'webhooks', klass: 'CallWebhook', rate: 1.6, workers: 2, run: 1.3, failing: 0.05, data: (i) => ({ url: `https://partner-${i % 9}.example.com/orders`, order: 10000 + i }) },
  { queue: 'video', klass: 'Transcode', rate: 0.3, workers: 2, run: 9, data: (i) => ({ file: `upload-${i}.mp4`, sizes: [360, 720, 1080] }) },
  { queue: 'reports', klass: 'BuildReport', rate: 1.3, workers: 2, run: 4, data: (i) => ({ shop: i % 60, month: '2026-10' }) },
];
const FAILURES = [['timeout', 'no reply within 10 s'], ['refused', 'connection refused (partner-7.example.com:443)'], ['template', "unknown field 'vat_id' in receipt.html, line 42"]];

const pick = (list) => list[Math.floor(Math.random() * list.length)];

/** Clients and workers that go on until they are told to stop. */
function work(server, state) {
  const ask = (method, path, body) => server.ask(method, 'ns/default/' + path, body);
  const put = async ({ queue, klass, rate, data }) => {
    for (let i = 0; !state.stopped; i++) {
      await ask('POST', `queues/${queue}/jobs`, { klass, data: data(i), domain: `customer-${i % 12}`, tags: i % 40 === 0 ? ['check', 'customer-7'] : [], ...(i % 30 === 0 ? { delay: 3600 + i } : {}) });
      await seconds(2 * Math.random() / rate);
    }
  };
  const perform = async ({ queue, run: mean, failing = 0.01 }, name) => {
    while (!state.stopped) {
      const { jobs: [job] } = await ask('POST', 'pop', { queues: [queue], worker: name, count: 1 });
      if (!job) {
        await seconds(0.2);
        continue;
      }
      const settle = (act, more = {}) => ask('POST', `jobs/${job.jid}/${act}`, { worker: name, token: job.token, ...more });
      await settle('progress', { fraction: 0.5, message: 'half of it' });
      await seconds(2 * Math.random() * mean);
      if (Math.random() < failing) {
        const [group, message] = pick(FAILURES);
        await settle('fail', { group, message });
      } else {
        await settle('complete', { result: { ok: true } });
      }
    }
  };
  return Promise.all(KINDS.flatMap((kind) => [put(kind), ...Array.from({ length: kind.workers }, (_, i) => perform(kind, `${kind.queue}-${i + 1}`))]));
}

async function prepare(server) {
  const ask = (method, path, body) => server.ask(method, 'ns/default/' + path, body);
  await ask('PUT', 'config/heartbeat', { value: '600' });
  await ask('POST', 'queues/archive/jobs', { klass: 'Archive', data: { year: 2025 } });
  await ask('POST', 'queues/archive/pause', {});
  for (const [jid, klass, cron] of [['nightly', 'BuildReport', '0 3 * * *'], ['cleanup', 'Cleanup', '30 4 * * 0'], ['invoices', 'SendInvoices', '0 8 1 * *']]) await ask('PUT', 'recurring/' + jid, { queue: 'reports', klass, data: {}, cron, zone: 'Europe/Berlin' });
  await ask('PUT', 'limits', { queue: 'webhooks', domain: 'customer-*', concurrency: 2, rate: 20, period: 60 });
  await ask('POST', 'queues/reports/jobs', { klass: 'BuildReport', data: { shop: 7, month: '2026-11' }, jid: 'report-shop-7', delay: 7200 });
  await ask('POST', 'queues/mail/jobs', { klass: 'SendMail', data: { to: 'ann@example.com', template: 'report' }, jid: 'mail-report-7', depends: ['report-shop-7'] });
  await ask('PUT', 'tracked/mail-report-7');
}

test('pictures', async (t) => {
  const server = await Server.start(t);
  await prepare(server);
  const state = { stopped: false };
  const working = work(server, state);
  t.cleanup(async () => {
    state.stopped = true;
    await working;
  });
  await seconds(MINUTES * 60);
  const take = async (name, screen, options) => {
    const page = await openPage(t, await newContext(t, options), `${server.url}#/default/${screen}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await until(() => page.evaluate(() => !document.querySelector('.bone')), 'the content');
    await seconds(3);
    await page.screenshot({ path: join(FOLDER, name + '.png') });
  };
  await take('dashboard-overview', '', { viewport: { width: 1280, height: 1010 } });
  await take('dashboard-phone', '', { viewport: { width: 390, height: 740 }, colorScheme: 'light' });
  const { jobs: [failed] } = await server.ask('GET', 'ns/default/jobs?state=failed&queue=webhooks&count=1');
  await take('dashboard-job', 'jobs/' + failed.jid, { viewport: { width: 1280, height: 850 }, colorScheme: 'dark' });
  await take('dashboard-queues', 'queues', { viewport: { width: 1280, height: 560 } });
}, 4 * 3600 * 1000);

await run();
await closeBrowser();
