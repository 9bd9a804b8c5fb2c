import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { command } from './command.mjs';
import { scratchRepository } from './scratch-repository.mjs';

const LEAST_TESTS = 110;
/** What a sample of the kit holds: one group. */
const SAMPLE = { pattern: 'SandboxProvider contract, lifecycle', leastTests: 10 };

/** By template: how long a provider is, who programs inside are, and a fault that a test of the kit finds. */
const TEMPLATES = {
  runc: {
    mostLines: 150,
    user: 61200,
    fault: {
      file: 'src/bundle.ts',
      sound: 'noNewPrivileges: true',
      broken: 'noNewPrivileges: false',
      test: 'every control is reported',
      said: 'no-new-privileges',
    },
  },
  api: {
    mostLines: 400,
    user: 1000,
    begin: `const { startService } = await import(home + '/fake/service.ts');
const service = await startService('secret');
Object.assign(process.env, { MACHINES_URL: service.url, MACHINES_TOKEN: 'secret' });`,
    // The merge has deleted the sandbox, and with it its machine.
    end: `const machines = await fetch(service.url + '/machines', { headers: { authorization: 'Bearer secret' } });
assert.deepEqual(await machines.json(), []);
await service.close();`,
    fault: {
      file: 'src/index.ts',
      sound: 'await this.remove(spec.id)',
      broken: 'await this.#forget(spec.id)',
      test: 'that fails leaves nothing behind',
      said: 'leaves nothing behind',
    },
  },
};

/** What an embedder does with a provider: the main job, in the person's own repository. */
const embedded = (name, { user, begin, end }) => `import assert from 'node:assert/strict';
import { provider } from 'litterbox-provider-${name}';
import { createLitterbox } from 'litterbox';
const [repo, stateDirectory, home] = process.argv.slice(2);
${begin ?? ''}
await using litterbox = createLitterbox({ repo, stateDirectory, providers: [provider] });
await using sandbox = await litterbox.create({ name: 'work' });
assert.equal((await sandbox.run('echo two >>file && id -u')).stdout.trim(), '${user}');
assert.match(await sandbox.diff(), /^\\+two$/m);
await litterbox.merge('work');
${end ?? ''}
`;

/**
 * The way of somebody who writes a provider: make it, install, kit, build, use. Everything comes from the registry.
 * A sample runs one group of the kit. Without a template it is the one that nobody has to name.
 *
 * @returns {Promise<{ passed: number, failed: number, skipped: number }>} tests of the kit
 */
export async function ownProvider({ directory, env, step, isSample = false, template }) {
  const { mostLines, fault, ...job } = TEMPLATES[template ?? 'runc'];
  const name = `outside-${template ?? 'runc'}`;
  const home = join(directory, name);
  await step(`npm create litterbox-provider makes a provider: ${template ?? 'no template named'}`, async () => {
    const create = [
      'npm',
      'create',
      '--yes',
      'litterbox-provider',
      name,
      ...(template ? ['--template', template] : []),
    ];
    await command(create, { cwd: directory, env });
    const said = await command(create, { cwd: directory, env, status: 2 });
    if (!said.includes('is not empty')) throw new Error(`A second time it says: ${said}`);
  });
  await step(`the provider has less than ${mostLines} lines`, async () => {
    const sources = readdirSync(join(home, 'src')).map((name) => readFileSync(join(home, 'src', name), 'utf8'));
    const lines = sources.join('').split('\n').length;
    if (lines >= mostLines) throw new Error(`${lines} lines`);
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
  await step(`the kit finds a fault: ${fault.broken}`, async () => {
    const file = join(home, fault.file);
    const text = readFileSync(file, 'utf8');
    const broken = text.replace(fault.sound, fault.broken);
    if (broken === text) throw new Error('nothing to break');
    writeFileSync(file, broken);
    const one = ['node', '--test', `--test-name-pattern=${fault.test}`, 'test/kit.test.ts'];
    const said = await command(one, { cwd: home, env, status: 1 });
    writeFileSync(file, text);
    if (!said.includes(fault.said)) throw new Error(`It says: ${said.slice(-4000)}`);
  });
  await step('it can be built', async () => {
    await command(['npm', 'run', 'build'], { cwd: home, env });
    if (!existsSync(join(home, 'dist/index.d.ts'))) throw new Error('no dist/index.d.ts');
  });
  await step('the library does the main job on it', async () => {
    const embedder = join(directory, `embedder-${name}`);
    mkdirSync(embedder);
    writeFileSync(join(embedder, 'package.json'), '{ "private": true, "type": "module" }');
    await command(['npm', 'install', 'litterbox', home], { cwd: embedder, env, limitMs: 300_000 });
    const repository = await scratchRepository(join(directory, `repository-${name}`), env);
    writeFileSync(join(embedder, 'main-job.js'), embedded(name, job));
    const state = join(directory, `state-${name}`);
    await command(['node', 'main-job.js', repository, state, home], { cwd: embedder, env });
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
