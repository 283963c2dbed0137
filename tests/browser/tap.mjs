// Tests in order, and a line for each in the Test Anything Protocol.
const LIMIT_MS = 300000; // a test that takes longer has failed

const tests = [];

/** `limit` is in milliseconds. */
export function test(name, body, limit = LIMIT_MS) {
  tests.push({ name, body, limit });
}

/** Runs those whose name has the text of an argument of the command line, or all. */
export async function run() {
  const wanted = process.argv.slice(2);
  let count = 0;
  for (const { name, body, limit } of tests) {
    if (wanted.length && !wanted.some((text) => name.includes(text))) continue;
    count++;
    const cleanups = [];
    let watchdog;
    const late = new Promise((_, reject) => {
      watchdog = setTimeout(() => reject(new Error(`still runs after ${limit / 1000} s`)), limit);
    });
    let failure = null;
    const attempt = async (act) => {
      try {
        await act();
      } catch (error) {
        failure ??= error;
      }
    };
    const context = { name, cleanup: (act) => cleanups.push(act), get failed() { return failure !== null; } };
    await attempt(() => Promise.race([body(context), late]));
    clearTimeout(watchdog);
    for (const cleanup of cleanups.reverse()) await attempt(cleanup);
    console.log(`${failure ? 'not ok' : 'ok'} ${count} - ${name}`);
    if (failure) {
      process.exitCode = 1;
      console.log(String(failure.stack ?? failure).replace(/^/gm, '# '));
    }
  }
  console.log(`1..${count}`);
}

/** Asks again and again until it holds; gives what it was answered then. */
export async function until(holds, what = 'it') {
  const end = Date.now() + LIMIT_MS / 4;
  for (;;) {
    const value = await holds();
    if (value) return value;
    if (Date.now() > end) throw new Error(`${what} has not come about`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
