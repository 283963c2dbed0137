// A worker in JavaScript: takes jobs of a queue as they come, renews their leases, and settles them.
//
//     npm install @grpc/grpc-js @grpc/proto-loader
//     node worker.mjs 127.0.0.1:7713 mail ../../proto
import grpc from "@grpc/grpc-js";
import loader from "@grpc/proto-loader";

const [address, queue, proto] = process.argv.slice(2);
const worker = "worker-2";
const definition = loader.loadSync("sluice/v1/sluice.proto", {
  includeDirs: [proto], keepCase: true, longs: String, enums: String, arrays: true, oneofs: true,
});
const { Queue } = grpc.loadPackageDefinition(definition).sluice.v1;
const client = new Queue(address, grpc.credentials.createInsecure());

// A unary call as a promise.
function call(method, request) {
  return new Promise((resolve, reject) => {
    client[method](request, (error, reply) => (error ? reject(error) : resolve(reply)));
  });
}

// The work itself: gets the JSON that was put and returns the result.
async function work(data) {
  if (data.bad) {
    throw new Error("the data is bad");
  }
  return { seen: data };
}

// Leases of the jobs that are being worked on, by jid. They are renewed three times in each lease.
const leases = new Map();
const keepalive = client.Keepalive();
keepalive.write({ worker });
keepalive.on("data", ({ leases: states }) => {
  for (const { jid, state } of states) {
    if (state === "lost") {
      leases.delete(jid); // stop the work on it, if that is possible
    }
  }
});
keepalive.on("error", () => {}); // StreamNext fails too and ends the program

function keep(task) {
  leases.set(task.jid, task);
  const third = Number(task.lease_duration.seconds) * 1000 / 3 || 100;
  const timer = setInterval(() => {
    if (leases.get(task.jid) !== task) {
      clearInterval(timer);
      return;
    }
    keepalive.write({ leases: [{ jid: task.jid, token: task.token }] });
  }, third);
}

async function run(task) {
  const lease = { jid: task.jid, worker, token: task.token };
  keep(task);
  try {
    const result = await work(JSON.parse(task.data.json));
    await call("Done", { lease, result: { json: JSON.stringify(result) } });
  } catch (error) {
    if (error.code === undefined) { // of the work: tried again later, as the job's backoff says
      await call("Retry", { lease, group: error.name, message: error.message });
    } else { // the job is not ours any more, or the server is away
      console.error(`${task.jid}: ${error.details}`);
    }
  } finally {
    leases.delete(task.jid);
  }
}

// The server hands out a job when one of those before it is settled. When the call ends, it takes
// back what is not.
const stream = client.StreamNext({ queues: [queue], worker, max_in_flight: 4, release_on_close: true });
stream.on("data", (task) => run(task).catch((error) => console.error(`${task.jid}: ${error.message}`)));
stream.on("error", (error) => {
  leases.clear();
  keepalive.cancel();
  client.close();
  if (error.code !== grpc.status.CANCELLED) {
    console.error(error.message);
    process.exitCode = 1;
  }
});
process.on("SIGTERM", () => stream.cancel());
