// Names, data and messages that clients chose are text to the page, whatever they hold.
import assert from 'node:assert/strict';
import { closeBrowser, newContext, openPage } from './browser.mjs';
import { Server } from './server.mjs';
import { run, test, until } from './tap.mjs';

const MARKUP = '<img src=x onerror="globalThis.hacked=1"><script>globalThis.hacked=1</script>';
const NAMES = {
  markup: MARKUP,
  attribute: '" onmouseover="globalThis.hacked=1" x="',
  address: 'javascript:globalThis.hacked=1',
  path: '../../v1/ns?x=1#y/%2e%2e/%00',
  template: '${globalThis.hacked=1}{{constructor.constructor("globalThis.hacked=1")()}}',
  direction: '\u202egnp.exe\u2066\u200f אבג',
  long: 'x'.repeat(200),
  prototype: '__proto__',
};

/** Screens that show most kinds of names, by their place in the list below. */
const MANY_NAMES = [0, 2, 4, 5, 6, 11];

/** A namespace in which all that a client may name has this name. */
async function fill(server, name) {
  const ns = encodeURIComponent(name);
  const it = encodeURIComponent(name);
  const ask = (method, path, body) => server.ask(method, `ns/${ns}/${path}`, body);
  const put = (jid, more = {}) => ask('POST', `queues/${it}/jobs`, { klass: name, data: { [name]: name, list: [name] }, jid, tags: [name], ...more });
  await put(name);
  await put('failed');
  const { jobs } = await ask('POST', 'pop', { queues: [name], worker: name, count: 2 });
  const token = (jid) => jobs.find((job) => job.jid === jid).token;
  await ask('POST', 'jobs/failed/fail', { worker: name, token: token('failed'), group: name, message: name });
  await ask('POST', `jobs/${it}/log`, { worker: name, token: token(name), line: name });
  await put('waiting', { domain: name });
  await ask('PUT', `tracked/${it}`);
  await ask('PUT', `recurring/${it}`, { queue: name, klass: name, data: { [name]: name }, cron: '0 3 * * *' });
  return ['', 'queues', `queues/${it}`, 'jobs', `jobs/${it}`, 'jobs/failed', 'failures', `failures/${it}`, 'workers', `workers/${it}`,
    'recurring', `recurring/${it}`, 'tracked', 'completed', `tags?tag=${it}`, 'limits', 'push', 'operations', 'config', 'server']
    .map((path) => `#/${ns}/${path}`);
}

for (const [kind, name] of Object.entries(NAMES)) {
  test(`a name is inert: ${kind}`, async (t) => {
    const server = await Server.start(t);
    const all = await fill(server, name);
    const paths = kind === 'markup' ? all : all.filter((path, i) => MANY_NAMES.includes(i));
    const page = await openPage(t, await newContext(t), server.url);
    let shown = false;
    for (const path of paths) {
      await page.goto(server.url + path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await until(() => page.evaluate(() => !document.querySelector('.bone, [aria-busy="true"]')), path);
      const { hacked, elements, addresses, text } = await page.evaluate(() => ({
        hacked: globalThis.hacked,
        elements: document.querySelectorAll('img, script:not([src]), iframe, object, embed, [onerror], [onmouseover], [onclick]').length,
        addresses: [...document.querySelectorAll('[href], [src], [action]')].map((element) => element.href || element.src || element.action)
          .filter((address) => !new RegExp('^(' + location.origin + '/|data:image/|\\[object SVG)').test(String(address))),
        text: document.body.innerText,
      }));
      assert.equal(hacked, undefined, path);
      assert.equal(elements, 0, path);
      assert.deepEqual(addresses, [], path);
      shown ||= text.includes(name);
    }
    assert.ok(shown, 'the name is shown as it is');
  });
}

test('data of 1 MiB and of 64 levels is shown', async (t) => {
  const server = await Server.start(t);
  const deep = '['.repeat(64) + '"bottom"' + ']'.repeat(64);
  await server.ask('POST', 'ns/app/queues/q/jobs', { klass: 'Deep', data: JSON.parse(deep), jid: 'deep' });
  const large = Array.from({ length: 9000 }, (_, i) => ({ number: i, text: MARKUP.slice(0, 80) }));
  assert.ok(JSON.stringify(large).length > 900000);
  await server.ask('POST', 'ns/app/queues/q/jobs', { klass: 'Large', data: large.slice(0, 8500), jid: 'large' });
  const page = await openPage(t, await newContext(t), server.url + '#/app/jobs/deep');
  await page.getByRole('heading', { level: 1, name: 'Deep' }).waitFor();
  await page.goto(server.url + '#/app/jobs/large');
  await page.getByRole('heading', { level: 1, name: 'Large' }).waitFor();
  await page.getByRole('button', { name: /^Show \d+ KiB/ }).click();
  await page.getByText('onerror').first().waitFor();
  assert.equal(await page.evaluate(() => globalThis.hacked), undefined);
  assert.equal(await page.locator('img').count(), 0);
  const elements = await page.evaluate(() => document.querySelectorAll('*').length);
  assert.ok(elements < 20000, `${elements} elements`);
});

await run();
await closeBrowser();
