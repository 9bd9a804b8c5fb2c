import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { collected } from '@litterbox/conformance';
import { localHost } from '@litterbox/host';
import { walkerPlace } from '../src/process/walker-place.ts';

const isRoot = process.getuid?.() === 0;
const OWNER = isRoot ? 61_100 : (process.getuid?.() ?? 0);

it.each([tmpdir(), ...(isRoot ? ['/mnt'] : [])])(
  'the walker sees a layer below %s and the programs of the machine, and can change neither',
  async (parent) => {
    const directory = await mkdtemp(join(parent, 'litterbox-walker-'));
    try {
      const upper = join(directory, 'private', 'upper');
      await mkdir(join(upper, 'locked'), { recursive: true });
      await writeFile(join(upper, 'file'), 'x');
      await writeFile(join(directory, 'canary'), 'x');
      await chmod(join(directory, 'private'), 0o700);
      for (const path of [upper, join(upper, 'file'), join(upper, 'locked')]) await chown(path, OWNER, OWNER);
      const { changes, spawn } = walkerPlace(localHost(), upper, { uid: OWNER });
      const script = `ls ${changes}; id -u; for f in '${directory}/canary' /etc/shadow /root /home '${directory}'; do [ -e "$f" ] && echo "seen $f"; done; touch ${changes}/new /usr/new 2>/dev/null && echo written; readlink /proc/1/exe; ls /sys/class/net 2>/dev/null; cat /proc/net/dev | grep -c eth; grep -E 'Cap|NoNewPrivs' /proc/self/status; echo "foreign mounts: $(grep -cv '^[^ ]* / \\|^[^ ]* /\\(usr\\|bin\\|lib\\|lib64\\|proc\\|dev\\|changes\\)[ /]' /proc/self/mounts)"; grep none /proc/self/mounts`;
      const { stdout, exit } = await collected(await spawn({ argv: ['sh', '-c', script] }));
      expect(exit.code).toBe(1); // grep found nothing
      expect(stdout.split('\n').slice(0, 3)).toEqual(['file', 'locked', String(OWNER)]);
      expect(stdout).not.toMatch(/seen|written|eth[1-9]/);
      expect(stdout).toMatch(/^NoNewPrivs:\s1$/m);
      expect(stdout).toMatch(/^foreign mounts: 0$/m);
      const held = [...stdout.matchAll(/^Cap(\w+):\s(\w+)$/gm)].filter(([, , bits = '']) => /[^0]/.test(bits));
      if (isRoot) expect(held).toEqual([]);
      // Positive control: outside, the same user of this test sees both.
      expect(
        (await collected(await localHost().spawn({ argv: ['ls', `${directory}/canary`, '/etc/shadow'] }))).stdout,
      ).toContain('canary');
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  },
);
