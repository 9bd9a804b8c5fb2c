import { once } from 'node:events';
import { SHARE_ENV, Worker } from 'node:worker_threads';

/**
 * Sets variables in the environment that children of this program inherit. A test runner gives tests a copy of
 * `process.env`, so both are set: the copy, which our code reads, and the real one, which `spawn` hands on.
 */
export async function hostEnvironment(variables: Readonly<Record<string, string>>): Promise<AsyncDisposable> {
  const names = Object.keys(variables);
  const before = Object.fromEntries(names.map((name) => [name, process.env[name]]));
  await change(variables);
  return { [Symbol.asyncDispose]: () => change(before) };
}

async function change(variables: Readonly<Record<string, string | undefined>>): Promise<void> {
  for (const [name, value] of Object.entries(variables)) set(process.env, name, value);
  const worker = new Worker(
    `const { workerData } = require('node:worker_threads');
     for (const [name, value] of workerData) if (value === undefined) delete process.env[name]; else process.env[name] = value;`,
    { eval: true, env: SHARE_ENV, workerData: Object.entries(variables) },
  );
  await once(worker, 'exit');
}

function set(environment: NodeJS.ProcessEnv, name: string, value: string | undefined): void {
  if (value === undefined) delete environment[name];
  else environment[name] = value;
}
