// Proves that the attack tests can fail: opens one hole at a time in a throw-away copy of the checkout and demands that the
// tests concerned go red there, after they were green on the copy as it is.
// Usage: node tools/reopen-holes.mjs [--check] [NAME...]   --check only looks whether each hole can still be opened
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyCheckout } from './tests/copy-checkout.mjs';
import { ROOT } from './tests/test-files.mjs';

const OVERLAYFS = 'packages/provider-overlayfs/src';
const FILTERS = 'packages/linux-sandbox/src/kernel';
const GIT = 'packages/source-control-git/src';
const CORE = 'packages/core/src';
const MCP = 'packages/mcp/src';
const GATE = 'packages/network-gate/src';
const ENGINE = 'packages/container-engine/src';

/** A sandbox that lacks a control is refused: this lets it go on, so that the hole itself is met. */
const UNJUDGED = {
  file: 'packages/linux-sandbox/src/session/place-session.ts',
  guard: 'if (missing.length > 0 &&',
  hole: 'if (missing.length < 0 &&',
};

/** Where the tests are of holes that do not say so. */
const ATTACKS = 'packages/hardening/test/attacks/';

/**
 * `times`: how often the guard stands in the file, once unless it says so. `rootOnly`: its tests exist for root alone. `at`: the file of its
 * tests.
 *
 * @typedef {{ file: string, guard: string, hole: string, times?: number }} Edit
 * @type {readonly (Edit & { name: string, also?: Edit, rootOnly?: boolean, at?: string, tests: readonly string[] })[]}
 */
