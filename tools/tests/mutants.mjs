// Plants one fault at a time in a copy of this checkout and runs the parts of the gate that should see it: npm run test:mutants
// usage: mutants.mjs [--check] [NUMBER...]   --check only looks whether each fault can still be planted
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyCheckout } from './copy-checkout.mjs';
import { PARTS } from './parts.mjs';
import { prepareMachine } from './prepare-machine.mjs';
import { ROOT } from './test-files.mjs';

/** How many of the faults the gate may miss. */
const MAY_MISS = 2;

/** @type {readonly { file: string, from: string, to: string, parts: readonly string[] }[]} */
const MUTANTS = [
  { file: 'core/src/domain/sandbox/slug.ts', from: ".replace(/^-+|-+$/g, '')", to: '', parts: ['fast-core'] },
  {
    file: 'core/src/domain/patch/apply-patch.ts',
    from: "if (isEqual(current, content)) return { type: 'already-applied' };",
    to: '',
    parts: ['fast-core'],
  },
  { file: 'core/src/config/settings/parse-byte-size.ts', from: 'GiB: 2 ** 30', to: 'GiB: 1e9', parts: ['fast-rest'] },
  {
    file: 'core/src/use-cases/create/make-sandbox.ts',
    from: 'if (!isKept) await this.undo(repository, provider, draft.id, pooled);',
    to: '',
    parts: ['fast-rest'],
  },
  {
    file: 'core/src/use-cases/review/list-sandboxes.ts',
    from: "? 'unreachable' : 'error'",
    to: "? 'missing' : 'error'",
    parts: ['fast-rest'],
  },
  {
    file: 'core/src/use-cases/record/record-revision.ts',
    from: '{ mark: scan.next, ',
    to: '{ ',
    parts: ['fast-rest', 'main-job-overlay'],
  },
  {
    file: 'core/src/use-cases/record/without-artefacts.ts',
    from: 'if (!isWithinAny(change.path, include)) yield change;',
    to: 'yield change;',
    parts: ['fast-rest'],
  },
  {
    file: 'source-control-git/src/base/find-secret-files.ts',
    from: 'const holds = secretByName(text);',
    to: "const holds = secretByName('');",
    parts: ['git'],
  },
  {
    file: 'core/src/use-cases/review/accept-risky.ts',
    from: 'if (risky.length === 0 || isAccepted) return;',
    to: 'if (risky.length >= 0) return;',
    parts: ['fast-rest', 'main-job-overlay'],
  },
  { file: 'core/src/channel/kill-tree.ts', from: 'kill -KILL $lb_p', to: 'kill -CONT $lb_p', parts: ['kit-overlay'] },
  { file: 'network-gate/src/is-public-address.ts', from: "['10.0.0.0', 8],", to: '', parts: ['fast-rest'] },
  {
    file: 'source-control-git/src/objects/path-rules.ts',
    from: "else if (isGitLike(name)) fault = 'PATH_GIT_DIR';",
    to: '',
    parts: ['git', 'attacks-gate'],
  },
  {
    file: 'source-control-git/src/integrate/execute-plan.ts',
    from: 'if (now !== plan.head) throw headMoved(plan.head);',
    to: '',
    parts: ['git', 'faults-gate'],
  },
  {
    file: 'state-sqlite/src/sandbox-records.ts',
    from: 'if (current.generation !== record.generation) {',
    to: 'if (false) {',
    parts: ['adapters'],
  },
  {
    file: 'state-sqlite/src/leases.ts',
    from: 'if (file.lock.tryLock()) {',
    to: 'if (file.lock.tryLock() || true) {',
    parts: ['adapters'],
  },
  {
    file: 'host/src/local-files.ts',
    from: 'constants.O_EXCL | constants.O_NOFOLLOW',
    to: 'constants.O_EXCL',
    parts: ['adapters'],
  },
  {
    file: 'source-control-git/src/person/persons-commits.ts',
    from: 'signingKey === undefined ? [] :',
    to: 'true ? [] :',
    parts: ['git'],
  },
  {
    file: 'provider-overlayfs/src/session/bwrap-arguments.ts',
    from: "  '--unshare-net',\n",
    to: '',
    parts: ['kit-overlay'],
  },
  {
    file: 'provider-overlayfs/src/machine/cgroup.ts',
    from: "echo ${limits.memoryBytes} >${at('memory', 'memory.limit_in_bytes')}",
    to: "echo ${limits.memoryBytes * 100} >${at('memory', 'memory.limit_in_bytes')}",
    parts: ['kit-overlay'],
  },
  {
    file: 'container-engine/src/container/container-options.ts',
    from: "SecurityOpt: ['no-new-privileges', ",
    to: 'SecurityOpt: [',
    parts: ['kit-docker-gate'],
  },
  {
    file: 'container-engine/src/container/container-options.ts',
    from: 'ReadonlyRootfs: !isInstaller',
    to: 'ReadonlyRootfs: false',
    parts: ['kit-docker-gate'],
  },
  {
    file: 'mcp/src/error-result.ts',
    from: '`${code}: ${hidden(message, places)}',
    to: '`${hidden(message, places)}',
    parts: ['main-job-overlay', 'faults-gate'],
  },
  { file: 'cli/src/exit-code.ts', from: 'ERROR_CODES[error.code] : 70', to: '1 : 70', parts: ['command-line'] },
];

