import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { git, GIT_ENVIRONMENT } from './processes.ts';

export interface RepositorySize {
  readonly name: string;
  readonly files: number;
  readonly bytes: number;
}

/** Files of one directory, in every repository: a revision reads and writes the trees along a path. */
export const DIRECTORY_WIDTH = 100;

/** Where the n-th file lies: three levels deep whatever the size. */
export function pathOf(index: number): string {
  const directory = Math.floor(index / DIRECTORY_WIDTH);
  return `part${Math.floor(directory / 40)}/dir${directory % 40}/file${index % DIRECTORY_WIDTH}.txt`;
}

/** Makes a repository with one commit, the same bytes for the same size everywhere. Its work tree is checked out. */
export async function makeRepository(directory: string, { files, bytes }: RepositorySize): Promise<void> {
  mkdirSync(directory);
  await git(directory, 'init', '-q', '-b', 'main');
  const importer = spawn(
    'git',
    ['-C', directory, '-c', 'core.compression=1', 'fast-import', '--quiet', '--depth=0', '--force'],
    {
      stdio: ['pipe', 'ignore', 'inherit'],
      env: { ...process.env, ...GIT_ENVIRONMENT },
    },
  );
  const ended = once(importer, 'exit');
  const say = async (data: string | Buffer) => {
    if (!importer.stdin.write(data)) await once(importer.stdin, 'drain');
  };
  const text = words(2 ** 22);
  await say('commit refs/heads/main\ncommitter Bench <bench@localhost> 1700000000 +0000\ndata 4\nbase\n');
  for (let index = 0; index < files; index += 1) {
    // From half to one and a half times the mean, the first line telling files apart.
    const size = Math.round((bytes / files) * (0.5 + ((index * 7919) % 1000) / 1000));
    const start = (index * 104_729) % (text.length - 2 ** 17);
    const first = Buffer.from(`file ${index}\n`);
    await say(`M 100644 inline ${pathOf(index)}\ndata ${first.length + size}\n`);
    await say(Buffer.concat([first, text.subarray(start, start + size), Buffer.from('\n')]));
  }
  importer.stdin.end('done\n');
  const [code] = (await ended) as [number];
  if (code !== 0) throw new Error(`git fast-import ended with ${code}`);
  await git(directory, 'reset', '-q', '--hard');
  for (const [name, value] of [
    ['user.name', 'Bench'],
    ['user.email', 'bench@localhost'],
  ] as const)
    await git(directory, 'config', name, value);
}

/** Text that compresses about as source code does, from a linear congruential generator. */
function words(length: number): Buffer {
  const text = Buffer.alloc(length);
  let state = 1;
  const next = (limit: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
  const vocabulary = Array.from({ length: 2000 }, () =>
    Array.from({ length: 2 + next(8) }, () => String.fromCodePoint(97 + next(26))).join(''),
  );
  for (let at = 0; at < length; ) at += text.write(`${vocabulary[next(2000)]}${next(9) === 0 ? '\n' : ' '}`, at);
  return text;
}
