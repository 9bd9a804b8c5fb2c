import { spawn } from 'node:child_process';
import type { RequestOptions } from 'node:https';
import type { KubeConfig, User } from '@kubernetes/client-node';
import { list, object, text } from './untrusted.ts';

/** A person may have to log in meanwhile, in a browser. */
const LOGIN_MS = 120_000;
const MAX_OUTPUT_CHARACTERS = 2 ** 20;
const MAX_COMPLAINT_CHARACTERS = 1000;
/** The name of a way to get credentials that the library leaves to us. */
const OURS = 'litterbox-exec';

type Environment = Readonly<Record<string, string | undefined>>;

/** A program of a kubeconfig gave these. A text is empty where it gave none. */
interface Credentials {
  readonly token: string;
  readonly certificate: string;
  readonly key: string;
  /** Milliseconds since 1970. */
  readonly untilMs: number;
}

/**
 * Runs the program that a kubeconfig names for credentials, as kubectl does: it is told what is wanted of it, has no input that it could wait
 * for, is ended when it takes too long, and runs once for all who ask at the same time. The library's own does none of that.
 *
 * @see https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins
 */
export class ExecCredentials {
  readonly #environment: Environment;
  readonly #closing: AbortSignal;
  #given: Promise<Credentials> | undefined;

  /** @param closing ends the program when nobody wants its credentials any more */
  constructor(environment: Environment, closing: AbortSignal) {
    this.#environment = environment;
    this.#closing = closing;
  }

  /** From now on the program of a user of the configuration is run from here. */
  takeOver(config: KubeConfig, user: User): void {
    const { exec, ...rest } = user;
    const ours: User = { ...rest, authProvider: { name: OURS, config: { program: exec as unknown } } };
    config.users = config.users.map((one) => (one === user ? ours : one));
    config.addAuthenticator(this);
  }

  isAuthProvider({ authProvider }: User): boolean {
    return object(authProvider)['name'] === OURS;
  }

  /** @throws Error with what the program complained of */
  async applyAuthentication({ authProvider }: User, options: RequestOptions): Promise<void> {
    const asked = this.#given;
    let given = await asked?.catch(() => undefined);
    if (!given || given.untilMs <= Date.now()) {
      if (this.#given === asked)
        this.#given = ask(object(object(object(authProvider)['config'])['program']), this.#environment, this.#closing);
      given = await this.#given;
    }
    const { token = '', certificate, key } = given ?? {};
    if (certificate) options.cert = certificate;
    if (key) options.key = key;
    if (token) options.headers = { ...(options.headers as Record<string, string>), Authorization: `Bearer ${token}` };
  }
}

/** Runs the program once. */
async function ask(
  program: Readonly<Record<string, unknown>>,
  environment: Environment,
  signal: AbortSignal,
): Promise<Credentials> {
  const command = text(program['command']);
  const own = list(program['env']).map((one) => [text(object(one)['name']), text(object(one)['value'])] as const);
  const wanted = { apiVersion: program['apiVersion'], kind: 'ExecCredential', spec: { interactive: false } };
  const child = spawn(command, list(program['args']).map(String), {
    env: { ...environment, ...Object.fromEntries(own), KUBERNETES_EXEC_INFO: JSON.stringify(wanted) },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: LOGIN_MS,
    killSignal: 'SIGKILL',
    signal,
  });
  let [output, complaint] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (data: string) => {
    output += data;
    if (output.length > MAX_OUTPUT_CHARACTERS) child.kill('SIGKILL');
  });
  child.stderr.setEncoding('utf8').on('data', (data: string) => {
    complaint = (complaint + data).slice(-MAX_COMPLAINT_CHARACTERS);
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('close', resolve);
    // Programs of its own may hold its output still.
    child.once('exit', (_code, signal) => signal && resolve(null));
    child.once('error', () => reject(new Error(`${command} cannot be started. ${text(program['installHint'])}`)));
  }).finally(() => {
    child.stdout.destroy();
    child.stderr.destroy();
  });
  if (code !== 0)
    throw new Error(
      complaint.trim() ||
        `${command} ${code === null ? 'was ended: it took too long, or gave too much' : `ended with ${code}`}`,
    );
  return credentialsOf(output, command);
}

function credentialsOf(output: string, command: string): Credentials {
  let status: Readonly<Record<string, unknown>>;
  try {
    status = object(object(JSON.parse(output))['status']);
  } catch {
    throw new Error(`${command} gave no credentials`); // the parser's words quote what may be a part of them
  }
  const untilMs = Date.parse(text(status['expirationTimestamp']));
  return {
    token: text(status['token']),
    certificate: text(status['clientCertificateData']),
    key: text(status['clientKeyData']),
    untilMs: Number.isNaN(untilMs) ? Infinity : untilMs,
  };
}