const numbers = process.argv
  .slice(2)
  .filter((word) => word !== '--check')
  .map(Number);
const chosen = MUTANTS.filter((_, index) => numbers.length === 0 || numbers.includes(index + 1));
const pathOf = (file, top = ROOT) => join(top, 'packages', file);

const lost = MUTANTS.flatMap(({ file, from, parts }) => [
  ...(readFileSync(pathOf(file), 'utf8').split(from).length === 2 ? [] : [`${file} holds not once: ${from}`]),
  ...parts
    .filter((name) => !PARTS.some((part) => part.name === name && part.layer !== 'deep'))
    .map((name) => `the gate has no part ${name}`),
]);
for (const problem of lost) console.error(`mutants: ${problem}`);
if (lost.length > 0 || process.argv.includes('--check')) process.exit(lost.length > 0 ? 1 : 0);

prepareMachine();
const copy = mkdtempSync(join(tmpdir(), 'litterbox-mutants-'));
process.once('exit', () => rmSync(copy, { recursive: true, force: true }));
copyCheckout(copy, { withBuild: true });
const environment = { ...process.env };
delete environment.LITTERBOX_TEST_BUILT;

/** @returns {string | undefined} what the part says of its first failure; nothing when it is green */
function failureOf(name) {
  const { status, stdout } = spawnSync(process.execPath, ['tools/tests/one.mjs', name], {
    cwd: copy,
    env: environment,
    encoding: 'utf8',
  });
  return status === 0 ? undefined : (/^FAILED .*$/m.exec(stdout)?.[0] ?? stdout.slice(-500));
}

// A part that is red without a fault would see every one.
for (const name of new Set(chosen.flatMap(({ parts }) => parts))) {
  const failure = failureOf(name);
  if (failure === undefined) continue;
  console.error(`mutants: ${name} is red without any fault: ${failure}`);
  process.exit(1);
}

let missed = 0;
for (const mutant of chosen) {
  const { file, from, to, parts } = mutant;
  const path = pathOf(file, copy);
  const text = readFileSync(path, 'utf8');
  writeFileSync(
    path,
    text.replace(from, () => to),
  );
  const startMs = performance.now();
  let seen;
  for (const name of parts) if ((seen = failureOf(name))) break;
  writeFileSync(path, text);
  if (!seen) missed += 1;
  const number = String(MUTANTS.indexOf(mutant) + 1).padStart(2);
  const seconds = Math.round((performance.now() - startMs) / 1000);
  console.log(
    `${number} ${seen ? 'seen' : 'MISSED'} after ${seconds} s: ${file}: ${from.trim()}${seen ? `\n   ${seen}` : ''}`,
  );
}
console.log(`mutants: the gate sees ${chosen.length - missed} of ${chosen.length}`);
process.exitCode = missed > MAY_MISS ? 1 : 0;
