import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  type ChangedPath,
  decodeRaw,
  type DiffOptions,
  encodeRaw,
  isLitterboxError,
  type LogEntry,
  type RevisionMessage,
  SandboxId,
  type SecretBytes,
  slugify,
  type SourceControl,
  type SourceRepository,
  type TreeOptions,
  type ObjectId,
} from '@litterbox/core/provider';
import { fixtureArchive, type FixtureFile } from './fixture-workspace.ts';
import { joined } from './collected.ts';
import type { TestRunner } from './runner.ts';

/** What {@link describeSourceControl} needs: an adapter, and a repository as a person has it. */
export interface SourceControlOptions {
  readonly name: string;
  readonly runner: TestRunner;
  /** A new adapter over the same store, as another process would have it. */
  readonly open: () => Promise<SourceControl>;
  /** A new repository with one commit on a branch, holding exactly these files; its work tree's path. */
  readonly repository: (files: readonly FixtureFile[]) => Promise<string>;
  /** The content of a file in that work tree; undefined when it is not there. */
  readonly read: (repository: string, path: string) => Promise<string | undefined>;
  /** Writes a file in that work tree, as a person's editor does. */
  readonly write: (repository: string, path: string, content: string) => Promise<void>;
  /** Commits everything in that work tree, as the person. */
  readonly commit: (repository: string) => Promise<void>;
  /** Everything in the repository that a user could notice, as one text: refs but ours, index, config, hooks, work tree. */
  readonly digest: (repository: string) => Promise<string>;
}

const MESSAGE: RevisionMessage = { subject: 'kit: change', trailers: [['Litterbox-Tool', 'kit']] };
const FILES: readonly FixtureFile[] = [
  { path: 'README', content: 'read me\n' },
  { path: 'dir/a', content: 'a\n' },
  { path: '.gitignore', content: 'ignored\n' },
];

const digestOf = (text: string) => createHash('sha256').update(encodeRaw(text)).digest('hex');

interface Started {
  readonly control: SourceControl;
  readonly repository: SourceRepository;
  readonly root: string;
  readonly id: SandboxId;
  record(files: readonly FixtureFile[], extra?: readonly ChangedPath[]): ReturnType<SourceRepository['record']>;
}

