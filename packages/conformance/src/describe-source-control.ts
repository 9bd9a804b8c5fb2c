import assert from 'node:assert/strict';
import {
  type ChangedPath,
  encodeRaw,
  isLitterboxError,
  type RevisionMessage,
  SandboxId,
  slugify,
  type SourceControl,
  type SourceRepository,
} from '@litterbox/core/provider';
import { fixtureArchive, type FixtureFile } from './fixture-workspace.ts';
import { joined } from './collected.ts';
import type { TestRunner } from './runner.ts';

export interface SourceControlOptions {
  readonly name: string;
  readonly runner: TestRunner;
  /** A new adapter over the same store, as another process would have it. */
  readonly open: () => Promise<SourceControl>;
  /** A new repository with one commit on a branch, holding exactly these files; its work tree's path. */
  readonly repository: (files: readonly FixtureFile[]) => Promise<string>;
  /** The content of a file in that work tree; undefined when it is not there. */
  readonly read: (repository: string, path: string) => Promise<string | undefined>;
  /** Everything in the repository that a user could notice, as one text: refs but ours, index, config, hooks, work tree. */
  readonly digest: (repository: string) => Promise<string>;
}

const MESSAGE: RevisionMessage = { subject: 'kit: change', trailers: [['Litterbox-Tool', 'kit']] };
const FILES: readonly FixtureFile[] = [
  { path: 'README', content: 'read me\n' },
  { path: 'dir/a', content: 'a\n' },
  { path: '.gitignore', content: 'ignored\n' },
];

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

    check('an apply leaves the changes for the person to commit', async ({ repository, record, id, root }) => {
      await record([{ path: 'new', content: 'new\n' }]);
      const plan = await repository.plan(id, { integration: 'apply', arguments: [] });
      assert.equal((await repository.execute(plan, { autostash: false })).outcome, 'staged');
      assert.equal(await read(root, 'new'), 'new\n');
    });

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
  });
}

/** Records files as a scanner and a sandbox would give them. */
function recordOf(
  repository: SourceRepository,
  id: SandboxId,
  files: readonly FixtureFile[],
  extra: readonly ChangedPath[] = [],
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
