import { LitterboxError, type ProviderKey, shown } from '@litterbox/core/provider';
import { type EngineAddress, type EngineTls, isLoopback } from './engine-address.ts';

/** An address as somebody wrote it. */
export interface WrittenAddress {
  /** `unix:///PATH`, `tcp://HOST[:PORT]`, `HOST:PORT`, or `ssh://[USER@]HOST[:PORT][/PATH]`. */
  readonly text: string;
  /** Who wrote it, as the subject of a sentence: `DOCKER_HOST`. */
  readonly source: string;
  /** What is to be shown on a TCP port, when it was said that TLS is spoken there. */
  readonly tls?: EngineTls | undefined;
  /** How to have TLS there, one sentence. */
  readonly tlsHint: string;
  readonly identityFile?: string | undefined;
  readonly provider: ProviderKey;
}

const DEFAULT_PORT = { plain: 2375, tls: 2376 } as const;
/** A name or an IPv4 address: nothing that an option, a path or a query could be read from. */
const HOST = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9])?$/;
const IPV6 = /^[0-9a-fA-F:]{2,39}$/;

/**
 * Reads the address of an engine. A port of another machine without TLS is refused: whoever reaches it is root there, and whoever is
 * in between is the engine.
 *
 * @throws LitterboxError `UNSUPPORTED` for what is none, or cannot be honoured
 * @see https://docs.docker.com/reference/cli/docker/#environment-variables for the forms
 */
export function parseEngineAddress(written: WrittenAddress): EngineAddress {
  const text = written.text.trim();
  const [, scheme = 'tcp', rest = ''] = /^(?:([a-z]+):\/\/)?(.*)$/s.exec(text) ?? [];
  if (/[\p{Cc}\s?#]/u.test(rest)) throw refused(written, 'no address of an engine');
  if (scheme === 'unix') {
    if (rest.startsWith('/')) return { type: 'unix', path: rest };
    throw refused(written, 'a socket whose path is not absolute');
  }
  if (scheme === 'tcp') return tcpAddress(written, rest);
  if (scheme === 'ssh') return sshAddress(written, rest);
  throw refused(written, scheme === 'npipe' ? 'a pipe of Windows' : 'no address of an engine');
}

function tcpAddress(written: WrittenAddress, rest: string): EngineAddress {
  const { tls } = written;
  const [, bracketed, name = '', portText] = /^(?:\[([^\]]*)\]|([^:/[\]]*))(?::(\d{1,5}))?\/?$/.exec(rest) ?? [];
  const host = bracketed ?? name;
  const port = portText === undefined ? DEFAULT_PORT[tls ? 'tls' : 'plain'] : Number(portText);
  const isHost = bracketed === undefined ? HOST.test(host) : IPV6.test(host);
  if (!isHost || port < 1 || port > 65_535) throw refused(written, 'no address of an engine');
  if (tls) return { type: 'tcp', host, port, tls };
  if (isLoopback(host)) return { type: 'tcp', host, port };
  throw new LitterboxError(
    'UNSUPPORTED',
    `${written.source} names ${shown(written.text)}, an engine on the network without TLS: whoever reaches that port is root there, and whoever is in between is the engine.`,
    {
      operation: 'engine.find',
      provider: written.provider,
      hint: `${written.tlsHint} Or reach it over SSH: ssh://USER@${host}.`,
    },
  );
}

function sshAddress(written: WrittenAddress, rest: string): EngineAddress {
  const slash = rest.indexOf('/');
  const destination = slash < 0 ? rest : rest.slice(0, slash);
  const path = slash < 0 ? '' : rest.slice(slash).replace(/^\/$/, '');
  if (/^[^@]*:[^@]*@/.test(destination))
    throw refused({ ...written, text: 'ssh://USER:…@HOST' }, 'a password, which nothing reads');
  if (destination === '') throw refused(written, 'no machine');
  const { identityFile } = written;
  return {
    type: 'ssh',
    destination,
    ...(path !== '' && { path }),
    ...(identityFile !== undefined && { identityFile }),
  };
}

function refused({ text, source, provider }: WrittenAddress, what: string): LitterboxError {
  return new LitterboxError('UNSUPPORTED', `${source} names ${shown(text)}: ${what}.`, {
    operation: 'engine.find',
    provider,
    hint: 'Name unix:///PATH, tcp://HOST:PORT with TLS, or ssh://USER@HOST.',
  });
}
