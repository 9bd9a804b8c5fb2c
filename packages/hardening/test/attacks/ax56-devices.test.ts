// The directory of devices belongs to the sandbox's user, as bubblewrap makes it.
import { describe, expect } from '@jest/globals';
import { inPlainBubblewrap, positiveControl } from '../../src/index.ts';
import { attack } from './attack.ts';

describe('devices', () => {
  attack('AX56: nothing can be written in /dev, and the devices work', async (fixture) => {
    const tries = `for d in /dev /dev/shm; do touch $d/x 2>/dev/null && echo "made $d/x"; done
rm -f /dev/null && echo removed; mkdir /dev/d && echo made; ln -s /etc /dev/l && echo linked; mv /dev/fd /dev/moved && echo moved; chmod 777 /dev && echo opened`;
    const control = inPlainBubblewrap(tries);
    positiveControl('a file in /dev', control.stdout, (said) => said.startsWith('made /dev/x\n'));
    const sandbox = await fixture.open().create({ name: 'a' });
    expect((await fixture.run(sandbox, tries)).stdout).toBe('made /dev/shm/x\n');
    const use = `set -e; echo x >/dev/null; head -c 3 /dev/zero | wc -c; head -c 3 /dev/urandom | wc -c; echo x 2>/dev/full >/dev/stdout
echo on >/dev/shm/x; cat /dev/shm/x; script -qec 'test -t 1 && tty' /dev/null </dev/null`;
    const { stdout } = await fixture.run(sandbox, ['sh', '-c', use]);
    expect(stdout.replaceAll('\r', '')).toMatch(/^3\n3\nx\non\n\/dev\/pts\/\d+\n$/);
  });
});
