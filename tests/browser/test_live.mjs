// Lists that hold still while they are read, and what the page does when events are missing.
import assert from 'node:assert/strict';
import { closeBrowser, newContext, openPage, row } from './browser.mjs';
import { Server, startProxy } from './server.mjs';
import { run, test, until } from './tap.mjs';

/** A server with these jobs in the queue mail, in that order. */
async function start(t, count) {
  const server = await Server.start(t);
  await server.ask('PUT', 'ns/app/config/heartbeat', { value: '36000' });
  const jobs = Array.from({ length: count }, (_, i) => ({ klass: 'Send', data: i, jid: 'job-' + String(i).padStart(3, '0') }));
  await server.ask('POST', 'ns/app/queues/mail/jobs', jobs);
  return server;
}

const shown = (page) => page.locator('tr[data-row]').evaluateAll((rows) => rows.map((each) => each.dataset.row));

/** Where the page is: what is scrolled, focused and selected. */
const place = (page) => page.evaluate(() => ({
  scroll: Math.round(scrollY),
  focus: document.activeElement.closest('tr')?.dataset.row ?? null,
  selected: [...document.querySelectorAll('tr[data-row] .pick input:checked')].map((input) => input.closest('tr').dataset.row),
}));

/** Counts the replies to lists of jobs. */
function countLists(page) {
  const seen = { count: 0 };
  page.on('response', (response) => {
    if (/\/jobs\?/.test(response.url())) seen.count++;
  });
  return seen;
}

test('a frozen list keeps its rows, the scroll, the focus and the selection', async (t) => {
  const server = await start(t, 60);
  const page = await openPage(t, await newContext(t, { viewport: { width: 1280, height: 600 } }), server.url + '#/app/queues/mail');
  await until(async () => (await shown(page)).length === 50, 'the list');
  await row(page, 'job-020').getByRole('checkbox').click();
  await row(page, 'job-023').getByRole('checkbox').click({ modifiers: ['Shift'] });
  await row(page, 'job-030').scrollIntoViewIfNeeded();
  await row(page, 'job-030').getByRole('link').first().focus();
  await page.keyboard.press('f');
  await page.getByText('Frozen.').waitFor();
  const before = { ...await place(page), rows: await shown(page) };
  assert.deepEqual(before.selected, ['job-020', 'job-021', 'job-022', 'job-023']);
  assert.equal(before.focus, 'job-030');
  assert.ok(before.scroll > 0);
  const asked = page.requests.length;
  await server.ask('POST', 'ns/app/cancel', { jids: ['job-000', 'job-021', 'job-030'] });
  await server.resp('Q.PUT', 'app', 'mail', 'Send', '1', 'JID', 'first', 'PRIORITY', '-9');
  await until(async () => (await server.ask('GET', 'ns/app/queues/mail')).waiting === 58, 'the changes');
  assert.deepEqual({ ...await place(page), rows: await shown(page) }, before);
  assert.deepEqual(page.requests.slice(asked).filter((url) => /\/jobs\?/.test(url)), [], 'a frozen list asks for nothing');
  await page.getByRole('button', { name: 'Make live' }).click();
  await row(page, 'first').waitFor();
});

test('a live list keeps the rows that are read, and says what is new and what is gone', async (t) => {
  const server = await start(t, 60);
  const page = await openPage(t, await newContext(t, { viewport: { width: 1280, height: 600 } }), server.url + '#/app/queues/mail');
  await until(async () => (await shown(page)).length === 50, 'the list');
  const lists = countLists(page);
  await until(async () => lists.count > 0 || (await server.ask('POST', 'ns/app/jobs/job-059/tags', { tags: ['t' + Date.now()] }), false), 'the settled list');
  await row(page, 'job-020').getByRole('checkbox').click();
  await row(page, 'job-030').scrollIntoViewIfNeeded();
  await row(page, 'job-030').getByRole('link').first().focus();
  const before = { ...await place(page), rows: await shown(page) };
  await server.ask('POST', 'ns/app/cancel', { jids: ['job-010'] });
  await server.resp('Q.PUT', 'app', 'mail', 'Send', '1', 'JID', 'first', 'PRIORITY', '-9');
  const fresh = page.getByRole('button', { name: /^1 new job/ });
  await fresh.waitFor();
  await until(() => row(page, 'job-010').evaluate((element) => element.classList.contains('gone')), 'the row that is gone');
  const after = { ...await place(page), rows: await shown(page) };
  assert.deepEqual(after, before);
  await fresh.evaluate((button) => button.click());
  await row(page, 'first').waitFor();
  await row(page, 'job-010').waitFor({ state: 'detached' });
  assert.deepEqual((await place(page)).selected, ['job-020']);
});

/** A proxy whose event streams say only what the test writes. */
async function startSilentProxy(t, server) {
  const streams = [];
  const url = await startProxy(t, server, '/', () => {}, (request, response) => {
    if (!request.url.includes('/events')) return false;
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    response.write(': open\n\n');
    streams.push({ lastId: request.headers['last-event-id'] ?? '', write: (text) => response.write(text), end: () => response.end() });
    return true;
  });
  return { url, streams };
}

const cell = async (page, name, label) => (await row(page, name).locator(`[data-label="${label}"]`).innerText()).trim();

