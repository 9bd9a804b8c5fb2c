import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { command } from './command.mjs';

const MAX_MEGABYTES = 20;

const PROGRAM = `import { overlayfs } from '@litterbox/provider-overlayfs';
import { createLitterbox } from 'litterbox';

await using litterbox = createLitterbox({ repo: false, stateDirectory: process.argv[2], providers: [overlayfs] });
await using sandbox = await litterbox.create({ ephemeral: true, files: { 'greet.sh': 'echo Hello' } });
const { stdout } = await sandbox.run('sh greet.sh | tee said');
console.log(stdout, (await sandbox.changes()).map(({ path }) => path).join());
`;

/** The way of somebody who embeds Litterbox with one provider: it is small, and runs nothing when it is installed. */
export async function embedder({ directory, env, step }) {
  await step(`the library and a provider are at most ${MAX_MEGABYTES} MB, without an install script`, async () => {
    const home = join(directory, 'small');
    mkdirSync(home);
    writeFileSync(join(home, 'package.json'), '{ "private": true, "type": "module" }');
    const words = ['npm', 'install', '--ignore-scripts', 'litterbox', '@litterbox/provider-overlayfs'];
    await command(words, { cwd: home, env, limitMs: 300_000 });
    const { packages } = JSON.parse(readFileSync(join(home, 'package-lock.json'), 'utf8'));
    const scripts = Object.keys(packages).filter((name) => packages[name].hasInstallScript);
    if (scripts.length > 0) throw new Error(`These have install scripts: ${scripts.join(', ')}`);
    const files = readdirSync(join(home, 'node_modules'), { recursive: true, withFileTypes: true });
    const bytes = files
      .filter((file) => file.isFile())
      .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
    if (bytes > MAX_MEGABYTES * 1e6) throw new Error(`They are ${(bytes / 1e6).toFixed(1)} MB.`);
  });
  await step('a program runs a command in a sandbox of files', async () => {
    const home = join(directory, 'small');
    writeFileSync(join(home, 'program.js'), PROGRAM);
    const answer = await command(['node', 'program.js', join(directory, 'small-state')], { cwd: home, env });
    if (!/^Hello\n said$/m.test(answer)) throw new Error(`It says ${answer}`);
  });
}
