// The main job as a person would do it, with what it cost: create, build or test inside, edit, log, diff, merge, delete.
// Everything happens in a scratch clone, so the repository itself does not change; the scratch clone is left for a look.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs, styleText } from 'node:util';
import { docker } from '@litterbox/provider-docker';
import { overlayfs } from '@litterbox/provider-overlayfs';
import { podman } from '@litterbox/provider-podman';
import { ssh } from '@litterbox/provider-ssh';
import { createLitterbox } from 'litterbox';

const PROVIDERS = { overlayfs, docker, podman };
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    provider: { type: 'string', default: 'overlayfs' },
    image: { type: 'string' },
    host: { type: 'string' },
    'identity-file': { type: 'string' },
  },
});
const [repository] = positionals;
const provider = PROVIDERS[options.provider];
if (!provider) {
  console.error(`quickstart: there is no provider ${options.provider}; there are ${Object.keys(PROVIDERS).join(', ')}`);
  process.exit(2);
}
const scratch = mkdtempSync(join(tmpdir(), 'litterbox-quickstart-'));
const clone = join(scratch, 'clone');
const git = (...args) => execFileSync('git', ['-C', clone, ...args], { encoding: 'utf8' }).trimEnd();
const times = [];

const say = (text) => process.stdout.write(`${text}\n`);
const title = (text) => say(`\n${styleText('bold', text)}`);
async function step(name, body) {
  const started = performance.now();
  const result = await body();
  times.push([name, performance.now() - started]);
  return result;
}

/** What can be built or tested without a network, by what the repository holds. */
function commandFor(directory) {
  // The image that is taken when nobody names one holds BusyBox and nothing to build with; what another machine has nobody knows.
  if (options.host || (provider !== overlayfs && !options.image)) return 'ls -la && tar -c . | wc -c';
  const has = (name) => existsSync(join(directory, name));
  if (has('tools/self-test.mjs')) return 'node --test tools/self-test.mjs';
  if (has('configure') && has('Makefile.in')) return './configure --quiet && make -s && make -s check';
  if (has('Makefile')) return 'make -s -j2';
  if (has('package.json') && JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')).scripts?.test)
    return 'npm test';
  return 'ls -la && git --version';
}

// Node 24 of this checkout goes first in PATH, so that it is among the programs that the sandbox sees.
process.env.PATH = `${join(import.meta.dirname, '../node_modules/node/bin')}:${process.env.PATH}`;

const root = options.image ? { image: options.image } : {};
// The key of the machine has to be in a known_hosts file: nobody is asked here.
const far = options.host && {
  provider,
  kind: options.provider,
  name: 'quickstart',
  destination: options.host,
  ...(options['identity-file'] && { identityFile: options['identity-file'] }),
};
let failed = false;
const litterbox = createLitterbox({
  repo: clone,
  providers: [far ? await ssh(far) : provider],
  stateDirectory: join(scratch, 'state'),
  actor: 'quickstart',
});
try {
  await step('clone (not part of the job)', () =>
    execFileSync('git', ['clone', '--quiet', '--no-hardlinks', repository, clone], { stdio: 'inherit' }),
  );
  git('config', 'user.name', 'Quickstart');
  git('config', 'user.email', 'quickstart@localhost');
  git('checkout', '--quiet', '-b', 'litterbox-quickstart');

  title('1. A sandbox');
  const sandbox = await step('create (first: unpacks the base tree)', () =>
    litterbox.create({ name: 'quickstart', ...root }, { onProgress: ({ message }) => say(`   ${message}`) }),
  );
  const { assurance } = await litterbox.assurance('quickstart');
  say(`   ${assurance.mechanism}`);
  for (const { name, status, finding } of assurance.controls)
    say(
      `   ${status === 'enforced' ? styleText('green', 'enforced') : styleText('yellow', status.padEnd(8))} ${name}: ${finding}`,
    );
  const probe = await sandbox.run(
    'if command -v node >/dev/null; then node -e "fetch(\'http://1.1.1.1\').then(() => process.exit(9), () => process.exit(0))" || exit 9; fi; grep -q eth /proc/net/dev && exit 9; ls ~/.ssh /root/.ssh 2>/dev/null && exit 9; :',
  );
  if (probe.exitCode !== 0) throw new Error('the sandbox reached what it must not reach');
  say('   tried: no network, no key of yours');

  title('2. Build or test inside');
  const command = commandFor(clone);
  say(`   ${command}`);
  const built = await step(`run: ${command}`, () => sandbox.run(command, { timeoutMs: 1_800_000 }));
  say(
    built.stdout
      .trimEnd()
      .split('\n')
      .slice(-6)
      .map((line) => `   | ${line}`)
      .join('\n'),
  );
  if (built.exitCode !== 0) {
    failed = true;
    say(styleText('red', `   exit code ${built.exitCode}`));
    say(
      built.stderr
        .trimEnd()
        .split('\n')
        .slice(-15)
        .map((line) => `   | ${line}`)
        .join('\n'),
    );
  }

  title('3. An edit, recorded by itself');
  await step('write one file', () =>
    sandbox.files.write('QUICKSTART.txt', 'Written inside a sandbox.\n', { message: 'Leave a note' }),
  );
  await step('run one command', () => sandbox.run('echo "And one more line." >> QUICKSTART.txt'));
  const quick = await step('run `true`', () => sandbox.run(['true']));
  if (quick.recorded.revision) throw new Error('a command without changes made a revision');

  title('4. Log and diff');
  for (const { number, subject } of await step('log', () => sandbox.log()))
    say(`   ${String(number).padStart(3)}  ${subject}`);
  const changes = await step('diff', () => litterbox.changes('quickstart'));
  for (const { status, path } of changes.slice(0, 10)) say(`   ${status.padEnd(9)} ${path}`);
  if (changes.length > 10) say(`   … and ${changes.length - 10} more`);

  title('5. Merge into a scratch branch');
  const { tip } = await step('plan', () => litterbox.plan({ sandbox: 'quickstart', integration: 'merge' }));
  const merged = await step('merge and delete', () =>
    litterbox.merge('quickstart', { tip, acceptRisky: true, message: 'Merge the quickstart sandbox' }),
  );
  say(`   ${merged.outcome}; sandbox deleted: ${merged.isDeleted ? 'yes' : 'no'}`);
  say(git('log', '--oneline', '-3').replace(/^/gm, '   '));
  if (!existsSync(join(clone, 'QUICKSTART.txt'))) throw new Error('the merge did not bring the file');
  if (git('status', '--porcelain') !== '') throw new Error(`the work tree is not clean:\n${git('status', '--short')}`);
  if ((await litterbox.list()).length !== 0) throw new Error('the sandbox is still there');

  title('6. A second sandbox, with the base tree known');
  await step('create', () => litterbox.create({ name: 'second', ...root }));
  await step('delete', () => litterbox.delete('second', { force: true }));

  title('What it took');
  for (const [name, milliseconds] of times) say(`   ${milliseconds.toFixed(1).padStart(10)} ms  ${name}`);
  say(
    `\n   ${failed ? styleText('red', 'The build or test failed inside; everything else worked.') : styleText('green', 'Everything worked.')} Scratch clone: ${clone}`,
  );
} finally {
  await litterbox[Symbol.asyncDispose]();
  rmSync(join(scratch, 'state'), { recursive: true, force: true });
  if (!existsSync(clone)) rmSync(dirname(clone), { recursive: true, force: true });
}
process.exitCode = failed ? 1 : 0;