test('after a gap in the events the page asks for everything again', async (t) => {
  const server = await start(t, 1);
  const { url, streams } = await startSilentProxy(t, server);
  const page = await openPage(t, await newContext(t), url + '#/app/queues');
  await row(page, 'mail').waitFor();
  await until(() => streams.length > 0, 'the stream');
  await page.getByRole('button', { name: 'Live' }).waitFor();
  const asked = page.requests.length;
  await server.resp('Q.PUT', 'app', 'mail', 'Send', '1');
  streams.at(-1).write('id: 7\nevent: gap\ndata: {}\n\n');
  await until(async () => await cell(page, 'mail', 'Waiting') === '2', 'the second job');
  assert.ok(page.requests.length > asked);
});

test('a stream that ends is opened again behind the last event', async (t) => {
  const server = await start(t, 1);
  const { url, streams } = await startSilentProxy(t, server);
  const page = await openPage(t, await newContext(t), url + '#/app/queues');
  await row(page, 'mail').waitFor();
  await until(() => streams.length > 0, 'the stream');
  const first = streams.at(-1);
  first.write('id: 41\nevent: tick\ndata: {"when": ' + Date.now() / 1000 + '}\n\n');
  await until(async () => {
    if (streams.at(-1) === first) first.end();
    return streams.at(-1) !== first;
  }, 'the next stream');
  assert.equal(streams.at(-1).lastId, '41');
  await server.resp('Q.PUT', 'app', 'mail', 'Send', '1');
  streams.at(-1).write('id: 42\nevent: tick\ndata: {"when": ' + Date.now() / 1000 + '}\n\n');
  await until(async () => await cell(page, 'mail', 'Waiting') === '2', 'the second job');
});

test('without a stream the page asks from time to time', async (t) => {
  const server = await start(t, 1);
  const url = await startProxy(t, server, '/', () => {}, (request, response) => {
    if (!request.url.includes('/events')) return false;
    response.writeHead(403).end();
    return true;
  });
  const page = await openPage(t, await newContext(t), url + '#/app/queues', { expected: [403] });
  await row(page, 'mail').waitFor();
  await server.resp('Q.PUT', 'app', 'mail', 'Send', '1');
  await until(async () => await cell(page, 'mail', 'Waiting') === '2', 'the second job');
});

test('the columns of a list are chosen, with the keyboard too, and stay so', async (t) => {
  const server = await start(t, 1);
  const page = await openPage(t, await newContext(t), server.url + '#/app/queues');
  await row(page, 'mail').waitFor();
  const heads = () => page.getByRole('columnheader').allInnerTexts();
  assert.ok(!(await heads()).some((head) => head.includes('Complete')));
  await page.locator('.columns-menu summary').focus();
  await page.keyboard.press('Enter');
  await page.getByLabel('Complete').focus();
  await page.keyboard.press('Space');
  await page.getByLabel('Depends').focus();
  await page.keyboard.press('Space');
  await page.keyboard.press('Escape');
  const chosen = async () => {
    const all = (await heads()).join();
    return all.includes('Complete') && !all.includes('Depends');
  };
  await until(chosen, 'the chosen columns');
  assert.equal(await page.evaluate(() => document.activeElement.tagName), 'SUMMARY');
  await page.reload();
  await row(page, 'mail').waitFor();
  assert.ok(await chosen());
  await page.locator('.columns-menu summary').click();
  await page.getByRole('button', { name: 'Default columns' }).click();
  await until(async () => !(await chosen()), 'the default columns');
});

test('queues are found by a part of their name, and sorted, among more than a page', async (t) => {
  const server = await Server.start(t);
  const names = Array.from({ length: 120 }, (_, i) => `queue-${i}`);
  for (const [i, name] of names.entries()) await server.resp('Q.PUT', 'app', name, 'Send', '1', ...(i === 77 ? ['DELAY', '60'] : []));
  await server.resp('Q.PUT', 'app', 'queue-99', 'Send', '1');
  await server.resp('Q.PUT', 'app', 'Odd*[name]', 'Send', '1');
  const page = await openPage(t, await newContext(t), server.url + '#/app/queues');
  await until(async () => (await shown(page)).length === 50, 'the first page');
  for (const [column, first] of [['Waiting', 'queue-99'], ['Queue', 'Odd*[name]']]) {
    await page.getByRole('columnheader', { name: column }).getByRole('button').click();
    await until(async () => (await shown(page))[0] === first, 'the order by ' + column);
  }
  for (const head of await page.getByRole('columnheader').getByRole('button').allInnerTexts()) {
    await page.getByRole('columnheader', { name: head.replace(/[↑↓\s]+$/, '') }).getByRole('button').click();
  }
  const seen = new Set();
  await page.goto(server.url + '#/app/queues?sort=Waiting');
  for (let pages = 0; pages < 3; pages++) {
    await until(async () => !seen.has((await shown(page))[0]) && (await shown(page)).length === [50, 50, 21][pages], `page ${pages + 1}`);
    for (const name of await shown(page)) seen.add(name);
    if (pages < 2) await page.getByRole('button', { name: 'Next' }).click();
  }
  assert.equal(seen.size, 121);
  await page.getByPlaceholder('Filter by name').fill('UEUE-11');
  await until(async () => (await shown(page)).length === 11, 'the matches');
  assert.match(page.url(), /find=UEUE-11/);
  await page.getByPlaceholder('Filter by name').fill('*[');
  await until(async () => (await shown(page)).join() === 'Odd*[name]', 'the name with signs');
  await page.getByPlaceholder('Filter by name').fill('none such');
  await page.getByText('No queue has none such in its name').waitFor();
});

await run();
await closeBrowser();
