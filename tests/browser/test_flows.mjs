// What users of qless's own web page do with it, in the order of its integration tests, done on this page.
import assert from 'node:assert/strict';
import { closeBrowser, newContext, openPage, row } from './browser.mjs';
import { Server } from './server.mjs';
import { run, test, until } from './tap.mjs';

/** A server, a page of it, and what a client does meanwhile. */
async function start(t) {
  const server = await Server.start(t);
  await server.ask('PUT', 'ns/app');
  const page = await openPage(t, await newContext(t), server.url + '#/app');
  const ask = (method, path, body) => server.ask(method, 'ns/app/' + path, body);
  return {
    server,
    page,
    ask,
    dialog: page.getByRole('dialog'),
    visit: async (screen) => {
      await page.goto(`${server.url}#/app/${screen}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
    },
    press: (name) => page.locator('main').getByRole('button', { name, exact: true }).click(),
    put: async (jid, more = {}, queue = 'testing') => {
      await ask('POST', `queues/${queue}/jobs`, { klass: 'Job', data: {}, jid, ...more });
      return jid;
    },
    /** Pops the first job of the queue; gives what settles it. */
    pop: async (queue = 'testing') => {
      const { jobs: [job] } = await ask('POST', 'pop', { queues: [queue], worker: 'worker-1', count: 1 });
      const settle = (act, more) => ask('POST', `jobs/${job.jid}/${act}`, { worker: 'worker-1', token: job.token, ...more });
      return { jid: job.jid, complete: () => settle('complete', {}), fail: (group, message = 'what-what') => settle('fail', { group, message }) };
    },
    state: async (jid) => (await ask('POST', 'get', { jids: [jid] })).jobs[0]?.state ?? null,
    /** Waits for a text in the content of the page. */
    sees: (text) => page.locator('main').getByText(text).first().waitFor(),
  };
}

/** Puts 60 jobs and tells which are on the first and on the second page of 50. */
async function twoPages(page) {
  const shown = () => page.locator('tr[data-row]').evaluateAll((rows) => rows.map((each) => each.dataset.row));
  await until(async () => (await shown()).length === 50, 'the first page');
  const first = await shown();
  await page.getByRole('button', { name: 'Next' }).click();
  await until(async () => (await shown()).length === 10, 'the second page');
  const second = await shown();
  assert.equal(new Set([...first, ...second]).size, 60);
  await page.getByRole('button', { name: 'Previous' }).click();
  await until(async () => JSON.stringify(await shown()) === JSON.stringify(first), 'the first page again');
}

const SIXTY = Array.from({ length: 60 }, (_, i) => `jid-${i + 1}.`);

test('each entry of the navigation leads to a page', async (t) => {
  const { page } = await start(t);
  const links = page.getByRole('navigation', { name: 'Screens' }).getByRole('link');
  await links.first().waitFor();
  const count = await links.count();
  assert.ok(count >= 15, `${count} entries`);
  for (let i = 0; i < count; i++) {
    const name = (await links.nth(i).innerText()).trim();
    await links.nth(i).click();
    await until(async () => (await page.title()).startsWith(name), 'the page ' + name);
    await page.getByRole('heading', { level: 1 }).waitFor();
  }
});

test('lists have pages: of a tag, of a group of failures, of complete jobs, of a state', async (t) => {
  const { page, ask, visit } = await start(t);
  await ask('POST', 'queues/tagged/jobs', SIXTY.map((jid) => ({ klass: 'Job', data: {}, jid, tags: ['foo'] })));
  await visit('jobs?tag=foo');
  await twoPages(page);
  const { jobs } = await ask('POST', 'pop', { queues: ['tagged'], worker: 'worker-1', count: 60 });
  await ask('POST', 'fail', jobs.map(({ jid, token }) => ({ jid, token, worker: 'worker-1', group: 'group', message: 'no' })));
  await visit('failures/group');
  await twoPages(page);
  await ask('POST', 'queues/done/jobs', SIXTY.map((jid) => ({ klass: 'Job', data: {}, jid: 'done-' + jid })));
  const done = await ask('POST', 'pop', { queues: ['done'], worker: 'worker-1', count: 60 });
  await ask('POST', 'complete', done.jobs.map(({ jid, token }) => ({ jid, token, worker: 'worker-1' })));
  await visit('completed');
  await twoPages(page);
  await ask('POST', 'queues/testing/jobs', { klass: 'Job', data: {}, jid: 'parent' });
  await ask('POST', 'queues/testing/jobs', SIXTY.map((jid) => ({ klass: 'Job', data: {}, jid: 'child-' + jid, depends: ['parent'] })));
  await visit('queues/testing?state=depends');
  await twoPages(page);
});

test('the overview says what there is, from nothing on', async (t) => {
  const { page, sees, visit, put, pop } = await start(t);
  await sees('No jobs in app yet');
  const count = (state) => page.locator(`[data-state="${state}"]`).innerText();
  const counts = (wanted) => until(async () => {
    for (const [state, n] of Object.entries(wanted)) if (await count(state) !== String(n)) return false;
    return true;
  }, JSON.stringify(wanted));
  await put('a');
  await counts({ waiting: 1, running: 0 });
  const a = await pop();
  await counts({ waiting: 0, running: 1 });
  await a.complete();
  await counts({ running: 0, complete: 1 });
  await put('b');
  await (await pop()).fail('foo-failure');
  await counts({ failed: 1 });
  await row(page, 'foo-failure').waitFor();
  await put('c', { delay: 600 });
  await counts({ scheduled: 1 });
  await put('d', { depends: ['c'] });
  await counts({ depends: 1 });
  await visit('queues');
  const cell = async (label) => (await row(page, 'testing').locator(`[data-label="${label}"]`).innerText()).trim();
  await row(page, 'testing').waitFor();
  assert.deepEqual([await cell('Waiting'), await cell('Scheduled'), await cell('Depends'), await cell('Failed')], ['0', '1', '1', '1']);
  await visit('workers');
  await row(page, 'worker-1').waitFor();
});

test('tracked jobs are shown by state, there and in the overview', async (t) => {
  const { page, ask, visit, put, pop } = await start(t);
  await put('t');
  await ask('PUT', 'tracked/t');
  const tab = (name, n) => page.getByRole('button', { name: new RegExp(`^${name}\\s*${n}$`) }).waitFor();
  const inOverview = async (state) => {
    await visit('');
    await row(page, 't').getByText(state, { exact: true }).waitFor();
    await visit('tracked');
  };
  await inOverview('waiting');
  await tab('waiting', 1);
  const job = await pop();
  await tab('running', 1);
  await tab('waiting', 0);
  await inOverview('running');
  await job.complete();
  await tab('complete', 1);
  await inOverview('complete');
  await put('f');
  await ask('PUT', 'tracked/f');
  await (await pop()).fail('foo');
  await tab('failed', 1);
  await tab('Any', 2);
  await put('s', { delay: 600 });
  await ask('PUT', 'tracked/s');
  await tab('scheduled', 1);
  await page.getByRole('button', { name: /^scheduled/ }).click();
  await row(page, 't').waitFor({ state: 'detached' });
  assert.equal(await page.locator('tr[data-row]').count(), 1);
});

test('a job offers the acts of its state', async (t) => {
  const { page, visit, put, pop, sees } = await start(t);
  const offers = async (wanted) => {
    const group = page.getByRole('group', { name: 'Acts', exact: true });
    await until(async () => {
      const names = await group.getByRole('button').allInnerTexts();
      return Object.entries(wanted).every(([name, on]) => names.includes(name) === on);
    }, JSON.stringify(wanted));
  };
  await put('j');
  await visit('jobs/j');
  await offers({ 'Cancel…': true, 'Run now': false, Track: true, 'Move…': true });
  const job = await pop();
  await job.fail('foo');
  await offers({ 'Cancel…': true, 'Run now': true, Track: true, 'Move…': true });
  await sees('what-what');
  await put('done');
  await (await pop()).complete();
  await visit('jobs/done');
  await offers({ 'Cancel…': false, 'Run now': false, Track: true, 'Edit and retry…': true });
});

test('a complete job goes into another queue', async (t) => {
  const { dialog, ask, visit, press, put, pop, state } = await start(t);
  await put('m', {}, 'other');
  await (await pop('other')).complete();
  await visit('jobs/m');
  await press('Edit and retry…');
  await dialog.getByLabel('Queue').fill('testing');
  await dialog.getByRole('button', { name: 'Put again' }).click();
  await until(async () => await state('m') === 'waiting', 'the job in line');
  assert.equal((await ask('GET', 'jobs/m')).queue, 'testing');
});

test('a failed job is retried, and a job canceled after a question', async (t) => {
  const { dialog, visit, press, put, pop, state } = await start(t);
  await put('r');
  await (await pop()).fail('foo');
  await visit('jobs/r');
  await press('Run now');
  await until(async () => await state('r') === 'waiting', 'the job in line');
  await press('Cancel…');
  await dialog.waitFor();
  assert.equal(await state('r'), 'waiting');
  await dialog.getByRole('button', { name: 'Cancel the job' }).click();
  await until(async () => await state('r') === null, 'the cancelation');
});

test('the options of the namespace are listed, and an own one beside them', async (t) => {
  const { page, ask, visit } = await start(t);
  await visit('config');
  for (const name of ['jobs-history-count', 'stats-history', 'jobs-history']) await row(page, name).waitFor();
  await ask('PUT', 'config/x-foo', { value: 'bar' });
  await row(page, 'x-foo').waitFor();
});

test('jobs are found by a tag, and a job shows what it is', async (t) => {
  const { page, visit, put, sees } = await start(t);
  for (const jid of ['x1', 'x2', 'x3']) await put(jid, { tags: jid === 'x3' ? ['bar'] : ['foo', 'bar'], data: { foo: 'bar' }, priority: 123 });
  await visit('tags');
  await row(page, 'foo').getByRole('link').click();
  await row(page, 'x1').waitFor();
  await row(page, 'x2').waitFor();
  assert.equal(await row(page, 'x3').count(), 0);
  await row(page, 'x1').getByRole('link', { name: 'x1' }).click();
  await page.getByRole('heading', { level: 1, name: 'Job' }).waitFor();
  for (const text of ['testing', 'waiting', '123']) await sees(text);
  await page.locator('main').getByText('"bar"').first().waitFor();
});

test('failures are shown by group, the largest first, and retried or canceled as a group', async (t) => {
  const { page, dialog, visit, put, pop, state } = await start(t);
  const groups = { foo: 5, bar: 6, baz: 2 };
  for (const [group, n] of Object.entries(groups)) {
    for (let i = 0; i < n; i++) {
      await put(`${group}-${i}`);
      await (await pop()).fail(group);
    }
  }
  await visit('');
  const order = () => page.getByRole('table', { name: 'Failure groups with the most jobs' }).locator('tr[data-row]').evaluateAll((rows) => rows.map((each) => each.dataset.row));
  await until(async () => (await order()).join() === 'bar,foo,baz', 'the order');
  await visit('failures');
  const jobs = async (group) => (await row(page, group).locator('[data-label="Jobs"]').innerText()).trim();
  await row(page, 'foo').waitFor();
  assert.deepEqual([await jobs('foo'), await jobs('bar')], ['5', '6']);
  await row(page, 'foo').getByRole('button', { name: 'Retry all…' }).click();
  await dialog.getByRole('button', { name: 'Retry 5 jobs' }).click();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await row(page, 'foo').waitFor({ state: 'detached' });
  await row(page, 'bar').getByRole('button', { name: 'Cancel all…' }).click();
  const go = dialog.getByRole('button', { name: 'Cancel 6 jobs' });
  await go.waitFor();
  assert.equal(await state('bar-0'), 'failed', 'one press is not enough');
  await go.click();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await row(page, 'bar').waitFor({ state: 'detached' });
  for (let i = 0; i < 5; i++) assert.equal(await state(`foo-${i}`), 'waiting');
  for (let i = 0; i < 6; i++) assert.equal(await state(`bar-${i}`), null);
  assert.equal(await jobs('baz'), '2');
});

test('a queue has a list for each state, and its recurring jobs', async (t) => {
  const { page, ask, visit, put, pop } = await start(t);
  await put('w1');
  await visit('queues/testing?state=waiting');
  await row(page, 'w1').waitFor();
  await pop();
  await visit('queues/testing?state=running');
  await row(page, 'w1').waitFor();
  await put('s1', { delay: 600 });
  await visit('queues/testing?state=scheduled');
  await row(page, 's1').waitFor();
  await put('d1', { depends: ['s1'] });
  await visit('queues/testing?state=depends');
  await row(page, 'd1').waitFor();
  await ask('PUT', 'recurring/r1', { queue: 'testing', klass: 'Job', data: {}, interval: 600, delay: 600 });
  await visit('queues/testing?view=recurring');
  await row(page, 'r1').waitFor();
});

test('a recurring job is shown by its jid, moved, tagged, given a priority and removed', async (t) => {
  const { page, dialog, ask, visit, press, sees } = await start(t);
  await ask('PUT', 'recurring/r1', { queue: 'other', klass: 'Job', data: {}, interval: 600, delay: 600 });
  await visit('jobs/r1');
  await page.getByRole('link', { name: 'Its page' }).click();
  await page.getByRole('heading', { level: 1, name: 'r1' }).waitFor();
  for (const text of ['recurring', 'other', 'Job']) await sees(text);
  await press('Edit…');
  await dialog.getByLabel('Queue').fill('testing');
  await dialog.getByLabel('Priority').fill('25');
  await dialog.getByLabel('Tags').fill('foo, bar');
  await dialog.getByRole('button', { name: 'Set', exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
  const { queue, priority, tags } = await ask('GET', 'recurring/r1');
  assert.deepEqual([queue, priority, tags], ['testing', 25, ['foo', 'bar']]);
  await sees('25');
  await press('Remove…');
  await dialog.getByRole('button', { name: 'Remove' }).click();
  await until(async () => (await ask('GET', 'recurring')).total === 0, 'the removal');
});

await run();
await closeBrowser();
