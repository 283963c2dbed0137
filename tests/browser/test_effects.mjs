// Every act of every screen, in a namespace with something of each kind: what it names changes, and nothing else does. The
// namespace is compared by its dump, which has all that is stored.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { closeBrowser, newContext, openPage, row } from './browser.mjs';
import { Server } from './server.mjs';
import { run, test, until } from './tap.mjs';
import { difference, fill, snapshot } from './world.mjs';

/** A page of a full namespace, and how an act is done on it. */
async function start(t, ...flags) {
  const server = await Server.start(t, ...flags);
  await server.ask('PUT', 'ns/app/config/heartbeat', { value: '36000' }); // no lease ends by itself
  await fill(server);
  const page = await openPage(t, await newContext(t), server.url + '#/app/queues');
  const dialog = page.getByRole('dialog');
  let before = await snapshot(server);

  /** Does an act and compares: `expected` is what differs after it. */
  async function effect(name, act, expected) {
    await act();
    await dialog.waitFor({ state: 'detached' });
    let found;
    try {
      await until(async () => {
        found = difference(before, await snapshot(server));
        return JSON.stringify(found) === JSON.stringify([...expected].sort());
      }, name);
    } catch {
      assert.deepEqual(found, [...expected].sort(), name);
    }
    before = await snapshot(server);
  }

  return {
    server,
    page,
    dialog,
    effect,
    open: async (screen) => {
      await page.goto(`${server.url}#/app/${screen}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await until(() => page.evaluate(() => !document.querySelector('.bone')), 'the content of ' + screen);
    },
    /** Presses a button of the page, not of a dialog. */
    press: (name) => page.locator('main').getByRole('button', { name, exact: true }).click(),
    /** Fills a form and sends it. */
    form: async (fields, verb) => {
      for (const [label, value] of Object.entries(fields)) {
        const field = dialog.getByLabel(label, { exact: label.endsWith(')') });
        if (typeof value === 'boolean') await field.setChecked(value);
        else if (await field.evaluate((element) => element.tagName === 'SELECT')) await field.selectOption(value);
        else await field.fill(value);
      }
      await dialog.getByRole('button', { name: verb, exact: true }).click();
    },
    /** Goes through the dry run of an act on many jobs to its end. */
    bulk: async (verb, done) => {
      await dialog.getByRole('button', { name: verb, exact: true }).click();
      await dialog.getByRole('heading', { name: done }).waitFor();
      await dialog.getByRole('button', { name: 'Close' }).click();
    },
    /** Selects rows of a list. */
    select: async (...names) => {
      for (const name of names) await row(page, name).getByRole('checkbox').click();
    },
  };
}

test('acts on a job', async (t) => {
  const { server, page, dialog, open, press, form, bulk, effect } = await start(t);
  await open('jobs/later-1');
  await effect('run now', () => press('Run now'), ['~job later-1: scheduled, state']);
  await open('jobs/waiting-2');
  await effect('priority', async () => {
    await press('Priority…');
    await form({ Priority: '-7' }, 'Set');
  }, ['~job waiting-2: priority']);
  await effect('tags', async () => {
    await press('Tags…');
    await form({ Tags: 'one, two' }, 'Set');
  }, ['~job waiting-2: tags']);
  await effect('fewer tags', async () => {
    await page.locator('main .tag', { hasText: 'two' }).waitFor();
    await press('Tags…');
    await form({ Tags: 'two' }, 'Set');
  }, ['~job waiting-2: tags']);
  await effect('track', () => press('Track'), ['+tracked waiting-2', '~job waiting-2']);
  await effect('stop tracking', () => press('Stop tracking'), ['-tracked waiting-2', '~job waiting-2']);
  await effect('note', async () => {
    await press('Note…');
    await form({ Note: 'looked at' }, 'Add');
  }, ['~job waiting-2']);
  await effect('move', async () => {
    await press('Move…');
    await form({ Queue: 'fax' }, 'Move');
    await bulk('Move 1 job', 'Done: 1 job moved');
  }, ['~job waiting-2: queue']);
  await open('jobs/running-1');
  await effect('take the lease away', async () => {
    await press('Take the lease away…');
    await dialog.getByRole('button', { name: 'Take the lease away' }).click();
  }, ['~job running-1']);
  assert.equal((await server.ask('GET', 'ns/app/jobs/running-1')).lease, null);
  await open('jobs/failed-1');
  await effect('edit and retry', async () => {
    await press('Edit and retry…');
    await form({ Data: '{"to": "bob", "exact": 12345678901234567890.10}' }, 'Put again');
  }, ['~job failed-1: attempts, data, state']);
  await open('jobs/done-1');
  await effect('delete', async () => {
    await press('Delete…');
    await dialog.getByRole('button', { name: 'Delete' }).click();
  }, ['-job done-1']);
  await open('jobs/waiting-1');
  await effect('cancel with what depends on it', async () => {
    await press('Cancel…');
    await dialog.getByRole('checkbox').check();
    await dialog.getByRole('button', { name: 'Cancel the job' }).click();
  }, ['-job depends-1', '-job waiting-1']);
});

test('a duplicate is a job of its own', async (t) => {
  const { server, page, dialog, open, press, effect } = await start(t);
  await open('jobs/waiting-1');
  const before = await snapshot(server);
  await press('Duplicate…');
  await dialog.getByLabel('Delay').fill('5m');
  await dialog.getByRole('button', { name: 'Put', exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
  await until(() => !page.url().endsWith('/jobs/waiting-1'), 'the page of the copy');
  const jid = decodeURIComponent(page.url().split('/').at(-1));
  assert.deepEqual(difference(before, await snapshot(server)), ['+job ' + jid]);
  const copy = await server.ask('GET', 'ns/app/jobs/' + jid);
  assert.deepEqual([copy.state, copy.data, copy.tags, copy.queue], ['scheduled', { to: 'ann', sizes: [1, 2, 3] }, ['urgent', 'customer-7'], 'mail']);
});

test('acts on jobs that are selected, and on all that match', async (t) => {
  const { server, page, dialog, open, press, form, bulk, select, effect } = await start(t);
  await open('jobs');
  await effect('tag', async () => {
    await select('waiting-2', 'fax-1');
    await press('Tag…');
    await form({ Tag: 'seen' }, 'Go on');
    await page.getByText('2 jobs selected').waitFor({ state: 'detached' });
  }, ['~job fax-1: tags', '~job waiting-2: tags']);
  await effect('priority', async () => {
    await select('waiting-2', 'later-1');
    await press('Priority…');
    await form({ Priority: '4' }, 'Go on');
    await bulk('Change the priority of 2 jobs', 'Done: 2 jobs changed');
  }, ['~job later-1: priority', '~job waiting-2: priority']);
  await open('jobs?tag=seen');
  await effect('untag all', async () => {
    await press('Untag…');
    await form({ Tag: 'seen' }, 'Go on');
    await bulk('Untag 2 jobs', 'Done: 2 jobs untagged');
  }, ['~job fax-1: tags', '~job waiting-2: tags']);
  await open('jobs?state=scheduled');
  await effect('run all that are scheduled', async () => {
    await press('Run now…');
    await bulk('Retry 1 job', 'Done: 1 job retried');
  }, ['~job later-1: scheduled, state']);
  await open('jobs?state=complete');
  await effect('delete all that are complete', async () => {
    await press('Delete…');
    await bulk('Delete 1 job', 'Done: 1 job deleted');
  }, ['-job done-1']);
  await open('jobs?queue=fax');
  await effect('cancel all of a queue, and none that comes meanwhile', async () => {
    await press('Cancel…');
    await dialog.getByRole('heading', { name: 'Cancel 1 job' }).waitFor();
    await server.resp('Q.PUT', 'app', 'fax', 'Send', '1', 'JID', 'fax-late');
    await bulk('Cancel 1 job', 'Done: 1 job canceled');
  }, ['+job fax-late', '-job fax-1']);
});

test('acts on failures: one, some and all of a group', async (t) => {
  const { server, page, dialog, open, press, form, bulk, select, effect } = await start(t);
  const ask = (method, path, body) => server.ask(method, 'ns/app/' + path, body);
  for (const jid of ['a', 'b', 'c', 'd']) {
    await ask('POST', 'queues/mail/jobs', { klass: 'Send', data: 1, jid, priority: -9 });
    const { jobs: [job] } = await ask('POST', 'pop', { queues: ['mail'], worker: 'worker-2', count: 1 });
    await ask('POST', `jobs/${jid}/fail`, { worker: 'worker-2', token: job.token, group: jid === 'd' ? 'disk' : 'smtp', message: 'no' });
  }
  await effect('what failed', () => {}, ['+job a', '+job b', '+job c', '+job d']);
  await open('failures/smtp');
  const retried = (jid) => `~job ${jid}: attempts, state`;
  await effect('one', async () => {
    await select('a');
    await press('Run now');
    await page.getByText('1 job selected').waitFor({ state: 'detached' });
  }, [retried('a')]);
  await effect('some', async () => {
    await select('b', 'c');
    await press('Cancel…');
    await dialog.getByRole('button', { name: 'Cancel 2 jobs' }).click();
  }, ['-job b', '-job c']);
  await open('failures');
  await effect('a group is moved', async () => {
    await row(page, 'disk').getByRole('button', { name: 'Move all…' }).click();
    await form({ Queue: 'fax' }, 'Go on');
    await bulk('Move 1 job', 'Done: 1 job moved');
  }, ['~job d: attempts, queue, state']);
  await effect('a group is retried', async () => {
    await row(page, 'smtp').getByRole('button', { name: 'Retry all…' }).click();
    await bulk('Retry 1 job', 'Done: 1 job retried');
  }, [retried('failed-1')]);
});

test('acts on queues', async (t) => {
  const { server, page, dialog, open, press, form, select, effect } = await start(t);
  await open('queues');
  await effect('pause those that are selected', async () => {
    await select('mail', 'fax');
    await press('Pause');
  }, ['~queue mail: paused']);
  await effect('resume them', async () => {
    await row(page, 'mail').getByRole('button', { name: 'Resume' }).waitFor();
    await press('Resume');
  }, ['~queue fax: paused', '~queue mail: paused']);
  await open('queues/mail');
  await effect('settings', async () => {
    await press('Settings');
    await form({ 'Largest concurrency': '3', 'Fair lanes': '1' }, 'Set');
  }, ['+option mail-fair', '+option mail-max-concurrency']);
  await effect('no setting', async () => {
    await press('Settings');
    await form({ 'Largest concurrency': '' }, 'Set');
  }, ['-option mail-max-concurrency']);
  await effect('a queue without jobs', () => server.ask('POST', 'ns/app/cancel', { jids: ['fax-1'] }), ['-job fax-1']);
  await open('queues/fax');
  await effect('forget', async () => {
    await press('Forget…');
    await dialog.getByRole('button', { name: 'Forget' }).click();
  }, ['-queue fax']);
  assert.deepEqual((await server.ask('GET', 'ns/app/queues')).queues.map(({ queue }) => queue), ['mail']);
});

test('acts on workers', async (t) => {
  const { server, page, dialog, open, press, effect } = await start(t);
  await open('workers/worker-1');
  await effect('take leases away', async () => {
    await press('Take the leases away…');
    await dialog.locator('button[type=submit]').click();
  }, ['~job running-1']);
  assert.equal((await server.ask('GET', 'ns/app/jobs/running-1')).lease, null);
  await effect('forget', async () => {
    await press('Forget…');
    await dialog.locator('button[type=submit]').click();
    await until(() => page.url().endsWith('/workers'), 'the list of workers');
  }, []);
});

test('acts on recurring jobs', async (t) => {
  const { server, page, dialog, open, press, form, effect } = await start(t);
  await server.ask('PATCH', 'ns/app/recurring/nightly', { timeout: 90, overlap: 'skip', domain: 'night' });
  await server.ask('POST', 'ns/app/recurring/nightly/tags', { tags: ['kept'] });
  await effect('what the form does not show', () => {}, ['~recurring nightly: domain, options, overlap, tags']);
  await open('recurring');
  await effect('new', async () => {
    await press('New');
    await form({ Name: 'poll', Queue: 'mail', Klass: 'Poll', 'Or interval': '1h', Data: '{"deep": {"exact": 0.10}}' }, 'Make');
    await until(() => page.url().endsWith('/recurring/poll'), 'the page of the new one');
  }, ['+job poll-1', '+recurring poll']);
  await open('recurring/nightly');
  await effect('another priority', async () => {
    await press('Edit…');
    await form({ Priority: '3' }, 'Set');
  }, ['~recurring nightly: priority']);
  await effect('another time and zone', async () => {
    await press('Edit…');
    await form({ 'Cron expression': '30 4 * * *', 'Time zone': 'Europe/Berlin' }, 'Set');
  }, ['~recurring nightly: cron, next, zone']);
  await effect('other data and tags', async () => {
    await page.getByText('30 4 * * * Europe/Berlin').first().waitFor();
    await press('Edit…');
    await form({ Data: '{"exact": 12345678901234567890.10}', Tags: 'report' }, 'Set');
  }, ['~recurring nightly: data, tags']);
  await effect('nothing', async () => {
    await page.locator('main .tag', { hasText: 'report' }).waitFor();
    await press('Edit…');
    await form({}, 'Set');
  }, []);
  await effect('an interval in place of cron', async () => {
    await press('Edit…');
    await form({ 'Cron expression': '', 'Or interval': '2d' }, 'Set');
  }, ['+job nightly-1', '~recurring nightly: count, cron, interval, next, zone']);
  const { domain, overlap, options } = await server.ask('GET', 'ns/app/recurring/nightly');
  assert.deepEqual([domain, overlap, options.timeout], ['night', 'skip', 90]);
  await effect('pause', () => press('Pause'), ['~recurring nightly: paused']);
  await effect('resume', () => press('Resume'), ['~recurring nightly: paused']);
  await open('recurring/poll');
  await effect('remove', async () => {
    await press('Remove…');
    await dialog.getByRole('button', { name: 'Remove' }).click();
  }, ['-recurring poll']);
});

test('a recurring job is run now', async (t) => {
  const { server, page, open, press } = await start(t);
  await open('recurring/nightly');
  const before = await snapshot(server);
  await press('Run now');
  await until(() => page.url().includes('/jobs/'), 'the page of the job');
  const jid = decodeURIComponent(page.url().split('/').at(-1));
  const found = difference(before, await snapshot(server));
  assert.deepEqual(found.filter((line) => line.startsWith('+')), ['+job ' + jid]);
  assert.deepEqual(found.filter((line) => !line.startsWith('+') && !line.startsWith('~recurring nightly')), []);
});

test('acts on limits, policies and options', async (t) => {
  const { page, dialog, open, press, form, effect } = await start(t);
  await open('limits');
  await effect('a limit', async () => {
    await press('New limit');
    await form({ Queue: 'mail', Rate: '10', Period: '1m', Concurrency: '4' }, 'Set');
  }, ['+limit mail/*']);
  const one = (name) => page.locator('tr[data-row]', { hasText: name });
  await effect('another rate', async () => {
    await one('mail').getByRole('button', { name: 'Edit…' }).click();
    await form({ Rate: '20' }, 'Set');
  }, ['~limit mail/*: rate']);
  await effect('another lane', async () => {
    await one('mail').getByRole('button', { name: 'Edit…' }).click();
    await form({ Domain: 'customer-*' }, 'Set');
  }, ['+limit mail/customer-*', '-limit mail/*']);
  await effect('no limit', async () => {
    await one('customer-*').getByRole('button', { name: 'Remove…' }).click();
    await dialog.getByRole('button', { name: 'Remove' }).click();
  }, ['-limit mail/customer-*']);
  await effect('a policy', async () => {
    await press('New policy');
    await form({ Name: 'Send', 'Longest run': '10m', 'Lease': '30' }, 'Set');
  }, ['+policy klass Send']);
  await effect('another policy', async () => {
    await one('Send').getByRole('button', { name: 'Edit…' }).click();
    await form({ 'Most crashes': '3' }, 'Set');
  }, ['~policy klass Send: options']);
  await effect('no policy', async () => {
    await one('Send').getByRole('button', { name: 'Remove…' }).click();
    await dialog.getByRole('button', { name: 'Remove' }).click();
  }, ['-policy klass Send']);
  await open('config');
  await effect('an option', async () => {
    await press('Set an option');
    await form({ Option: 'x-own', Value: 'text' }, 'Set');
  }, ['+option x-own']);
  await effect('no option', async () => {
    await one('x-own').getByRole('button', { name: /^Unset/ }).click();
    await dialog.getByRole('button', { name: 'Unset', exact: true }).click();
  }, ['-option x-own']);
});

test('acts on tracked jobs', async (t) => {
  const { page, open, effect } = await start(t);
  await open('tracked');
  await effect('untrack', () => row(page, 'waiting-1').getByRole('button', { name: 'Untrack' }).click(), ['-tracked waiting-1', '~job waiting-1']);
});

test('acts on pushes', async (t) => {
  const { server, page, dialog, open, press, form, effect } = await start(t, '--push-allow-private', 'yes');
  const list = async () => (await server.ask('GET', 'ns/app/pushes')).pushes.map(({ pattern, concurrency, queues }) => ({ pattern, concurrency, queues }));
  await open('push');
  await effect('new', async () => {
    await press('New');
    await form({ Klass: 'Backfill', Address: 'http://127.0.0.1:9/work', Concurrency: '7' }, 'Set');
  }, []);
  assert.deepEqual(await list(), [{ pattern: 'Backfill', concurrency: 7, queues: [] }]);
  await press('Edit…');
  await form({ Queues: 'fax' }, 'Set');
  await dialog.waitFor({ state: 'detached' });
  assert.deepEqual(await list(), [{ pattern: 'Backfill', concurrency: 7, queues: ['fax'] }]);
  await page.getByText('fax').first().waitFor();
  await press('Remove…');
  await dialog.locator('button[type=submit]').click();
  await until(async () => (await list()).length === 0, 'the end of the push');
});

test('an act on many jobs is stopped', async (t) => {
  const server = await Server.start(t);
  for (let i = 0; i < 20; i++) await server.ask('POST', 'ns/app/queues/mail/jobs', Array.from({ length: 1000 }, (_, j) => ({ klass: 'Send', data: j })));
  const page = await openPage(t, await newContext(t), server.url + '#/app/operations', { expected: [404] });
  const { id } = await server.ask('POST', 'ns/app/bulk', { act: 'priority', queue: 'mail', priority: 5 });
  const stop = row(page, String(id)).getByRole('button', { name: 'Stop' });
  // It may be done before the page shows it, or when the button is pressed.
  await stop.or(row(page, String(id)).getByText('done')).first().waitFor();
  if (await stop.count()) await stop.click({ timeout: 2000 }).catch(() => {});
  await row(page, String(id)).getByText(/^(stopped|done)$/).waitFor();
  const { stopped, changed } = await server.ask('GET', `ns/app/bulk/${id}`);
  assert.ok(stopped ? changed < 20000 : changed === 20000, `stopped ${stopped} after ${changed} jobs`);
  await row(page, String(id)).getByText(stopped ? 'stopped' : 'done', { exact: true }).waitFor();
});

test('users are added, changed and removed', async (t) => {
  const ann = { user: 'ann:secret-of-ann' };
  const server = await Server.start(t, '--user', 'ann secret-of-ann *:admin');
  await server.ask('PUT', 'ns/app', undefined, ann);
  const page = await openPage(t, await newContext(t), server.url + '#/app/users', { expected: [400, 401] });
  await page.getByLabel('User').fill('ann');
  await page.getByLabel('Password').fill('secret-of-ann');
  await page.getByRole('button', { name: 'Log in' }).click();
  await row(page, 'ann').waitFor();
  assert.equal(await row(page, 'ann').getByRole('button').count(), 0, 'users of the settings are not changed here');
  const dialog = page.getByRole('dialog');
  const list = async () => (await server.ask('GET', 'users', undefined, ann)).users;
  await page.getByRole('button', { name: 'New user' }).click();
  await dialog.getByLabel('Name').fill('bob');
  await dialog.getByLabel('Password').fill('secret-of-bob');
  await dialog.getByLabel('Rights').fill('app:reed');
  await dialog.getByRole('button', { name: 'Add' }).click();
  await dialog.locator('.field-error').first().waitFor();
  assert.equal((await list()).length, 1, 'a right that is none is refused');
  await dialog.getByLabel('Rights').fill('app:read\napp/mail-*:put+work');
  await dialog.getByRole('button', { name: 'Add' }).click();
  await row(page, 'bob').waitFor();
  assert.deepEqual((await list()).find(({ user }) => user === 'bob'), { user: 'bob', stored: true, rights: ['app:read', 'app/mail-*:put+work'] });
  const bob = (status) => server.ask('GET', 'ns/app', undefined, { user: 'bob:secret-of-bob', status });
  await bob(200);
  await row(page, 'bob').getByRole('button', { name: 'Edit' }).click();
  await dialog.getByLabel('Rights').fill('other:read');
  await dialog.getByRole('button', { name: 'Set' }).click();
  await dialog.waitFor({ state: 'detached' });
  await bob(403);
  await row(page, 'bob').getByRole('button', { name: 'Remove' }).click();
  await dialog.getByRole('button', { name: 'Remove' }).click();
  await row(page, 'bob').waitFor({ state: 'detached' });
  await bob(401);
  assert.deepEqual((await list()).map(({ user }) => user), ['ann']);
});

test('a backup is written where the form says', async (t) => {
  const { server, dialog, open, press, form, effect } = await start(t);
  await open('server');
  const path = join(server.folder, 'copy');
  await effect('back up', async () => {
    await press('Back up…');
    await form({ 'Folder on the server': path }, 'Back up');
  }, []);
  assert.ok(existsSync(path));
});

await run();
await closeBrowser();
