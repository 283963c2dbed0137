// The page as a whole: it loads, follows what happens, survives the server, works behind a proxy, and stays small.
import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { closeBrowser, newContext, openPage, row } from './browser.mjs';
import { Server, startProxy } from './server.mjs';
import { run, test, until } from './tap.mjs';

const KB = 1000;

const put = (server, queue, jid) => server.ask('POST', `ns/app/queues/${queue}/jobs`, { klass: 'Send', data: { to: 'ann' }, jid });

/** What a cell of that row says. */
async function cell(page, name, label) {
  return (await row(page, name).locator(`[data-label="${label}"]`).innerText()).trim();
}

test('the page shows the queues of the namespace', async (t) => {
  const server = await Server.start(t);
  await put(server, 'mail', 'ann-1');
  await put(server, 'mail', 'ann-2');
  await put(server, 'fax', 'bob-1');
  const page = await openPage(t, await newContext(t), server.url + '#/app/queues');
  await row(page, 'mail').waitFor();
  assert.equal(await cell(page, 'mail', 'Waiting'), '2');
  assert.equal(await cell(page, 'fax', 'Waiting'), '1');
  assert.match(await page.title(), /Queues.*app.*Sluice/);
});

test('a change over RESP shows without a reload', async (t) => {
  const server = await Server.start(t);
  await put(server, 'mail', 'ann-1');
  const page = await openPage(t, await newContext(t), server.url + '#/app/queues');
  await row(page, 'mail').waitFor();
  await page.evaluate(() => { globalThis.loadedOnce = true; });
  await server.resp('Q.PUT', 'app', 'mail', 'Send', '1');
  await until(async () => await cell(page, 'mail', 'Waiting') === '2', 'the second job');
  await server.resp('Q.PUT', 'app', 'fresh', 'Send', '1');
  await row(page, 'fresh').waitFor();
  assert.equal(await page.evaluate(() => globalThis.loadedOnce), true);
});

test('a server that is killed is announced, and comes back without a reload', async (t) => {
  const server = await Server.start(t);
  await put(server, 'mail', 'ann-1');
  const page = await openPage(t, await newContext(t), server.url + '#/app/queues', { away: true });
  await row(page, 'mail').waitFor();
  await page.evaluate(() => { globalThis.loadedOnce = true; });
  await server.kill();
  const banner = page.getByText('The server does not reply.');
  await banner.waitFor();
  assert.equal(await cell(page, 'mail', 'Waiting'), '1', 'what was shown stays');
  await server.start();
  await put(server, 'mail', 'ann-2');
  await banner.waitFor({ state: 'detached' });
  await until(async () => await cell(page, 'mail', 'Waiting') === '2', 'the new job');
  assert.equal(await page.evaluate(() => globalThis.loadedOnce), true);
});

for (const [how, change] of [['keeps Host', () => {}], ['changes Host', (headers) => { headers.host = 'localhost'; }]]) {
  test(`the page works below a path of a proxy that ${how}`, async (t) => {
    const server = await Server.start(t, '--user', 'ann secret *:admin');
    await server.ask('POST', 'ns/app/queues/mail/jobs', { klass: 'Send', data: 1 }, { user: 'ann:secret' });
    const url = await startProxy(t, server, '/ops/sluice/', change);
    const page = await openPage(t, await newContext(t), url + '#/app/queues', { expected: [401] });
    await page.getByLabel('User').fill('ann');
    await page.getByLabel('Password').fill('secret');
    await page.getByRole('button', { name: 'Log in' }).click();
    await row(page, 'mail').waitFor();
    await row(page, 'mail').getByRole('button', { name: 'Pause' }).click();
    await until(async () => (await server.ask('GET', 'ns/app/queues/mail', undefined, { user: 'ann:secret' })).paused, 'the pause');
    assert.deepEqual(page.requests.filter((address) => !address.startsWith(url)), []);
    const [cookie] = await page.context().cookies(url + 'v1/whoami');
    assert.equal(cookie.path, '/ops/sluice/v1');
  });
}

/** Says to a page that its tab is hidden, or shown: a browser without a screen shows all of them. */
const setHidden = (page, hidden) => page.evaluate((value) => {
  Object.defineProperty(document, 'hidden', { configurable: true, get: () => value });
  Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => (value ? 'hidden' : 'visible') });
  document.dispatchEvent(new Event('visibilitychange'));
}, hidden);

