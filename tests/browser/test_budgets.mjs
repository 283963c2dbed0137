// What the page may cost when there are many jobs and queues: its bytes, its elements and its memory. bench_dashboard measures
// times, and ten times as many jobs.
import assert from 'node:assert/strict';
import { closeBrowser, newContext, openPage } from './browser.mjs';
import { fillLarge, startLoad } from './large.mjs';
import { Meter } from './measure.mjs';
import { Server } from './server.mjs';
import { run, test, until } from './tap.mjs';

const KB = 1000;
const JOBS = 200000;
const QUEUES = 1000;
const TICK_BYTES_MAX = 10 * KB;
const TICKS = 4;
const ELEMENTS_MAX = 6000;

/** Those whose ticks are measured: the others ask for less. */
const BUSY = ['', 'queues?sort=Waiting', 'queues/queue-7', 'queues/load-1?view=throughput', 'jobs', 'jobs?state=complete', 'server'];

const SCREENS = ['', 'queues', 'queues?sort=Waiting', 'queues?find=queue-99', 'queues/queue-7', 'queues/queue-7?view=throughput', 'jobs', 'jobs?state=waiting', 'jobs?tag=late',
  'failures', 'workers', 'recurring', 'completed', 'tags', 'limits', 'operations', 'server'];

async function show(page, server, screen) {
  await page.goto(`${server.url}#/app/${screen}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await until(() => page.evaluate(() => !document.querySelector('.bone, [aria-busy="true"]')), `the content of ${screen}`);
}

/** Counts the ticks of the page's stream: each is an event of the server, once a second at most. */
async function countTicks(page) {
  await page.addInitScript(() => {
    globalThis.ticks = 0;
    const real = globalThis.fetch;
    globalThis.fetch = async (...given) => {
      const response = await real(...given);
      if (!String(given[0]).includes('/events') || !response.body) return response;
      const counted = response.body.pipeThrough(new TransformStream({
        transform(chunk, controller) {
          globalThis.ticks += new TextDecoder().decode(chunk).split('event: tick').length - 1;
          controller.enqueue(chunk);
        },
      }));
      return new Response(counted, { status: response.status, headers: response.headers });
    };
  });
  await page.reload();
}

test('a tick takes few bytes, the page few elements, and its memory does not grow', async (t) => {
  const server = await Server.start(t);
  await fillLarge(server, JOBS, QUEUES);
  const load = startLoad(server, 200);
  t.cleanup(() => load.stop());
  const page = await openPage(t, await newContext(t), server.url + '#/app/queues');
  await countTicks(page);
  const meter = await Meter.on(page);
  const ticks = () => page.evaluate(() => globalThis.ticks);
  const rows = [];
  for (const screen of BUSY) {
    await show(page, server, screen);
    // What a screen loads at first is not part of a tick.
    const first = await ticks();
    await until(async () => await ticks() > first, 'a tick');
    const [before, began] = [await meter.figures(), await ticks()];
    await until(async () => await ticks() >= began + TICKS, 'ticks');
    const [after, ended] = [await meter.figures(), await ticks()];
    const elements = await page.evaluate(() => document.querySelectorAll('*').length);
    const row = { screen: screen || 'overview', bytes: Math.round((after.bytes - before.bytes) / (ended - began)), requests: (after.requests - before.requests) / (ended - began), elements };
    rows.push(row);
    console.log(`# ${JSON.stringify(row)}`);
  }
  for (const { screen, bytes, elements } of rows) {
    assert.ok(bytes <= TICK_BYTES_MAX, `${screen}: ${bytes} bytes a tick`);
    assert.ok(elements <= ELEMENTS_MAX, `${screen}: ${elements} elements`);
  }
  // Memory: the second round over all screens leaves what the first one left.
  const round = async () => {
    for (const screen of SCREENS) await show(page, server, screen);
    await show(page, server, '');
    return meter.heap();
  };
  await round();
  const heaps = [await round(), await round(), await round()];
  console.log(`# bytes of the heap after each round: ${heaps.join(', ')}`);
  assert.ok(heaps[2] - heaps[0] < 1.5e6, `the heap grows: ${heaps.join(', ')}`);
}, 800000);

await run();
await closeBrowser();
