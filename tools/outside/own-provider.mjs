import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { command } from './command.mjs';
import { scratchRepository } from './scratch-repository.mjs';

const MOST_LINES = 150;
const LEAST_TESTS = 110;
/** What a sample of the kit holds: one group. */
const SAMPLE = { pattern: 'SandboxProvider contract, lifecycle', leastTests: 10 };
const NAME = 'outside';

/** What an embedder does with a provider: the main job, in the person's own repository. */
const EMBEDDED = `import assert from 'node:assert/strict';
import { provider } from 'litterbox-provider-${NAME}';
import { createLitterbox } from 'litterbox';
const [repo, stateDirectory] = process.argv.slice(2);
await using litterbox = createLitterbox({ repo, stateDirectory, providers: [provider] });
await using sandbox = await litterbox.create({ name: 'work' });
assert.equal((await sandbox.run('echo two >>file && id -u')).stdout.trim(), '61200');
assert.match(await sandbox.diff(), /^\\+two$/m);
await litterbox.merge('work');
`;

/**
 * The way of somebody who writes a provider: make it, install, kit, build, use. Everything comes from the registry.
 * A sample runs one group of the kit.
 *
 * @returns {Promise<{ passed: number, failed: number, skipped: number }>} tests of the kit
 */
export async function ownProvider({ directory, env, step, isSample = false }) {
  const home = join(directory, NAME);
  await step('npm create litterbox-provider makes a provider', async () => {
    await command(['npm', 'create', '--yes', 'litterbox-provider', NAME], { cwd: directory, env });
    const again = ['npm', 'create', '--yes', 'litterbox-provider', NAME];
    const said = await command(again, { cwd: directory, env, status: 2 });
    if (!said.includes('is not empty')) throw new Error(`A second time it says: ${said}`);
  });
  await step('the provider has less than 150 lines', async () => {
    const sources = readdirSync(join(home, 'src')).map((name) => readFileSync(join(home, 'src', name), 'utf8'));
    const lines = sources.join('').split('\n').length;
    if (lines >= MOST_LINES) throw new Error(`${lines} lines`);
  });
  await step('it can be installed', () => command(['npm', 'install'], { cwd: home, env, limitMs: 300_000 }));
  const kit = await step(isSample ? 'it passes a group of the kit' : 'it passes the whole kit', async () => {
    const tests = isSample
      ? ['node', '--test', `--test-name-pattern=${SAMPLE.pattern}`, 'test/kit.test.ts']
      : ['npm', 'test'];
    const counts = countsOf(await command(tests, { cwd: home, env, limitMs: 2_400_000 }));
    if (counts.passed < (isSample ? SAMPLE.leastTests : LEAST_TESTS) || counts.failed > 0 || counts.skipped > 0)
      throw new Error(JSON.stringify(counts));
    return counts;
  });
  await step('the kit finds a provider that lets programs gain privileges', async () => {
    const file = join(home, 'src/bundle.ts');
    const text = readFileSync(file, 'utf8');
    const broken = text.replace('noNewPrivileges: true', 'noNewPrivileges: false');
    if (broken === text) throw new Error('nothing to break');
    writeFileSync(file, broken);
    const one = ['node', '--test', '--test-name-pattern=every control is reported', 'test/kit.test.ts'];
    const said = await command(one, { cwd: home, env, status: 1 });
    writeFileSync(file, text);
    if (!said.includes('no-new-privileges')) throw new Error(`It says: ${said.slice(-4000)}`);
  });
  await step('it can be built', async () => {
    await command(['npm', 'run', 'build'], { cwd: home, env });
    if (!existsSync(join(home, 'dist/index.d.ts'))) throw new Error('no dist/index.d.ts');
  });
  await step('the library does the main job on it', async () => {
    const embedder = join(directory, 'embedder');
    mkdirSync(embedder);
    writeFileSync(join(embedder, 'package.json'), '{ "private": true, "type": "module" }');
    await command(['npm', 'install', 'litterbox', home], { cwd: embedder, env, limitMs: 300_000 });
    const repository = await scratchRepository(join(directory, 'embedded-repository'), env);
    writeFileSync(join(embedder, 'main-job.js'), EMBEDDED);
    await command(['node', 'main-job.js', repository, join(directory, 'embedded-state')], { cwd: embedder, env });
    const text = readFileSync(join(repository, 'file'), 'utf8');
    if (text !== 'one\ntwo\n') throw new Error(`the file holds ${JSON.stringify(text)}`);
  });
  return kit;
}

/** Node's own reporters: `ℹ pass 113`, or `# pass 113`. */
function countsOf(said) {
  const count = (name) => Number(new RegExp(`^(?:ℹ|#) ${name} (\\d+)$`, 'm').exec(said)?.[1] ?? Number.NaN);
  return {
    passed: count('pass'),
    failed: count('fail') + count('cancelled'),
    skipped: count('skipped') + count('todo'),
  };
}
