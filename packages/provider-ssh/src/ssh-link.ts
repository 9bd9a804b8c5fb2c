import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { connect as connectSocket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type CallOptions, LitterboxError, visibleName } from '@litterbox/core/provider';
import type { Algorithms, Client, ClientChannel } from 'ssh2';
import type { Endpoint } from './client-config.ts';
import type { HostKeyCheck } from './host-key.ts';
import { ssh2 } from './ssh-client.ts';

/** Until a login is complete, every question to the machine included. */
const READY_MS = 20_000;
const KEEP_ALIVE_MS = 15_000;
const KEEP_ALIVE_COUNT = 3;
/** How long a machine may take to close its side. */
const FAREWELL_MS = 2_000;

/** Neither SHA-1 nor CBC, and for integrity the whole packet alone. Names are those of the IANA registry for SSH. */
const ALGORITHMS: Algorithms = {
  kex: [
    'curve25519-sha256',
    'curve25519-sha256@libssh.org',
    'ecdh-sha2-nistp256',
    'ecdh-sha2-nistp384',
    'ecdh-sha2-nistp521',
    'diffie-hellman-group-exchange-sha256',
    'diffie-hellman-group14-sha256',
    'diffie-hellman-group16-sha512',
    'diffie-hellman-group18-sha512',
  ],
  cipher: ['aes128-gcm@openssh.com', 'aes256-gcm@openssh.com', 'aes128-ctr', 'aes192-ctr', 'aes256-ctr'],
  hmac: ['hmac-sha2-256-etm@openssh.com', 'hmac-sha2-512-etm@openssh.com', 'hmac-sha2-256', 'hmac-sha2-512'],
};

/** One logged-in connection. */
export class SshLink implements AsyncDisposable {
  /** Resolves, and never rejects, when the connection is gone, with why. */
  readonly ended: Promise<string>;
  readonly #client: Client;
  readonly #socket: Duplex;

  private constructor(client: Client, socket: Duplex) {
    this.#client = client;
    this.#socket = socket;
    client.setMaxListeners(0); // one for each channel that is being opened
    this.ended = new Promise((resolve) => {
      let reason = 'the connection was closed';
      client.on('error', (error) => {
        reason = visibleName(error.message); // a server's own words are in it
      });
      client.once('close', () => resolve(reason));
    });
  }

  /**
   * Logs in. The key of the machine is checked before anything else is sent.
   *
   * @param way what the connection runs over; absent: a socket of this machine
   * @throws LitterboxError `UNAVAILABLE`; `PERMISSION_DENIED` when no key is taken; the check's refusal
   */
  static async open(endpoint: Endpoint, check: HostKeyCheck, way?: Duplex, options?: CallOptions): Promise<SshLink> {
    options?.signal?.throwIfAborted();
    const methods = await authentication(endpoint);
    const socket = way ?? connectSocket({ host: endpoint.host, port: endpoint.port, noDelay: true });
    const client = new ssh2.Client();
    const link = new SshLink(client, socket);
    const abort = () => client.destroy();
    options?.signal?.addEventListener('abort', abort, { once: true });
    try {
      await new Promise<void>((resolve, reject) => {
        client.once('ready', () => resolve());
        client.once('error', (error) => reject(loginError(endpoint, error, methods.length)));
        void link.ended.then((reason) => reject(loginError(endpoint, new Error(reason), methods.length)));
        client.connect({
          sock: socket,
          username: endpoint.user,
          authHandler: methods as never,
          hostVerifier: (key: Buffer, answer: (isKnown: boolean) => void) => {
            check.verify(key).then(answer, () => answer(false));
          },
          algorithms: { ...ALGORITHMS, serverHostKey: check.algorithms as Algorithms['serverHostKey'] & {} },
          readyTimeout: READY_MS,
          keepaliveInterval: KEEP_ALIVE_MS,
          keepaliveCountMax: KEEP_ALIVE_COUNT,
          agentForward: false,
        });
      });
      return link;
    } catch (error) {
      client.destroy();
      options?.signal?.throwIfAborted();
      throw check.refusal ?? error;
    } finally {
      options?.signal?.removeEventListener('abort', abort);
    }
  }

