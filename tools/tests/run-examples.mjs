// Runs examples, all or those that are named, from the sources: node tools/tests/run-examples.mjs [NAME …]
// Those of frameworks have packages of their own, in examples/node_modules.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { outsidePath } from '../outside-path.mjs';
import { ROOT } from './test-files.mjs';

const EXAMPLES = join(ROOT, 'examples');
/** A login to a vendor, and their programs: `npm run test:agents` has models of its own for them. */
const WITH_LOGIN = new Set(['claude-agent-sdk', 'codex-sdk']);
const WITH_PACKAGES = new Set(['deepagents', 'mastra']);

const all = readdirSync(EXAMPLES).filter((name) => existsSync(join(EXAMPLES, name, 'main.mjs')));
const names = process.argv.length > 2 ? process.argv.slice(2) : all.filter((name) => !WITH_LOGIN.has(name));
if (names.some((name) => WITH_PACKAGES.has(name)))
  execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: EXAMPLES,
    env: { ...process.env, PATH: outsidePath() },
    stdio: 'inherit',
  });
for (const name of names) {
  console.log(`== ${name}`);
  execFileSync(process.execPath, ['--no-warnings', '--conditions=@litterbox/source', `${name}/main.mjs`], {
    cwd: EXAMPLES,
    stdio: 'inherit',
  });
}
