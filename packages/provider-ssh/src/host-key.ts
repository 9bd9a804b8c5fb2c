import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { LitterboxError, visibleName, advice, step } from '@litterbox/core/provider';
import type { Endpoint } from './client-config.ts';
import { type KnownKey, knownKeys } from './known-hosts.ts';

/** A key with which a machine says that it is the one that is meant. */
export interface HostKey {
  /** `ssh-ed25519`, `ecdsa-sha2-nistp256`, `ssh-rsa`. */
  readonly type: string;
  /** The key, in Base64, as in a known_hosts file. */
  readonly key: string;
  /** `SHA256:…`, as `ssh-keygen -l` prints it. */
  readonly fingerprint: string;
}

/** Best first. Keys of DSA and signatures with SHA-1 are not among them. */
const ALGORITHMS = [
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'rsa-sha2-512',
  'rsa-sha2-256',
] as const;

/** What a person is asked before the key of a machine is believed that nobody knows. */
export type AskHostKey = (machine: string, key: HostKey) => Promise<boolean>;

/** Whether a machine is the one that is meant. */
export class HostKeyCheck {
  readonly #endpoint: Endpoint;
  readonly #known: readonly KnownKey[];
  readonly #ask: AskHostKey | undefined;
  /** Why the key was refused, for who started the connection. */
  refusal: LitterboxError | undefined;
  /** The key that a person said yes to, and that no file has. */
  accepted: HostKey | undefined;

  private constructor(endpoint: Endpoint, known: readonly KnownKey[], ask: AskHostKey | undefined) {
    this.#endpoint = endpoint;
    this.#known = known;
    this.#ask = ask;
  }

  /** @param pinned lines of the known_hosts format that count as if they stood in a file */
  static async read(
    endpoint: Endpoint,
    pinned: readonly HostKey[],
    ask: AskHostKey | undefined,
  ): Promise<HostKeyCheck> {
    const texts = await Promise.all(endpoint.knownHostsFiles.map((file) => readFile(file, 'utf8').catch(() => '')));
    const known = [
      ...pinned.map(({ type, key }) => ({ type, blob: Buffer.from(key, 'base64'), isRevoked: false })),
      ...texts.flatMap((text) => knownKeys(text, endpoint.hostKeyName)),
    ];
    return new HostKeyCheck(endpoint, known, ask);
  }

  /** Algorithms to offer: first those of keys that are known, or a machine with several keys would show another one. */
  get algorithms(): readonly string[] {
    const types = new Set(this.#known.map(({ type }) => type));
    const isKnown = (algorithm: string) => types.has(algorithm.startsWith('rsa-') ? 'ssh-rsa' : algorithm);
    return [...ALGORITHMS.filter(isKnown), ...ALGORITHMS.filter((algorithm) => !isKnown(algorithm))];
  }

  /** Whether to go on with a machine that has shown this key. */
  async verify(blob: Buffer): Promise<boolean> {
    const shown = hostKeyOf(blob);
    if (this.#known.some((key) => key.isRevoked && key.blob.equals(blob))) {
      this.refusal = changed(this.#endpoint, shown, 'a known_hosts file says that this key is revoked');
      return false;
    }
    const trusted = this.#known.filter((key) => !key.isRevoked);
    if (trusted.some((key) => key.blob.equals(blob))) return true;
    if (trusted.length > 0) {
      this.refusal = changed(this.#endpoint, shown, 'another key is known for it');
      return false;
    }
    if (await this.#ask?.(`${this.#endpoint.host}:${this.#endpoint.port}`, shown)) {
      this.accepted = shown;
      return true;
    }
    this.refusal = unknown(this.#endpoint, shown);
    return false;
  }
}

function hostKeyOf(blob: Buffer): HostKey {
  const length = blob.length >= 4 ? blob.readUInt32BE(0) : 0;
  return {
    type: visibleName(blob.subarray(4, 4 + Math.min(length, 64)).toString('latin1')),
    key: blob.toString('base64'),
    fingerprint: `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`,
  };
}

const facts = ({ host, port }: Endpoint, { type, fingerprint }: HostKey) => ({ host, port, type, fingerprint });

function unknown(endpoint: Endpoint, key: HostKey): LitterboxError {
  return new LitterboxError(
    'SSH_HOSTKEY_UNKNOWN',
    `The key of ${endpoint.hostKeyName} is not known yet: ${key.type} ${key.fingerprint}. Nothing was sent.`,
    {
      operation: 'host.connect',
      hint: advice`Compare it with what ssh-keygen -l -f /etc/ssh/ssh_host_*_key.pub prints there, then say yes to ${step('host-add')} in a terminal, give it by --host-key, or log in once with ssh.`,
      facts: facts(endpoint, key),
    },
  );
}

function changed(endpoint: Endpoint, key: HostKey, why: string): LitterboxError {
  return new LitterboxError(
    'SSH_HOSTKEY_CHANGED',
    `${endpoint.hostKeyName} shows another key than expected (${why}): ${key.type} ${key.fingerprint}. Nothing was sent.`,
    {
      operation: 'host.connect',
      hint: advice`Somebody may be intercepting the connection. Ask who runs the machine; only when its key was really changed, remove the old one: ssh-keygen -R '${endpoint.hostKeyName}', or ${step('host-remove')} and add.`,
      facts: facts(endpoint, key),
    },
  );
}