/** The contract of `SourceControl`, executable. */
export function describeSourceControl({
  name,
  runner,
  open,
  repository: make,
  read,
  write,
  commit,
  digest,
}: SourceControlOptions): void {
  const check = (title: string, body: (started: Started) => Promise<void>, slug = 'kit') =>
    runner.it(
      title,
      async () => {
        await using control = await open();
        const root = await make(FILES);
        await using repository = await control.open(root);
        const id = SandboxId.make();
        const base = await repository.base({ type: 'head' });
        await repository.begin({ id, slug: slugify(slug).slug, base });
        await body({ control, repository, root, id, record: (files, extra) => recordOf(repository, id, files, extra) });
      },
      60_000,
    );

  runner.describe(`SourceControl contract: ${name}`, () => {
    check('a forecast names conflicts with HEAD and between sandboxes, and changes nothing', async (started) => {
      const { repository, id, root, record } = started;
      const begin = async (name: string, files: readonly FixtureFile[]) => {
        const other = SandboxId.make();
        await repository.begin({ id: other, slug: slugify(name).slug, base: await repository.base({ type: 'head' }) });
        await recordOf(repository, other, files);
        return other;
      };
      await record([
        { path: 'README', content: 'mine\n' },
        { path: 'dir/a', content: 'same\n' },
      ]);
      const apart = await begin('apart', [{ path: 'own', content: 'own\n' }]);
      const near = await begin('near', [
        { path: 'README', content: 'other\n' },
        { path: 'dir/a', content: 'same\n' },
      ]);
      const ids = [id, apart, near];
      assert.deepEqual(await repository.forecast([...ids, SandboxId.make()]), {
        conflicts: [{ sandbox: id, other: near, paths: ['README'] }],
        untried: 0,
      });
      await write(root, 'own', "the person's\n");
      await commit(root);
      const before = await digest(root);
      assert.deepEqual((await repository.forecast(ids)).conflicts, [
        { sandbox: apart, paths: ['own'] },
        { sandbox: id, other: near, paths: ['README'] },
      ]);
      assert.deepEqual(await repository.forecast([]), { conflicts: [], untried: 0 });
      assert.equal(await digest(root), before);
      await repository.execute(await repository.plan(id, { integration: 'merge', arguments: [] }), {
        autostash: false,
      });
      assert.deepEqual((await repository.forecast([id, near])).conflicts, [{ sandbox: near, paths: ['README'] }]);
    });
    check('the lines of a file lead to the revisions that wrote them', async ({ repository, id, record }) => {
      const runs = async (path: string, upTo?: ObjectId) =>
        (await repository.blame(id, path, upTo === undefined ? {} : { upTo })).map(
          ({ revision, firstLine, lines }) => `${revision}@${firstLine}: ${lines.join('|')}`,
        );
      assert.deepEqual(await runs('README'), ['0@1: read me']);
      const first = await record([
        { path: 'README', content: 'read me\ntwo\nthree\n' },
        { path: 'd\u00e9/new', content: 'a\n\ttab\nno end' },
        { path: 'binary', content: 'a\0b\n' },
      ]);
      await record([{ path: 'README', content: 'zero\nread me\ntwo\n3\n' }]);
      assert.deepEqual(await runs('README'), ['2@1: zero', '0@2: read me', '1@3: two', '2@4: 3']);
      assert.deepEqual(await runs('README', first.revision?.commit), ['0@1: read me', '1@2: two|three']);
      assert.deepEqual(await runs('d\u00e9/new'), ['1@1: a|\ttab|no end']);
      for (const [path, code] of [
        ['never', 'NOT_FOUND'],
        ['README/x', 'NOT_FOUND'],
        ['dir', 'NOT_A_REGULAR_FILE'],
        ['binary', 'NOT_A_REGULAR_FILE'],
      ] as const)
        await assert.rejects(repository.blame(id, path), (error) => isLitterboxError(error, code));
    });
    check('a file is what it was in a revision and in the base, up to a bound', async ({ repository, id, record }) => {
      const { base } = await repository.history(id);
      const first = await record([
        { path: 'README', content: 'changed\n' },
        { path: 'd\u00e9/a', content: 'one\0\n' },
      ]);
      await record([{ path: 'README', content: 'again\n' }]);
      const read = async (path: string, at: ObjectId = base.commit, maxBytes = 100) => {
        const bytes = await repository.content(id, path, { at, maxBytes });
        return bytes && decodeRaw(bytes);
      };
      assert.equal(await read('README'), 'read me\n');
      assert.equal(await read('README', first.revision?.commit), 'changed\n');
      assert.equal(await read('d\u00e9/a', first.revision?.commit), 'one\0\n');
      for (const path of ['d\u00e9/a', 'dir', 'link', 'never', '../README', 'README/x'])
        assert.equal(await read(path), undefined, path);
      await assert.rejects(read('README', base.commit, 7), (error) => isLitterboxError(error, 'FILE_TOO_LARGE'));
    });
    check(
      'what commands printed is found by its digest, takes room once, and goes with the oldest first',
      async (started) => {
        const { repository, id, control, root } = started;
        const contentOf = (text: string) => ({ digest: digestOf(text), bytes: encodeRaw(text), mostBytes: 300_000 });
        const long = (number: number) => `${number}`.repeat(9_000);
        const read = async (text: string) => {
          const bytes = await repository.printed(id, digestOf(text));
          return bytes && decodeRaw(bytes);
        };
        await repository.keepPrinted(id, contentOf('a\0\udcff'));
        await repository.keepPrinted(id, contentOf('a\0\udcff'));
        assert.equal(await read('a\0\udcff'), 'a\0\udcff');
        assert.equal(await read('never'), undefined);
        await using again = await control.open(root);
        assert.ok(await again.printed(id, digestOf('a\0\udcff')));
        for (let number = 10; number < 60; number += 1) await repository.keepPrinted(id, contentOf(long(number)));
        assert.equal(await read(long(59)), long(59));
        assert.equal(await read(long(10)), undefined);
        await repository.remove(id);
        assert.equal(await read(long(59)), undefined);
        await repository.keepPrinted(id, contentOf('late'));
        assert.equal(await read('late'), undefined);
      },
    );
    check(
      "nothing in the user's repository changes until a milestone, apply or merge",
      async ({ repository, root, record, id }) => {
        const before = await digest(root);
        await record([
          { path: 'README', content: 'changed\n' },
          { path: 'new', content: 'new\n' },
        ]);
        for await (const _entry of repository.log(id));
        for await (const _bytes of repository.diff(id));
        await repository.changes(id);
        await repository.plan(id, { integration: 'merge', arguments: [] });
        assert.equal(await digest(root), before);
      },
    );

    check(
      'the ids of wanted contents: equal ones for equal contents, none for directories',
      async ({ repository, record }) => {
        const { revision } = await record([
          { path: 'same', content: 'a\n' },
          { path: 'dir/deep/link', linkTarget: 'a\n' },
          { path: 'non-utf8-\udcff', content: 'other\n' },
        ]);
        assert.ok(revision);
        const asked: string[] = [];
        const all = await repository.contentIds(revision.tree, (path) => (asked.push(path), path !== 'README'));
        assert.deepEqual(asked.sort(), ['.gitignore', 'README', 'dir/a', 'dir/deep/link', 'non-utf8-\udcff', 'same']);
        assert.equal(all.size, 5);
        assert.ok(all.get('same') !== undefined && all.get('same') === all.get('dir/a'));
        assert.notEqual(all.get('same'), all.get('non-utf8-\udcff'));
      },
    );

    check(
      'how the work tree differs from a tree is told by contents, and nothing in it changes',
      async ({ repository, root, record }) => {
        const { tree } = await repository.base({ type: 'worktree' });
        await write(root, 'ignored', 'x');
        const before = await digest(root);
        assert.deepEqual(await repository.drift(tree), { total: 0, paths: [], gone: [] });
        assert.equal(await digest(root), before);
        await write(root, 'README', 'edited\n');
        await write(root, 'new', 'new\n');
        const { total, paths, gone } = await repository.drift(tree);
        assert.deepEqual({ total, paths: [...paths].sort(), gone }, { total: 2, paths: ['README', 'new'], gone: [] });
        await write(root, 'README', 'read me\n');
        assert.deepEqual(await repository.drift(tree), { total: 1, paths: ['new'], gone: [] });
        const { revision } = await record([
          { path: 'dir/more', content: 'x' },
          { path: 'link', linkTarget: 'README' },
        ]);
        assert.ok(revision);
        const other = await repository.drift(revision.tree);
        assert.deepEqual([...other.paths].sort(), ['dir/more', 'link', 'new']);
        assert.deepEqual(other.gone.map(({ path, type }) => `${type} ${path}`).sort(), [
          'file dir/more',
          'symlink link',
        ]);
      },
    );

    check('a change is one revision, no change is none, and history is linear', async ({ repository, record, id }) => {
      const first = await record([{ path: 'README', content: 'one\n' }]);
      assert.deepEqual([first.revision?.number, first.changedFiles], [1, 1]);
      assert.equal((await record([{ path: 'README', content: 'one\n' }])).revision, undefined);
      assert.equal((await record([{ path: 'ignored', content: 'x' }])).revision, undefined);
      const second = await record([
        { path: 'bin/tool', content: 'x', executable: true },
        { path: 'link', linkTarget: 'README' },
      ]);
      assert.equal(second.revision?.number, 2);
      const log = [];
      for await (const entry of repository.log(id)) log.push([entry.number, entry.subject]);
      assert.deepEqual(log, [
        [2, 'kit: change'],
        [1, 'kit: change'],
      ]);
      assert.equal((await repository.history(id)).tip.commit, second.revision?.commit);
    });

    check(
      "what is missing from a directory's children is deleted, with all below it",
      async ({ repository, record, id }) => {
        await record([
          { path: 'dir/deep/er/file', content: 'x' },
          { path: 'dir/b', content: 'b' },
        ]);
        await record([], [{ type: 'directory', path: 'dir', children: [{ name: 'b', type: 'file' }] }]);
        assert.deepEqual((await repository.changes(id)).map(({ path, status }) => [path, status]).sort(), [
          ['dir/a', 'deleted'],
          ['dir/b', 'added'],
        ]);
      },
    );

    check('odd names and bytes survive', async ({ repository, record, id }) => {
      const odd = ['new\nline', 'non-utf8-\udcff', 'e\u0301', '\u00e9', '-dash', 'quo"te', 'tab\t'];
      await record(odd.map((path) => ({ path, content: `${path}\0\n` })));
      assert.deepEqual((await repository.changes(id)).map(({ path }) => path).sort(), [...odd].sort());
    });

    check(
      'paths that mean something to git are refused with a warning, and the rest is recorded',
      async ({ repository, record, id }) => {
        const { warnings, changedFiles } = await record([
          { path: '.git/hooks/post-checkout', content: '#!/bin/sh\n', executable: true },
          { path: 'vendor/.GIT/config', content: 'x' },
          { path: 'vendor/file', content: 'x' },
          { path: '.gitattributes', linkTarget: '/etc/passwd' },
        ]);
        assert.ok(warnings.length >= 2);
        assert.equal(changedFiles, 1);
        assert.deepEqual(
          (await repository.changes(id)).map(({ path }) => path),
          ['vendor/file'],
        );
      },
    );

    check(
      'a content that comes with a change is recorded as it is, rules included, and not asked for',
      async (started) => {
        const { repository, id } = started;
        const content = Uint8Array.of(0, 1, 0xff, 10);
        const file = (path: string, bytes: Uint8Array): ChangedPath => {
          return { type: 'file', path, sizeBytes: bytes.length, executable: path === 'tool', content: bytes };
        };
        const asked: string[] = [];
        const { revision, ignoreRulesChanged } = await repository.record(id, {
          changes: each([
            file('tool', content),
            file('.gitignore', encodeRaw('out\n')),
            file('out', encodeRaw('no\n')),
          ]),
          contents: (paths) =>
            new ReadableStream<Uint8Array>({
              async pull(controller) {
                for await (const path of paths) asked.push(path);
                controller.close();
              },
            }),
          message: MESSAGE,
        });
        assert.ok(revision && ignoreRulesChanged);
        assert.deepEqual(asked, []);
        const told = await repository.changes(id);
        assert.deepEqual(told.map(({ path }) => path).sort(), ['.gitignore', 'tool']);
        assert.equal(
          await textOf(repository.tree(revision.tree, { paths: new Set(['tool']) })).then((text) =>
            text.includes(decodeRaw(content)),
          ),
          true,
        );
      },
    );

    check('a stream with anything but what was asked for is refused, and the tip stays', async ({ repository, id }) => {
      const before = (await repository.history(id)).tip.commit;
      const hostile = fixtureArchive([{ path: 'other', content: 'x' }]);
      const truncated = fixtureArchive([{ path: 'file', content: 'x'.repeat(2000) }]).slice(0, 1100);
      for (const archive of [hostile, truncated]) {
        const request = {
          changes: each([{ type: 'file' as const, path: 'file', sizeBytes: 1, executable: false }]),
          contents: () => streamOf(archive),
          message: MESSAGE,
        };
        await assert.rejects(repository.record(id, request), (error) => isLitterboxError(error));
      }
      assert.equal((await repository.history(id)).tip.commit, before);
    });

    check('another adapter sees the same history', async ({ record, root, id }) => {
      const { revision } = await record([{ path: 'new', content: 'x' }]);
      await using other = await open();
      await using repository = await other.open(root);
      assert.equal((await repository.history(id)).tip.commit, revision?.commit);
      const ids = [];
      for await (const history of repository.histories()) ids.push(history.id);
      assert.ok(ids.includes(id));
    });

    check('the tree of a revision comes out as it went in', async ({ repository, record }) => {
      const { revision } = await record([
        { path: 'bin/tool', content: 'x', executable: true },
        { path: 'link', linkTarget: 'README' },
      ]);
      assert.ok(revision);
      const parts: Uint8Array[] = [];
      const reader = repository.tree(revision.tree).getReader();
      for (let next = await reader.read(); !next.done; next = await reader.read()) parts.push(next.value);
      const text = new TextDecoder('latin1').decode(joined(parts));
      for (const path of ['README', 'dir/a', 'bin/tool', 'link', '.gitignore']) assert.ok(text.includes(path), path);
    });

    check('restore appends a revision with the old content', async ({ repository, record, id }) => {
      const first = await record([{ path: 'README', content: 'one\n' }]);
      await record([{ path: 'README', content: 'two\n' }]);
      assert.ok(first.revision);
      assert.equal((await repository.resolve(id, '1')).commit, first.revision.commit);
      const restored = await repository.restore(id, first.revision.commit, MESSAGE);
      assert.deepEqual([restored?.number, restored?.tree], [3, first.revision.tree]);
      assert.equal(await repository.restore(id, first.revision.commit, MESSAGE), undefined);
      await assert.rejects(repository.resolve(id, '99'), (error) => isLitterboxError(error, 'REV_NOT_FOUND'));
    });

    check('a milestone squashes, and there is none without revisions', async ({ repository, record, id }) => {
      assert.equal(await repository.milestone(id, 'nothing'), undefined);
      await record([{ path: 'one', content: '1' }]);
      await record([{ path: 'two', content: '2' }]);
      const milestone = await repository.milestone(id, 'both');
      assert.deepEqual([milestone?.revisions, milestone?.branch], [2, 'refs/heads/litterbox/kit']);
      assert.equal((await repository.history(id)).unmilestoned, 0);
    });

    check('work is told in numbers, against the base', async ({ repository, record, id }) => {
      const nothing = { revisions: 0, unmilestoned: 0, files: 0, addedLines: 0, removedLines: 0 };
      assert.deepEqual(await repository.works([id]), new Map([[id, nothing]]));
      const [still, other] = [SandboxId.make(), SandboxId.make()];
      const base = await repository.base({ type: 'head' });
      for (const [index, one] of [still, other].entries())
        await repository.begin({ id: one, slug: slugify(`other-${index}`).slug, base });
      await record([{ path: 'one', content: 'a\nb\n' }]);
      await record([{ path: 'one', content: 'a\n' }]);
      await repository.milestone(id, 'one');
      await record([{ path: 'two', content: 'b\n' }]);
      const files = [
        { path: '1\t2 x\n', content: 'a\nb\nc\n' },
        { path: 'binary', content: '\0' },
      ];
      await recordOf(repository, other, files);
      // Of one that is not there nothing is said.
      assert.deepEqual(
        await repository.works([SandboxId.make(), other, still, id]),
        new Map([
          [other, { ...nothing, revisions: 1, unmilestoned: 1, files: 2, addedLines: 3 }],
          [still, nothing],
          [id, { ...nothing, revisions: 3, unmilestoned: 1, files: 2, addedLines: 2 }],
        ]),
      );
    });

    check('a merge brings everything, and is known to be in', async ({ repository, record, id, root }) => {
      await record([
        { path: 'README', content: 'merged\n' },
        { path: 'new', content: 'new\n' },
      ]);
      assert.equal(await repository.isMerged(id), false);
      const plan = await repository.plan(id, { integration: 'merge', arguments: [] });
      assert.deepEqual(plan.conflicts, []);
      assert.equal((await repository.execute(plan, { autostash: false })).outcome, 'committed');
      assert.equal(await read(root, 'README'), 'merged\n');
      assert.equal(await read(root, 'new'), 'new\n');
      assert.equal(await repository.isMerged(id), true);
    });

    check('a plan tells the words of its commits, and the revisions that no milestone has', async (started) => {
      const { repository, record, id } = started;
      await record([{ path: 'new', content: '1\n' }]);
      const plan = async (message?: string) =>
        await repository.plan(id, { integration: 'merge', arguments: [], ...(message !== undefined && { message }) });
      assert.equal((await plan()).unmilestoned, 0, 'without a milestone there is no branch to take for all');
      await repository.milestone(id, 'one');
      await record([{ path: 'new', content: '2\n' }]);
      const { unmilestoned, messages } = await plan('Mine');
      assert.equal(unmilestoned, 1);
      assert.equal(messages.at(-1)?.trimEnd(), 'Mine');
      const apply = await repository.plan(id, { integration: 'apply', arguments: [] });
      assert.deepEqual(apply.messages, [], 'an apply makes none');
    });

    check('an apply leaves the changes for the person to commit', async ({ repository, record, id, root }) => {
      await record([{ path: 'new', content: 'new\n' }]);
      const plan = await repository.plan(id, { integration: 'apply', arguments: [] });
      assert.equal((await repository.execute(plan, { autostash: false })).outcome, 'staged');
      assert.equal(await read(root, 'new'), 'new\n');
    });

    check(
      'an apply of some paths leaves the others, and one at which nothing changed is NOT_FOUND',
      async (started) => {
        const { repository, record, id, root } = started;
        await record([
          { path: 'new', content: 'new\n' },
          { path: 'there/one', content: '1\n' },
          { path: 'there/two', content: '2\n' },
        ]);
        const wanted = { integration: 'apply', arguments: [] } as const;
        await assert.rejects(repository.plan(id, { ...wanted, paths: ['there', 'elsewhere'] }), (error) =>
          isLitterboxError(error, 'NOT_FOUND'),
        );
        const plan = await repository.plan(id, { ...wanted, paths: ['there'] });
        assert.deepEqual(plan.changes.map(({ path }) => path).toSorted(), ['there/one', 'there/two']);
        assert.equal((await repository.execute(plan, { autostash: false })).outcome, 'staged');
        assert.equal(await read(root, 'there/two'), '2\n');
        assert.equal(await read(root, 'new'), undefined);
        assert.equal(await repository.isMerged(id), false);
      },
    );

    check('an argument that is not allowed is refused by name', async ({ repository, id }) => {
      await assert.rejects(
        repository.plan(id, { integration: 'merge', arguments: ['--exec=x'] }),
        (error) => isLitterboxError(error, 'MERGE_ARG_NOT_ALLOWED') && error.message.includes('--exec'),
      );
    });

    check('removal is idempotent, and what was removed is NOT_FOUND', async ({ repository, record, id }) => {
      await record([{ path: 'new', content: 'x' }]);
      await repository.milestone(id, 'one');
      await repository.remove(id);
      await repository.remove(id);
      await assert.rejects(repository.history(id), (error) => isLitterboxError(error, 'NOT_FOUND'));
    });

    check('a fork begins where its source is, and from there on each goes by itself', async (started) => {
      const { repository, record, id } = started;
      await record([{ path: 'one', content: '1' }]);
      await repository.milestone(id, 'one');
      await record([{ path: 'two', content: '2' }]);
      const source = await repository.history(id);
      const fork = SandboxId.make();
      const { slug } = slugify('kit fork');
      const begun = await repository.fork(id, { id: fork, slug });
      assert.deepEqual({ ...begun, createdAtMs: 0 }, { ...source, id: fork, slug, createdAtMs: 0 });
      const logOf = async (of: SandboxId) => {
        const entries: LogEntry[] = [];
        for await (const entry of repository.log(of)) entries.push(entry);
        return entries;
      };
      assert.deepEqual(await logOf(fork), await logOf(id));
      const { revision } = await recordOf(repository, fork, [{ path: 'three', content: '3' }]);
      assert.equal(revision?.number, 3);
      await record([{ path: 'four', content: '4' }]);
      const paths = async (of: SandboxId) => (await repository.changes(of)).map(({ path }) => path).sort();
      assert.deepEqual(await paths(fork), ['one', 'three', 'two']);
      assert.deepEqual(await paths(id), ['four', 'one', 'two']);
      const milestone = await repository.milestone(fork, 'three');
      assert.deepEqual([milestone?.revisions, milestone?.branch], [2, 'refs/heads/litterbox/kit-fork']);
      assert.equal((await repository.history(id)).unmilestoned, 2);
      assert.equal((await logOf(id)).filter((entry) => entry.milestone).length, 1);
    });

    check('a fork or its source can be removed, and the other one is whole', async ({ repository, record, id }) => {
      await record([{ path: 'one', content: '1' }]);
      await repository.milestone(id, 'one');
      const [fork, second] = [SandboxId.make(), SandboxId.make()];
      await repository.fork(id, { id: fork, slug: slugify('kit fork').slug });
      await repository.remove(id);
      await assert.rejects(repository.history(id), (error) => isLitterboxError(error, 'NOT_FOUND'));
      assert.equal((await repository.resolve(fork, '1')).number, 1);
      assert.deepEqual(
        (await repository.changes(fork)).map(({ path }) => path),
        ['one'],
      );
      assert.deepEqual(await repository.reconcile(), []);
      await repository.fork(fork, { id: second, slug: slugify('kit').slug });
      await repository.remove(second);
      assert.equal((await repository.exportTree(fork)).files, 4);
    });

    check(
      'a fork of a merged source is merged; one id has one history, and a source that nobody began is NOT_FOUND',
      async ({ repository, record, id }) => {
        await record([{ path: 'one', content: '1' }]);
        const plan = await repository.plan(id, { integration: 'merge', arguments: ['--squash'] });
        await repository.execute(plan, { autostash: false });
        const before = await repository.isMerged(id);
        const fork = SandboxId.make();
        const { slug } = slugify('kit fork');
        await repository.fork(id, { id: fork, slug });
        assert.equal(await repository.isMerged(fork), before);
        await recordOf(repository, fork, [{ path: 'two', content: '2' }]);
        assert.equal(await repository.isMerged(fork), false);
        await assert.rejects(repository.fork(id, { id: fork, slug }), (error) =>
          isLitterboxError(error, 'ALREADY_EXISTS'),
        );
        await assert.rejects(repository.fork(SandboxId.make(), { id: SandboxId.make(), slug }), (error) =>
          isLitterboxError(error, 'NOT_FOUND'),
        );
      },
    );

    check('opening from a directory below gives the same repository, and it is listed', async (started) => {
      const { control, repository, root } = started;
      await using below = await control.open(`${root}/dir`);
      assert.deepEqual([below.id, below.root], [repository.id, repository.root]);
      const listed = [];
      for await (const one of control.list()) listed.push(`${one.id} ${one.root}`);
      assert.ok(listed.includes(`${repository.id} ${repository.root}`));
      await assert.rejects(control.open('/proc'), (error) => isLitterboxError(error, 'NOT_A_REPO'));
    });

    check('a history begins once per id; one that nobody began is NOT_FOUND', async ({ repository, id }) => {
      const { base, slug, tip, unmilestoned } = await repository.history(id);
      assert.deepEqual([tip.tree, unmilestoned], [base.tree, 0]);
      await assert.rejects(repository.begin({ id, slug, base }), (error) => isLitterboxError(error, 'ALREADY_EXISTS'));
      await assert.rejects(repository.history(SandboxId.make()), (error) => isLitterboxError(error, 'NOT_FOUND'));
    });

    check(
      'bases: a ref is a commit by name, the work tree is its files, and anything else is refused',
      async (started) => {
        const { repository, root, id } = started;
        const head = await repository.base({ type: 'head' });
        assert.deepEqual(await repository.base({ type: 'ref', name: head.commit }).then(({ tree }) => tree), head.tree);
        await write(root, 'README', 'edited\n');
        await write(root, 'untracked', 'new\n');
        await write(root, 'ignored', 'secret\n');
        assert.equal((await repository.base({ type: 'head' })).tree, head.tree, 'edits are not in HEAD');
        const { paths, total } = await repository.leftOut(1);
        assert.deepEqual([paths.length, total], [1, 2]);
        const before = await digest(root);
        const edited = await repository.base({ type: 'worktree' });
        assert.equal(await digest(root), before);
        const text = await textOf(repository.tree(edited.tree));
        assert.ok(text.includes('edited\n') && text.includes('untracked') && !text.includes('secret'));
        for (const [name, code] of [
          ['no-such-branch', 'REV_NOT_FOUND'],
          ['HEAD..HEAD', 'REV_INVALID'],
          ['--all', 'REV_INVALID'],
          ['HEAD:README', 'REV_INVALID'],
        ] as const)
          await assert.rejects(repository.base({ type: 'ref', name }), (error) => isLitterboxError(error, code), name);
        await assert.rejects(repository.history(SandboxId.make()), (error) => isLitterboxError(error, 'NOT_FOUND'));
        assert.equal((await repository.history(id)).base.tree, head.tree);
      },
    );

    runner.it(
      "files are a base of their own in a repository that is nobody's, the same for every program",
      async () => {
        await using control = await open();
        await using other = await open();
        assert.ok(control.openOwn && other.openOwn, 'sandboxes can be without a repository');
        await using own = await control.openOwn();
        await using again = await other.openOwn();
        await using persons = await control.open(await make(FILES));
        assert.deepEqual([own.isPersons, again.isPersons, persons.isPersons], [false, false, true]);
        assert.equal(again.id, own.id);
        const empty = await own.base({ type: 'head' });
        assert.equal(await textOf(own.tree(empty.tree)).then((text) => text.replaceAll('\0', '')), '');
        const files = new Map([
          ['a', encodeRaw('one\n')],
          ['dir/b', Uint8Array.of(0, 255)],
        ]);
        const base = await own.base({ type: 'files', files });
        assert.equal(base.isPersons, true);
        assert.deepEqual(
          typesOf(await bytesOf(own.tree(base.tree))).map(([path]) => path),
          ['a', 'dir/', 'dir/b'],
        );
        assert.equal((await again.base({ type: 'files', files })).tree, base.tree);
        assert.equal((await own.base({ type: 'files', files: new Map() })).tree, empty.tree);
        const id = SandboxId.make();
        await own.begin({ id, slug: slugify('given').slug, base });
        assert.deepEqual(await own.changes(id), []);
        await recordOf(own, id, [{ path: 'a', content: 'two\n' }]);
        assert.deepEqual(
          (await again.changes(id)).map(({ path, status }) => [path, status]),
          [['a', 'modified']],
        );
        await own.remove(id);
      },
    );

    check('files of a tree that are others in the work tree have no time there', async ({ repository, root }) => {
      const { tree } = await repository.base({ type: 'head' });
      const future = Math.ceil(Date.now() / 1000) + 3600;
      assert.deepEqual([...(await repository.workTimes(tree, future))], []);
      await write(root, 'README', 'edited\n');
      const times = await repository.workTimes(tree, future);
      assert.deepEqual([...times], [['README', undefined]]);
      const edited = await repository.base({ type: 'worktree' });
      assert.deepEqual([...(await repository.workTimes(edited.tree, future))], []);
      const only = await textOf(
        repository.tree(tree, { times: new Map([['README', BigInt(future) * 1_000_000_000n]]) }),
      );
      assert.ok(only.includes('README') && !only.includes('dir/a'));
    });

    check('the work tree as a base is without what looks like a secret, and says what', async (started) => {
      const { repository, root } = started;
      const textsOf = async (named?: readonly string[]) => {
        const base = await repository.base({ type: 'worktree', ...(named && { named }) });
        return { text: await textOf(repository.tree(base.tree)), heldBack: base.heldBack };
      };
      await write(root, 'README', 'edited\n');
      assert.equal((await textsOf()).heldBack, undefined);
      await write(root, '.Env', 'by name\n');
      await write(root, 'notes', `by content -----BEGIN PRIVATE KEY-----\n`);
      await write(root, 'dir/a', `tracked -----BEGIN PRIVATE KEY-----\n`);
      const { text, heldBack } = await textsOf();
      assert.ok(text.includes('edited\n') && !/by name|by content|tracked/.test(text));
      assert.deepEqual(
        heldBack?.files.map(({ path, isTracked }) => [path, isTracked]),
        [
          ['.Env', false],
          ['dir/a', true],
          ['notes', false],
        ],
      );
      assert.equal(heldBack?.total, 3);
      // Tracked files come when they are named; new ones are left to who brings them.
      const named = await textsOf(['dir', '.Env']);
      assert.deepEqual(
        named.heldBack?.files.map(({ path }) => path),
        ['notes'],
      );
      assert.ok(named.text.includes('tracked') && !named.text.includes('by name'));
    });

    check(
      "an agent finds what a branch holds and nothing else; what only a review branch holds is not the person's",
      async ({ control, repository, root, record, id }) => {
        await using forAgent = await control.open(root, { asker: 'agent' });
        const of = async (name: string, opened = forAgent) => await opened.base({ type: 'ref', name });
        const head = await repository.base({ type: 'head' });
        assert.deepEqual([head.isPersons, (await of(head.commit)).isPersons], [true, true]);
        assert.equal((await repository.base({ type: 'worktree' })).isPersons, true);
        const { revision } = await record([{ path: 'README', content: 'of an agent\n' }]);
        const milestone = await repository.milestone(id, 'one');
        assert.ok(revision && milestone);
        for (const name of ['litterbox/kit', milestone.branch, milestone.commit])
          for (const opened of [repository, forAgent]) {
            const { commit: found, isPersons } = await of(name, opened);
            assert.deepEqual([name, found, isPersons], [name, milestone.commit, false]);
          }
        await repository.remove(id);
        const messages = new Set<string>();
        for (const name of [milestone.commit, revision.commit, '0'.repeat(head.commit.length)])
          await assert.rejects(of(name), (error) => {
            if (!isLitterboxError(error, 'REV_NOT_FOUND')) return false;
            messages.add(error.message.replaceAll(name, 'NAME'));
            return true;
          });
        assert.equal(messages.size, 1, 'one cannot tell what is there from what is not');
        assert.equal((await of(head.commit)).tree, head.tree);
      },
    );

    check('a tree can be asked for some of its files, and they come as they are', async ({ repository, record }) => {
      const { revision } = await record([{ path: 'odd \udcff', content: 'a\r\nb\n' }]);
      assert.ok(revision);
      const text = await textOf(repository.tree(revision.tree, { paths: new Set(['odd \udcff', 'dir/a']) }));
      assert.ok(text.includes('a\r\nb\n') && text.includes('dir/a') && !text.includes('read me'));
    });

    check(
      'FC-04: what a tree has otherwise than another, with the directories above, and at one time',
      async ({ repository, record }) => {
        const one = await record([
          { path: 'left/gone', content: 'x' },
          { path: 'left/stays', content: 'x' },
          { path: 'same/x', content: 'x' },
          { path: 'deep/er/odd \udcff', content: '1' },
        ]);
        const two = await record(
          [
            { path: 'deep/er/odd \udcff', content: '2' },
            { path: 'new/link', linkTarget: 'x' },
          ],
          [{ type: 'directory', path: 'left', children: [{ name: 'stays', type: 'file' }] }],
        );
        assert.ok(one.revision && two.revision);
        const { tree } = two.revision;
        const told = async (options: TreeOptions) => timesOf(await bytesOf(repository.tree(tree, options)));
        const all = await told({});
        assert.ok(all.some(([path]) => path === 'same/x'));
        assert.equal(new Set(all.map(([, seconds]) => seconds)).size, 1);
        const names = ['deep/', 'deep/er/', 'deep/er/odd \udcff', 'left/', 'new/', 'new/link'];
        assert.deepEqual(
          await told({ unlike: one.revision.tree, timeSeconds: 1_700_000_000 }),
          names.map((name) => [name, 1_700_000_000]),
        );
        assert.deepEqual(await told({ unlike: two.revision.tree, timeSeconds: 1_700_000_000 }), []);
      },
    );

    check(
      'of trees that are kept the nearest is told, and what makes it into another when it is laid over it',
      async ({ repository, record }) => {
        if (!repository.nearestTree || !repository.treeOver) return; // it cannot tell, and is not asked
        const paths = ['gone/deep/er', 'left/gone', 'left/stays', 'was-directory/x', 'was-file'];
        const one = await record(paths.map((path) => ({ path: `top/${path}`, content: 'x' })));
        const far = await record(Array.from({ length: 20 }, (_, index) => ({ path: `far/${index}`, content: 'x' })));
        const children = [
          { name: 'left', type: 'directory' },
          { name: 'was-directory', type: 'file' },
          { name: 'was-file', type: 'directory' },
        ] as const;
        const two = await record(
          [
            ...Array.from({ length: 10 }, (_, index) => ({ path: `far/${index}`, content: 'y' })),
            { path: 'top/was-directory', content: 'a file' },
            { path: 'top/was-file/x', content: 'x' },
          ],
          [
            { type: 'directory', path: 'top', children },
            { type: 'directory', path: 'top/left', children: [{ name: 'stays', type: 'file' }] },
            { type: 'directory', path: 'top/was-file', children: [{ name: 'x', type: 'file' }] },
          ],
        );
        assert.ok(one.revision && far.revision && two.revision);
        const { tree } = two.revision;
        const unknown = 'f'.repeat(tree.length) as ObjectId;
        const known = [one.revision.tree, far.revision.tree];
        assert.equal(await repository.nearestTree(tree, [...known, unknown]), far.revision.tree); // ten files fewer
        assert.equal(await repository.nearestTree(tree, [unknown]), undefined);
        const entries = typesOf(await bytesOf(repository.treeOver(tree, far.revision.tree)));
        assert.deepEqual(
          entries.filter(([name]) => name.startsWith('top')),
          [
            ['top/', '5'],
            ['top/gone', '3'],
            ['top/left/', '5'],
            ['top/left/gone', '3'],
            ['top/was-directory', '0'],
            ['top/was-file/', '5'],
            ['top/was-file/x', '0'],
          ],
        );
        assert.equal(entries.length, 7 + 1 + 10);
      },
    );

    check('a diff is what git prints: of all, of one revision, of some paths, against another', async (started) => {
      const { repository, record, id } = started;
      const first = await record([{ path: 'README', content: 'one\n' }]);
      const second = await record([
        { path: 'dir/a', content: 'b\n' },
        { path: 'bytes', content: '\0\udcff' },
      ]);
      assert.ok(first.revision && second.revision);
      const diff = async (options?: DiffOptions) => {
        const parts: Uint8Array[] = [];
        for await (const part of repository.diff(id, options)) parts.push(part);
        return decodeRaw(joined(parts));
      };
      const all = await diff();
      for (const line of ['-read me\n', '+one\n', '-a\n', '+b\n', 'Binary files'])
        assert.ok(all.includes(line), JSON.stringify(line));
      const { commit: older } = first.revision;
      const { commit: newer } = second.revision;
      assert.ok(!(await diff({ revision: newer })).includes('+one'));
      assert.ok(!(await diff({ revision: older })).includes('+b\n'));
      assert.equal(await diff({ revision: newer, against: older }), await diff({ revision: newer }));
      assert.ok(!(await diff({ paths: ['dir'] })).includes('README'));
      const upTo = await diff({ upTo: older });
      assert.ok(upTo.includes('+one\n') && !upTo.includes('+b\n'), 'up to a revision, what came later is not in it');
      assert.equal(await diff({ upTo: newer }), all);
      assert.ok(!all.includes('\u001b'), 'no colour');
    });

    check('changes are told with status, lines, mode and kind', async ({ repository, record, id }) => {
      await record(
        [
          { path: 'README', content: 'one\ntwo\n', executable: true },
          { path: 'bytes', content: '\0\udcff' },
          { path: 'dir/a', linkTarget: 'b' },
        ],
        [],
      );
      const told = new Map((await repository.changes(id)).map(({ path, ...facts }) => [path, facts]));
      assert.deepEqual(told.get('README'), {
        status: 'modified',
        executable: true,
        wasExecutable: false,
        binary: false,
        addedLines: 2,
        removedLines: 1,
      });
      assert.deepEqual(told.get('bytes'), { status: 'added', executable: false, binary: true });
      assert.equal(told.get('dir/a')?.status, 'type-changed');
    });

    check('the log is newest first, as long as asked for, with words, trailers and milestones', async (started) => {
      const { repository, record, id } = started;
      for (const content of ['1', '2', '3']) await record([{ path: 'file', content }]);
      await repository.milestone(id, 'three');
      await record([{ path: 'file', content: '4' }]);
      const log: LogEntry[] = [];
      for await (const entry of repository.log(id, { limit: 3 })) log.push(entry);
      assert.deepEqual(
        log.map(({ number, milestone }) => [number, milestone]),
        [
          [4, false],
          [3, true],
          [2, false],
        ],
      );
      assert.ok(
        log.every(({ trailers }) => trailers.some(([name, value]) => name === 'Litterbox-Tool' && value === 'kit')),
      );
      assert.ok(log.every(({ atMs }) => Math.abs(atMs - Date.now()) < 600_000));
      const { commit: short } = log[0] ?? { commit: '' };
      assert.equal((await repository.resolve(id, short.slice(0, 12))).number, 4);
      await assert.rejects(repository.resolve(id, '../x'), (error) => isLitterboxError(error, 'REV_INVALID'));
    });

    check('a record that fails or is aborted half-way leaves the tip, and the next one is whole', async (started) => {
      const { repository, record, id } = started;
      const before = (await repository.history(id)).tip;
      const failed = new Error('the sandbox is gone');
      const changes = [{ type: 'file' as const, path: 'new', sizeBytes: 3, executable: false }];
      const broken = () =>
        new ReadableStream<Uint8Array>({
          pull: (controller) => controller.error(failed),
        });
      await assert.rejects(repository.record(id, { changes: each(changes), contents: broken, message: MESSAGE }));
      const controller = new AbortController();
      const reason = new Error('enough');
      const contents = () => (
        controller.abort(reason), streamOf(fixtureArchive([{ path: 'new', content: 'new' }], false))
      );
      await assert.rejects(
        repository.record(id, { changes: each(changes), contents, message: MESSAGE }, { signal: controller.signal }),
        (error) => error === reason,
      );
      assert.deepEqual((await repository.history(id)).tip, before);
      assert.equal((await record([{ path: 'new', content: 'new' }])).revision?.number, before.number + 1);
    });

    check('hostile archives are refused, whatever they hold, and the tip stays', async ({ repository, id }) => {
      const before = (await repository.history(id)).tip.commit;
      const good = fixtureArchive([{ path: 'file', content: 'x' }], false);
      const altered = (change: (header: Uint8Array) => void) => {
        const bytes = good.slice();
        change(bytes.subarray(0, 512));
        checksum(bytes.subarray(0, 512));
        return bytes;
      };
      const put = (header: Uint8Array, text: string, at: number) => header.set(encodeRaw(text), at);
      const hostile: Readonly<Record<string, Uint8Array>> = {
        'a path outside': altered((header) => put(header, '../file\0', 0)),
        'an absolute path': altered((header) => put(header, '/etc/file\0', 0)),
        'a hard link': altered((header) => (put(header, '1', 156), put(header, 'README', 157))),
        'a device': altered((header) => put(header, '3', 156)),
        'a fifo': altered((header) => put(header, '6', 156)),
        'an unknown type': altered((header) => put(header, 'Z', 156)),
        'a size without end': altered((header) => put(header, '77777777777', 124)),
        'a negative size': altered((header) =>
          put(header, '\udcff\udcff\udcff\udcff\udcff\udcff\udcff\udcff\udcff\udcff\udcff\udcff', 124),
        ),
        'a wrong sum': (() => {
          const bytes = good.slice();
          bytes[0] = 0x67;
          return bytes;
        })(),
        'a name without end': altered((header) => (put(header, '77777777777', 124), put(header, 'L', 156))),
        'the same file twice': joined([good.slice(0, 1024), good]),
        'no archive': encodeRaw('#!/bin/sh\n'.repeat(200)),
      };
      const taken: string[] = [];
      for (const [what, archive] of Object.entries(hostile)) {
        const request = {
          changes: each([{ type: 'file' as const, path: 'file', sizeBytes: 1, executable: false }]),
          contents: () => streamOf(archive),
          message: MESSAGE,
        };
        await repository.record(id, request).then(
          ({ revision }) => revision && taken.push(what),
          (error: unknown) => assert.ok(isLitterboxError(error), `${what}: ${String(error)}`),
        );
      }
      // The last of two contents counts, as with tar: it is the same path.
      assert.deepEqual(
        taken.filter((what) => what !== 'the same file twice'),
        [],
      );
      if (taken.length === 0) assert.equal((await repository.history(id)).tip.commit, before);
    });

    check(
      'a rule of what is ignored that changes is told; a nested repository is files',
      async ({ record, repository, id }) => {
        const { ignoreRulesChanged } = await record([{ path: '.gitignore', content: '' }]);
        assert.equal(ignoreRulesChanged, true);
        const { warnings } = await record([
          { path: 'vendor/.git/HEAD', content: 'ref: refs/heads/main\n' },
          { path: 'vendor/file', content: 'x' },
        ]);
        assert.ok(warnings.some(({ type }) => type === 'nested-repository' || type === 'refused-path'));
        assert.ok((await repository.changes(id)).every(({ path }) => !path.includes('.git/')));
      },
    );

    check(
      'a file, a link and a name that hold a secret are left out and named, and what was there stays',
      async (started) => {
        const { repository, record, id } = started;
        const secret = 'npm_0123456789';
        await record([{ path: 'README', content: 'mine\n' }]);
        const files: readonly FixtureFile[] = [
          { path: 'README', content: `with ${secret}\n` },
          { path: `at-${secret}`, content: 'x' },
          { path: 'link', linkTarget: secret },
          { path: 'whole', content: secret.slice(1) },
        ];
        const { warnings } = await recordOf(repository, id, files, undefined, [
          { name: 'TOKEN', bytes: encodeRaw(secret) },
        ]);
        assert.deepEqual(
          warnings.map((warning) => [warning.path, 'secret' in warning && warning.secret]).toSorted(),
          [`at-${secret}`, 'README', 'link'].toSorted().map((path) => [path, 'TOKEN']),
        );
        assert.deepEqual((await repository.changes(id)).map(({ path }) => path).toSorted(), ['README', 'whole']);
        const at = (await repository.history(id)).tip.commit;
        const kept = await repository.content(id, 'README', { at, maxBytes: 100 });
        assert.equal(kept && decodeRaw(kept), 'mine\n');
      },
    );

    check('a plan names conflicts, edits in the way and what runs code, and changes nothing', async (started) => {
      const { repository, record, root, id } = started;
      await record([
        { path: 'README', content: 'theirs\n' },
        { path: 'dir/a', content: 'theirs\n' },
        { path: '.vscode/tasks.json', content: '{}' },
      ]);
      await write(root, 'README', 'ours\n');
      await commit(root);
      await write(root, 'dir/a', 'uncommitted\n');
      const before = await digest(root);
      const plan = await repository.plan(id, { integration: 'merge', arguments: [] });
      assert.deepEqual(plan.conflicts, ['README']);
      assert.ok(plan.dirtyOverlap.includes('dir/a'), plan.dirtyOverlap.join());
      assert.ok(plan.risky.some(({ path, reasons }) => path === '.vscode/tasks.json' && reasons.length > 0));
      assert.equal(plan.upToDate, false);
      assert.equal(await digest(root), before);
      await assert.rejects(repository.execute(plan, { autostash: false }), (error) =>
        isLitterboxError(error, 'DIRTY_WORKTREE'),
      );
      assert.equal(await read(root, 'dir/a'), 'uncommitted\n');
    });

    check('a conflict is left to the person; a HEAD that moved is HEAD_MOVED', async (started) => {
      const { repository, record, root, id } = started;
      await record([{ path: 'README', content: 'theirs\n' }]);
      const early = await repository.plan(id, { integration: 'merge', arguments: [] });
      await write(root, 'README', 'ours\n');
      await commit(root);
      await assert.rejects(repository.execute(early, { autostash: false }), (error) =>
        isLitterboxError(error, 'HEAD_MOVED'),
      );
      assert.equal(await read(root, 'README'), 'ours\n');
      const plan = await repository.plan(id, { integration: 'merge', arguments: [] });
      const { outcome, conflicts } = await repository.execute(plan, { autostash: false });
      assert.deepEqual([outcome, conflicts], ['conflicts', ['README']]);
      assert.match((await read(root, 'README')) ?? '', /<<<<<<<[^]*ours\n[^]*theirs\n/);
      assert.equal(await repository.isMerged(id), false);
      await assert.rejects(repository.plan(id, { integration: 'merge', arguments: [] }), (error) =>
        isLitterboxError(error, 'MERGE_IN_PROGRESS'),
      );
    });

    check('what was merged needs no second merge, and what was applied and committed is merged', async (started) => {
      const { repository, record, root, id } = started;
      await record([{ path: 'new', content: 'new\n' }]);
      const apply = await repository.plan(id, { integration: 'apply', arguments: [] });
      await repository.execute(apply, { autostash: false });
      assert.equal(await repository.isMerged(id), false, 'it is in the work tree only');
      await commit(root);
      assert.equal(await repository.isMerged(id), true);
      await record([{ path: 'more', content: 'more\n' }]);
      assert.equal(await repository.isMerged(id), false);
      const merge = await repository.plan(id, { integration: 'merge', arguments: [] });
      assert.equal((await repository.execute(merge, { autostash: false })).outcome, 'committed');
      const again = await repository.plan(id, { integration: 'merge', arguments: [] });
      assert.equal(again.upToDate, true);
      assert.equal((await repository.execute(again, { autostash: false })).outcome, 'up-to-date');
    });

    check('the review branch can be exported as plain files, and reconcile has nothing to do', async (started) => {
      const { repository, record, root, id } = started;
      await record([
        { path: 'bin/tool', content: 'x', executable: true },
        { path: 'link', linkTarget: '/etc/passwd' },
      ]);
      await repository.milestone(id, 'one');
      const runsLater = '.vscode/tasks.json';
      const planned = async () => {
        const { tree, revision, risky } = await repository.planExport(id);
        return { tree, revision, isNamed: risky.some(({ path }) => path === runsLater) };
      };
      const plan = await planned();
      assert.deepEqual(plan, { tree: (await repository.history(id)).tip.tree, revision: 1, isNamed: false });
      await record([{ path: runsLater, content: '{}' }]);
      assert.deepEqual(await planned(), plan, 'there is no milestone of it');
      await repository.milestone(id, 'two');
      assert.equal((await planned()).isNamed, true);
      const { directory, files } = await repository.exportTree(id, { tree: plan.tree });
      assert.ok(directory.startsWith(`${repository.root}/`) && files >= 5, `${directory}: ${files}`);
      const below = directory.slice(repository.root.length + 1);
      assert.equal(await read(root, `${below}/bin/tool`), 'x');
      assert.equal(await read(root, `${below}/link`), '/etc/passwd', 'a link is a file with its target');
      assert.deepEqual(await repository.reconcile(), []);
    });
  });
}

