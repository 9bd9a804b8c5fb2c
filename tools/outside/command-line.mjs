import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { command } from './command.mjs';
import { scratchRepository } from './scratch-repository.mjs';

/** The way of somebody who installs the command line: the main job in a repository of their own. */
export async function commandLine({ directory, env, step }) {
  const home = join(directory, 'people');
  mkdirSync(home);
  await step('the command line can be installed', () =>
    command(['npm', 'install', '--prefix', home, '@litterbox/cli'], { cwd: home, env, limitMs: 300_000 }),
  );
  await step('it does the main job: create, run, diff, merge', async () => {
    const cwd = await scratchRepository(join(directory, 'repository'), env);
    const program = join(home, 'node_modules/.bin/litterbox');
    const litterbox = async (...words) =>
      await command([program, ...words], { cwd, env: { ...env, LITTERBOX_HOME: join(directory, 'state') } });
    await litterbox('create', 'work', '--provider', 'overlayfs');
    await litterbox('run', 'work', '--', 'sh', '-c', 'echo two >>file');
    const diff = await litterbox('diff', 'work');
    if (!diff.includes('+two')) throw new Error(`diff says ${diff}`);
    if (readFileSync(join(cwd, 'file'), 'utf8') !== 'one\n') throw new Error('the file changed before the merge');
    await litterbox('merge', 'work');
    const text = readFileSync(join(cwd, 'file'), 'utf8');
    if (text !== 'one\ntwo\n') throw new Error(`the file holds ${JSON.stringify(text)}`);
    const left = await litterbox('list', '--json');
    if (left.trim() !== '[]') throw new Error(`there is still ${left}`);
  });
}
