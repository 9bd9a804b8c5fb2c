import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A certificate for localhost that vouches for itself, and its key, both in PEM; by openssl, good for two days. */
export function makeCertificate(): { readonly key: string; readonly cert: string } {
  const directory = mkdtempSync(join(tmpdir(), 'litterbox-tls-'));
  const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')] as const;
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  execFileSync('openssl', ['req', '-x509', ...kind, '-keyout', key, '-out', cert, ...names], { stdio: 'ignore' });
  const made = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  rmSync(directory, { recursive: true });
  return made;
}
