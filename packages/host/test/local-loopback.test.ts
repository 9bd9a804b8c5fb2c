import { spawn } from 'node:child_process';
import { readlink } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { afterAll, describe, expect, it } from '@jest/globals';
import { describeLoopback } from '@litterbox/conformance';
import { localHost } from '../src/index.ts';

describeLoopback({
  name: 'this machine',
  runner: { describe, it, afterAll },
  open: async () => localHost(),
  leavesNamespace: true,
});

const PORT = 3128;

describe('the loopback of this machine', () => {
  it('is gone with the program that listens, however that ends', async () => {
    const isRoot = process.getuid?.() === 0;
    const user = isRoot ? [] : ['--user', '--map-root-user'];
    const script = 'ip link set lo up && echo ready && exec sleep 1000';
    const inside = spawn('unshare', [...user, '--net', 'sh', '-c', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    for await (const line of createInterface({ input: inside.stdout as NodeJS.ReadableStream }))
      if (line === 'ready') break;
    const own = `/proc/${inside.pid}/ns`;
    const identity = await readlink(`${own}/net`);
    const namespace = { path: `${own}/net`, identity, ...(!isRoot && { userNamespace: `${own}/user` }) };
    const source = new URL('../src/index.ts', import.meta.url).href;
    const listen = `import { localHost } from ${JSON.stringify(source)};
await localHost().loopback(${JSON.stringify(namespace)}).listen(${PORT}, () => {});
console.log('listening');`;
    const argv = ['--no-warnings', '--conditions=@litterbox/source', '--input-type=module', '--eval', listen];
    const other = spawn(process.execPath, argv, {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { PATH: process.env['PATH'] },
    });
    const gone = new Promise((resolve) => other.once('exit', resolve));
    for await (const line of createInterface({ input: other.stdout as NodeJS.ReadableStream }))
      if (line === 'listening') break;
    const loopback = localHost().loopback?.(namespace);
    try {
      const stream = await loopback?.connect(PORT);
      other.kill('SIGKILL');
      await gone;
      await expect(loopback?.connect(PORT)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
      await stream?.[Symbol.asyncDispose]();
    } finally {
      await loopback?.[Symbol.asyncDispose]();
      inside.kill('SIGKILL');
    }
  });
});
