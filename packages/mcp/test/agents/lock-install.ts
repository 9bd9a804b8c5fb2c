import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FILES = ['package.json', 'package-lock.json'];

/**
 * Gives a directory with the packages that a lock file names, installed without any of their scripts.
 *
 * @param variable of the environment, that names a directory with an install to use instead
 * @param options of `npm ci`
 */
export function lockInstall(folder: string, variable: string, ...options: readonly string[]): string {
  const given = process.env[variable];
  if (given !== undefined && given !== '') return given;
  const [manifest, lock] = FILES.map((name) => fileURLToPath(new URL(`${folder}/${name}`, import.meta.url))) as [
    string,
    string,
  ];
  const key = createHash('sha256').update(readFileSync(lock)).digest('hex').slice(0, 12);
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  const directory = join(cache, 'litterbox-agents', `${folder}-${key}`);
  const done = join(directory, '.installed');
  if (existsSync(done)) return directory;
  mkdirSync(directory, { recursive: true });
  for (const file of [manifest, lock]) copyFileSync(file, join(directory, basename(file)));
  console.error(`installing ${folder} into ${directory}`);
  execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', ...options], {
    cwd: directory,
    env: { ...process.env, PATH: outerPath() },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  writeFileSync(done, '');
  return directory;
}

/** Of a package below a directory of an install. */
export function versionOf(directory: string, name: string): string {
  const manifest = readFileSync(join(directory, 'node_modules', name, 'package.json'), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}

/** npm runs on the machine's own Node, not on the one of this checkout. */
const outerPath = () =>
  (process.env['PATH'] ?? '')
    .split(':')
    .filter((directory) => !directory.includes('/node_modules/'))
    .join(':');
