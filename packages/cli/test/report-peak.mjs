// Loaded into the command line by memory.test.ts: says at the end how much memory the process held at most. Not from
// getrusage, whose figure a program inherits from the one that started it.
import { readFileSync } from 'node:fs';

process.on('exit', () => {
  const [, kib] = /VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  process.stderr.write(`peak ${kib} KiB\n`);
});