const HOLES = [
  {
    name: 'decision-on-another-state',
    file: `${CORE}/use-cases/review/accept-work.ts`,
    guard: '    if (basis !== undefined && since.length > 0) await',
    hole: '    if (basis !== undefined && since.length < 0) await',
    tests: ['AX90: what a program', 'AX92: '],
  },
  {
    name: 'look-without-the-workspace',
    file: `${CORE}/use-cases/review/look-at-sandbox.ts`,
    guard: '      const unrecorded = await this.#needs.settleSandbox.settle(record, options);',
    hole: '      const unrecorded = record.unrecorded;',
    tests: ['AX90: a diff shows'],
  },
  {
    name: 'secrets-of-the-working-tree',
    file: `${GIT}/base/find-secret-files.ts`,
    guard: '  const holds = secretByName(text);',
    hole: "  const holds = secretByName('');",
    tests: ['AX74: '],
  },
  {
    name: 'forms-of-secrets',
    file: `${CORE}/domain/secrets/secret-files.ts`,
    guard: 'const text = textOf(start.subarray(0, SECRET_LOOK_BYTES));',
    hole: 'const text = textOf(start.subarray(0, 0));',
    tests: ['AX104: ', 'AX103: '],
  },
  {
    name: 'tokens-of-tools',
    file: `${OVERLAYFS}/session/look-at-host.ts`,
    guard: '    ...credentialsPlan(directories),\n',
    hole: '    ...(void credentialsPlan, []),\n',
    tests: ['AX105: '],
  },
  {
    name: 'uncommitted-bases',
    file: `${CORE}/use-cases/decide/spec-of.ts`,
    guard: '? UNCOMMITTED : ',
    hole: "? '' : ",
    tests: ['AX106: '],
  },
  {
    name: 'links-out-of-the-working-tree',
    file: 'packages/linux-sandbox/src/artefacts/artefact-script.ts',
    guard: 'do [ ! -h "$lb_path" ] ||',
    hole: 'do true ||',
    also: {
      file: 'packages/linux-sandbox/src/artefacts/artefact-script.ts',
      guard: 'ro,nosymfollow',
      hole: 'ro',
    },
    tests: ['AX75: '],
  },
  {
    name: 'special-files-of-the-working-tree',
    file: 'packages/linux-sandbox/src/artefacts/artefact-script.ts',
    guard: 'find . ! -type f ! -type d ! -type l -exec rm -f {} + && ',
    hole: '',
    tests: ['AX77: '],
  },
  {
    name: 'sockets',
    file: 'packages/linux-sandbox/src/kernel/socket-protocols.ts',
    guard: '  { family: 2, protocols: INTERNET },',
    hole: '  { family: 17, protocols: INTERNET },\n  { family: 2, protocols: INTERNET },',
    tests: ['A46: of all address families'],
  },
  {
    name: 'sockets-of-the-host',
    file: `${OVERLAYFS}/session/session-plan.ts`,
    guard: '    ...detachSteps(trees, tools, isRoot),\n',
    hole: '    ...(void detachSteps, []),\n',
    tests: ['AX35: what lives in a tool directory'],
  },
  {
    name: 'sockets-of-root',
    file: `${OVERLAYFS}/session/look-at-host.ts`,
    guard: 'isMachine ? programSockets(host, machine, options) : [],',
    hole: '(void programSockets, []),',
    rootOnly: true,
    tests: ['AX35: a socket that root has'],
  },
  {
    name: 'foreign-calls',
    file: `${FILTERS}/seccomp-filter.ts`,
    guard: 'add(RETURN, KILL_PROCESS); // a 32-bit program',
    hole: 'add(RETURN, ALLOW); // a 32-bit program',
    tests: ['A46: programs of a foreign'],
  },
  {
    name: 'io-uring',
    file: `${FILTERS}/seccomp-filter.ts`,
    guard: '  absent: [425, 426, 427, 435, 206, 447],\n  clone: 56,',
    hole: '  absent: [435],\n  clone: 56,',
    tests: ['A47:'],
  },
  {
    name: 'no-filter',
    also: UNJUDGED,
    file: `${OVERLAYFS}/session/session-plan.ts`,
    guard: "      '--seccomp',\n      '9',\n",
    hole: '',
    tests: ['A43:', 'AX7:'],
  },
  {
    name: 'environment',
    also: UNJUDGED,
    file: `${OVERLAYFS}/session/bwrap-arguments.ts`,
    guard: "  '--clearenv',\n",
    hole: "  '--setenv',\n  'LB_CANARY_ENV',\n  'leaks',\n",
    tests: ['A42:'],
  },
  {
    name: 'network',
    also: UNJUDGED,
    file: `${OVERLAYFS}/session/bwrap-arguments.ts`,
    guard: "  '--unshare-net',\n",
    hole: '',
    rootOnly: true, // in a network of its own: elsewhere it would reach the true one
    tests: ['A79: on a machine with an open network'],
  },
  {
    name: 'user',
    also: UNJUDGED,
    file: `${OVERLAYFS}/session/session-plan.ts`,
    guard: "['user', `${SANDBOX_USER.uid}`, `${SANDBOX_USER.gid}`]",
    hole: "(void SANDBOX_USER, ['user', '1', '1'])",
    tests: ['A41:'],
  },
  {
    name: 'descriptors',
    also: UNJUDGED,
    file: 'packages/host/src/spawn-local.ts',
    guard: 'if (descriptors.length === 0) return argv;',
    hole: 'if (descriptors.length >= 0) return argv;',
    tests: ['A49: only descriptors'],
  },
  {
    name: 'process-one',
    also: UNJUDGED,
    file: `${OVERLAYFS}/session/bwrap-arguments.ts`,
    guard: "  '--as-pid-1',\n",
    hole: '',
    tests: ['AX26:'],
  },
  {
    name: 'git-directories',
    file: `${GIT}/objects/path-rules.ts`,
    guard: 'if (!/[gG\\\\]/.test(name)) return false;',
    hole: 'return false;',
    tests: ['A01:', 'A03:', 'AX1:'],
  },
  {
    name: 'hooks',
    times: 2,
    file: `${GIT}/git/git-settings.ts`,
    guard: "  'core.hooksPath=/dev/null',\n",
    hole: '',
    tests: ['A18:'],
  },
  {
    name: 'git-environment',
    file: `${GIT}/git/run-git.ts`,
    guard: '        ...call.environment,\n',
    hole: '        ...process.env,\n        ...call.environment,\n',
    tests: ['A17:'],
  },
  {
    name: 'links-that-git-reads',
    file: `${GIT}/objects/path-rules.ts`,
    guard: 'if (!/[gGmM]/.test(name)) return false;',
    hole: 'return false;',
    tests: ['A13:'],
  },
  {
    name: 'risky-files',
    file: `${GIT}/integrate/risky-changes.ts`,
    guard: 'const reasons = new Set(whatRunsLater(path));',
    hole: 'const reasons = new Set(whatRunsLater(path).slice(0, 0));',
    tests: ['A10:', 'A23:', 'AX33:'],
  },
  {
    name: 'hidden-names',
    file: `${GIT}/integrate/risky-changes.ts`,
    guard: 'else if (reasons.size === 0 && HIDDEN.test(path)',
    hole: 'else if (reasons.size < 0 && HIDDEN.test(path)',
    tests: ['AX122:'],
  },
  {
    name: 'order-of-risks',
    file: `${CORE}/domain/paths/grouped-risks.ts`,
    guard: '.toSorted(([a], [b]) => rankOf(a) - rankOf(b))',
    hole: '.toSorted(([a], [b]) => rankOf(b) - rankOf(a))',
    tests: ['AX123:'],
  },
  {
    name: 'named-by-git',
    file: `${GIT}/integrate/risky-changes.ts`,
    guard: 'if (byGit !== undefined) reasons.add(byGit);',
    hole: 'if (byGit !== undefined) reasons.delete(byGit);',
    tests: ['AX32: files'],
  },
  {
    name: 'own-filters',
    file: `${GIT}/integrate/execute-plan.ts`,
    guard: '  await requireSteadyFilters(user, token, signal);',
    hole: '  void requireSteadyFilters;',
    tests: ['AX32: a filter'],
  },
  {
    name: 'inherited-trust',
    file: `${GIT}/repository-registry.ts`,
    guard: 'if (pins.length === 0) return false;',
    hole: 'if (pins.length === 0) return true;',
    tests: ['AX34:'],
  },
  {
    name: 'own-programs',
    file: 'packages/host/src/local-host.ts',
    guard: "PATH: findPrograms().join(':')",
    hole: "PATH: pathOf(process.env['PATH']).join(':')",
    tests: ['AX31:'],
  },
  {
    name: 'escape-codes',
    file: 'packages/core/src/domain/text/visible.ts',
    guard: 'return text.replace(UNSEEN, (character) =>',
    hole: 'return text.replace(/\\0/g, (character) =>',
    tests: ['A22: escape codes'],
  },
  {
    name: 'names-of-many-lines',
    file: 'packages/core/src/domain/text/visible.ts',
    guard: 'const escaped = name.replace(UNSEEN_IN_NAMES, escapeOf);',
    hole: 'const escaped = visible(name);',
    tests: ['AX24:'],
  },
  {
    name: 'bases-of-agents',
    file: `${GIT}/person/resolve-commit.ts`,
    guard: "asker === 'agent' ? resolveHeld(user, name, call)",
    hole: 'user === undefined ? resolveHeld(user, name, call)',
    tests: ['AX20:'],
  },
  {
    name: 'pointers-of-agents',
    file: `${GIT}/large-files/find-large-files.ts`,
    guard: 'if (await isOfPerson(user, store, commit, call)) {',
    hole: 'if ((await isOfPerson(user, store, commit, call)) || true) {',
    tests: ['AX102:'],
  },
  {
    name: 'contents-behind-pointers',
    file: `${GIT}/integrate/written-files.ts`,
    guard: 'if (sizeBytes === undefined) continue;',
    hole: 'if (sizeBytes !== null) continue;',
    tests: ['AX100:'],
  },
  {
    name: 'contents-by-milestones',
    file: `${GIT}/publish/cut-milestone.ts`,
    guard: 'const tree = await checkedIn.of(tip.tree);',
    hole: 'const tree = await checkedIn.of(tip.tree);\n      await CheckedInTrees.place(store, user, [...checkedIn.contents.values()], signal);',
    tests: ['AX101:'],
  },
  {
    name: 'network-of-the-setup',
    file: 'packages/core/src/use-cases/decide/policy-for-base.ts',
    guard: 'if (isPersons || !hasWays) return policy;',
    hole: 'if (isPersons || network) return policy;',
    tests: ['AX21:'],
  },
  {
    name: 'kept-setups-of-agents',
    file: 'packages/core/src/use-cases/decide/setup-keys.ts',
    guard: 'if (!isShared || isWithheld) return own;',
    hole: 'if (isWithheld) return own;',
    tests: ['AX22:'],
  },
  {
    name: 'exported-trees',
    file: `${GIT}/publish/export-place.ts`,
    guard: 'await symlink(this.#links, this.#place);',
    hole: "await (await import('node:fs/promises')).cp(this.files, this.#place, { recursive: true });",
    tests: ['AX23:'],
  },
  {
    name: 'trailers',
    file: 'packages/core/src/use-cases/review/cut-milestone.ts',
    guard: 'const checked = milestoneMessage(message);',
    hole: 'const checked = (milestoneMessage(message), message);',
    tests: ['A14:'],
  },
  {
    name: 'tool-arguments',
    file: `${OVERLAYFS}/session/bwrap-arguments.ts`,
    guard: "    '--args',\n    `${ARGUMENTS}`,\n",
    hole: "    '--args',\n    `${ARGUMENTS}`,\n    '--setenv',\n    'LEAK',\n    globalThis.process.env['LB_CANARY_ENV'] ?? '',\n",
    tests: ['A89:'],
  },
  {
    name: 'mcp-bound-names',
    file: `${MCP}/make-offer.ts`,
    guard: '      if (sandbox !== undefined) return [sandbox];\n',
    hole: '',
    tests: ['A35: over MCP'],
  },
  {
    name: 'mcp-bound-texts',
    file: `${MCP}/build-server.ts`,
    guard: '    only === undefined\n',
    hole: '    only !== null\n',
    tests: ['A35: over MCP'],
  },
  {
    name: 'mcp-bound-tools',
    file: `${CORE}/operations/tools/agent-tools.ts`,
    guard: "{ ...given, sandbox: boundSandbox(only, given['sandbox']) }",
    hole: '{ sandbox: only, ...given }',
    tests: ['A35: over MCP'],
  },
  {
    name: 'mcp-bound-hint',
    file: `${CORE}/operations/tools/bound-sandbox.ts`,
    guard: "if (!isLitterboxError(error, 'SANDBOX_NOT_FOUND')) throw error;",
    hole: 'throw error;',
    tests: ['A35: over MCP'],
  },
  {
    name: 'mcp-arguments',
    file: `${CORE}/operations/tools/sandbox-create.ts`,
    guard: 'input: z.strictObject({',
    hole: 'input: z.object({',
    tests: ['A37: over MCP'],
  },
  {
    name: 'mcp-links',
    file: `${CORE}/inside/walk-files.ts`,
    guard: '${ENTER}find . ',
    hole: '${ENTER}find -L . ',
    times: 2,
    tests: ['A27: over MCP'],
  },
  {
    name: 'mcp-pipes',
    file: `${CORE}/inside/file-contents.ts`,
    guard: '[ -f "$1" ] || exit 42\n',
    hole: '',
    tests: ['A29: over MCP'],
  },
  {
    name: 'mcp-options',
    file: `${CORE}/use-cases/work/search-files.ts`,
    guard: '-e "$p" --`',
    hole: '"$p"`',
    tests: ['A33: over MCP'],
  },
  {
    name: 'mcp-patterns',
    file: `${CORE}/domain/search/glob-pattern.ts`,
    guard: 'if (count > MAX_ALTERNATIVES || length > MAX_EXPANDED)',
    hole: 'if (count < 0)',
    tests: ['A31: over MCP'],
  },
  {
    name: 'mcp-git-directory',
    file: `${CORE}/domain/paths/agent-path.ts`,
    guard: 'workspacePath(workdir, aliased, options); // once more',
    hole: 'workspacePath(workdir, aliased); // once more',
    tests: ['A26: over MCP'],
  },
  {
    name: 'mcp-names',
    file: `${CORE}/operations/tools/text/name-text.ts`,
    guard: 'visibleName(path, Number.POSITIVE_INFINITY)',
    hole: 'path',
    tests: ['A38: over MCP'],
  },
  {
    name: 'mcp-progress',
    file: `${MCP}/report-progress.ts`,
    guard: 'say(visible(line)',
    hole: 'say(line',
    tests: ['A38: over MCP'],
  },
  {
    name: 'mcp-environment',
    file: `${MCP}/call-tool.ts`,
    guard: "text.map((part) => ({ type: 'text' as const, text: part }))",
    hole: "text.map((part) => ({ type: 'text' as const, text: part + btoa(process.env['LB_CANARY_ENV'] ?? '') }))",
    tests: ['A26: over MCP'],
  },
  {
    name: 'gate-addresses',
    file: `${GATE}/reach-host.ts`,
    guard: 'reach.isPublic(address) && !isOwn(address) &&',
    hole: '(reach.isPublic(address) || !isOwn(address)) &&',
    rootOnly: true,
    tests: ['A82:'],
  },
  {
    name: 'gate-server-names',
    file: `${GATE}/gate-connection.ts`,
    guard: 'hello.serverName !== destination.host',
    hole: 'hello.serverName === undefined',
    rootOnly: true,
    tests: ['A83:'],
  },
  {
    name: 'environment-in-arguments',
    file: `${OVERLAYFS}/session/bwrap-arguments.ts`,
    guard: "    '--args',\n    `${ARGUMENTS}`,\n",
    hole: "    '--args',\n    `${ARGUMENTS}`,\n    ...Object.entries(meta.environment).flatMap(([name, value]) => ['--setenv', name, value]),\n",
    at: 'packages/provider-overlayfs/test/overlay.conformance.test.ts',
    tests: ["what is in a sandbox's environment is in no process's arguments"],
  },
  {
    name: 'connections-without-a-token',
    file: `${MCP}/unknown-connections.ts`,
    guard: 'oldest?.destroy();',
    hole: '(oldest, socket).destroy();',
    at: 'packages/mcp/test/http.test.ts',
    tests: ['AX125:'],
  },
  {
    name: 'files-of-a-revision',
    file: `${GIT}/record/collect-files.ts`,
    guard: 'if (scanned.candidates.size > MAX_FILES) await',
    hole: 'if (scanned.candidates.size < 0) await',
    at: 'packages/source-control-git/test/load.test.ts',
    tests: ['AX126:'],
  },
  {
    name: 'path-of-the-image',
    file: `${ENGINE}/container/container-options.ts`,
    guard: '  const own = entries.filter((directory) => !isWritable(directory));\n',
    hole: '  const own = entries;\n',
    rootOnly: true,
    at: 'packages/provider-docker/test/hardening.test.ts',
    tests: ['AX127:'],
  },
  {
    name: 'kernel-files-of-containers',
    file: `${ENGINE}/container/container-options.ts`,
    guard: 'MaskedPaths: [...MASKED_PATHS],',
    hole: "MaskedPaths: ['/proc/keys'],",
    rootOnly: true,
    at: 'packages/provider-docker/test/busybox.conformance.test.ts',
    tests: ["the kernel's files tell nothing"],
  },
  {
    name: 'mounts-of-containers',
    file: 'packages/provider-podman/src/podman.ts',
    guard: "bindOptions: 'nosuid,nodev',",
    hole: "bindOptions: 'exec',",
    rootOnly: true,
    at: 'packages/provider-podman/test/mounts.test.ts',
    tests: ['AX129:'],
  },
  {
    name: 'names-of-installed-images',
    file: `${ENGINE}/sandbox/installed-images.ts`,
    guard: 'return note !== undefined && decodeRaw(note) === name ? id : undefined;',
    hole: 'return note === undefined || decodeRaw(note) === name ? id : undefined;',
    rootOnly: true,
    at: 'packages/litterbox/test/install.test.ts',
    tests: ['AX130:'],
  },
  {
    name: 'links-of-images',
    file: `${ENGINE}/container/container-facts.ts`,
    guard: '    if (fault === undefined) return;',
    hole: '    if (fault !== null) return;',
    at: 'packages/provider-docker/test/hardening',
    tests: ['AX131:'],
  },
];

