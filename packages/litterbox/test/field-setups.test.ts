import { describe, expect, it } from '@jest/globals';
import { LibraryFixture } from './library-fixture.ts';
import { PROVIDER } from './provider.ts';

describe(`field cases of setups, on ${PROVIDER}`, () => {
  it('FC-03: the text of a command and of a setup is run by bash where the sandbox has it, else by sh', async () => {
    await using fixture = new LibraryFixture({ 'a.txt': 'a\n' });
    const sandbox = await fixture.open().create({ name: 'a', setup: 'mkdir -p ~/p/{a,b}; false | true' });
    const hasBash = (await sandbox.run(['sh', '-c', 'command -v bash'])).exitCode === 0;
    const both = hasBash ? 'a\nb\n' : '{a,b}\n';
    expect((await sandbox.run('ls ~/p')).stdout).toBe(both);
    expect(await sandbox.run('mkdir -p q/{a,b}; ls q')).toMatchObject({ stdout: both, shell: hasBash ? 'bash' : 'sh' });
    expect((await sandbox.run(['echo', '{a,b}'])).stdout).toBe('{a,b}\n');
  });
});
