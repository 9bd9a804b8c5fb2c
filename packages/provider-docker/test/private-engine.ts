import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@litterbox/conformance';
import Client from 'dockerode';
import type { TlsFiles } from './tls-files.ts';

/** What tools/test-host/images.sh made. */
const IMAGES = '/var/lib/litterbox-test/images';
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/**
 * The first process of the engine's namespaces: does what it is told to the engine, and takes all along when it ends. Numbers of
 * processes come again soon in there, so what a killed engine wrote down of its own would be taken for somebody else.
 */
const KEEPER = `[ -z "$HIDDEN" ] || mount -t tmpfs hidden "$HIDDEN" || exit 1
while read -r word; do
case $word in
start) rm -f "$0" "\${0%pid}exec/containerd/containerd.pid"; "$@" >"\${0%pid}log" 2>&1 </dev/null & engine=$! ;;
KILL) kill -KILL $engine; wait $engine ;;
*) kill -$word $engine ;;
esac
echo done
done`;

/** What makes an engine of a test different from a plain one. */
export interface PrivateEngineOptions {
  /** A directory of which the engine sees nothing, as if it were on another machine. */
  readonly hidden?: string;
  /** A port of this machine's loopback on which it listens besides, for clients with a certificate. */
  readonly tls?: { readonly port: number; readonly files: TlsFiles };
  /** An image of Debian besides that of BusyBox: `debian:bookworm`. @defaultValue false */
  readonly hasDebian?: boolean;
}

/**
 * A Docker Engine that a test may kill, with processes and mounts of its own, and a network of its own unless it listens on a port:
 * whatever becomes of it, nothing of it stays. Root only.
 */
export class PrivateEngine implements AsyncDisposable {
  readonly directory = mkdtempSync(join(tmpdir(), 'lb-engine-'));
  readonly socket = join(this.directory, 'socket');
  readonly client = new Client({ socketPath: this.socket });
  readonly #keeper: ChildProcess;

  private constructor({ hidden = '', tls }: PrivateEngineOptions) {
    const at = (name: string) => join(this.directory, name);
    writeFileSync(at('config.json'), '{}');
    const namespaces = [
      ...(tls ? [] : ['--net']),
      '--mount',
      '--propagation',
      'private',
      '--pid',
      '--fork',
      '--kill-child',
      '--mount-proc',
    ];
    const places = [
      '--data-root',
      at('data'),
      '--exec-root',
      at('exec'),
      '--pidfile',
      at('pid'),
      '-H',
      `unix://${this.socket}`,
    ];
    const quiet = ['--config-file', at('config.json'), '--bridge', 'none', '--iptables=false', '--ip6tables=false'];
    const file = (name: string) => tls?.files.path(name) ?? '';
    const verified = ['--tlsverify', '--tlscacert', file('ca.pem')];
    const own = ['--tlscert', file('engine/cert.pem'), '--tlskey', file('engine/key.pem')];
    const port = tls ? ['-H', `tcp://127.0.0.1:${tls.port}`, ...verified, ...own] : [];
    const engine = ['dockerd', ...places, ...quiet, ...port];
    this.#keeper = spawn('unshare', [...namespaces, 'sh', '-c', KEEPER, at('pid'), ...engine], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { PATH, HIDDEN: hidden },
    });
  }

  static async start(options: PrivateEngineOptions = {}): Promise<PrivateEngine> {
    const engine = new PrivateEngine(options);
    try {
      await engine.restart();
      const names = { busybox: 'busybox:latest', ...(options.hasDebian && { debian: 'debian:bookworm' }) };
      for (const [file, name] of Object.entries(names))
        execFileSync('/usr/bin/docker', ['-H', `unix://${engine.socket}`, 'import', `${IMAGES}/${file}.tar`, name]);
      return engine;
    } catch (error) {
      await engine[Symbol.asyncDispose]();
      throw error;
    }
  }

  async restart(): Promise<void> {
    await this.signal('start');
    try {
      await eventually(
        async () => await this.client.ping().catch(() => undefined),
        (answer) => answer !== undefined,
        60_000,
      );
    } catch (error) {
      const said = readFileSync(join(this.directory, 'log'), 'utf8').slice(-3000);
      throw new Error(`The engine did not start:\n${said}`, { cause: error });
    }
  }

  /** To the engine itself, not to what it started. */
  async signal(word: 'start' | 'KILL' | 'STOP' | 'CONT'): Promise<void> {
    const { stdin, stdout } = this.#keeper;
    const done = new Promise((resolve) => stdout?.once('data', resolve));
    stdin?.write(`${word}\n`);
    await done;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = new Promise((resolve) => this.#keeper.once('close', resolve));
    this.#keeper.stdin?.end();
    await ended;
    rmSync(this.directory, { recursive: true, force: true });
  }
}