/** The engine of the tests, not that of who runs them. */
const DOCKER_HOST = 'unix:///var/lib/litterbox-test/run/docker.sock';

const isCheck = process.argv.includes('--check');
const wanted = process.argv.slice(2).filter((word) => word !== '--check');
for (const name of wanted) {
  if (!HOLES.some((hole) => hole.name === name)) {
    console.error(`reopen-holes: no hole called ${name}; there are: ${HOLES.map((hole) => hole.name).join(', ')}`);
    process.exit(2);
  }
}
const holes = HOLES.filter(
  ({ name, rootOnly }) => (wanted.length === 0 || wanted.includes(name)) && !(rootOnly && process.getuid?.() !== 0),
);

const lost = HOLES.flatMap(({ name, also, ...edit }) =>
  (also ? [edit, also] : [edit])
    .filter(({ file, guard, times = 1 }) => sourceOf(file).split(guard).length !== times + 1)
    .map(({ file, guard }) => `${name}: ${file} does not hold ${guard}`),
);
for (const problem of lost) console.error(`reopen-holes: ${problem}`);
if (lost.length > 0 || isCheck) process.exit(lost.length > 0 ? 1 : 0);

const copy = mkdtempSync(join(tmpdir(), 'litterbox-holes-'));
const problems = [];
try {
  copyCheckout(copy);
  for (const at of new Set(holes.map((hole) => hole.at))) {
    const all = [...new Set(holes.filter((hole) => hole.at === at).flatMap(({ tests }) => tests))];
    const asItIs = run(all, at);
    if (asItIs.failed !== 0 || asItIs.passed < all.length) problems.push(`as it is: ${told(asItIs)}`);
  }
  for (const { name, also, tests, at, ...edit } of problems.length > 0 ? [] : holes) {
    const before = new Map();
    for (const { file, guard, hole } of also ? [edit, also] : [edit]) {
      const source = readFileSync(join(copy, file), 'utf8');
      if (!before.has(file)) before.set(file, source); // the second edit may be in the same one
      writeFileSync(
        join(copy, file),
        source.replaceAll(guard, () => hole),
      );
    }
    const opened = run(tests, at);
    for (const [file, source] of before) writeFileSync(join(copy, file), source);
    const isRed = opened.passed === 0 && opened.failed === tests.length;
    console.log(`${isRed ? 'red' : 'NOT RED'}  ${name}: ${told(opened)} (${tests.join(', ')})`);
    if (!isRed) problems.push(`${name} is open, and of its tests ${told(opened)}`);
  }
} finally {
  rmSync(copy, { recursive: true, force: true });
}
if (problems.length > 0) {
  console.error(`reopen-holes:\n${problems.join('\n')}`);
  process.exit(1);
}
console.log(`holes: ${holes.length} opened, every one seen`);