test('eight tabs of a browser all follow what happens once they are shown', async (t) => {
  const server = await Server.start(t);
  await put(server, 'mail', 'ann-1');
  const context = await newContext(t);
  const pages = [];
  for (let i = 0; i < 8; i++) {
    pages.push(await openPage(t, context, server.url + '#/app/queues'));
    await row(pages[i], 'mail').waitFor();
    if (i < 7) await setHidden(pages[i], true);
  }
  await put(server, 'mail', 'ann-2');
  await until(async () => await cell(pages[7], 'mail', 'Waiting') === '2', 'the second job');
  for (let i = 0; i < 8; i++) {
    await setHidden(pages[(i + 7) % 8], true);
    await setHidden(pages[i], false);
    await until(async () => await cell(pages[i], 'mail', 'Waiting') === '2', `the second job in tab ${i + 1}`);
  }
});

test('a clock that is wrong does not change what the page says', async (t) => {
  const server = await Server.start(t);
  await put(server, 'mail', 'ann-1');
  const context = await newContext(t);
  await context.addInitScript(() => {
    const now = Date.now;
    Date.now = () => now() + 3600000;
  });
  const page = await openPage(t, context, server.url + '#/app/jobs/ann-1');
  await page.getByRole('heading', { level: 1, name: 'Send' }).waitFor();
  const text = await page.locator('main').innerText();
  assert.doesNotMatch(text, /\b(1 h|60 min|59 min|hour)\b/);
});

test('inline code does not run', async (t) => {
  const server = await Server.start(t);
  const page = await openPage(t, await newContext(t), server.url);
  await page.locator('h1').first().waitFor();
  await page.evaluate(() => {
    const script = document.createElement('script');
    script.textContent = 'globalThis.ran = true';
    document.body.append(script);
    const image = document.createElement('img');
    image.setAttribute('onerror', 'globalThis.ran = true');
    image.src = 'data:image/png,none';
    document.body.append(image);
  });
  const reports = await until(async () => {
    const all = await page.evaluate(() => globalThis.policyReports);
    return all.length >= 2 && all;
  }, 'reports of the policy');
  assert.equal(await page.evaluate(() => globalThis.ran), undefined);
  assert.ok(reports.every((report) => report.startsWith('script-src')), reports.join('\n'));
  await page.close();
});

test('the page cannot be put into a frame', async (t) => {
  const server = await Server.start(t);
  const context = await newContext(t);
  const page = await context.newPage();
  await page.setContent(`<iframe src="${server.url}"></iframe>`);
  const frame = await until(() => page.frames()[1], 'the frame');
  await until(() => frame.url().startsWith('chrome-error:'), 'the refusal');
});

test('the page and its files are as small as they must be', async (t) => {
  const server = await Server.start(t);
  const text = async (path) => (await fetch(server.url + path)).text();
  const packed = async (path) => gzipSync(Buffer.from(await text(path)), { level: 9 }).length;
  const page = await text('');
  const first = [...page.matchAll(/(?:src|href)="(assets\/[^"]+)"/g)].map((match) => match[1]);
  const scripts = first.filter((path) => path.endsWith('.js'));
  const late = new Set();
  for (const path of scripts) {
    for (const match of (await text(path)).matchAll(/import\("\.\/([^"]+\.js)"\)/g)) late.add('assets/' + match[1]);
  }
  assert.ok([...late].some((path) => /uplot/i.test(path)), 'uPlot is loaded late');
  const sum = async (paths) => (await Promise.all(paths.map(packed))).reduce((total, size) => total + size, 0);
  const sizes = {
    js: await sum(scripts),
    late: await sum([...late]),
    css: await sum(first.filter((path) => path.endsWith('.css'))),
    all: await packed('') + await sum([...first, ...late]),
  };
  console.log(`# bytes in gzip: ${JSON.stringify(sizes)}`);
  assert.ok(sizes.js <= 70 * KB, 'JavaScript that is loaded at once is at most 70 KB in gzip');
  assert.ok(sizes.css <= 12 * KB, 'CSS is at most 12 KB in gzip');
  assert.ok(sizes.all <= 300 * KB, 'all of it is at most 300 KB in the program');
  for (const path of [...first, ...late]) assert.equal((await fetch(server.url + path)).status, 200, path);
});

test('charts are loaded when one is shown', async (t) => {
  const server = await Server.start(t);
  await put(server, 'mail', 'ann-1');
  const page = await openPage(t, await newContext(t), server.url + '#/app/tags');
  await page.getByRole('heading', { level: 1 }).waitFor();
  assert.deepEqual(page.requests.filter((address) => /uplot/i.test(address)), []);
});

await run();
await closeBrowser();
