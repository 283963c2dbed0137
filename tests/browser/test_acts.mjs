// What a person does on the page: each act changes what it names and nothing else, and the keyboard is enough.
import assert from 'node:assert/strict';
import { closeBrowser, newContext, openPage, row } from './browser.mjs';
import { Server } from './server.mjs';
import { run, test, until } from './tap.mjs';

async function start(t, jobs = {}) {
  const server = await Server.start(t);
  for (const [queue, jids] of Object.entries(jobs)) {
    for (const jid of jids) await server.ask('POST', `ns/app/queues/${queue}/jobs`, { klass: 'Send', data: { to: 'ann' }, jid });
  }
  return server;
}

const open = async (t, server, screen) => openPage(t, await newContext(t), `${server.url}#/app/${screen}`);
const queue = (server, name) => server.ask('GET', `ns/app/queues/${name}`);

/** The jobs of the namespace by jid: each as its state, or null if it is gone. */
async function states(server, ...jids) {
  const { jobs } = await server.ask('POST', 'ns/app/get', { jids });
  return Object.fromEntries(jids.map((jid, i) => [jid, jobs[i]?.state ?? null]));
}

test('pause and resume change the queue that they name', async (t) => {
  const server = await start(t, { mail: ['m1'], fax: ['f1'] });
  const page = await open(t, server, 'queues');
  await row(page, 'mail').getByRole('button', { name: /^Pause/ }).click();
  await row(page, 'mail').getByRole('button', { name: /^Resume/ }).waitFor();
  assert.deepEqual([(await queue(server, 'mail')).paused, (await queue(server, 'fax')).paused], [true, false]);
  await row(page, 'mail').getByRole('button', { name: /^Resume/ }).click();
  await row(page, 'mail').getByRole('button', { name: /^Pause/ }).waitFor();
  assert.equal((await queue(server, 'mail')).paused, false);
});

