// Proves that the import rules can fail: plants one violation of every rule in a throw-away copy of the packages,
// each in a file of its own, and demands that dependency-cruiser reports exactly that rule for that file.
// Also proves that check-public-types.mjs sees a private package behind a re-export.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const config = join(root, 'dependency-cruiser.cjs');

/** @type {[rule: string, file: string, source: string][]} */
const plants = [
  ['core-is-pure', 'core/src/planted-builtin.ts', "import 'node:fs';"],
  ['core-is-pure', 'core/src/planted-bare-builtin.ts', "import 'fs';"],
  ['core-is-pure', 'core/src/planted-inversify.ts', "import 'inversify';"],
  ['core-is-pure', 'core/src/planted-sibling.ts', "import '@litterbox/host';"],
  ['core-is-pure', 'core/src/planted-type.ts', "import type { Stats } from 'node:fs'; export type T = Stats;"],
  ['inversify-in-one-file', 'litterbox/src/planted-inversify.ts', "import 'inversify';"],
  ['inversify-in-one-file', 'cli/src/planted-inversify.ts', "import 'inversify';"],
  ['inversify-in-one-file', 'host/src/planted-metadata.ts', "import 'reflect-metadata';"],
  ['simple-git-in-one-file', 'source-control-git/src/planted-simple-git.ts', "import 'simple-git';"],
  ['litterbox-wires-core-only', 'litterbox/src/planted-adapter.ts', "import '@litterbox/host';"],
  ['parts-loaded-by-name', 'litterbox/src/load-parts.ts', "import '@litterbox/provider-overlayfs';"],
  ['litterbox-without-node', 'litterbox/src/planted-builtin.ts', "import 'node:fs';"],
  ['adapters-know-core-only', 'host/src/planted-sibling.ts', "import '@litterbox/state-sqlite';"],
  ['adapters-know-core-only', 'source-control-git/src/planted-sibling.ts', "import '@litterbox/host';"],
  ['adapters-know-core-only', 'state-sqlite/src/planted-sibling.ts', "import 'litterbox';"],
  ['adapters-know-core-only', 'sync-rsync/src/planted-host.ts', "import '@litterbox/host';"],
  ['adapters-know-core-only', 'network-gate/src/planted-host.ts', "import '@litterbox/host';"],
  ['adapters-know-core-only', 'endpoints/src/planted-gate.ts', "import '@litterbox/network-gate';"],
  ['adapters-know-core-only', 'conformance/src/planted-sibling.ts', "import '@litterbox/host';"],
  ['adapters-know-core-only', 'host/src/planted-machinery.ts', "import '@litterbox/linux-sandbox';"],
  ['adapters-know-core-only', 'conformance/src/planted-machinery.ts', "import '@litterbox/sandbox-kit';"],
  [
    'domain-is-the-ground',
    'core/src/domain/planted-port.ts',
    "import type { Host } from '../ports/machine/host.ts'; export type H = Host;",
  ],
  ['review-works-by-operations', 'review/src/planted-library.ts', "import 'litterbox';"],
  ['review-works-by-operations', 'review/src/planted-page.ts', "import './page/element.ts';"],
  ['the-page-stands-alone', 'review/src/page/planted-core.ts', "import '@litterbox/core';"],
  ['the-page-stands-alone', 'review/src/page/planted-builtin.ts', "import 'node:fs';"],
  ['core-is-pure', 'core/src/planted-machinery.ts', "import '@litterbox/linux-sandbox';"],
  ['sandbox-kit-needs-no-machine', 'sandbox-kit/src/planted-machine.ts', "import '@litterbox/linux-sandbox';"],
  ['sandbox-kit-needs-no-machine', 'sandbox-kit/src/planted-builtin.ts', "import 'node:fs';"],
  ['linux-sandbox-stands-on-the-kit', 'linux-sandbox/src/planted-host.ts', "import '@litterbox/host';"],
  ['linux-sandbox-stands-on-the-kit', 'linux-sandbox/src/planted-builtin.ts', "import 'node:child_process';"],
  ['implementors-use-the-provider-door', 'linux-sandbox/src/planted-front-door.ts', "import '@litterbox/core';"],
  ['providers-know-core-and-kits', 'provider-overlayfs/src/planted-host.ts', "import '@litterbox/host';"],
  ['providers-know-core-and-kits', 'provider-overlayfs/src/planted-kit.ts', "import '@litterbox/conformance';"],
  ['implementors-use-the-provider-door', 'host/src/planted-front-door.ts', "import '@litterbox/core';"],
  ['implementors-use-the-provider-door', 'sync-rsync/src/planted-front-door.ts', "import '@litterbox/core';"],
  ['implementors-use-the-provider-door', 'conformance/src/planted-front-door.ts', "import '@litterbox/core';"],
  [
    'implementors-use-the-provider-door',
    'create-litterbox-provider/templates/runc/src/planted-front-door.ts',
    "import '@litterbox/core';",
  ],
  ['far-host-needs-shells-alone', 'far-host/src/planted-builtin.ts', "import 'node:child_process';"],
  ['far-host-needs-shells-alone', 'far-host/src/planted-host.ts', "import '@litterbox/host';"],
  ['ssh-is-a-way-to-a-host', 'provider-ssh/src/planted-kit.ts', "import '@litterbox/linux-sandbox';"],
  ['vm-is-a-way-to-a-host', 'provider-vm/src/planted-host.ts', "import '@litterbox/host';"],
  ['vm-is-a-way-to-a-host', 'provider-vm/src/planted-provider.ts', "import '@litterbox/provider-overlayfs';"],
  ['agents-stand-on-the-library', 'agents/src/planted-core.ts', "import '@litterbox/core';"],
  ['frameworks-stand-on-the-library', 'ai-sdk/src/planted-core.ts', "import '@litterbox/core';"],
  ['frameworks-stand-on-the-library', 'e2b/src/planted-core.ts', "import '@litterbox/core';"],
  ['frameworks-stand-on-the-library', 'openai-agents/src/planted-sibling.ts', "import '@litterbox/ai-sdk';"],
  ['engines-share-one-package', 'provider-docker/src/planted-host.ts', "import '@litterbox/host';"],
  ['providers-know-core-and-kits', 'container-engine/src/planted-host.ts', "import '@litterbox/host';"],
  ['providers-are-strangers', 'provider-overlayfs/src/planted-provider.ts', "import '@litterbox/provider-planted';"],
  ['providers-are-strangers', 'provider-overlayfs/test/planted.test.ts', "import '@litterbox/provider-planted';"],
  ['providers-in-one-place', 'cli/src/planted-static.ts', "import '@litterbox/provider-overlayfs';"],
  ['providers-in-one-place', 'cli/src/load-planted.ts', "await import('@litterbox/provider-overlayfs'); export {};"],
  ['providers-in-one-place', 'mcp/src/planted-static.ts', "import '@litterbox/provider-overlayfs';"],
  ['providers-in-one-place', 'litterbox/src/planted-provider.ts', "import '@litterbox/provider-overlayfs';"],
  ['providers-load-when-asked', 'providers/src/planted-static.ts', "import '@litterbox/provider-overlayfs';"],
  ['providers-are-all-it-knows', 'providers/src/planted-state.ts', "import '@litterbox/state-sqlite';"],
  ['implementors-use-the-provider-door', 'providers/src/planted-front-door.ts', "import '@litterbox/core';"],
  ['agents-have-their-own-door', 'mcp/src/planted-front-door.ts', "import '@litterbox/core';"],
  ['agents-have-their-own-door', 'mcp/src/planted-facade.ts', "import 'litterbox';"],
  ['agents-have-their-own-door', 'mcp/src/planted-performer.ts', "import 'litterbox/performer';"],
  [
    'agents-have-their-own-door',
    'litterbox/src/open-for-agents.ts',
    "export const all = async () => await import('./open-for-people.ts');",
  ],
  ['rooms-import-downwards', 'core/src/domain/text/planted-up.ts', "import '../patch/file-patch.ts';"],
  ['rooms-import-downwards', 'core/src/use-cases/common/planted-up.ts', "import '../review/list-sandboxes.ts';"],
  ['rooms-import-downwards', 'core/src/ports/machine/planted-up.ts', "import '../sandbox/providers.ts';"],
  ['rooms-import-downwards', 'provider-overlayfs/src/machine/planted-up.ts', "import '../session/session-plan.ts';"],
  ['rooms-import-downwards', 'linux-sandbox/src/script/planted-up.ts', "import '../directory/unfinished.ts';"],
  ['rooms-import-downwards', 'source-control-git/src/git/planted-up.ts', "import '../store/store.ts';"],
  ['rooms-import-downwards', 'source-control-git/src/integrate/planted-top.ts', "import '../git.ts';"],
  ['rooms-import-downwards', 'container-engine/src/engine/planted-up.ts', "import '../elsewhere/engine-locations.ts';"],
  ['rooms-import-downwards', 'cli/src/terminal/planted-up.ts', "import '../words/field-form.ts';"],
  ['rooms-import-downwards', 'core/src/config/settings/planted-top.ts', "import '../config-schema.ts';"],
  ['rooms-import-downwards', 'core/src/operations/work/planted-up.ts', "import '../review/integrate.ts';"],
  ['rooms-import-downwards', 'core/src/operations/tools/text/planted-top.ts', "import '../tool.ts';"],
  ['rooms-import-downwards', 'state-sqlite/src/database/planted-top.ts', "import '../json-shape.ts';"],
  ['rooms-import-downwards', 'memory/src/tools/planted-up.ts', "import '../state/memory-state.ts';"],
  ['rooms-import-downwards', 'testing/src/tools/planted-up.ts', "import '../remote/line.ts';"],
  ['programs-know-no-use-case', 'core/src/inside/planted-use-case.ts', "import '../use-cases/work/run-command.ts';"],
  ['agents-reach-no-person', 'core/src/agent.ts', "export * from './wiring/person-use-cases.ts';"],
  [
    'agents-reach-no-person',
    'core/src/agent.ts',
    "export { DeleteSandbox } from './use-cases/remove/delete-sandbox.ts';",
  ],
  ['cli-is-not-a-testkit', 'cli/src/planted-kit.ts', "import '@litterbox/conformance';"],
  ['cli-works-by-operations', 'cli/src/planted-adapter.ts', "import '@litterbox/source-control-git';"],
  ['fakes-know-core-only', 'testing/src/planted-adapter.ts', "import '@litterbox/host';"],
  ['fakes-know-core-only', 'testing/src/planted-machinery.ts', "import '@litterbox/linux-sandbox';"],
  ['fakes-know-core-only', 'memory/src/planted-adapter.ts', "import '@litterbox/host';"],
  ['memory-needs-no-machine', 'memory/src/planted-builtin.ts', "import 'node:fs';"],
  ['fakes-know-core-only', 'testing/src/planted-kit.ts', "import '@litterbox/conformance';"],
  ['fakes-are-for-tests', 'cli/src/planted-fake.ts', "import '@litterbox/testing';"],
  ['fakes-are-for-tests', 'litterbox/src/planted-memory.ts', "import '@litterbox/memory';"],
  ['testing-is-a-door-apart', 'agents/src/planted-testing.ts', "import 'litterbox/testing';"],
  ['packages-have-doors', 'cli/src/planted-path.ts', "import '../../host/src/planted-sibling.ts';"],
  ['declared-dependencies-only', 'host/src/planted-undeclared.ts', "import 'commander';"],
  ['declared-dependencies-only', 'source-control-git/src/planted-root-dev.ts', "import 'fast-check';"],
  ['packages-have-doors', '../bench/src/planted-path.ts', "import '../../packages/host/src/planted-sibling.ts';"],
  ['bench-is-apart', 'host/src/planted-bench.ts', "import '../../../bench/src/planted-path.ts';"],
  ['no-unresolved', 'cli/src/planted-nowhere.ts', "import './no-such-file.ts';"],
  ['no-cycles', 'core/src/planted-cycle-a.ts', "import type { B } from './planted-cycle-b.ts'; export type A = B;"],
];
/** The other half of the planted cycle: a cycle is reported once. */
const support = [
  ['core/src/planted-cycle-b.ts', "import type { A } from './planted-cycle-a.ts'; export type B = A | 1;"],
];
/** What the rules must let through. */
const allowed = [
  ['core/src/allowed.ts', "import 'zod'; import 'smol-toml'; import 'diff'; import '@eslint-community/regexpp';"],
  ['core/src/allowed.test.ts', "import 'node:fs'; import 'fast-check';"],
  ['cli/src/allowed.ts', "await import('@litterbox/providers'); export {};"],
  ['providers/src/allowed.ts', "await import('@litterbox/provider-overlayfs'); export {};"],
  ['linux-sandbox/src/allowed.ts', "import '@litterbox/core/provider'; import '@litterbox/sandbox-kit';"],
  ['provider-overlayfs/src/allowed.ts', "import '@litterbox/linux-sandbox'; import '@litterbox/sandbox-kit';"],
  ['host/src/allowed.ts', "import '@litterbox/core/provider'; import 'node:fs';"],
  ['host/test/allowed.test.ts', "import '@litterbox/conformance'; import '@litterbox/core';"],
  ['testing/test/allowed.test.ts', "import '@litterbox/conformance'; import '@litterbox/core';"],
  ['provider-overlayfs/test/allowed.test.ts', "import '@litterbox/host'; import '@litterbox/conformance';"],
];

