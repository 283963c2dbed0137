// Every screen, in both themes, wide and narrow, full and empty: what it reports, what axe-core finds, and what it shows.
import assert from 'node:assert/strict';
import { closeBrowser, newContext, openPage, violations } from './browser.mjs';
import { Server } from './server.mjs';
import { run, test, until } from './tap.mjs';
import { fill, SCREENS } from './world.mjs';

/** Goes to a screen and waits until it shows what it has. */
async function show(page, server, screen) {
  await page.goto(`${server.url}#/app${screen ? '/' + screen : ''}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await until(() => page.evaluate(() => !document.querySelector('.bone, [aria-busy="true"]')), `the content of ${screen}`);
}

/** What axe-core finds on these screens: each finding once, with the screens that have it. */
async function look(page, server, screens) {
  const found = new Map();
  const note = (text, screen) => found.set(text, [...(found.get(text) ?? []), screen || 'overview']);
  for (const screen of screens) {
    await show(page, server, screen);
    for (const text of await violations(page)) note(text, screen);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    if (overflow > 0) note(`${overflow} pixels wider than the window`, screen);
  }
  return [...found].map(([text, where]) => `${text}: on ${where.join(', ')}`).join('\n');
}

for (const colorScheme of ['light', 'dark']) {
  for (const [how, width] of [['wide', 1280], ['narrow', 360]]) {
    test(`axe finds nothing on any screen, ${how} and ${colorScheme}`, async (t) => {
      const server = await Server.start(t);
      await fill(server);
      const page = await openPage(t, await newContext(t, { colorScheme, viewport: { width, height: 800 } }), server.url + '#/app');
      const found = await look(page, server, SCREENS);
      assert.equal(found, '');
    });
  }
}

test('axe finds nothing on any screen of an empty namespace', async (t) => {
  const server = await Server.start(t);
  await server.ask('PUT', 'ns/app');
  const page = await openPage(t, await newContext(t), server.url + '#/app');
  assert.equal(await look(page, server, SCREENS.filter((each) => !each.includes('/'))), '');
});

test('no screen is wider than 320 pixels', async (t) => {
  const server = await Server.start(t);
  await fill(server);
  const page = await openPage(t, await newContext(t, { viewport: { width: 320, height: 640 } }), server.url + '#/app');
  for (const screen of SCREENS) {
    await show(page, server, screen);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.ok(overflow <= 0, `${screen}: ${overflow} pixels wider`);
  }
});

test('each screen has a title, one main heading and no duplicate id', async (t) => {
  const server = await Server.start(t);
  await fill(server);
  const page = await openPage(t, await newContext(t), server.url + '#/app');
  const titles = new Set();
  for (const screen of SCREENS) {
    await show(page, server, screen);
    const { title, headings, twice } = await page.evaluate(() => {
      const ids = [...document.querySelectorAll('[id]')].map(({ id }) => id);
      return { title: document.title, headings: document.querySelectorAll('h1').length, twice: ids.filter((id, i) => ids.indexOf(id) !== i) };
    });
    assert.ok(!titles.has(title), `${screen}: the title ${title} is another screen's too`);
    titles.add(title);
    assert.deepEqual([headings, twice], [1, []], screen);
  }
});

await run();
await closeBrowser();
