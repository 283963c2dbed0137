// Measures the dashboard against its budgets: `run-browser FOLDER bench_dashboard`. $SIZE is a part of ten million jobs and
// 10,000 queues (1), $RATE how many jobs are put, popped and completed a second (50000), $MINUTES how long the memory of a page
// is watched (10). It prints figures and asserts nothing: they depend on the machine.
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { closeBrowser, newContext, openPage } from './browser.mjs';
import { fillLarge, startLoad } from './large.mjs';
import { Meter, quantile, seconds } from './measure.mjs';
import { Server } from './server.mjs';
import { run, test, until } from './tap.mjs';

const SIZE = Number(process.env.SIZE ?? 1);
const RATE = Number(process.env.RATE ?? 50000);
const MINUTES = Number(process.env.MINUTES ?? 10);
const JOBS = Math.round(1e7 * SIZE);
const QUEUES = Math.round(1e4 * SIZE);
const TICKS_PER_SECOND = 100; // of the processor's time in /proc

const SCREENS = ['', 'queues', 'queues?sort=Waiting', 'queues?find=queue-99', 'queues/queue-7', 'queues/queue-7?view=throughput', 'queues/queue-7?view=days',
  'jobs', 'jobs?state=waiting', 'jobs?tag=late', 'jobs?klass=Load', 'failures', 'workers', 'recurring', 'completed', 'tags', 'limits', 'operations', 'config', 'server'];

