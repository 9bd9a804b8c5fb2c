// What a sandbox begins with: of the person's repository what their branches and tags hold, and what an agent made is not theirs.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from '@jest/globals';
import { type AttackFixture, positiveControl } from '../../src/index.ts';
import { type Agent, agentOn, SANDBOX } from './attack-by-agent.ts';
import { attack } from './attack.ts';
import { commandLine } from './command-line.ts';

const SECRET = 'of-a-commit-that-was-reset-away';

/** A repository whose person has put aside what is theirs alone, and took a secret back. */
function hide({ scratch }: AttackFixture) {
  const { git, file } = scratch;
  file('src/secret.txt', SECRET);
  git('add', '-A');
  git('commit', '-q', '-m', 'with a secret');
  const taken = git('rev-parse', 'HEAD');
  git('reset', '-q', '--hard', 'HEAD^');
  file('src/a.txt', 'not committed\n');
  // The one that is there would be found in what git put aside, which is the person's own.
  file('.env', `TOKEN=${SECRET}\n`);
  git('-c', 'core.excludesFile=/dev/null', 'stash', '-a', '-q');
  git('fetch', '-q', scratch.repository, taken);
  return { taken, stash: git('rev-parse', 'refs/stash'), ignored: git('rev-parse', 'refs/stash^3') };
}

/** Asks the gate for what no rule allows, which it answers by itself; leaves its answer, or `closed`, and who wrote the script. */
const deps = (author: string) => `perl -MIO::Socket::INET -e '
my $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1:3128", Timeout => 2) or print("closed\\n"), exit;
print $s "CONNECT nowhere.test:443 HTTP/1.1\\r\\nHost: nowhere.test:443\\r\\n\\r\\n"; print scalar <$s>' >~/way-out
echo ${author} >~/author
`;
const SEEN = 'cat ~/author ~/way-out';

/** What the setup's command names is known; what that reads is not. */
const PROJECT = {
  'src/a.txt': 'a\n',
  'package.json': '{"version":"1"}\n',
  'scripts/setup.sh': '. ./scripts/deps.sh\n',
  'scripts/deps.sh': deps('person'),
  '.litterbox.toml': '[container]\nsetup-command = ["sh", "scripts/setup.sh"]\n',
};
const WITH_NETWORK = {
  ...PROJECT,
  '.litterbox.toml': `${PROJECT['.litterbox.toml']}\n[network]\nsetup = "allow-list"\nallow = ["allowed.test"]\n`,
};

/** An agent makes a sandbox, changes what the setup runs, and begins another one with that. */
async function beginWithOwn(fixture: AttackFixture, agent: Agent) {
  await agent.text('sandbox-create', { name: SANDBOX });
  await agent.text('write', { sandbox: SANDBOX, path: 'scripts/deps.sh', content: deps('agent') });
  await agent.text('write', { sandbox: SANDBOX, path: 'package.json', content: '{"version":"2"}\n' });
  await agent.text('sandbox-milestone', { sandbox: SANDBOX, message: 'the next version' });
  fixture.acceptRepository();
  return await agent.text('sandbox-create', { name: 'b', from: `litterbox/${SANDBOX}` });
}

const BRANCHES = { 'src/a.txt': 'a\n', '.gitignore': '.env\n' };

const pointerTo = (text: string) =>
  `version https://git-lfs.github.com/spec/v1\noid sha256:${createHash('sha256').update(text).digest('hex')}\nsize ${text.length}\n`;

/** A repository whose jars and bins git-lfs keeps; `tools/run.bin` is a program. */
function keepLargeFiles({ scratch }: AttackFixture): void {
  const { git, file } = scratch;
  git('lfs', 'install', '--local');
  file('.gitattributes', '*.jar filter=lfs diff=lfs merge=lfs -text\n*.bin filter=lfs diff=lfs merge=lfs -text\n');
  file('tools/agent.jar', 'PK of the person\n');
  git('add', '.gitattributes', 'tools');
  git('commit', '-q', '-m', 'large');
}

