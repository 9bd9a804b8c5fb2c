import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

/** How one logs in on a server of a test, in the form of `openSshHost`. */
export interface SshLogin {
  readonly destination: string;
  readonly identityFile: string;
  readonly client: { readonly home: string; readonly environment: Readonly<Record<string, string>> };
}

/** What makes a server of a test different from a plain one. */
export interface SshServerOptions {
  /** Lines for its configuration, before all others: the first value counts. */
  readonly config?: readonly string[];
}

/** An OpenSSH server of a test's own, on loopback, that lets in who runs the test. */
export class SshServer implements AsyncDisposable {
  readonly directory: string;
  readonly port: number;
  readonly #config: readonly string[];
  #server: ChildProcess | undefined;

  private constructor(directory: string, port: number, config: readonly string[]) {
    this.directory = directory;
    this.port = port;
    this.#config = config;
  }

  static async start({ config = [] }: SshServerOptions = {}): Promise<SshServer> {
    const directory = mkdtempSync(join(tmpdir(), 'litterbox-ssh-'));
    const server = new SshServer(directory, await freePort(), config);
    for (const name of ['host-key', 'id_ed25519'])
      execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'test', '-f', join(directory, name)]);
    await server.up();
    return server;
  }

  /** How one logs in who knows the server. */
  get login(): SshLogin {
    return {
      destination: this.destination,
      identityFile: this.identityFile,
      client: { home: this.home, environment: {} },
    };
  }

  /** What a person writes. */
  get destination(): string {
    return `${userInfo().username}@127.0.0.1:${this.port}`;
  }

  get identityFile(): string {
    return join(this.directory, 'id_ed25519');
  }

  /** A line for a known_hosts file. */
  get knownHost(): string {
    return `[127.0.0.1]:${this.port} ${readFileSync(join(this.directory, 'host-key.pub'), 'utf8')}`;
  }

  /** As it is kept with a machine. */
  get hostKey(): { readonly type: string; readonly key: string; readonly fingerprint: string } {
    const [type = '', key = ''] = readFileSync(join(this.directory, 'host-key.pub'), 'utf8').split(' ');
    return { type, key, fingerprint: 'SHA256:of-the-test' };
  }

  /** An ssh directory that knows this server, and nothing else. */
  get home(): string {
    const home = join(this.directory, 'home');
    mkdirSync(join(home, '.ssh'), { recursive: true });
    writeFileSync(join(home, '.ssh', 'known_hosts'), this.knownHost);
    return home;
  }

  get pid(): number {
    return this.#server?.pid ?? 0;
  }

  async up(): Promise<void> {
    const text = [
      ...this.#config,
      `Port ${this.port}`,
      'ListenAddress 127.0.0.1',
      `HostKey ${join(this.directory, 'host-key')}`,
      `AuthorizedKeysFile ${join(this.directory, 'id_ed25519.pub')}`,
      'PidFile none',
      'StrictModes no',
      'UsePAM no',
      'PasswordAuthentication no',
      'KbdInteractiveAuthentication no',
      'PermitRootLogin prohibit-password',
      'MaxStartups 100',
      'LogLevel ERROR',
    ].join('\n');
    const file = join(this.directory, 'sshd_config');
    writeFileSync(file, `${text}\n`);
    if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true, mode: 0o755 });
    const server = spawn('/usr/sbin/sshd', ['-D', '-e', '-f', file], { stdio: ['ignore', 'ignore', 'pipe'] });
    this.#server = server;
    let said = '';
    server.stderr.on('data', (bytes: Buffer) => {
      said = (said + bytes.toString()).slice(-2_000);
    });
    await answering(this.port, () => {
      if (server.exitCode !== null) throw new Error(`sshd ended: ${said}`);
    });
  }

  /** Ends the server alone: who is logged in stays. */
  async down(): Promise<void> {
    const server = this.#server;
    if (!server || server.exitCode !== null || server.signalCode !== null) return;
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.kill('SIGKILL');
    await ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.down();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() =>
        typeof address === 'object' && address ? resolve(address.port) : reject(new Error('no port')),
      );
    });
  });
}

async function answering(port: number, check: () => void): Promise<void> {
  const { connect } = await import('node:net');
  const until = Date.now() + 30_000;
  for (;;) {
    check();
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect({ host: '127.0.0.1', port });
      socket.once('connect', () => {
        socket.destroy();
        resolve(true);
      });
      socket.once('error', () => resolve(false));
    });
    if (isOpen) return;
    if (Date.now() > until) throw new Error('sshd does not answer');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
