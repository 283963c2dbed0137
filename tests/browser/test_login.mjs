// Logging in and out in the page, and what a user who may only read can do.
import assert from 'node:assert/strict';
import { closeBrowser, newContext, openPage, row } from './browser.mjs';
import { Server } from './server.mjs';
import { run, test, until } from './tap.mjs';

const USERS = ['--user', 'ann secret-of-ann *:admin', '--user', 'bob secret-of-bob app:read'];
const ann = { user: 'ann:secret-of-ann' };

async function start(t) {
  const server = await Server.start(t, ...USERS);
  await server.ask('POST', 'ns/app/queues/mail/jobs', { klass: 'Send', data: 1, jid: 'ann-1' }, ann);
  return server;
}

async function logIn(page, user, password) {
  await page.getByLabel('User').fill(user);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
}

/** All that a script of the page, or a person at the screen, could find. */
async function kept(page) {
  const inPage = await page.evaluate(() => JSON.stringify([location.href, document.cookie, { ...localStorage }, { ...sessionStorage },
    document.documentElement.outerHTML, history.state, globalThis.name]));
  return inPage + page.requests.join('\n');
}

test('the page asks for a login itself, and the browser does not', async (t) => {
  const server = await start(t);
  const page = await openPage(t, await newContext(t), server.url + '#/app/queues', { expected: [401] });
  const challenges = [];
  page.on('response', (response) => challenges.push(response.headers()['www-authenticate'] ?? ''));
  await page.getByRole('heading', { name: 'Log in to Sluice' }).waitFor();
  await logIn(page, 'ann', 'wrong');
  await page.getByRole('alert').filter({ hasText: 'wrong' }).waitFor();
  await logIn(page, 'ann', 'secret-of-ann');
  await row(page, 'mail').waitFor();
  assert.ok(challenges.every((text) => !/basic/i.test(text)), challenges.join());
});

test('neither the password nor the token can be found in the page', async (t) => {
  const server = await start(t);
  const context = await newContext(t);
  const page = await openPage(t, context, server.url + '#/app/queues', { expected: [401] });
  await logIn(page, 'ann', 'secret-of-ann');
  await row(page, 'mail').waitFor();
  const cookies = await context.cookies(server.url + 'v1/whoami');
  assert.equal(cookies.length, 1);
  const [cookie] = cookies;
  assert.deepEqual([cookie.httpOnly, cookie.sameSite, cookie.expires], [true, 'Strict', -1]);
  const all = await kept(page);
  for (const secret of ['secret-of-ann', cookie.value]) assert.ok(!all.includes(secret), all);
});

test('a reload and another tab need no second login, until the person logs out', async (t) => {
  const server = await start(t);
  const context = await newContext(t);
  const page = await openPage(t, context, server.url + '#/app/queues', { expected: [401] });
  await logIn(page, 'ann', 'secret-of-ann');
  await row(page, 'mail').waitFor();
  await page.reload();
  await row(page, 'mail').waitFor();
  const other = await openPage(t, context, server.url + '#/app/queues', { expected: [401] });
  await row(other, 'mail').waitFor();
  await page.locator('summary', { hasText: 'ann' }).click();
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByRole('heading', { name: 'Log in to Sluice' }).waitFor();
  assert.deepEqual(await context.cookies(server.url + 'v1/whoami'), []);
  await other.getByRole('heading', { name: 'Log in to Sluice' }).waitFor();
});

test('a session that the server ends makes the page ask again, and it goes on where it was', async (t) => {
  const server = await start(t);
  await server.ask('PUT', 'users/eve', { password: 'first', rights: ['app:read'] }, ann);
  const page = await openPage(t, await newContext(t), server.url + '#/app/queues?sort=Queue', { expected: [401], away: true });
  await logIn(page, 'eve', 'first');
  await row(page, 'mail').waitFor();
  await server.ask('PUT', 'users/eve', { password: 'second', rights: ['app:read'] }, ann);
  await page.getByRole('heading', { name: 'Log in to Sluice' }).waitFor();
  await logIn(page, 'eve', 'second');
  await row(page, 'mail').waitFor();
  assert.match(page.url(), /#\/app\/queues/);
});

test('a user who may only read sees no acts, and direct calls are refused', async (t) => {
  const server = await start(t);
  const page = await openPage(t, await newContext(t), server.url + '#/app/queues', { expected: [401, 403] });
  await logIn(page, 'bob', 'secret-of-bob');
  await row(page, 'mail').waitFor();
  assert.equal(await row(page, 'mail').getByRole('button', { name: /pause|resume|forget/i }).count(), 0);
  await page.goto(server.url + '#/app/jobs/ann-1');
  await page.getByRole('heading', { level: 1, name: 'Send' }).waitFor();
  assert.equal(await page.locator('main').getByRole('button', { name: /cancel|delete|run now|move|retry|priority/i }).count(), 0);
  const statuses = await page.evaluate(() => Promise.all([
    ['POST', 'v1/ns/app/queues/mail/pause', {}],
    ['POST', 'v1/ns/app/jobs/ann-1/cancel', {}],
    ['DELETE', 'v1/ns/app/jobs/ann-1'],
    ['PUT', 'v1/ns/app/config/heartbeat', { value: '1' }],
    ['POST', 'v1/ns/app/queues/mail/jobs', { klass: 'K', data: 1 }],
  ].map(async ([method, path, body]) => (await fetch(path, { method, headers: { 'X-Sluice': '1', 'Content-Type': 'application/json' },
    body: body && JSON.stringify(body) })).status)));
  assert.deepEqual(statuses, [403, 403, 403, 403, 403]);
  assert.equal((await server.ask('GET', 'ns/app/queues/mail', undefined, ann)).waiting, 1);
});

test('a page of another origin cannot act by the session', async (t) => {
  const server = await start(t);
  const context = await newContext(t);
  const page = await openPage(t, context, server.url + '#/app/queues', { expected: [401] });
  await logIn(page, 'ann', 'secret-of-ann');
  await row(page, 'mail').waitFor();
  const other = await Server.start(t); // another port: the same site, and another origin
  for (const target of [server.url, server.url.replace('127.0.0.1', 'localhost')]) {
    const evil = await context.newPage();
    await evil.goto(other.url.replace('127.0.0.1', 'localhost') + 'healthz');
    const path = target + 'v1/ns/app/queues/mail/pause';
    await evil.evaluate(async (address) => {
      await fetch(address, { method: 'POST', mode: 'no-cors', credentials: 'include', body: '{}' }).catch(() => {});
      await fetch(address, { method: 'POST', credentials: 'include', body: '{}',
        headers: { 'X-Sluice': '1', 'Content-Type': 'application/json' } }).catch(() => {});
    }, path);
    const answered = evil.waitForResponse((response) => response.request().isNavigationRequest());
    await evil.evaluate((address) => {
      const form = document.createElement('form');
      form.method = 'POST';
      form.enctype = 'text/plain';
      form.action = address;
      document.body.append(form);
      setTimeout(() => form.submit());
    }, path);
    assert.equal((await answered).status(), 403);
  }
  assert.equal((await server.ask('GET', 'ns/app/queues/mail', undefined, ann)).paused, false);
  await until(async () => await row(page, 'mail').isVisible(), 'the page goes on');
});

await run();
await closeBrowser();