/** Records files as a scanner and a sandbox would give them. */
function recordOf(
  repository: SourceRepository,
  id: SandboxId,
  files: readonly FixtureFile[],
  extra: readonly ChangedPath[] = [],
  secrets: readonly SecretBytes[] = [],
): ReturnType<SourceRepository['record']> {
  const changes: ChangedPath[] = files.map(({ path, content = '', executable = false, linkTarget }) =>
    linkTarget === undefined
      ? { type: 'file', path, sizeBytes: encodeRaw(content).length, executable }
      : { type: 'symlink', path },
  );
  return repository.record(id, {
    changes: each([...extra, ...changes]),
    contents: (paths) =>
      new ReadableStream<Uint8Array>({
        async start(controller) {
          const wanted = new Set<string>();
          for await (const path of paths) wanted.add(path);
          controller.enqueue(
            fixtureArchive(
              files.filter(({ path }) => wanted.has(path)),
              false,
            ),
          );
          controller.close();
        },
      }),
    message: MESSAGE,
    secrets,
  });
}

async function* each<Item>(items: readonly Item[]): AsyncGenerator<Item, void, undefined> {
  yield* items;
}

function streamOf(bytes: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(bytes);
      controller.close();
    },
  });
}

async function textOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  return decodeRaw(await bytesOf(stream));
}

