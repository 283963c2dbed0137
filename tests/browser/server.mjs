// A sluiced of its own for a test, and what a test does to it beside the browser: HTTP, RESP, and a proxy.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export class Server {
  /** Starts one, which ends with the test. */
  static async start(test, ...flags) {
    const server = new Server(flags);
    test.cleanup(() => server.release());
    await server.start();
    return server;
  }

  constructor(flags) {
    this.folder = mkdtempSync(join(tmpdir(), 'sluice-browser-'));
    this.flags = flags;
    this.log = [];
    this.httpPort = 0;
    this.port = 0;
  }

  /** On the ports that it had, if it was started before. */
  async start() {
    const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('SLUICE_')));
    this.process = spawn(process.env.SLUICED, ['--data', join(this.folder, 'data'), '--listen', `127.0.0.1:${this.port}`,
      '--http', `127.0.0.1:${this.httpPort}`, '--grpc', '', ...this.flags], { env: environment, stdio: ['ignore', 'ignore', 'pipe'] });
    this.ended = new Promise((resolve) => this.process.once('exit', (code, signal) => resolve(signal ?? code)));
    const lines = createInterface({ input: this.process.stderr });
    await new Promise((resolve, reject) => {
      lines.on('line', (line) => {
        this.log.push(line);
        const address = / listening (address|http)=127\.0\.0\.1:(\d+)$/.exec(line);
        if (address) this[address[1] === 'http' ? 'httpPort' : 'port'] = Number(address[2]);
        if (line.includes(' ready ')) resolve();
      });
      lines.on('close', () => reject(new Error('sluiced did not start:\n' + this.log.join('\n'))));
    });
    this.url = `http://127.0.0.1:${this.httpPort}/`;
  }

  async kill() {
    this.process.kill('SIGKILL');
    await this.ended;
  }

  /** Ends it; the report of a sanitizer is a failure. */
  async release() {
    try {
      if (this.process?.exitCode === null && this.process.signalCode === null) {
        this.process.kill('SIGTERM');
        const code = await this.ended;
        if (code !== 0) throw new Error(`sluiced ended with ${code}:\n` + this.log.join('\n'));
      }
    } finally {
      rmSync(this.folder, { recursive: true, force: true });
    }
  }

  /** A request to the API; the reply's JSON, or an error unless `status` is expected. */
  async ask(method, path, body, { status = null, user = null } = {}) {
    const headers = body === undefined ? {} : { 'Content-Type': 'application/json' };
    if (user) headers.Authorization = `Bearer ${user}`;
    const response = await fetch(this.url + 'v1/' + path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
    const text = await response.text();
    if (status === null ? !response.ok : response.status !== status) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text ? JSON.parse(text) : null;
  }

  /** A command over RESP; gives the first line of its reply. */
  async resp(...words) {
    const socket = net.connect(this.port, '127.0.0.1');
    try {
      socket.write(`*${words.length}\r\n` + words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join(''));
      let text = '';
      for await (const chunk of socket) {
        text += chunk;
        if (text.includes('\r\n')) break;
      }
      if (text.startsWith('-')) throw new Error(`${words[0]}: ${text}`);
      return text.split('\r\n')[0];
    } finally {
      socket.destroy();
    }
  }
}

/**
 * A proxy that serves the server below a path, as a reverse proxy does. `change` may alter the headers it passes on;
 * `answer` may reply itself, and then gives true.
 */
export async function startProxy(test, server, prefix, change = () => {}, answer = () => false) {
  const proxy = http.createServer((request, response) => {
    if (!request.url.startsWith(prefix)) {
      response.writeHead(404).end();
      return;
    }
    if (answer(request, response)) return;
    const headers = { ...request.headers };
    change(headers);
    const onward = http.request({ host: '127.0.0.1', port: server.httpPort, method: request.method,
      path: '/' + request.url.slice(prefix.length), headers }, (reply) => {
      response.writeHead(reply.statusCode, reply.headers);
      reply.pipe(response);
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    request.pipe(onward);
  });
  await new Promise((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  test.cleanup(() => {
    proxy.closeAllConnections?.();
    proxy.close();
  });
  return `http://127.0.0.1:${proxy.address().port}${prefix}`;
}
