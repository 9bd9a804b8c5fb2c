import { readFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem } from 'node:os';
import { output } from './processes.ts';

/** What the numbers of a run depend on besides Litterbox. */
export function machineFacts(ground: string): Readonly<Record<string, string>> {
  const processors = cpus();
  return {
    processor: processors[0]?.model.trim() ?? 'unknown',
    cores: String(processors.length),
    memory: `${Math.round(totalmem() / 2 ** 30)} GiB`,
    kernel: release(),
    'file system': `${fileSystemOf(ground)} on a loop device`,
    node: process.versions.node,
    git: output('git', '--version').replace('git version ', ''),
    bubblewrap: output('bwrap', '--version').replace('bubblewrap ', ''),
    'load at start': loadOf(),
  };
}

/** Processes that wanted a processor, over the last minute. */
export const loadOf = (): string => loadavg()[0]?.toFixed(1) ?? 'unknown';

function fileSystemOf(path: string): string {
  const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n');
  return mounts.map((line) => line.split(' ')).find(([, at]) => at === path)?.[2] ?? 'unknown';
}
