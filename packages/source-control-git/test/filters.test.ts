import { describe, expect, test } from '@jest/globals';
import { begin, GitFixture, record } from './git-fixture.ts';

const ask = { arguments: [] as string[] };
const ATTRIBUTES = '*.key filter=crypt\n*.nb filter=strip\n*.txt filter=unknown\n';

describe("the person's filters", () => {
  test('FC-358: run on nothing that an agent made, and the plan says so: of one that must run the files are risky', async () => {
    for (const integration of ['merge', 'apply'] as const) {
      await using fixture = new GitFixture();
      const root = fixture.repository({ '.gitattributes': ATTRIBUTES, 'old.nb': 'OLD\n' });
      const repository = await fixture.open(root);
      const id = await begin(repository);
      for (const name of ['crypt', 'strip']) fixture.git(root, 'config', `filter.${name}.clean`, 'tr a-z A-Z');
      fixture.git(root, 'config', 'filter.crypt.required', 'true');
      fixture.git(root, 'config', 'filter.unused.clean', 'cat');
      const files = { '.gitattributes': ATTRIBUTES, 'old.nb': 'OLD\n', 'a.txt': 'a\n' };
      await record(repository, id, files);
      expect((await repository.plan(id, { integration, ...ask })).notFollowed?.filters).toBeUndefined();

      await record(repository, id, { ...files, 'b.key': 'secret\n', 'c.nb': 'c\n' });
      const plan = await repository.plan(id, { integration, ...ask });
      expect(plan.notFollowed?.filters).toEqual(['strip']);
      expect(plan.risky).toEqual([
        { path: 'b.key', reasons: expect.arrayContaining(['is taken without your filter crypt']) },
      ]);
    }
  });
});
