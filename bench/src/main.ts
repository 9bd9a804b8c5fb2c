// npm run bench [-- --quick] [--keep] [--only create,run] [--check]
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { benchOn, SCALES, type Scenario } from './bench.ts';
import { regressions } from './compare-runs.ts';
import { Findings, mergedRun, type Run, type Runs } from './findings.ts';
import { inBench, mountGround, runApart } from './ground.ts';
import { loadOf, machineFacts } from './machine.ts';
import { timed } from './measure.ts';
import { GIT_ENVIRONMENT } from './processes.ts';
import { reportOf, verdictOf } from './report.ts';
import { makeRepository } from './repository.ts';
import { measureAgents } from './scenarios/agents.ts';
import { measureCreate } from './scenarios/create.ts';
import { measureEngines } from './scenarios/engines.ts';
import { measureFloors } from './scenarios/floors.ts';
import { measureForks } from './scenarios/forks.ts';
import { measureManySandboxes } from './scenarios/many-sandboxes.ts';
import { measureMemory } from './scenarios/memory.ts';
import { measurePorts } from './scenarios/ports.ts';
import { measureRecord } from './scenarios/record.ts';
import { measureRemote } from './scenarios/remote.ts';
import { measureRun } from './scenarios/run.ts';
import { measureWholeJob } from './scenarios/whole-job.ts';

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  floors: measureFloors,
  create: measureCreate,
  run: measureRun,
  record: measureRecord,
  forks: measureForks,
  many: measureManySandboxes,
  memory: measureMemory,
  job: measureWholeJob,
  agents: measureAgents,
  engines: measureEngines,
  ports: measurePorts,
  remote: measureRemote,
};
const KEPT = inBench('../docs/benchmarks.json');
/** Two tries before a check fails: the second shows whether the machine was busy at the first. */
const CHECK_RUNS = 2;

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
    only: { type: 'string', default: Object.keys(SCENARIOS).join(',') },
  },
});

const status = runApart();
if (status === undefined) await inside();
else process.exitCode = status;

async function inside(): Promise<void> {
  Object.assign(process.env, GIT_ENVIRONMENT);
  if (options.check) return await check();
  const run = await measure(options.quick ? 'quick' : 'full');
  write(inBench('results/latest.json'), run);
  if (!options.keep) return;
  const before = keptRuns();
  const runs: Runs = { ...before, [run.mode]: mergedRun(before[run.mode], run) };
  write(KEPT, runs);
  writeFileSync(inBench('../docs/benchmarks.md'), reportOf(runs));
}

async function check(): Promise<void> {
  const { quick: kept } = keptRuns();
  if (!kept) throw new Error('There is no quick run to compare with: npm run bench -- --quick --keep.');
  const fresh: Run[] = [];
  let found: readonly string[] = [];
  while (fresh.length < CHECK_RUNS) {
    fresh.push(await measure('quick'));
    found = regressions(kept, fresh);
    if (found.length === 0) break;
  }
  for (const sentence of found) console.error(`bench: worse: ${sentence}`);
  console.log(`bench: ${found.length} regressions in ${kept.rows.length} rows`);
  if (found.length > 0) process.exitCode = 1;
}

async function measure(mode: Run['mode']): Promise<Run> {
  const scale = SCALES[mode];
  const ground = mountGround(mode === 'full' ? 8 : 2);
  const machine = machineFacts(ground);
  const findings = new Findings();
  const repositories = { small: '', middle: '', large: '' };
  for (const size of ['small', 'middle', 'large'] as const) {
    repositories[size] = join(ground, 'repositories', scale.sizes[size].name);
    await step(`repository ${scale.sizes[size].name}`, () => makeRepository(repositories[size], scale.sizes[size]));
  }
  const bench = benchOn(ground, scale, findings, repositories);
  for (const name of options.only.split(',')) {
    const scenario = SCENARIOS[name];
    if (!scenario) throw new Error(`There is no scenario ${name}; there are ${Object.keys(SCENARIOS).join(', ')}.`);
    const done = findings.rows.length;
    await step(name, () => scenario(bench));
    for (const row of findings.rows.slice(done))
      console.log(
        `  ${row.target} ${row.what}: ${row.measured.median} ${row.unit}, ${row.ratio} × ${row.against} ${verdictOf(row)}`,
      );
  }
  const { floors, rows, absent } = findings;
  return { mode, machine: { ...machine, 'load at end': loadOf() }, floors, rows, absent };
}

async function step(name: string, does: () => Promise<void>): Promise<void> {
  const took = await timed(does);
  console.log(`${name}: ${(took / 1000).toFixed(1)} s`);
}

function keptRuns(): Runs {
  return existsSync(KEPT) ? (JSON.parse(readFileSync(KEPT, 'utf8')) as Runs) : {};
}

function write(file: string, value: unknown): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(value, undefined, 2)}\n`);
}
