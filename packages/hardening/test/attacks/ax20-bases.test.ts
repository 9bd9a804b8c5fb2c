// What a sandbox begins with: of the person's repository what their branches and tags hold, and what an agent made is not theirs.
import { describe, expect } from '@jest/globals';
import { type AttackGround, positiveControl } from '../../src/index.ts';
import { agentOn } from './attack-by-agent.ts';
import { attack } from './attack.ts';
import { commandLine } from './command-line.ts';

const SECRET = 'of-a-commit-that-was-reset-away';

/** A repository whose person has put aside what is theirs alone, and took a secret back. */
function hide({ scratch }: AttackGround) {
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

const BRANCHES = { 'src/a.txt': 'a\n', '.gitignore': '.env\n' };

describe('bases', () => {
  attack(
    'AX20: an agent begins with what a branch or a tag holds, never with a stash or a commit that was taken back',
    async (ground) => {
      const { git } = ground.scratch;
      const { taken, stash, ignored } = hide(ground);
      git('branch', 'other');
      git('tag', '-a', 'v1', '-m', 'one');
      git('update-ref', 'refs/remotes/origin/main', 'HEAD');
      ground.acceptRepository();
      positiveControl('the stash, asked for by the person', git('show', 'stash^3:.env'), (text) =>
        text.startsWith('TOKEN='),
      );
      await using agent = await agentOn(ground);
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
        expect([from, await begun(from)]).toEqual([from, { code: 'made', text: '' }]);
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
        expect([from, await begun(from)]).toEqual([from, unknown]);
      // The refs that keep the bases of sandboxes are ours, and not for an agent to name.
      const [pin = ''] = git('for-each-ref', '--format=%(refname)', 'refs/litterbox').split('\n');
      expect([pin, await begun(pin)]).toEqual([expect.stringMatching(/^refs\/litterbox\/base\//), unknown]);
      // A person may begin with any commit of theirs.
      expect(commandLine(ground, ['create', 'mine', '--from', taken]).code).toBe(0);
      expect(commandLine(ground, ['run', 'mine', '--', 'cat', 'src/secret.txt']).stdout).toContain(SECRET);
    },
    BRANCHES,
  );
});
