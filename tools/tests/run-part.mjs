import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runCommand } from './run-command.mjs';
import { filesOf, projectsOf, ROOT } from './test-files.mjs';

/** Where output and results of a run are kept until the next run. */
export const OUTPUT = join(ROOT, 'test-output');
const LIMIT_SECONDS = 2700;
const BASE = '/var/lib/litterbox-test';
const isRoot = process.getuid() === 0;

/**
 * @typedef {object} FileResult What a test file, or a step of a part that is no test file, came to.
 * @property {string} file @property {number} passed @property {number} failed @property {number} skipped @property {number} seconds
 * @property {readonly { title: string, message: string }[]} failures
 * @property {readonly { title: string, milliseconds: number, programs: number }[]} tests `programs`: how many its process started
 */

/**
 * Runs a part of the tests: `files` of it in jest, or its `command`.
 *
 * @param {import('./parts.mjs').Part} part
 * @param {{ files?: readonly string[], titles?: readonly string[], seed: number, name?: string }} options `files` and `titles` narrow the part,
 * `name` names the run in the output directory
 * @returns {Promise<{ results: FileResult[], seconds: number, log: string }>}
 */
export async function runPart(part, { files = filesOf(part), titles = part.titles, seed, name = part.name }) {
  const log = join(OUTPUT, `${name}.log`);
  const rows = join(OUTPUT, `${name}.jsonl`);
  mkdirSync(dirname(log), { recursive: true });
  rmSync(log, { force: true });
  writeFileSync(rows, '');
  chmodSync(rows, 0o666);
  const isUser = part.as === 'user' && isRoot;
  const start = performance.now();
  const env = environment(part, seed);
  const command = part.machine
    ? machineCommand(part.machine, env, jestCommand(files, titles))
    : [
        ...(part.cluster ? ['sh', 'tools/kubernetes/cluster.sh', part.cluster, '--'] : []),
        ...(part.hasMachineBeside ? ['sh', 'tools/test-vm.sh', 'ssh', '--'] : []),
        ...(part.command ?? jestCommand(files, titles)),
      ];
  const { code, isLate } = await runCommand(
    isUser ? ['sh', join(ROOT, 'tools/tests/as-ordinary-user.sh'), ROOT, ...command] : command,
    {
      cwd: ROOT,
      log,
      limitSeconds: part.limitSeconds ?? LIMIT_SECONDS,
      env: {
        ...env,
        LITTERBOX_TEST_RESULTS: isUser ? `/opt/litterbox-checkout/test-output/${name}.jsonl` : rows,
      },
    },
  );
  const seconds = (performance.now() - start) / 1000;
  if (part.machine) writeFileSync(rows, toldRows(log));
  const results = readRows(rows);
  const missing = part.command ? [] : files.filter((file) => !results.some((result) => result.file === file));
  for (const file of missing)
    results.push(
      brokenResult(
        file,
        isLate
          ? `The part was ended after ${part.limitSeconds ?? LIMIT_SECONDS} s.`
          : `Jest ended with ${code} and without this file.`,
      ),
    );
  if (code !== 0 && results.every(({ failed }) => failed === 0))
    results.push(brokenResult(part.name, tailOf(log, `It ended with ${code}.`)));
  const ran = results.flatMap(({ tests }) => tests);
  // A title that finds nothing is a test that was renamed. One file alone need not have them all.
  for (const title of files.length === filesOf(part).length ? (titles ?? []) : [])
    if (!ran.some((test) => new RegExp(title, 'i').test(test.title)))
      results.push(brokenResult(part.name, `No test is titled ${title}.`));
  if (code === 0 && results.length === 0)
    results.push({ ...brokenResult(part.name, ''), passed: 1, failed: 0, failures: [] });
  return { results, seconds, log };
}

/** @returns {FileResult} */
const brokenResult = (file, message) => ({
  file,
  passed: 0,
  failed: 1,
  skipped: 0,
  seconds: 0,
  failures: [{ title: '', message }],
  tests: [],
});

const jestCommand = (files, titles) => [
  'jest',
  '-c',
  'jest.config.mjs',
  '--runInBand',
  '--selectProjects',
  ...projectsOf(files),
  ...(titles ? ['--testNamePattern', titles.join('|')] : []),
  '--runTestsByPath',
  ...files,
];

/** The command in a second machine, which has no file of this one's. */
const machineCommand = (machine, env, command) => [
  'sh',
  'tools/test-vm.sh',
  'run',
  `--${machine}`,
  '--',
  'env',
  ...['LITTERBOX_REQUIRE', 'LITTERBOX_SEED', 'NODE_OPTIONS'].map((name) => `${name}=${env[name] ?? ''}`),
  'sh',
  'tools/test-vm/inside/told-results.sh',
  ...command,
];

/** What `told-results.sh` told among the output of a part. */
const toldRows = (log) =>
  readFileSync(log, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('results: '))
    .map((line) => `${line.slice('results: '.length).trim()}\n`)
    .join('');

function environment({ env, as }, seed) {
  const run = {
    ...process.env,
    NODE_OPTIONS: '--experimental-vm-modules --no-warnings',
    // The engines of the tests, not those of who runs them.
    DOCKER_HOST: `unix://${BASE}/run/docker.sock`,
    CONTAINER_HOST: `unix://${BASE}/run/podman.sock`,
    LITTERBOX_SEED: String(seed),
    ...env,
  };
  if (as === 'user' || !isRoot) {
    delete run.DOCKER_HOST;
    delete run.CONTAINER_HOST;
  }
  if (as === 'user' && isRoot) run.LITTERBOX_JEST_CACHE = '/tmp/litterbox-jest-cache-user';
  return run;
}

const readRows = (file) =>
  existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
    : [];

const tailOf = (log, head) => `${head}\n${readFileSync(log, 'utf8').split('\n').slice(-25).join('\n')}`;
