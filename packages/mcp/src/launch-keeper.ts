import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { LitterboxError } from '@litterbox/core/agent';

/** How long a keeper may take until its ports are open. */
const START_MS = 30_000;
/** All that a keeper needs to know of its surroundings: it outlives who started it, whose secrets it has no use for. */
const VARIABLES = ['PATH', 'HOME', 'USER', 'LANG', 'TMPDIR', 'XDG_STATE_HOME', 'XDG_RUNTIME_DIR', 'XDG_CONFIG_HOME'];
/** Where its provider finds the engine that the sandbox is on. */
const ENGINE_VARIABLES = ['DOCKER_HOST', 'DOCKER_CONTEXT', 'DOCKER_CONFIG', 'CONTAINER_HOST'];

/** Starts `litterbox keep` for a sandbox as a program of its own, and returns when it says that it keeps, or that another one does. */
export async function launchKeeper(id: string): Promise<void> {
  const start = pathToFileURL(createRequire(import.meta.url).resolve('@litterbox/mcp/start')).href;
  const script = `import(process.argv[1]).then((module) => (module.start ?? module.default.start)('keep', process.argv.slice(2)))`;
  const conditions = process.execArgv.filter((word) => word.startsWith('--conditions=') || word === '--no-warnings');
  const child = spawn(process.execPath, [...conditions, '--input-type=module', '--eval', script, start, id], {
    cwd: '/',
    env: environment(),
    detached: true, // no terminal and no signal of ours reaches it
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-4_000)));
  let timer: ReturnType<typeof setTimeout> | undefined;
  const outcome = await Promise.race([
    new Promise<'ready'>((resolve) => child.stdout.once('data', () => resolve('ready'))),
    new Promise<number | null>((resolve) => child.once('close', resolve)),
    new Promise<Error>((resolve) => child.once('error', resolve)),
    new Promise<'late'>((resolve) => (timer = setTimeout(resolve, START_MS, 'late'))),
  ]);
  clearTimeout(timer);
  child.unref();
  child.stdout.destroy();
  child.stderr.destroy();
  if (outcome === 'ready' || outcome === 0) return;
  const reason = outcome instanceof Error ? outcome.message : outcome === 'late' ? 'it did not answer' : said.trim();
  throw new LitterboxError('UNAVAILABLE', `What keeps services and ports could not be started: ${reason}.`, {
    operation: 'keeper.launch',
    hint: 'Try again; if it happens again, run litterbox doctor.',
  });
}

function environment(): Record<string, string> {
  const found = Object.entries(process.env).filter(
    ([name, value]) =>
      value !== undefined &&
      (VARIABLES.includes(name) ||
        ENGINE_VARIABLES.includes(name) ||
        name.startsWith('LITTERBOX_') ||
        name.startsWith('LC_')),
  );
  return Object.fromEntries(found) as Record<string, string>;
}