const copy = mkdtempSync(join(tmpdir(), 'litterbox-boundaries-'));
const problems = [];
try {
  copyPackages();
  for (const [file, source] of [...allowed, ...support]) write(file, source);
  for (const [, file, source] of plants) write(file, source);
  const violations = cruise();
  for (const [rule, file] of plants)
    if (!violations.has(`${rule} ${join('packages', file)}`)) problems.push(`not reported: ${rule} in ${file}`);
  for (const [file] of allowed)
    for (const violation of violations)
      if (violation.endsWith(` ${join('packages', file)}`)) problems.push(`wrongly reported: ${violation}`);
  const { forbidden } = createRequire(import.meta.url)(config);
  for (const { name } of forbidden)
    if (!plants.some(([rule]) => rule === name)) problems.push(`no planted violation of rule ${name}`);
  publicTypes();
} finally {
  rmSync(copy, { recursive: true, force: true });
}
if (problems.length > 0) {
  console.error(`check-boundaries:\n${problems.join('\n')}`);
  process.exit(1);
}
console.log(`boundaries: ${plants.length} planted violations reported, ${allowed.length} allowed files passed`);

function copyPackages() {
  const modules = join(copy, 'node_modules');
  mkdirSync(join(modules, '@litterbox'), { recursive: true });
  for (const name of readdirSync(join(root, 'node_modules')))
    if (name !== '@litterbox' && name !== 'litterbox' && name !== '.bin' && name !== '.cache')
      symlinkSync(join(root, 'node_modules', name), join(modules, name));
  cpSync(join(root, 'package.json'), join(copy, 'package.json'));
  for (const name of readdirSync(join(root, 'packages'))) {
    const from = join(root, 'packages', name);
    if (!existsSync(join(from, 'package.json'))) continue;
    const to = join(copy, 'packages', name);
    mkdirSync(to, { recursive: true });
    cpSync(join(from, 'package.json'), join(to, 'package.json'));
    for (const part of ['src', 'test'])
      if (existsSync(join(from, part))) cpSync(join(from, part), join(to, part), { recursive: true });
    symlinkSync(to, join(modules, name === 'litterbox' ? name : `@litterbox/${name}`));
  }
  const planted = join(copy, 'packages', 'provider-planted');
  mkdirSync(join(planted, 'src'), { recursive: true });
  writeFileSync(join(planted, 'src', 'index.ts'), 'export {};\n');
  const exports = { '.': { '@litterbox/source': './src/index.ts' } };
  writeFileSync(join(planted, 'package.json'), JSON.stringify({ name: '@litterbox/provider-planted', exports }));
  symlinkSync(planted, join(modules, '@litterbox', 'provider-planted'));
}

