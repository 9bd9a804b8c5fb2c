// The way out by a list of a sandbox on another machine, whose network is a fake internet that this machine does not have.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { overlayfs } from '@litterbox/provider-overlayfs';
import { ssh } from '@litterbox/provider-ssh';
import { RepositoryFixture, SshServer } from '@litterbox/testing';
import { createLitterbox, type Litterbox } from 'litterbox';
import { type FakeInternet, fakeInternet } from '../../src/index.ts';
import { connect, ESTABLISHED, GATE_FILES, hello, hex } from './gate-machine.ts';

/** Of the link between the two machines, which no other network uses (RFC 2544). */
const [NEAR, FAR] = ['198.18.77.1', '198.18.77.2'];
const HOSTS = `127.0.0.1 localhost
1.1.1.1 allowed.test
169.254.169.254 metadata.test
10.99.0.1 neighbour.test
10.99.0.2 myself.test
${FAR} link.test
${NEAR} person.test
127.0.0.1 home.test
::1 home6.test
9.9.9.1 street-self.test
9.9.9.77 street.test
2a02:8108:1:2::99 street6.test
fd99::2 myself6.test
`;
/** What leads into the other machine, its network, or this one. */
const PRIVATE = [
  'metadata',
  'neighbour',
  'myself',
  'link',
  'person',
  'home',
  'home6',
  'myself6',
  'street-self',
  'street',
  'street6',
];

class Elsewhere extends RepositoryFixture {
  readonly internet: FakeInternet;
  readonly server: SshServer;

  private constructor(internet: FakeInternet, server: SshServer) {
    const names = ['allowed', ...PRIVATE].map((name) => `"${name}.test"`).join(', ');
    super({ ...GATE_FILES, '.litterbox.toml': `[network]\nrun = "allow-list"\nallow = [${names}]\n` });
    this.internet = internet;
    this.server = server;
    this.defer(() => internet[Symbol.asyncDispose]());
    this.defer(() => server[Symbol.asyncDispose]());
  }

  static async open(): Promise<Elsewhere> {
    const internet = await fakeInternet();
    const name = `lb${process.pid}`.slice(0, 15);
    const ip = (...args: readonly string[]) => execFileSync('ip', args);
    // It goes with the network of the other machine.
    ip('link', 'add', name, 'type', 'veth', 'peer', 'name', 'link0', 'netns', String(internet.machinePid));
    ip('address', 'add', `${NEAR}/30`, 'dev', name);
    ip('link', 'set', name, 'up');
    for (const args of [
      ['address', 'add', `${FAR}/30`, 'dev', 'link0'],
      // Addresses of the Internet, of its own network.
      ['address', 'add', '9.9.9.1/24', 'dev', 'link0'],
      ['address', 'add', '2a02:8108:1:2::1/64', 'dev', 'link0', 'nodad'],
      ['link', 'set', 'link0', 'up'],
    ]) {
      const [program, ...rest] = internet.enter(['ip', ...args]);
      execFileSync(program, rest);
    }
    const hosts = `/tmp/.litterbox-hosts-${process.pid}`;
    writeFileSync(hosts, HOSTS);
    const mounted = `mount --bind ${hosts} /etc/hosts && rm ${hosts} && exec "$@"`;
    const enter = internet.enter(['unshare', '--mount', 'sh', '-c', mounted, 'sh']);
    return new Elsewhere(internet, await SshServer.start({ address: FAR, enter }));
  }

  readonly litterbox = async (): Promise<Litterbox> => {
    const directory = join(this.directory, 'there');
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const { login } = this.server;
    const provider = await ssh({ ...login, provider: overlayfs, kind: 'overlayfs', name: 'box', directory });
    const { repository: repo, stateDirectory } = this;
    const litterbox = createLitterbox({ repo, providers: [provider], stateDirectory });
    this.defer(async () => {
      await litterbox[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
    });
    await litterbox.trust((await litterbox.trustStatus()).contentHash);
    return litterbox;
  };
}

if (process.getuid?.() === 0) {
  describe('the way out of a sandbox on another machine', () => {
    it('leads from there to what a rule allows, and to nothing of that machine, its network, or ours (A82)', async () => {
      await using place = await Elsewhere.open();
      const litterbox = await place.litterbox();
      await using sandbox = await litterbox.create({ name: 'work' });
      const say = async (name: string) => {
        const words = [hex(connect(`${name}.test:443`)), hex(await hello(`${name}.test`))].join(' ');
        return (await sandbox.run(`perl say.pl 127.0.0.1:3128 ${words}`)).stdout;
      };
      const allowed = await say('allowed');
      expect(allowed).toContain(ESTABLISHED);
      expect(allowed).toContain('fake');
      const before = (await place.internet.heard()).length;
      for (const name of PRIVATE) expect([name, await say(name)]).toEqual([name, expect.stringContaining(' 403 ')]);
      expect((await place.internet.heard()).slice(before)).toEqual([]);
      const opened = (await litterbox.audit({})).filter(({ operation }) => operation === 'network-opened');
      expect(opened.map(({ input }) => input)).toEqual([
        expect.objectContaining({ host: 'allowed.test', address: '1.1.1.1', from: expect.stringContaining(FAR) }),
      ]);
      await litterbox.delete('work', { force: true });

      // From here the same name leads nowhere: the positive control of where it was dialled.
      place.file('.litterbox.toml', GATE_FILES['.litterbox.toml'].replace('[network]', '[network]\nfrom = "here"'));
      const here = await place.litterbox();
      await using other = await here.create({ name: 'other' });
      const words = [hex(connect('allowed.test:443')), hex(await hello('allowed.test'))].join(' ');
      expect((await other.run(`perl say.pl 127.0.0.1:3128 ${words}`)).stdout).toContain(' 502 ');
      await here.delete('other', { force: true });
    }, 120_000);
  });
}