/** Empty where there is no such file. */
function sourceOf(file) {
  return existsSync(join(ROOT, file)) ? readFileSync(join(ROOT, file), 'utf8') : '';
}

/**
 * @param {readonly string[]} tests @param {string} [at]
 * @returns {{ passed: number, failed: number, output: string }}
 */
function run(tests, at = ATTACKS) {
  const results = join(copy, 'results');
  writeFileSync(results, '');
  const pattern = tests.map((title) => title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|');
  const jest = [
    join(ROOT, 'node_modules/jest/bin/jest.js'),
    '-c',
    'jest.config.mjs',
    '--selectProjects',
    at.split('/')[1],
  ];
  const { stderr, stdout } = spawnSync(
    process.execPath,
    [...jest, '--runInBand', '--testPathPatterns', at, '-t', `(^| )(${pattern})`],
    {
      cwd: copy,
      encoding: 'utf8',
      timeout: 3_600_000, // all of them on a busy machine
      env: {
        ...process.env,
        DOCKER_HOST,
        ...(at.startsWith('packages/litterbox/') && { LITTERBOX_TEST_PROVIDER: 'docker' }), // only images are installed into
        NODE_OPTIONS: '--experimental-vm-modules --no-warnings',
        LITTERBOX_TEST_RESULTS: results,
        LITTERBOX_JEST_CACHE: join(copy, 'cache'),
      },
    },
  );
  // One row for each file, those too of which no test is among them.
  const rows = readFileSync(results, 'utf8').split('\n').filter(Boolean);
  const sums = { passed: 0, failed: rows.length === 0 ? -1 : 0 };
  for (const row of rows.map((text) => JSON.parse(text))) {
    sums.passed += row.passed;
    sums.failed += row.failed;
  }
  return { ...sums, output: stdout + stderr };
}

function told({ passed, failed, output }) {
  if (failed < 0) return `none ran:\n${output.slice(-2000)}`;
  const reasons = [
    ...output.matchAll(/^ +[+-] (?!Expected|Received) +(.+)$|^ +(Expected.*:.*|Received.*:.*|\w*Error: .*)$/gm),
  ];
  const shown = reasons.slice(0, 2).map(([line]) => line.trim().slice(0, 100));
  return `${failed} failed, ${passed} passed${shown.length > 0 ? `: ${shown.join(' … ')}` : ''}`;
}
