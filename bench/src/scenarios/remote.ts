import { mkdirSync, readFileSync } from 'node:fs';
import { createConnection, createServer } from 'node:net';
import { overlayfs } from '@litterbox/provider-overlayfs';
import { ssh } from '@litterbox/provider-ssh';
import { createLitterbox } from 'litterbox';
import ssh2 from 'ssh2';
import { type Door, Line, SshServer } from '@litterbox/testing';
import type { Bench, Scenario } from '../bench.ts';
import { interleaved, timed } from '../measure.ts';

const DELAY_MS = 40;
/** One that every repository of the bench has. */
const FILE = 'part0/dir0/file0.txt';

/** P3 and P12: sandboxes on a machine that is reached over SSH, without a delay and with a round trip of 80 ms. */
export const measureRemote: Scenario = async (bench) => {
  await using server = await SshServer.start();
  await measureCommands(bench, server);
  await measureRoundTrips(bench, server);
};

/** Against what everybody else does for a command: a session of its own on the same kind of connection. */
async function measureCommands(bench: Bench, server: SshServer): Promise<void> {
  const { scale, findings } = bench;
  await using far = await opened(bench, server, server);
  await using sandbox = await far.litterbox.create({ name: 'remote-run' });
  const client = await plainClient(server);
  const plan = { rounds: scale.rounds.fast, warmUps: 20 };
  const { library, exec } = await interleaved(plan, {
    library: () => timed(() => sandbox.run(['true'])),
    exec: () => timed(() => execOn(client, 'true')),
  });
  client.end();
  await far.litterbox.delete('remote-run', { force: true });
  findings.row({
    target: 'P3',
    what: 'run(true) over SSH, through the library',
    measured: library,
    against: 'exec of ssh2 with setNoDelay',
    floor: exec,
    limit: { of: 'ratio', atMost: 1 / 2 },
  });
}

async function measureRoundTrips(bench: Bench, server: SshServer): Promise<void> {
  const { scale, findings } = bench;
  await using line = await Line.start(server, { delayMs: DELAY_MS });
  await using echo = await EchoServer.start();
  await using echoLine = await Line.start(echo, { delayMs: DELAY_MS });
  const roundTrip = await echo.client(echoLine.port);
  await using far = await opened(bench, server, line);
  await using sandbox = await far.litterbox.create({ name: 'remote' });
  await sandbox.run(['true']);
  await sandbox.files.read(FILE);
  const samples = await interleaved(
    { rounds: scale.rounds.common, warmUps: 2 },
    {
      roundTrip: () => timed(roundTrip),
      read: () => timed(() => sandbox.files.read(FILE)),
      run: () => timed(() => sandbox.run(['true'])),
    },
  );
  const created = await interleaved(
    { rounds: scale.rounds.common, warmUps: 1 },
    {
      roundTrip: () => timed(roundTrip),
      async create(round) {
        const name = `remote-${round}`;
        const took = await timed(() => far.litterbox.create({ name }));
        await far.litterbox.delete(name, { force: true });
        return took;
      },
    },
  );
  await far.litterbox.delete('remote', { force: true });
  const against = 'a round trip of 80 ms';
  for (const { what, measured, floor, atMost } of [
    { what: 'a warm read', measured: samples.read, floor: samples.roundTrip, atMost: 1.2 },
    { what: 'a warm run', measured: samples.run, floor: samples.roundTrip, atMost: 2.2 },
    { what: 'a create, its base tree being there', measured: created.create, floor: created.roundTrip, atMost: 8 },
  ])
    findings.row({ target: 'P12', what: `${what} over SSH`, measured, against, floor, limit: { of: 'ratio', atMost } });
}

async function opened(bench: Bench, server: SshServer, door: Door) {
  const directory = bench.place('bare');
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const provider = await ssh({
    ...server.behind(door).login,
    provider: overlayfs,
    kind: 'overlayfs',
    name: `box-${door.port}`,
    directory,
  });
  const litterbox = createLitterbox({
    repo: bench.repositories.small,
    providers: [provider],
    stateDirectory: bench.stateDirectory('small'),
  });
  return {
    litterbox,
    async [Symbol.asyncDispose]() {
      await litterbox[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
    },
  };
}

async function plainClient(server: SshServer): Promise<ssh2.Client> {
  const client = new ssh2.Client();
  await new Promise<void>((resolve, reject) => {
    client.once('ready', resolve).once('error', reject);
    client.connect({
      host: server.address,
      port: server.port,
      username: server.user,
      privateKey: readFileSync(server.identityFile),
    });
  });
  client.setNoDelay(true);
  return client;
}

function execOn(client: ssh2.Client, command: string): Promise<void> {
  return new Promise((resolve, reject) => {
    client.exec(command, (error, channel) => {
      if (error) return reject(error);
      channel.once('close', () => resolve());
      channel.resume();
      channel.stderr.resume();
    });
  });
}

/** Sends every byte back: what is asked of it takes one round trip, and nothing else. */
class EchoServer implements AsyncDisposable, Door {
  readonly address = '127.0.0.1';
  readonly port: number;
  readonly #close: () => Promise<void>;

  private constructor(port: number, close: () => Promise<void>) {
    this.port = port;
    this.#close = close;
  }

  static async start(): Promise<EchoServer> {
    const server = createServer({ noDelay: true }, (socket) => socket.pipe(socket).on('error', () => {}));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (typeof address !== 'object' || !address) throw new Error('The server has no port.');
    return new EchoServer(address.port, () => new Promise((resolve) => server.close(() => resolve())));
  }

  async client(port: number): Promise<() => Promise<void>> {
    const socket = createConnection({ host: '127.0.0.1', port, noDelay: true });
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    return () =>
      new Promise((resolve) => {
        socket.once('data', () => resolve());
        socket.write('x');
      });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
  }
}