function write(file, source) {
  const path = join(copy, 'packages', file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${source}\n`);
}

/** The reported violations of what was planted, and of what that reaches, each as "RULE FILE". */
function cruise() {
  const files = [...plants.map(([, file]) => file), ...[...allowed, ...support].map(([file]) => file)];
  const bin = join(root, 'node_modules', 'dependency-cruiser', 'bin', 'dependency-cruiser.mjs');
  const given = [...new Set(files.map((file) => join('packages', file)))];
  const run = spawnSync(process.execPath, [bin, '--config', config, '--output-type', 'json', ...given], {
    cwd: copy,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  if (!run.stdout.startsWith('{')) throw new Error(`dependency-cruiser: ${run.stderr}`);
  const { summary } = JSON.parse(run.stdout);
  return new Set(summary.violations.map(({ rule, from }) => `${rule.name} ${from}`));
}

function publicTypes() {
  const script = join(root, 'tools', 'check-public-types.mjs');
  const entry = join(copy, 'index.d.ts');
  writeFileSync(
    join(copy, 'inner.d.ts'),
    "import type { Container } from 'inversify';\nexport declare const c: Container;\n",
  );
  writeFileSync(entry, "export * from './inner.ts';\n");
  const leaky = spawnSync(process.execPath, [script, entry], { encoding: 'utf8' });
  if (leaky.status !== 1 || !leaky.stderr.includes("'inversify'")) problems.push('check-public-types missed a leak');
  writeFileSync(join(copy, 'inner.d.ts'), "/** import 'inversify' */\nexport declare const c: number;\n");
  execFileSync(process.execPath, [script, entry], { stdio: 'pipe' });
}
