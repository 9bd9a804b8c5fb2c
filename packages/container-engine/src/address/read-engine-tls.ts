import { X509Certificate } from 'node:crypto';
import { type CallOptions, type Host, LitterboxError, type ProviderKey, shown } from '@litterbox/core/provider';
import type { EngineTls } from './engine-address.ts';

/** Where the files of a TLS client are, and what says so. */
export interface TlsFiles {
  /** Absolute directory on the host of `ca.pem`, `cert.pem` and `key.pem`. */
  readonly directory: string;
  /** Whether `ca.pem` has to be there. */
  readonly needsCa: boolean;
  /** As the subject of a sentence: `DOCKER_CERT_PATH`. */
  readonly source: string;
  readonly provider: ProviderKey;
}

const MAX_FILE_BYTES = 2 ** 20;

/**
 * Reads what is shown to an engine, with the names under which Docker keeps it.
 *
 * @returns `undefined` where there is none of the files
 * @throws LitterboxError `UNAVAILABLE` for one that is missing, cannot be read, or is none, and for a certificate that has expired
 */
export async function readEngineTls(
  host: Host,
  { directory, needsCa, source, provider }: TlsFiles,
  options?: CallOptions,
): Promise<EngineTls | undefined> {
  const refused = (what: string) =>
    new LitterboxError('UNAVAILABLE', `${source} names ${shown(directory)}, ${what}.`, {
      operation: 'engine.find',
      provider,
      hint: 'Ask who runs the engine for ca.pem, cert.pem and key.pem, and put them into one directory.',
    });
  const [ca, cert, key] = await Promise.all(
    ['ca', 'cert', 'key'].map((name) =>
      host.files.read(`${directory}/${name}.pem`, { ...options, maxBytes: MAX_FILE_BYTES }),
    ),
  );
  if (needsCa && !ca) throw refused('where there is no ca.pem to verify the engine with');
  if ((cert === undefined) !== (key === undefined))
    throw refused(`where ${cert ? 'cert.pem has no key.pem' : 'key.pem has no cert.pem'} beside it`);
  for (const [name, bytes] of [
    ['ca.pem', ca],
    ['cert.pem', cert],
  ] as const) {
    const flaw = bytes && flawOf(bytes);
    if (flaw) throw refused(`whose ${name} ${flaw}`);
  }
  if (!ca && !cert) return undefined;
  return { directory, ...(ca && { ca }), ...(cert && key && { cert, key }) };
}

function flawOf(bytes: Uint8Array): string | undefined {
  try {
    const { validToDate } = new X509Certificate(bytes);
    return validToDate.getTime() < Date.now() ? `has expired on ${validToDate.toISOString().slice(0, 10)}` : undefined;
  } catch {
    return 'is no certificate';
  }
}
