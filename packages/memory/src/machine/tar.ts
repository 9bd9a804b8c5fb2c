import { readTar, type TarEntry } from '../tools/read-tar.ts';
import { writeTar } from '../tools/write-tar.ts';
import { FileFailure, type MemoryFiles } from './memory-files.ts';
import type { MachineProcess } from './machine-process.ts';

/** `tar -cf - [-C DIRECTORY] -- PATH…` of files and links, without what is below directories; `tar -x -f -`. */
export async function tar(process: MachineProcess, args: readonly string[]): Promise<number> {
  if (args.includes('--version')) {
    await process.write(1, 'tar (GNU tar) of memory\n');
    return 0;
  }
  if (args.includes('-x')) return await extract(process);
  const paths = args.slice(args.indexOf('--') + 1);
  if (args.includes('-C') && args[args.indexOf('-C') + 1] === '/dev') return 0; // devices are none of its files
  const entries: TarEntry[] = [];
  let code = 0;
  for (const path of paths) {
    try {
      const entry = entryOf(process, path);
      if (entry) entries.push(entry);
    } catch (error) {
      if (!(error instanceof FileFailure)) throw error;
      await process.write(2, `tar: ${path}: ${error.message}\n`);
      code = 2;
    }
  }
  await process.write(1, writeTar(entries));
  return code;
}

function entryOf(process: MachineProcess, path: string): TarEntry | undefined {
  const { node } = process.machine.files.find(`${process.cwd}/${path}`, false);
  const none = { path, isExecutable: false, content: new Uint8Array(), target: '' };
  if (!node) throw new FileFailure('No such file or directory');
  if (node.type === 'symlink') return { ...none, type: 'symlink', target: node.target };
  if (node.type === 'directory') return { ...none, type: 'directory' };
  if (node.type === 'special') return undefined;
  if ((node.mode & 0o400) === 0) throw new FileFailure('Permission denied');
  return { ...none, type: 'file', isExecutable: (node.mode & 0o100) !== 0, content: node.content };
}

async function extract(process: MachineProcess): Promise<number> {
  unpack(process.machine.files, process.cwd, readTar(await process.readAll()));
  return 0;
}

/** Makes what an archive holds below a directory. */
export function unpack(files: MemoryFiles, directory: string, entries: readonly TarEntry[]): void {
  for (const { path, type, content, isExecutable, target } of entries) {
    const whole = `${directory}/${path}`;
    if (type === 'directory') {
      files.makeDirectory(whole, true);
      continue;
    }
    const above = whole.slice(0, whole.lastIndexOf('/'));
    if (!files.look(above)) files.makeDirectory(above, true);
    if (files.look(whole, false)) files.remove(whole);
    const { parent, name } = files.find(whole, false);
    const node =
      type === 'symlink'
        ? { type, target, version: 0 }
        : { type, content: content.slice(), mode: isExecutable ? 0o755 : 0o644, version: 0 };
    files.put(parent, name, node);
  }
}
