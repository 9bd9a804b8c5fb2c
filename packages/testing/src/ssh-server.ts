import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

/** What makes a server of a test different from a plain one. */
export interface SshServerOptions {
  /** Lines for its configuration, before all others: the first value counts. */
  readonly config?: readonly string[];
  /** Where it listens. @defaultValue 127.0.0.1 */
  readonly address?: string;
  /** What is put before its command line, such as `nsenter`. */
  readonly enter?: readonly string[];
}

/** What a client needs to log in: options of `openSshHost`. */
export interface SshLogin {
  readonly destination: string;
  readonly identityFile: string;
  /** Where the files of the client are, which know the server. */
  readonly client: { readonly home: string; readonly environment: Readonly<Record<string, string>> };
}

/** An OpenSSH server of a test's own, on loopback, that lets in who runs the test. */
export class SshServer implements AsyncDisposable {
  readonly directory: string;
  readonly port: number;
  readonly #config: readonly string[];
  readonly #address: string;
  readonly #enter: readonly string[];
  #server: ChildProcess | undefined;

  private constructor(directory: string, port: number, options: SshServerOptions) {
    const { config = [], address = '127.0.0.1', enter = [] } = options;
    this.directory = directory;
    this.port = port;
    this.#config = config;
    this.#address = address;
    this.#enter = enter;
  }

  static async start(options: SshServerOptions = {}): Promise<SshServer> {
    const directory = mkdtempSync(join(tmpdir(), 'litterbox-ssh-'));
    chmodSync(directory, 0o711); // it reads the keys of a user as that user
    const server = new SshServer(directory, await freePort(), options);
    for (const name of ['host-key', 'id_ed25519'])
      execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'test', '-f', join(directory, name)]);
    await server.up();
    return server;
  }

  /** How one logs in who knows the server. */
  get login(): SshLogin {
    return this.loginBy(this.port);
  }

  /** How one logs in whose bytes take another way to the server, by a port of loopback. */
  loginBy(port: number, user: string = userInfo().username): SshLogin {
    return {
      destination: `${user}@${this.#address}:${port}`,
      identityFile: this.identityFile,
      client: { home: this.#homeKnowing(port), environment: {} },
    };
  }

  /** What a person writes. */
  get destination(): string {
    return `${userInfo().username}@${this.#address}:${this.port}`;
  }

  get identityFile(): string {
    return join(this.directory, 'id_ed25519');
  }

  /** A line for a known_hosts file. */
  get knownHost(): string {
    return this.#knownAt(this.port);
  }

  /** As it is kept with a machine. */
  get hostKey(): { readonly type: string; readonly key: string; readonly fingerprint: string } {
    const [type = '', key = ''] = readFileSync(join(this.directory, 'host-key.pub'), 'utf8').split(' ');
    return { type, key, fingerprint: 'SHA256:of-the-test' };
  }

  /** An ssh directory that knows this server, and nothing else. */
  get home(): string {
    return this.#homeKnowing(this.port);
  }

  get pid(): number {
    return this.#server?.pid ?? 0;
  }

  async up(): Promise<void> {
    const text = [
      ...this.#config,
      `Port ${this.port}`,
      `ListenAddress ${this.#address}`,
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
    const [program, ...args] = [...this.#enter, '/usr/sbin/sshd', '-D', '-e', '-f', file];
    const server = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    this.#server = server;
    let said = '';
    server.stderr.on('data', (bytes: Buffer) => {
      said = (said + bytes.toString()).slice(-2_000);
    });
    await answering(this.#address, this.port, () => {
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

  #knownAt(port: number): string {
    return `[${this.#address}]:${port} ${readFileSync(join(this.directory, 'host-key.pub'), 'utf8')}`;
  }

  #homeKnowing(port: number): string {
    const home = join(this.directory, `home-${port}`);
    mkdirSync(join(home, '.ssh'), { recursive: true });
    writeFileSync(join(home, '.ssh', 'known_hosts'), this.#knownAt(port));
    return home;
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

async function answering(host: string, port: number, check: () => void): Promise<void> {
  const { connect } = await import('node:net');
  const until = Date.now() + 30_000;
  for (;;) {
    check();
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect({ host, port });
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
