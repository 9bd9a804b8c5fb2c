// The way out by a list of a sandbox on another machine, whose network is a fake internet that this machine does not have.
import { writeFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { MachineNetwork, RemoteFixture, SshServer } from '@litterbox/testing';
import type { Litterbox } from 'litterbox';
import { type FakeInternet, fakeInternet } from '../../src/index.ts';
import { connect, ESTABLISHED, GATE_FILES, hello, hex } from './gate-machine.ts';
import { remoteLitterbox } from './remote-litterbox.ts';

const hostsOf = ({ address, nearAddress }: MachineNetwork) => `127.0.0.1 localhost
1.1.1.1 allowed.test
169.254.169.254 metadata.test
10.99.0.1 neighbour.test
10.99.0.2 myself.test
${address} link.test
${nearAddress} person.test
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

class Elsewhere extends RemoteFixture {
  readonly internet: FakeInternet;
  readonly address: string;

  private constructor(internet: FakeInternet, server: SshServer) {
    const names = ['allowed', ...PRIVATE].map((name) => `"${name}.test"`).join(', ');
    super(server, {
      files: { ...GATE_FILES, '.litterbox.toml': `[network]\nrun = "allow-list"\nallow = [${names}]\n` },
    });
    this.internet = internet;
    this.address = server.address;
    this.use(internet);
    this.use(server);
  }

  static async open(): Promise<Elsewhere> {
    const internet = await fakeInternet();
    const network = await MachineNetwork.open(internet.machine);
    // Addresses of the Internet, of its own network.
    for (const address of [['9.9.9.1/24'], ['2a02:8108:1:2::1/64', 'nodad']])
      network.run('ip', 'address', 'add', ...address, 'dev', network.device);
    const hosts = `/tmp/.litterbox-hosts-${process.pid}`;
    writeFileSync(hosts, hostsOf(network));
    const mounted = `mount --bind ${hosts} /etc/hosts && rm ${hosts} && exec "$@"`;
    return new Elsewhere(
      internet,
      await SshServer.start({ network, enter: ['unshare', '--mount', 'sh', '-c', mounted, 'sh'] }),
    );
  }

  readonly litterbox = async (): Promise<Litterbox> => {
    const litterbox = await remoteLitterbox(this);
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
        expect.objectContaining({
          host: 'allowed.test',
          address: '1.1.1.1',
          from: expect.stringContaining(place.address),
        }),
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
