// A browser with nothing of a user's in it, and pages that are watched: what a page reports that it should not (an error,
// a violation of its policy, a request to another host) fails the test in the end.
import { readFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage', '--no-proxy-server',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost'];

let running = null;

/** The one of this process; a test has pages in a context of its own. */
async function browser() {
  running ??= chromium.launch({ executablePath: process.env.CHROMIUM, args: FLAGS });
  return running;
}

export async function closeBrowser() {
  if (running) await (await running).close();
  running = null;
}

/** A context without cookies and storage. Options are Playwright's, such as viewport and colorScheme. */
export async function newContext(test, options = {}) {
  const context = await (await browser()).newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce', ...options });
  context.setDefaultTimeout(60000);
  test.cleanup(() => context.close());
  return context;
}

/** Whether a request asks about a single job, which may be gone by the time the server answers, or a recurring one instead. */
const isOfJob = (url) => /\/v1\/ns\/[^/]+\/(jobs|recurring)\/[^/?]+/.test(url);

/**
 * A page at an address. `expected` are statuses that requests may fail with besides 304; `away` allows that the server
 * cannot be reached.
 */
export async function openPage(test, context, url, { expected = [], away = false } = {}) {
  const page = await context.newPage();
  const reports = [];
  const requests = [];
  const origin = new URL(url).origin;
  page.on('console', (message) => {
    const text = message.text();
    const failed = /^Failed to load resource: (?:the server responded with a status of (\d+)|(net::ERR_\S+))/.exec(text);
    const isExpected = (status, url) => expected.includes(status) || (status === 404 && isOfJob(url));
    const allowed = failed && (failed[1] ? isExpected(Number(failed[1]), message.location().url) : away);
    if ((message.type() === 'error' || message.type() === 'warning') && !allowed) reports.push(`${message.type()}: ${text} (${message.location().url})`);
  });
  page.on('pageerror', (error) => reports.push('uncaught: ' + error.stack));
  page.on('dialog', (dialog) => {
    reports.push('dialog: ' + dialog.message());
    dialog.dismiss().catch(() => {});
  });
  page.on('request', (request) => {
    requests.push(request.url());
    if (!/^(data|blob|about):/.test(request.url()) && new URL(request.url()).origin !== origin) reports.push('request: ' + request.url());
  });
  await page.addInitScript(() => {
    globalThis.policyReports = [];
    addEventListener('securitypolicyviolation', (event) => {
      globalThis.policyReports.push(`${event.effectiveDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber} ${event.sample}`);
    });
  });
  page.reports = reports;
  page.requests = requests;
  test.cleanup(() => finish(test, page));
  await page.goto(url);
  return page;
}

/** Ends a page: with a picture and its text if the test has failed, or else with a look at what it has reported. */
async function finish(test, page) {
  if (page.isClosed()) return;
  if (test.failed) {
    const folder = join(dirname(fileURLToPath(import.meta.url)), 'failed');
    mkdirSync(folder, { recursive: true });
    const name = join(folder, test.name.replace(/[^a-z0-9]+/gi, '-').slice(0, 80));
    await page.screenshot({ path: name + '.png' }).catch(() => {});
    writeFileSync(name + '.txt', [page.url(), ...page.reports, await page.locator('body').innerText().catch(() => '')].join('\n'));
    console.log(`# ${name}.png shows the page`);
    return;
  }
  const violations = await page.evaluate(() => globalThis.policyReports);
  const all = [...page.reports, ...violations.map((text) => 'policy: ' + text)];
  if (all.length) throw new Error('the page reports:\n' + all.join('\n'));
}

/** The row of a table that is about this name. */
export const row = (page, name) => page.locator(`tr[data-row="${name}"]`);

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What the rules of WCAG 2.2 AA find in a page: a line for each element. */
export async function violations(page) {
  // Injected by the debugger: the page's policy holds for the page alone.
  if (!(await page.evaluate('typeof globalThis.axe === "object"'))) await page.evaluate(axe);
  const found = await page.evaluate(async () => {
    const result = await globalThis.axe.run(document, {
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
      resultTypes: ['violations'],
    });
    return result.violations.map(({ id, help, nodes }) => ({ id, help, nodes: nodes.map((node) => `${node.target.join(' ')}: ${node.failureSummary}`) }));
  });
  return found.flatMap(({ id, help, nodes }) => nodes.map((node) => `${id} (${help}) ${node}`.replace(/\s+/g, ' ')));
}
