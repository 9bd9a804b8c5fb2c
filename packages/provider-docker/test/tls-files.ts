import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Who a certificate is for, and who vouches for it. */
interface Wanted {
  readonly purpose: 'serverAuth' | 'clientAuth';
  /** Path of the authority's directory, from the top. */
  readonly by: string;
  readonly isExpired?: boolean;
}

/**
 * Certificates as Docker's guide makes them, by openssl: `ca.pem`; `engine/` and `client/` that it vouches for; `other/`, a client's by
 * another authority; `late/`, an engine's that has expired. Directories of clients hold `ca.pem`, `cert.pem` and `key.pem`.
 *
 * @see https://docs.docker.com/engine/security/protect-access/
 */
export class TlsFiles implements Disposable {
  readonly directory = mkdtempSync(join(tmpdir(), 'lb-tls-'));

  constructor() {
    this.#makeAuthority('.');
    this.#makeAuthority('stranger');
    this.#make('engine', { purpose: 'serverAuth', by: '.' });
    this.#make('late', { purpose: 'serverAuth', by: '.', isExpired: true });
    this.#make('client', { purpose: 'clientAuth', by: '.' });
    this.#make('other', { purpose: 'clientAuth', by: 'stranger' });
    this.#make('old', { purpose: 'clientAuth', by: '.', isExpired: true });
    for (const client of ['client', 'other', 'old']) cpSync(this.path('ca.pem'), this.path(`${client}/ca.pem`));
    cpSync(this.path('client'), this.path('deceived'), { recursive: true });
    cpSync(this.path('stranger/ca.pem'), this.path('deceived/ca.pem'));
  }

  path(name: string): string {
    return join(this.directory, name);
  }

  read(name: string): Buffer {
    return readFileSync(this.path(name));
  }

  [Symbol.dispose](): void {
    rmSync(this.directory, { recursive: true, force: true });
  }

  #makeAuthority(name: string): void {
    mkdirSync(this.path(name), { recursive: true });
    const [key, cert] = [this.path(`${name}/ca-key.pem`), this.path(`${name}/ca.pem`)];
    openssl('req', '-x509', ...NEW_KEY, '-keyout', key, '-out', cert, '-days', '2', '-subj', `/CN=authority ${name}`);
  }

  #make(name: string, { purpose, by, isExpired = false }: Wanted): void {
    mkdirSync(this.path(name));
    const [key, request, cert, extensions] = ['key.pem', 'request', 'cert.pem', 'extensions'].map((file) =>
      this.path(`${name}/${file}`),
    ) as [string, string, string, string];
    const authority = { cert: this.path(`${by}/ca.pem`), key: this.path(`${by}/ca-key.pem`) };
    openssl('req', ...NEW_KEY, '-keyout', key, '-out', request, '-subj', `/CN=${name}`);
    writeFileSync(extensions, `extendedKeyUsage=${purpose}\nsubjectAltName=DNS:localhost,IP:127.0.0.1\n`);
    const signing = ['-CA', authority.cert, '-CAkey', authority.key, '-CAcreateserial', '-extfile', extensions];
    openssl('x509', '-req', '-in', request, ...signing, '-days', isExpired ? '-1' : '2', '-out', cert);
  }
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

function openssl(...args: string[]): void {
  execFileSync('openssl', args, { stdio: ['ignore', 'ignore', 'pipe'] });
}

/** A port of loopback that nobody has at this moment. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