  /** Has the login shell there run a command line. @throws Error when the server opens no more sessions */
  exec(commandLine: string): Promise<ClientChannel> {
    return new Promise((resolve, reject) => {
      const gone = () => reject(new Error('the connection was closed'));
      this.#client.once('close', gone);
      this.#client.exec(commandLine, (error, channel) => {
        this.#client.off('close', gone);
        if (error) reject(error);
        else resolve(channel);
      });
    });
  }

  /** A TCP connection from there. */
  forward(host: string, port: number): Promise<Duplex> {
    return this.#channel((done) => this.#client.forwardOut('127.0.0.1', 0, host, port, done));
  }

  /** A connection to a Unix socket there. */
  forwardPath(path: string): Promise<Duplex> {
    return this.#channel((done) => this.#client.openssh_forwardOutStreamLocal(path, done));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client.end();
    // Of a machine that is silent the kernel waits for a quarter of an hour, and ssh2 destroys no socket that it has ended.
    const timer = setTimeout(() => this.#socket.destroy(), FAREWELL_MS);
    await this.ended;
    clearTimeout(timer);
  }

  #channel(open: (done: (error: Error | undefined, channel: ClientChannel) => void) => unknown): Promise<Duplex> {
    return new Promise((resolve, reject) => {
      const gone = () => reject(new Error('the connection was closed'));
      this.#client.once('close', gone);
      open((error, channel) => {
        this.#client.off('close', gone);
        if (error) reject(error);
        else resolve(channel);
      });
    });
  }
}

/** The agent first, as `ssh` does, then each key file that is there and has no passphrase. */
async function authentication({ user, agentSocket, identityFiles }: Endpoint): Promise<readonly object[]> {
  const methods: object[] = [];
  if (agentSocket !== undefined) methods.push({ type: 'agent', username: user, agent: agentSocket });
  for (const file of identityFiles) {
    const text = await readFile(file).catch(() => undefined);
    if (!text) continue;
    const parsed = ssh2.utils.parseKey(text);
    if (parsed instanceof Error) continue; // it has a passphrase, which the agent is for
    methods.push({ type: 'publickey', username: user, key: text });
  }
  return methods;
}

function loginError(endpoint: Endpoint, error: Error & { level?: string }, keyCount: number): LitterboxError {
  const place = `${endpoint.user}@${endpoint.host}:${endpoint.port}`;
  if (error.level === 'client-authentication') {
    const certificate = endpoint.identityFiles.map((file) => `${file}-cert.pub`).find((file) => existsSync(file));
    const tried =
      keyCount === 0
        ? 'there is neither an agent nor a key file without a passphrase'
        : `${keyCount === 1 ? 'one way' : `${keyCount} ways`} tried`;
    return new LitterboxError(
      'PERMISSION_DENIED',
      `${place} takes none of the keys (${tried}).${certificate === undefined ? '' : ` Litterbox cannot log in with certificates, such as ${visibleName(certificate)}.`}`,
      {
        operation: 'host.connect',
        hint: `Add the key to the agent (ssh-add), and see that ssh -o BatchMode=yes ${endpoint.user}@${endpoint.host} -p ${endpoint.port} logs in. If ssh logs in with a certificate, add the key itself to authorized_keys on that machine: Litterbox does not support certificates.`,
      },
      { cause: error },
    );
  }
  return new LitterboxError(
    'UNAVAILABLE',
    `${place} cannot be reached: ${visibleName(error.message).replace(/\.$/, '')}.`,
    {
      operation: 'host.connect',
      hint: `Check whether the machine is up and an SSH server listens there: ssh -v -p ${endpoint.port} ${endpoint.user}@${endpoint.host}.`,
    },
    { cause: error },
  );
}
