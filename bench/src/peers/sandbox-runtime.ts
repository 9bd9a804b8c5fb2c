import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { spawned } from '../processes.ts';

const NAME = '@anthropic-ai/sandbox-runtime';
const VERSION = '0.0.78';

/** The part of its interface that the job uses. */
interface SandboxManager {
  initialize(config: object): Promise<void>;
  checkDependencies(): { readonly errors: readonly string[] };
  wrapWithSandbox(command: string): Promise<string>;
  reset(): Promise<void>;
}

/** The job by the peer's library, installed into a cache of the bench's own; otherwise why not. */
export async function findSandboxRuntime(
  workspace: string,
  work: Readonly<Record<'run' | 'write' | 'read', string>>,
): Promise<((round: number) => Promise<number>) | string> {
  const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'litterbox-bench', VERSION);
  const entry = join(cache, 'node_modules', NAME, 'dist/index.js');
  if (!existsSync(entry)) {
    mkdirSync(cache, { recursive: true });
    const install = ['install', '--prefix', cache, '--ignore-scripts', '--no-audit', '--no-fund', `${NAME}@${VERSION}`];
    if (spawnSync('npm', install, { stdio: 'ignore', timeout: 60_000 }).status !== 0)
      return `npm could not install ${NAME}@${VERSION}`;
  }
  const { SandboxManager: manager } = (await import(pathToFileURL(entry).href)) as { SandboxManager: SandboxManager };
  const { errors } = manager.checkDependencies();
  if (errors.length > 0) return `version ${VERSION} does not start on this machine: ${errors.join(', ')}`;
  const inside = async (command: string) =>
    await spawned('sh', '-c', await manager.wrapWithSandbox(`cd ${workspace} && ${command}`));
  return async () => {
    const startedMs = performance.now();
    await manager.initialize({
      network: { allowedDomains: [], deniedDomains: [] },
      filesystem: { denyRead: [], allowWrite: [workspace], denyWrite: [] },
    });
    for (const command of [work.run, work.run, work.write, work.read]) await inside(command);
    await manager.reset();
    return performance.now() - startedMs;
  };
}
