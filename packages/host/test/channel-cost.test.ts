import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { ExecChannel } from '@litterbox/core/provider';
import { localHost } from '../src/index.ts';

// Where other processes come and go, the shell has to look at all of them.
const own = process.getuid?.() === 0 ? test : test.skip;

own(
  'the shell that runs commands lists processes once for each, and reads counters to what it needs of them',
  async () => {
    const directory = mkdtempSync(join(tmpdir(), 'litterbox-channel-'));
    const trace = join(directory, 'trace');
    await using host = localHost();
    const alone = ['unshare', '--pid', '--fork', '--mount-proc'] as const;
    const traced = ['strace', '-qq', '-o', trace, '-e', 'trace=openat,read'];
    await using channel = new ExecChannel({
      spawn: (spec, options) => host.spawn({ ...spec, argv: [...alone, ...traced, ...spec.argv] }, options),
    });
    const run = async () => expect((await channel.run({ argv: ['true'] })).exit).toEqual({ code: 0 });
    for (const _ of [1, 2]) await run();
    const before = readFileSync(trace, 'utf8').length;
    await run();
    const calls = readFileSync(trace, 'utf8').slice(before).split('\n');
    rmSync(directory, { recursive: true });
    const listed = calls.filter((call) => call.includes('"/proc'));
    const ends = calls.filter((call) => call.startsWith('read(0, "", 1)')); // a counter was read to its end, byte by byte
    expect({ listed: listed.length, ends }).toEqual({ listed: 1, ends: [] });
  },
);
