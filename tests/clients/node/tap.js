// A line for each test in the Test Anything Protocol; the first argument is the server's port.
'use strict';

const port = Number(process.argv[2]);

const LIMIT_MS = 60000; // a test that waits longer for anything has failed

async function run(tests) {
  let count = 0;
  for (const [name, test] of Object.entries(tests)) {
    count++;
    const watchdog = setTimeout(() => {
      console.log(`Bail out! ${name} hangs`);
      process.exit(1);
    }, LIMIT_MS);
    try {
      await test();
      console.log(`ok ${count} - ${name}`);
    } catch (error) {
      process.exitCode = 1;
      console.log(`not ok ${count} - ${name}`);
      console.log(String(error.stack).replace(/^/gm, '# '));
    } finally {
      clearTimeout(watchdog);
    }
  }
  console.log(`1..${count}`);
}

// A promise and the function that keeps it.
function signal() {
  let give;
  const promise = new Promise((resolve) => { give = resolve; });
  return { promise, give };
}

module.exports = { port, run, signal };
