import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { MachineNetwork } from './machine-network.ts';
import { answering, freePort } from './open-door.ts';
import type { Door, SshLogin, SshMachine } from './ssh-machine.ts';

/** What makes a server of a test different from a plain one. */
export interface SshServerOptions {
  /** Lines for its configuration, before all others: the first value counts. */
  readonly config?: readonly string[];
  /** The network of the machine that it plays, which goes with it. @defaultValue this machine's, where it listens on 127.0.0.1 alone */
  readonly network?: MachineNetwork;
  /** What is put before its command line in that network, such as `unshare`. */
  readonly enter?: readonly string[];
  /** Who logs in. @defaultValue who runs the test */
  readonly user?: string;
}

/** Starts a program in the control group that its first argument names, where that is there: as the session of a login. */
const IN_CONTROL_GROUP = 'if [ -e "$1" ]; then echo $$ >"$1"; fi; shift; exec "$@"';

/** Of the tests' ordinary user, see `tools/test-host/cgroups.sh`: who starts outside of it may not move its programs there. */
function sessionOf(user: string): string {
  const uid = user === userInfo().username ? '' : execFileSync('id', ['-u', user], { encoding: 'utf8' }).trim();
  return `/sys/fs/cgroup/litterbox-user-${uid}/session/cgroup.procs`;
}

/** An OpenSSH server of a test's own. The files of its machine are those of this one; the network is too, or one of its own. */
export class SshServer implements AsyncDisposable, Door, SshMachine {
  readonly directory: string;
  readonly port: number;
  readonly address: string;
  /** Of its own, where it has one. */
  readonly network: MachineNetwork | undefined;
  /** Who logs in. */
  readonly user: string;
  readonly #config: readonly string[];
  readonly #enter: readonly string[];
  #server: ChildProcess | undefined;

  private constructor(directory: string, port: number, options: SshServerOptions) {
    const { config = [], network, enter = [], user = userInfo().username } = options;
    this.directory = directory;
    this.port = port;
    this.address = network?.address ?? '127.0.0.1';
    this.network = network;
    this.user = user;
    this.#config = config;
    this.#enter = enter;
  }

  static async start(options: SshServerOptions = {}): Promise<SshServer> {
    const directory = mkdtempSync(join(tmpdir(), 'litterbox-ssh-'));
    chmodSync(directory, 0o711); // it reads the keys of a user as that user
    const server = new SshServer(directory, await freePort(), options);
    try {
      for (const name of ['host-key', 'id_ed25519'])
        execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'test', '-f', join(directory, name)]);
      await server.up();
      return server;
    } catch (error) {
      await server[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** In a network of its own, so that nothing reaches the machine by this one's loopback. Only root can. */
  static async startApart(options: Omit<SshServerOptions, 'network'> = {}): Promise<SshServer> {
    return await SshServer.start({ ...options, network: await MachineNetwork.open() });
  }

  /** How one logs in who knows the server. */
  get login(): SshLogin {
    return this.#loginBy(this);
  }

  /** The same machine for one whose bytes take another way to the server. */
  behind(door: Door): SshMachine {
    return { login: this.#loginBy(door) };
  }

  /** What a person writes. */
  get destination(): string {
    return this.#destinationBy(this);
  }

  get identityFile(): string {
    return join(this.directory, 'id_ed25519');
  }

  /** A line for a known_hosts file. */
  get knownHost(): string {
    return this.#knownAt(this);
  }

  /** As it is kept with a machine. */
  get hostKey(): { readonly type: string; readonly key: string; readonly fingerprint: string } {
    const [type = '', key = ''] = readFileSync(join(this.directory, 'host-key.pub'), 'utf8').split(' ');
    return { type, key, fingerprint: 'SHA256:of-the-test' };
  }

  /** An ssh directory that knows this server, and nothing else. */
  get home(): string {
    return this.#homeKnowing(this);
  }

  get pid(): number {
    return this.#server?.pid ?? 0;
  }

  async up(): Promise<void> {
    const text = [
      ...this.#config,
      `Port ${this.port}`,
      `ListenAddress ${this.address}`,
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
    const [program, ...args] = this.#commandLine(file);
    const server = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    this.#server = server;
    let said = '';
    server.stderr.on('data', (bytes: Buffer) => {
      said = (said + bytes.toString()).slice(-2_000);
    });
    await answering(this, () => {
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

  /** It ends with who started it, also when that is killed. Each program in front becomes the next, so that the number stays. */
  #commandLine(file: string): readonly [string, ...string[]] {
    const sshd = [...this.#enter, '/usr/sbin/sshd', '-D', '-e', '-f', file];
    const argv = ['setpriv', '--pdeathsig', 'KILL', 'sh', '-c', IN_CONTROL_GROUP, 'sh', sessionOf(this.user), ...sshd];
    const [program = '', ...args] = argv;
    return this.network?.enter([program, ...args]) ?? [program, ...args];
  }

  #loginBy(door: Door): SshLogin {
    return {
      destination: this.#destinationBy(door),
      identityFile: this.identityFile,
      client: { home: this.#homeKnowing(door), environment: {} },
    };
  }

  #destinationBy({ address, port }: Door): string {
    return `${this.user}@${address}:${port}`;
  }

  #knownAt({ address, port }: Door): string {
    return `[${address}]:${port} ${readFileSync(join(this.directory, 'host-key.pub'), 'utf8')}`;
  }

  #homeKnowing(door: Door): string {
    const home = join(this.directory, `home-${door.port}`);
    mkdirSync(join(home, '.ssh'), { recursive: true });
    writeFileSync(join(home, '.ssh', 'known_hosts'), this.#knownAt(door));
    return home;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.down();
    await this.network?.[Symbol.asyncDispose]();
    rmSync(this.directory, { recursive: true, force: true });
  }
}