describe('bases', () => {
  attack(
    'AX20: an agent begins with what a branch or a tag holds, never with a stash or a commit that was taken back',
    async (fixture) => {
      const { git } = fixture.scratch;
      const { taken, stash, ignored } = hide(fixture);
      git('branch', 'other');
      git('tag', '-a', 'v1', '-m', 'one');
      git('update-ref', 'refs/remotes/origin/main', 'HEAD');
      fixture.acceptRepository();
      positiveControl('the stash, asked for by the person', git('show', 'stash^3:.env'), (text) =>
        text.startsWith('TOKEN='),
      );
      await using agent = await agentOn(fixture);
      const head = git('rev-parse', 'HEAD');
      let count = 0;
      const begun = async (from: string) => {
        const name = `n${(count += 1)}`;
        const { isError, text, meta } = await agent.call('sandbox-create', { name, from });
        if (isError) return { code: meta['code'], text: text.replaceAll(from, 'NAME') };
        const inside = await agent.call('bash', { sandbox: name, command: 'cat .env src/*' });
        return { code: 'made', text: inside.text.includes(SECRET) ? SECRET : '' };
      };
      // What the person named is there under every name that git knows for it.
      for (const from of ['head', 'other', 'refs/heads/main~0', 'v1', 'origin/main', head.slice(0, 7)])
        expect({ from, begun: await begun(from) }).toEqual({ from, begun: { code: 'made', text: '' } });
      // Whether it is there or not: the same answer, word by word.
      const unknown = await begun('0'.repeat(40));
      expect(unknown.code).toBe('REV_NOT_FOUND');
      for (const from of [
        'no-such-branch',
        'stash',
        'stash^1',
        'stash^2',
        'stash^3',
        'refs/stash',
        'ORIG_HEAD',
        'FETCH_HEAD',
        'FETCH_HEAD~0',
        'refs/litterbox/base/x',
        'worktrees/x/HEAD',
        'main-worktree/ORIG_HEAD',
        taken,
        taken.slice(0, 4),
        taken.slice(0, 12),
        `x-1-g${taken.slice(0, 12)}`,
        stash,
        ignored,
        ignored.slice(0, 8),
        `${stash}^3`,
        git('rev-parse', 'HEAD^{tree}'),
        git('rev-parse', 'HEAD:src/a.txt').slice(0, 10),
      ])
        expect({ from, begun: await begun(from) }).toEqual({ from, begun: unknown });
      // The refs that keep the bases of sandboxes are ours, and not for an agent to name.
      const [pin = ''] = git('for-each-ref', '--format=%(refname)', 'refs/litterbox').split('\n');
      expect({ pin, begun: await begun(pin) }).toEqual({
        pin: expect.stringMatching(/^refs\/litterbox\/base\//),
        begun: unknown,
      });
      // A person may begin with any commit of theirs.
      expect(commandLine(fixture, ['create', 'mine', '--from', taken]).code).toBe(0);
      expect(commandLine(fixture, ['run', 'mine', '--', 'cat', 'src/secret.txt']).stdout).toContain(SECRET);
    },
    BRANCHES,
  );

  attack(
    "AX21: the setup's network opens for what a person made, never for a tree that an agent chose",
    async (fixture) => {
      const { git } = fixture.scratch;
      const litterbox = (...args: readonly string[]) => {
        const { code, stdout, stderr } = commandLine(fixture, args);
        expect({ args, code, isCodeEqual: code === 0 ? '' : stderr }).toEqual({ args, code: 0, isCodeEqual: '' });
        return stdout + stderr;
      };
      litterbox('trust', '--yes');
      litterbox('create', 'own');
      positiveControl("the setup of the person's tree", litterbox('run', 'own', '--', 'sh', '-c', SEEN), (text) =>
        text.startsWith('person\nHTTP/1.1 403 '),
      );
      await using agent = await agentOn(fixture);
      const seenIn = async (sandbox: string) => await agent.text('bash', { sandbox, command: SEEN });
      const told = await beginWithOwn(fixture, agent);
      expect(await seenIn('b')).toContain('agent\nclosed\n');
      expect(told).toContain('without a network');
      // A review branch that the person looks at holds what the agent wrote, and does not move under them.
      git('checkout', '-q', `litterbox/${SANDBOX}`);
      const looked = git('rev-parse', 'HEAD');
      fixture.acceptRepository();
      await agent.text('write', { sandbox: SANDBOX, path: 'package.json', content: '{"version":"3"}\n' });
      expect(await agent.code('sandbox-milestone', { sandbox: SANDBOX, message: 'one more' })).toBe('CONFLICT');
      expect(git('rev-parse', `litterbox/${SANDBOX}`)).toBe(looked);
      await agent.text('sandbox-create', { name: 'c', from: 'head' });
      expect(await seenIn('c')).toContain('agent\nclosed\n');
      // Nor does it open for a branch that was pushed to be looked at. Once the person took it over, it is theirs.
      git('update-ref', 'refs/remotes/origin/litterbox/a', `litterbox/${SANDBOX}`);
      litterbox('create', 'd', '--from', 'origin/litterbox/a');
      expect(litterbox('run', 'd', '--', 'sh', '-c', SEEN)).toContain('agent\nclosed\n');
      git('checkout', '-q', '-f', 'main');
      git('merge', '-q', `litterbox/${SANDBOX}`);
      litterbox('create', 'e');
      expect(litterbox('run', 'e', '--', 'sh', '-c', SEEN)).toContain('agent\nHTTP/1.1 403 ');
      fixture.acceptRepository();
    },
    WITH_NETWORK,
  );

  attack(
    'AX22: what the setup of an agent left is nothing that a sandbox of the person begins with',
    async (fixture) => {
      const { git, file } = fixture.scratch;
      const litterbox = (...args: readonly string[]) => commandLine(fixture, args);
      expect(litterbox('trust', '--yes').code).toBe(0);
      await using agent = await agentOn(fixture);
      await beginWithOwn(fixture, agent);
      positiveControl(
        'the script of the agent, in a setup of its own',
        await agent.text('bash', { sandbox: 'b', command: SEEN }),
        (text) => text.startsWith('agent\n'),
      );
      for (const name of [SANDBOX, 'b']) expect(litterbox('delete', name, '--force').code).toBe(0);
      // The same manifest, taken over by hand, with the scripts as they were.
      file('package.json', '{"version":"2"}\n');
      git('commit', '-q', '-a', '-m', 'the next version');
      for (const name of ['person', 'again']) {
        expect(litterbox('create', name).code).toBe(0);
        expect(litterbox('run', name, '--', 'sh', '-c', SEEN).stdout).toBe('person\nclosed\n');
      }
      fixture.acceptRepository();
    },
    PROJECT,
  );

  attack('AX100: behind a pointer of Git LFS a binary, a size and a pointer of an agent are named', async (fixture) => {
    keepLargeFiles(fixture);
    fixture.acceptRepository();
    const sandbox = await fixture.open().create({ name: 'a' });
    await fixture.run(
      sandbox,
      `printf 'PK\\0\\001of an agent' >tools/agent.jar; head -c 3000000 /dev/zero >tools/big.bin; printf '${pointerTo('what nobody has seen').replaceAll('\n', '\\n')}' >tools/far.jar`,
    );
    const refused = commandLine(fixture, ['merge', 'a', '-m', 'm']);
    expect(refused).toMatchObject({ code: 4, stdout: '' });
    const said = refused.stderr.split('\n').map((line) => line.trim());
    expect(said).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^M tools\/agent\.jar +15 bytes of Git LFS$/),
        expect.stringMatching(/^A tools\/big\.bin +3000000 bytes of Git LFS$/),
      ]),
    );
    // Grouped by the most dangerous reason of each.
    const risks = said.slice(said.indexOf('Can run code, or hides what it holds:')).join('\n');
    expect(risks).toContain('stands for 20 bytes of Git LFS that a diff does not show:\ntools/far.jar\n');
    expect(risks).toContain(
      'is binary: a diff does not show what it holds (2 files):\ntools/agent.jar\ntools/big.bin: is larger than 1 MiB\n',
    );
  });

  attack('AX101: milestones of an agent put nothing into the Git LFS of the person', async (fixture) => {
    keepLargeFiles(fixture);
    const { git, repository } = fixture.scratch;
    const kept = () => readdirSync(join(repository, '.git/lfs'), { recursive: true }).sort();
    const before = kept();
    await using agent = await agentOn(fixture);
    await agent.text('sandbox-create', { name: SANDBOX });
    for (const step of ['one', 'two']) {
      await agent.bash(`echo ${step} >tools/${step}.bin`);
      await agent.text('sandbox-milestone', { sandbox: SANDBOX, message: step });
    }
    expect(git('cat-file', 'blob', `litterbox/${SANDBOX}:tools/two.bin`)).toBe(pointerTo('two\n').trimEnd());
    expect(kept()).toEqual(before);
    expect(commandLine(fixture, ['delete', SANDBOX, '--force']).code).toBe(0);
    expect(kept()).toEqual(before);
    fixture.acceptRepository();
  });

  attack(
    'AX102: a pointer that an agent wrote gets nothing of the person, and no answer tells what there is',
    async (fixture) => {
      keepLargeFiles(fixture);
      const { git, file, repository } = fixture.scratch;
      const held = `stashed ${SECRET}\n`;
      file('tools/stashed.bin', held);
      git('add', 'tools');
      git('stash', '-q');
      const [, oid = ''] = /sha256:([0-9a-f]{64})/.exec(pointerTo(held)) ?? [];
      positiveControl('the content that is here', [oid.slice(0, 2), oid.slice(2, 4), oid].join('/'), (path) =>
        existsSync(join(repository, '.git/lfs/objects', path)),
      );
      await using agent = await agentOn(fixture);
      await agent.text('sandbox-create', { name: SANDBOX });
      const write = async (path: string, text: string) =>
        await agent.text('write', { sandbox: SANDBOX, path, content: text });
      await write('tools/got.bin', pointerTo(held));
      await write('tools/no.bin', pointerTo(`${held} that is nowhere`));
      await write('tools/own.bin', 'made by the agent\n');
      await agent.text('sandbox-milestone', { sandbox: SANDBOX, message: 'pointers' });
      fixture.acceptRepository();
      const answer = await agent.text('sandbox-create', { name: 'b', from: `litterbox/${SANDBOX}` });
      const inside = await agent.text('bash', { sandbox: 'b', command: 'cat tools/*' });
      expect(inside).not.toContain(SECRET);
      expect(inside).toContain('PK of the person');
      expect(inside).toContain('made by the agent');
      const status = await agent.text('sandbox-status', { sandbox: 'b' });
      // What is there and what is not: the same words.
      for (const text of [answer, status])
        expect({ got: text.includes('got.bin'), no: text.includes('no.bin') }).toEqual({
          got: text.includes('no.bin'),
          no: text.includes('got.bin'),
        });
      expect(status).toContain('got.bin');
    },
  );
});
