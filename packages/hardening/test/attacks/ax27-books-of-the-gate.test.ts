// What the gate writes down and counts: it must hold against an agent that fills the disk, floods the gate or ends its session.
import { mkdirSync } from 'node:fs';
import { describe, expect } from '@jest/globals';
import { eventually } from '@litterbox/conformance';
import { type AttackFixture, onTheHost, positiveControl } from '../../src/index.ts';
import { attack } from './attack.ts';
import { connect, ESTABLISHED, GATE_FILES, gateMachine, hello, hex } from './gate-machine.ts';

interface Entry {
  readonly operation: string;
  readonly input: { readonly host?: string; readonly count?: number };
}

/** The entries of the network, newest first. */
async function written(fixture: AttackFixture): Promise<readonly Entry[]> {
  const entries = await fixture.open().audit({ limit: 1000 });
  return (entries as readonly Entry[]).filter(({ operation }) => operation.startsWith('network-'));
}

const openedOf = (entries: readonly Entry[]) =>
  entries.filter(({ operation }) => operation === 'network-opened').map(({ input }) => input.host);

/** Asks for a name below the star so many times, and prints the first line of each answer. */
const asking = (words: string) =>
  `for i in ${words}; do perl say.pl 127.0.0.1:3128 $(printf 'CONNECT %s.wild.test:443 HTTP/1.1\\r\\n\\r\\n' $i | od -An -tx1 | tr -d ' \\n') 00; done`;

const names = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `n${from + index}`).join(' ');

/** A file system of its own for the state, so small that a sandbox can fill it. */
function smallDisk(path: string): AsyncDisposable {
  mkdirSync(path, { mode: 0o700 });
  expect(onTheHost(['mount', '-t', 'tmpfs', '-o', 'size=64m,mode=700', 'small', path]).code).toBe(0);
  return {
    async [Symbol.asyncDispose]() {
      onTheHost(['umount', '-l', path]);
    },
  };
}

if (process.getuid?.() === 0) {
  describe('the books of the gate', () => {
    attack(
      'AX27: on a full disk nothing goes out that is not written down, however often it is tried',
      async (fixture) => {
        await using _disk = smallDisk(fixture.scratch.stateDirectory);
        await using place = await gateMachine(fixture);
        const first = await hello('allowed.test');
        const say = `perl say.pl 127.0.0.1:3128 ${hex(connect('allowed.test:443'))} ${hex(first)},${'41'.repeat(4000)}`;
        positiveControl('what is allowed', place.say(connect('allowed.test:443'), [first]), (text) =>
          text.includes('fake'),
        );
        // One command: on a full disk no second one would begin.
        const { stdout } = place.litterbox(
          'run',
          'a',
          '--',
          'sh',
          '-c',
          `for size in 64k 4k 512; do dd if=/dev/zero of=/playground/full-$size bs=$size 2>&1 | grep -c 'No space'; done
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do ${say}; done
rm /playground/full-*`,
        );
        expect(stdout).toMatch(/^1\n/);
        const served = stdout.split('after: HTTP/1.0 200 OK').length - 1;
        expect(served).toBe(openedOf(await written(fixture)).length - 1);
        // The disk has room again, and so the way is open again.
        await eventually(
          async () => place.say(connect('allowed.test:443'), [first]),
          (text) => text.includes('fake'),
        );
      },
      GATE_FILES,
    );

    attack(
      'AX27: a flood of what is refused hides nothing that was let through',
      async (fixture) => {
        await using place = await gateMachine(fixture);
        const first = await hello('allowed.test');
        const flood = `perl -MIO::Socket::INET -e 'for (1..140) { my $s = IO::Socket::INET->new("127.0.0.1:3128") or next; print $s "GET / HTTP/1.1\\r\\n\\r\\n"; local $/; my $said = <$s>; print "refused\\n" if $said =~ / 4/ }'`;
        const { stdout } = place.litterbox('run', 'a', '--', 'sh', '-c', flood);
        expect(stdout).toBe('refused\n'.repeat(140));
        expect(place.say(connect('allowed.test:443'), [first, Buffer.alloc(1000)])).toContain('fake');
        place.say(connect('n1.wild.test:443'), [first]);
        const entries = await eventually(
          async () => await written(fixture),
          (list) => openedOf(list).length > 0,
        );
        expect(openedOf(entries)).toEqual(['allowed.test']);
        // So is a name that was looked up for nothing.
        expect(entries.map(({ input }) => input.host)).toContain('n1.wild.test');
      },
      GATE_FILES,
    );

    attack(
      'AX28: who ends the session has no new budget, and neither has another sandbox',
      async (fixture) => {
        await using place = await gateMachine(fixture);
        const statuses = (words: string, sandbox = 'a') => {
          const { stdout } = place.litterbox('run', sandbox, '--', 'sh', '-c', asking(words));
          return [...stdout.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => status);
        };
        expect(statuses(names(0, 40))).toEqual(Array(40).fill('200'));
        await place.frames();
        const open = async (sandbox = 'a') =>
          await eventually(
            async () => place.say(connect('allowed.test:443'), undefined, sandbox),
            (text) => text.includes(ESTABLISHED),
          );
        for (const end of ['kill -9 -1', 'kill -9 1; kill -TERM 1']) {
          place.litterbox('run', 'a', '--', 'sh', '-c', end);
          await open();
        }
        expect(statuses(names(40, 70))).toEqual([...Array(24).fill('200'), ...Array(6).fill('429')]);
        await place.frames();
        expect(place.litterbox('create', 'b').code).toBe(0);
        await open('b');
        expect(statuses('n75 n0', 'b')).toEqual(['429', '200']);
        place.litterbox('delete', 'b', '--force');
        fixture.acceptRepository();
      },
      GATE_FILES,
    );
  });
}
