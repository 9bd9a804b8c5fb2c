// What somebody gets who is not in this repository: every public package is packed and published to a registry on loopback, and
// from there a provider is made, installed and put through the kit, and the command line does the main job. Needs root and runc.
// Usage: main.mjs [--sample] [--keep | --serve]; --sample makes and tries the provider alone, with one group of
// the kit and a registry that only reads; --serve publishes, says where,
// and stays until it is interrupted.
import { appendFileSync, chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { outsidePath } from '../outside-path.mjs';
import { packedPackages } from '../packed-packages.mjs';
import { command } from './command.mjs';
import { commandLine } from './command-line.mjs';
import { ownProvider } from './own-provider.mjs';
import { embedder } from './embedder.mjs';
import { installRegistry, startRegistry } from './registry.mjs';
import { serveTarballs } from './serve-tarballs.mjs';

const began = performance.now();
const root = join(import.meta.dirname, '../..');
const directory = mkdtempSync(join(tmpdir(), 'litterbox-outside-'));
chmodSync(directory, 0o755);
// npm must not find this checkout: neither its programs nor its settings.
const path = outsidePath();
const machine = { ...process.env, PATH: path };
for (const name of Object.keys(machine)) if (/^npm_(config|package|lifecycle)_/i.test(name)) delete machine[name];

const counts = { passed: 0, failed: 0, skipped: 0, failures: [] };
async function step(title, body) {
  const started = performance.now();
  try {
    const result = await body();
    counts.passed += 1;
    console.log(`outside: ok: ${title} (${Math.round(performance.now() - started)} ms)`);
    return result;
  } catch (error) {
    counts.failed += 1;
    counts.failures.push({ title, message: error.message });
    console.log(`outside: FAILED: ${title}\n${error.message}`);
    throw error;
  }
}

/** Somebody with a home of their own, in which npm knows the registry and nothing else. */
function stranger(name, { url, token }) {
  const home = join(directory, name);
  const bin = join(home, 'bin');
  mkdirSync(bin, { recursive: true });
  symlinkSync(process.execPath, join(bin, 'node'));
  return {
    directory: home,
    env: {
      PATH: `${bin}:${path}`,
      HOME: home,
      TMPDIR: tmpdir(),
      LANG: 'C.UTF-8',
      npm_config_registry: url,
      [`npm_config_//${new URL(url).host}/:_authToken`]: token,
      npm_config_cache: join(directory, 'cache'),
      npm_config_audit: 'false',
      npm_config_fund: 'false',
      npm_config_update_notifier: 'false',
      GIT_AUTHOR_NAME: 'somebody',
      GIT_AUTHOR_EMAIL: 'somebody@example.com',
      GIT_COMMITTER_NAME: 'somebody',
      GIT_COMMITTER_EMAIL: 'somebody@example.com',
    },
  };
}

async function main() {
  const tarballs = join(directory, 'tarballs');
  const storage = join(directory, 'registry');
  mkdirSync(tarballs);
  mkdirSync(storage);
  const packed = await step('every public package can be packed, with its doors and without its tests', async () => {
    const all = await packedPackages({ root, target: tarballs, env: machine });
    const problems = all.flatMap((one) => one.problems);
    if (problems.length > 0) throw new Error(problems.join('\n'));
    return all;
  });
  const isSample = process.argv.includes('--sample');
  const setting = async (name, pattern) =>
    (await command(['npm', 'config', 'get', name], { cwd: storage, env: machine })).match(pattern)?.[0];
  const upstream = await setting('registry', /^https?:\S+$/m);
  if (!upstream) throw new Error('npm names no registry.');
  // What npm trusts, the registry must trust too: it asks the same one.
  const authorities = await setting('cafile', /^\/.+$/m);
  if (isSample) {
    await using tarballs = await serveTarballs({ packed, upstream });
    const author = stranger('author', tarballs);
    if (authorities) author.env['npm_config_cafile'] = authorities;
    const kit = await ownProvider({ ...author, step, isSample });
    counts.passed += kit.passed;
    return;
  }
  await installRegistry(machine);
  const ours = packed.map(({ manifest }) => manifest.name);
  await using registry = await startRegistry({ directory: storage, upstream, authorities, ours, env: machine });
  const publisher = stranger('publisher', registry);
  await step('they can be published', async () => {
    for (const { file } of packed)
      await command(['npm', 'publish', '--access', 'public', file], { cwd: publisher.directory, env: publisher.env });
  });
  if (process.argv.includes('--serve')) {
    console.log(`export npm_config_registry=${registry.url}`);
    await new Promise((resolve) => process.once('SIGINT', resolve).once('SIGTERM', resolve).once('SIGHUP', resolve));
    return;
  }
  for (const template of [undefined, 'api']) {
    const kit = await ownProvider({ ...stranger(`author-${template}`, registry), step, template });
    counts.passed += kit.passed;
  }
  await commandLine({ ...stranger('person', registry), step });
  await embedder({ ...stranger('embedder', registry), step });
}

try {
  await main();
} catch (error) {
  if (counts.failed === 0) {
    counts.failed = 1;
    counts.failures.push({ title: '', message: error.stack });
    console.log(`outside: FAILED\n${error.stack}`);
  }
  process.exitCode = 1;
} finally {
  if (process.argv.includes('--keep')) console.log(`outside: kept ${directory}`);
  else rmSync(directory, { recursive: true, force: true });
}
const file = process.env['LITTERBOX_TEST_RESULTS'];
const seconds = Math.round((performance.now() - began) / 1000);
if (process.argv.includes('--serve')) process.exitCode ??= 0;
else if (file)
  appendFileSync(file, `${JSON.stringify({ file: 'tools/outside/main.mjs', ...counts, seconds, tests: [] })}\n`);
else console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
