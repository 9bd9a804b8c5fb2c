// A service with machines over HTTP, on this computer: what the kit runs against until your own service is there.
// A machine is a process tree with mounts of its own; it is no wall around anything. Needs root.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { cpus as processorsHere } from 'node:os';
import type { Duplex } from 'node:stream';
import { FRAME, frame, framesOf } from '../src/frames.ts';

const MACHINE = /^\/machines\/([a-z0-9-]{1,63})(\/exec)?$/;
/** Process 1 of a machine; its end ends the others. Its files are in memory. */
const BEGIN = 'mount -t tmpfs machine /var/lib && echo up && exec sleep 2147483647';

interface FakeMachine {
  readonly pid: number;
  /** Numbers of the processors that it has, with commas between them. */
  readonly processors: string;
  end(): Promise<void>;
}

/** A service that runs, at `http://127.0.0.1:PORT`. */
export interface FakeService {
  readonly url: string;
  /** Ends its machines too. */
  close(): Promise<void>;
}

/** @param token that each request has to bring */
export async function startService(token: string): Promise<FakeService> {
  const machines = new Map<string, Promise<FakeMachine>>();
  const serve = async (request: IncomingMessage, answer: ServerResponse) => {
    const say = (status: number, body?: unknown) =>
      answer.writeHead(status, { 'content-type': 'application/json' }).end(body && JSON.stringify(body));
    const [, name = ''] = MACHINE.exec(request.url ?? '') ?? [];
    if (request.headers.authorization !== `Bearer ${token}`) return say(401);
    if (request.method === 'GET')
      return say(
        200,
        Array.from(machines.keys(), (one) => ({ name: one })),
      );
    if (request.method === 'POST') {
      let text = '';
      for await (const chunk of request) text += chunk;
      const wanted = JSON.parse(text) as { readonly name: string; readonly cpus?: number };
      if (machines.has(wanted.name)) return say(409);
      const made = begin(wanted.name, wanted.cpus);
      machines.set(wanted.name, made);
      await made;
      return say(201, wanted);
    }
    const machine = await machines.get(name);
    machines.delete(name);
    await machine?.end();
    return say(machine ? 204 : 404);
  };
  const upgrade = async (request: IncomingMessage, socket: Duplex) => {
    const [, name = ''] = MACHINE.exec(request.url ?? '') ?? [];
    const machine = await machines.get(name);
    if (request.headers.authorization !== `Bearer ${token}` || !machine)
      return socket.end(`HTTP/1.1 ${machine ? 401 : 404} No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
    socket.write('HTTP/1.1 101 Yes\r\nConnection: Upgrade\r\nUpgrade: machine-exec\r\n\r\n');
    return await exec(machine, socket);
  };
  const server = createServer((request, answer) => void serve(request, answer));
  server.on('upgrade', (request, socket) => void upgrade(request, socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { readonly port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.close();
      for (const machine of machines.values()) await (await machine).end();
    },
  };
}

let given = 0;

async function begin(name: string, cpus = processorsHere().length): Promise<FakeMachine> {
  const all = processorsHere().length;
  const count = Math.min(all, Math.ceil(cpus));
  const processors = Array.from({ length: count }, () => given++ % all).join();
  const own = ['--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];
  const first = spawn('unshare', [...own, 'sh', '-c', BEGIN], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(first.stdout, 'data');
  const gone = once(first, 'exit');
  const { stdout } = spawnSync('pgrep', ['-P', String(first.pid)]);
  return {
    pid: Number(String(stdout)),
    processors,
    async end() {
      first.kill('SIGKILL');
      await gone;
      const id = name.replace(/^litterbox-/, '');
      // A machine would take its control groups along.
      spawnSync('find', ['/sys/fs/cgroup', '-depth', '-type', 'd', '-name', `*${id}*`, '-exec', 'rmdir', '{}', '+']);
    },
  };
}

/** One command: what comes and goes is in frames. */
async function exec({ pid, processors }: FakeMachine, socket: Duplex): Promise<void> {
  const incoming = framesOf(socket);
  socket.on('error', () => {});
  const { value: command } = await incoming.next();
  const env = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root' };
  const enter = `-c ${processors} nsenter --target ${pid} --mount --pid -- sh -c`.split(' ');
  const child = spawn('taskset', [...enter, String(command?.content)], { env, cwd: '/' });
  child.stdin.on('error', () => {});
  socket.on('close', () => child.kill('SIGHUP'));
  const outputs = [
    [child.stdout, FRAME.stdout],
    [child.stderr, FRAME.stderr],
  ] as const;
  const said = outputs.map(async ([output, kind]) => {
    for await (const chunk of output) if (!socket.write(frame(kind, chunk))) await once(socket, 'drain');
  });
  const heard = async () => {
    for await (const { kind, content } of incoming)
      if (kind === FRAME.stdinEnd) child.stdin.end();
      else if (!child.stdin.write(content)) await once(child.stdin, 'drain');
  };
  heard().catch(() => {});
  const [code] = (await once(child, 'exit')) as [number | null];
  await Promise.allSettled(said);
  socket.end(frame(FRAME.exit, Uint8Array.of(code ?? 255)));
}

// Started by itself, it stays until it is interrupted.
if (process.argv[1] === import.meta.filename) {
  const service = await startService('secret');
  console.log(`export MACHINES_URL=${service.url} MACHINES_TOKEN=secret`);
  process.once('SIGINT', () => void service.close());
}