const say = (name, value) => console.log(`# ${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`);
const ms = (value) => Math.round(value * 100) / 100;
const processorSeconds = (server) => {
  const fields = readFileSync(`/proc/${server.process.pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
};

/** How long the thread of the loop ran. */
const loopSeconds = (server) => Number(readFileSync(`/proc/${server.process.pid}/task/${server.process.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e9;

async function show(page, server, screen) {
  const began = performance.now();
  await page.goto(`${server.url}#/app/${screen}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await until(() => page.evaluate(() => !document.querySelector('.bone, [aria-busy="true"]')), `the content of ${screen}`);
  return performance.now() - began;
}

/** How long single puts take, one after the other. */
async function puts(server, count) {
  const times = [];
  for (let i = 0; i < count; i++) {
    const began = performance.now();
    await server.ask('POST', 'ns/app/queues/single/jobs', { klass: 'Single', data: i });
    times.push(performance.now() - began);
  }
  return { p50: ms(quantile(times, 0.5)), p99: ms(quantile(times, 0.99)) };
}

test('the figures of the dashboard', async (t) => {
  const server = await Server.start(t, '--durability', process.env.DURABILITY ?? 'interval');
  say('machine', `${cpus().length} x ${cpus()[0].model}, Node.js ${process.version}`);
  let began = performance.now();
  await fillLarge(server, JOBS, QUEUES);
  say('jobs, queues, seconds to put them', [JOBS, QUEUES, Math.round((performance.now() - began) / 1000)]);

  const context = await newContext(t);
  const page = await openPage(t, context, server.url + '#/app/', { away: true });
  await show(page, server, '');
  const paints = [];
  for (let i = 0; i < 5; i++) {
    await page.goto('about:blank');
    began = performance.now();
    await page.goto(server.url + '#/app/queues');
    await page.locator('tr[data-row]').first().waitFor();
    paints.push(performance.now() - began);
  }
  say('ms to the first meaningful paint (rows of Queues, with an empty page before), of 5', paints.map(Math.round));

  const requests = new Map();
  page.on('response', (response) => {
    const url = new URL(response.url());
    if (url.pathname.includes('/v1/') && response.request().method() === 'GET' && !url.pathname.endsWith('/events')) requests.set(url.pathname + url.search, true);
  });
  const times = {};
  for (const screen of SCREENS) times[screen || 'overview'] = Math.round(await show(page, server, screen));
  say('ms to each screen', times);

  // The time of the processor, which does not depend on what else the machine does.
  const costs = [];
  for (const path of requests.keys()) {
    const before = loopSeconds(server);
    for (let i = 0; i < 20; i++) await (await fetch(server.url + path.slice(1))).arrayBuffer();
    costs.push([ms((loopSeconds(server) - before) / 20 * 1000), path]);
  }
  costs.sort(([a], [b]) => b - a);
  say(`ms of the loop for a request, of ${costs.length} different ones: p50, p99, the three that take longest`, [quantile(costs.map(([cost]) => cost), 0.5), quantile(costs.map(([cost]) => cost), 0.99), costs.slice(0, 3)]);
  const all = [];
  let worst = ['', 0];
  for (let round = 0; round < 20; round++) {
    for (const path of requests.keys()) {
      began = performance.now();
      await (await fetch(server.url + path.slice(1))).arrayBuffer();
      const took = performance.now() - began;
      all.push(took);
      if (took > worst[1]) worst = [path, ms(took)];
    }
  }
  say(`ms of a request, ${requests.size} different ones, 20 times, without load: p50, p99, longest`, [ms(quantile(all, 0.5)), ms(quantile(all, 0.99)), worst]);

  const alone = await puts(server, 2000);
  const load = startLoad(server, RATE);
  t.cleanup(() => load.stop());
  const meter = await Meter.on(page);
  await show(page, server, '');
  await seconds(5);
  const put0 = await puts(server, 2000);
  const share = async (name, count) => {
    const [used, done] = [processorSeconds(server), load.done];
    const at = performance.now();
    await seconds(20);
    const elapsed = (performance.now() - at) / 1000;
    say(name, { pages: count, jobs_per_s: Math.round((load.done - done) / elapsed), processor_percent: ms((processorSeconds(server) - used) / elapsed * 100) });
  };
  for (const screen of ['', 'queues', 'queues/load-1', 'jobs']) {
    await show(page, server, screen);
    await seconds(2);
    const before = await meter.figures();
    await seconds(15);
    const after = await meter.figures();
    say(`a second of ${screen || 'overview'} under load`, { bytes: Math.round((after.bytes - before.bytes) / 15), requests: ms((after.requests - before.requests) / 15), thread_ms: ms((after.thread_ms - before.thread_ms) / 15) });
  }
  await page.goto('about:blank');
  await share('server without a page', 0);
  const pages = [];
  for (let i = 0; i < 10; i++) {
    pages.push(await openPage(t, await newContext(t), server.url + '#/app/' + SCREENS[i % 5], { away: true }));
    await pages[i].getByRole('heading', { level: 1 }).waitFor();
  }
  await seconds(5);
  await share('server with pages', 10);
  say('ms of a put: alone, under load, under load with ten pages', [alone, put0, await puts(server, 2000)]);
  for (const each of pages) await each.close();
  say('jobs a second on average', Math.round(await load.stop()));

  // The same without a load of jobs: what ten pages cost when the server has nothing else to do, with a change a second.
  const quiet = startLoad(server, 20);
  const share2 = async (name) => {
    const used = processorSeconds(server);
    await seconds(20);
    say(name, ms((processorSeconds(server) - used) / 20 * 100));
  };
  await share2('percent of a processor, 20 jobs a second, no page');
  const ten = [];
  for (let i = 0; i < 10; i++) ten.push(await openPage(t, await newContext(t), server.url + '#/app/' + SCREENS[i % 5], { away: true }));
  await seconds(5);
  await share2('percent of a processor, 20 jobs a second, ten pages');
  for (const each of ten) await each.close();

  await show(page, server, '');
  await seconds(60);
  const heaps = [await meter.heap()];
  for (let minute = 0; minute < MINUTES; minute++) {
    await seconds(60);
    heaps.push(await meter.heap());
  }
  say(`bytes of the heap of Overview, each minute`, heaps);
  await quiet.stop();
}, 4 * 3600 * 1000);

await run();
await closeBrowser();