test('a job is put as the form says', async (t) => {
  const server = await start(t, { mail: ['m1'] });
  const page = await open(t, server, 'queues/mail');
  await page.getByRole('button', { name: 'Put a job' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Klass').fill('Receive');
  await dialog.getByLabel('Data').fill('{"from": "bob", "exact": 12345678901234567890.10}');
  await dialog.getByRole('button', { name: /^Put/ }).click();
  await dialog.waitFor({ state: 'detached' });
  const found = await until(async () => {
    const { jobs } = await server.ask('GET', 'ns/app/queues/mail/jobs?state=waiting');
    return jobs.find((job) => job.klass === 'Receive');
  }, 'the job');
  assert.equal(found.data.from, 'bob');
  assert.equal((await queue(server, 'mail')).waiting, 2);
});

test('cancel asks first, and cancels the job that it names', async (t) => {
  const server = await start(t, { mail: ['m1', 'm2'] });
  const page = await open(t, server, 'jobs/m1');
  await page.getByRole('button', { name: 'Cancel…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Back' }).click();
  assert.deepEqual(await states(server, 'm1', 'm2'), { m1: 'waiting', m2: 'waiting' });
  await page.getByRole('button', { name: 'Cancel…' }).click();
  await dialog.locator('button[type=submit]').click();
  await until(async () => (await states(server, 'm1')).m1 !== 'waiting', 'the cancelation');
  assert.equal((await states(server, 'm2')).m2, 'waiting');
});

test('clearing a queue cancels exactly the jobs of the dry run', async (t) => {
  const server = await start(t, { mail: ['m1', 'm2', 'm3'], fax: ['f1'] });
  const page = await open(t, server, 'queues/mail');
  await page.getByRole('button', { name: 'Clear…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('heading', { name: 'Cancel 3 jobs' }).waitFor();
  await server.resp('Q.PUT', 'app', 'mail', 'Send', '1', 'JID', 'late');
  await dialog.getByRole('button', { name: 'Cancel 3 jobs' }).click();
  await dialog.getByRole('heading', { name: 'Done: 3 jobs canceled' }).waitFor();
  const after = await states(server, 'm1', 'm2', 'm3', 'late', 'f1');
  assert.deepEqual([after.late, after.f1], ['waiting', 'waiting']);
  for (const jid of ['m1', 'm2', 'm3']) assert.notEqual(after[jid], 'waiting');
});

test('above 1,000 jobs the number has to be typed', async (t) => {
  const server = await start(t);
  const many = Array.from({ length: 1001 }, (_, i) => ({ klass: 'Send', data: i }));
  await server.ask('POST', 'ns/app/queues/mail/jobs', many);
  const page = await open(t, server, 'queues/mail');
  await page.getByRole('button', { name: 'Clear…' }).click();
  const dialog = page.getByRole('dialog');
  const go = dialog.getByRole('button', { name: /^Cancel 1,001 jobs/ });
  await go.waitFor();
  assert.equal(await go.isDisabled(), true);
  await dialog.getByRole('textbox').fill('1,000');
  assert.equal(await go.isDisabled(), true);
  await dialog.getByRole('textbox').fill('1,001');
  await go.click();
  await dialog.getByRole('heading', { name: 'Done: 1,001 jobs canceled' }).waitFor();
  assert.equal((await queue(server, 'mail')).waiting, 0);
});

test('the keyboard leads to every main screen', async (t) => {
  const server = await start(t, { mail: ['m1'] });
  const page = await open(t, server, '');
  for (const [key, title] of [['q', 'Queues'], ['j', 'Jobs'], ['f', 'Failures'], ['w', 'Workers'], ['r', 'Recurring'], ['o', 'Overview']]) {
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press(key);
    await until(async () => (await page.title()).startsWith(title), title);
  }
});

test('a job is found, opened and tracked with the keyboard alone', async (t) => {
  const server = await start(t, { mail: ['m1', 'm2'] });
  const page = await open(t, server, 'jobs');
  await row(page, 'm1').or(page.locator('tr[data-row]').first()).first().waitFor();
  await page.keyboard.press('j');
  const first = await page.evaluate(() => document.activeElement.closest('tr')?.dataset.row);
  assert.ok(first, 'j goes to a row');
  await page.keyboard.press('j');
  assert.notEqual(await page.evaluate(() => document.activeElement.closest('tr')?.dataset.row), first);
  await page.keyboard.press('k');
  assert.equal(await page.evaluate(() => document.activeElement.closest('tr')?.dataset.row), first);
  await page.keyboard.press('Enter');
  await until(() => page.evaluate(() => location.hash.includes('/jobs/m') && document.activeElement.matches('h1')), 'the page of the job');
  await page.keyboard.press('/');
  await page.keyboard.type('m2');
  await page.keyboard.press('Enter');
  await until(() => page.url().endsWith('/jobs/m2'), 'the page of the other job');
  const track = page.getByRole('button', { name: 'Track', exact: true });
  await track.waitFor();
  for (let i = 0; i < 80 && !(await track.evaluate((button) => button === document.activeElement)); i++) await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await until(async () => (await server.ask('GET', 'ns/app/tracked')).jobs.some((job) => job.jid === 'm2'), 'the tracked job');
});

/** Presses Tab until the focus is on an element that this finds. */
async function tabTo(page, locator, what) {
  for (let i = 0; i < 150; i++) {
    if (await locator.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(what + ' is not reached with Tab');
}

test('a job is put with the keyboard alone', async (t) => {
  const server = await start(t, { mail: ['m1'] });
  const page = await open(t, server, 'queues');
  await row(page, 'mail').waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  const put = page.getByRole('button', { name: 'Put a job' });
  await put.waitFor();
  await tabTo(page, put, 'the button');
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog');
  await tabTo(page, dialog.getByLabel('Klass'), 'the klass');
  await page.keyboard.type('Typed');
  await tabTo(page, dialog.getByRole('button', { name: 'Put', exact: true }), 'the button of the form');
  await page.keyboard.press('Enter');
  await until(async () => (await queue(server, 'mail')).waiting === 2, 'the job');
});

test('rows are selected and acted on with the keyboard alone', async (t) => {
  const server = await start(t, { mail: ['m1', 'm2', 'm3'] });
  const page = await open(t, server, 'queues/mail');
  await row(page, 'm1').waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  await page.getByText('2 jobs selected').waitFor();
  const cancel = page.getByRole('group', { name: 'Acts on selected jobs' }).getByRole('button', { name: 'Cancel…' });
  for (let i = 0; i < 150 && !(await cancel.evaluate((element) => element === document.activeElement)); i++) await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog');
  await tabTo(page, dialog.getByRole('button', { name: 'Cancel 2 jobs' }), 'the confirmation');
  await page.keyboard.press('Enter');
  await until(async () => (await queue(server, 'mail')).waiting === 1, 'the cancelation');
  await dialog.waitFor({ state: 'detached' });
});

test('a queue is paused with p, in the list and on its page', async (t) => {
  const server = await start(t, { fax: ['f1'], mail: ['m1'] });
  const page = await open(t, server, 'queues?sort=Queue');
  await row(page, 'mail').waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await page.keyboard.press('p');
  await until(async () => (await queue(server, 'mail')).paused, 'the pause');
  assert.equal((await queue(server, 'fax')).paused, false);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Resume' }).waitFor();
  await page.keyboard.press('p');
  await until(async () => !(await queue(server, 'mail')).paused, 'the end of the pause');
});

test('the focus is visible, stays in a dialog and comes back from it', async (t) => {
  const server = await start(t, { mail: ['m1'] });
  const page = await open(t, server, 'jobs/m1');
  const cancel = page.getByRole('button', { name: 'Cancel…' });
  await cancel.focus();
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog');
  await dialog.waitFor();
  for (let i = 0; i < 8; i++) {
    await page.keyboard.press('Tab');
    const { inside, outline } = await page.evaluate(() => {
      const element = document.activeElement;
      return { inside: element === document.body || element.closest('dialog') !== null, outline: getComputedStyle(element).outlineStyle };
    });
    assert.ok(inside, 'the focus stays in the dialog');
    assert.ok(outline !== 'none' || await page.evaluate(() => document.activeElement === document.body), 'the focus is visible');
  }
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  assert.equal(await cancel.evaluate((button) => button === document.activeElement), true);
});

test('frozen lists keep their rows until they are made live', async (t) => {
  const server = await start(t, { mail: ['m1'] });
  const page = await open(t, server, 'queues');
  await row(page, 'mail').waitFor();
  await page.keyboard.press('f');
  await page.getByText('Frozen.').waitFor();
  await server.resp('Q.PUT', 'app', 'fresh', 'Send', '1');
  await server.resp('Q.PUT', 'app', 'mail', 'Send', '1');
  await page.getByRole('button', { name: 'Make live' }).click();
  await row(page, 'fresh').waitFor();
});

test('the theme and the time zone of the page can be chosen, and stay', async (t) => {
  const server = await start(t, { mail: ['m1'] });
  const page = await open(t, server, 'queues');
  await row(page, 'mail').waitFor();
  const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
  const before = await theme();
  await page.keyboard.press('t');
  await until(async () => await theme() !== before || page.keyboard.press('t').then(() => false), 'the other theme');
  const chosen = await theme();
  await page.reload();
  await row(page, 'mail').waitFor();
  assert.equal(await theme(), chosen);
});

await run();
await closeBrowser();