async function bytesOf(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  const reader = stream.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) parts.push(next.value);
  return joined(parts);
}

/** Name and time of each entry of an archive with short names, by name. */
function timesOf(archive: Uint8Array): readonly (readonly [name: string, seconds: number])[] {
  return headersOf(archive, (text) => Number.parseInt(text(136, 12), 8));
}

/** The types of the entries of an archive, by their names. */
function typesOf(archive: Uint8Array): readonly (readonly [name: string, type: string])[] {
  return headersOf(archive, (text) => text(156, 1));
}

/** Something of each header of an archive, by the names of the entries. */
function headersOf<Told>(
  archive: Uint8Array,
  tell: (text: (at: number, length: number) => string) => Told,
): readonly (readonly [name: string, told: Told])[] {
  const found: [string, Told][] = [];
  const text = (at: number, length: number) => decodeRaw(archive.slice(at, at + length)).replace(/\0[^]*/, '');
  for (let at = 0; at < archive.length && archive[at] !== 0; ) {
    const start = at;
    found.push([text(at, 100), tell((field, length) => text(start + field, length))]);
    at += 512 * (1 + Math.ceil(Number.parseInt(text(at + 124, 12), 8) / 512));
  }
  return found.sort(([one], [other]) => (one < other ? -1 : 1));
}

/** Puts the sum of a tar header right. */
function checksum(header: Uint8Array): void {
  header.fill(0x20, 148, 156);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.set(encodeRaw(`${sum.toString(8).padStart(6, '0')}\0 `), 148);
}
