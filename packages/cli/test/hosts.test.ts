import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { CliFixture } from './cli-fixture.ts';

/** A computer on which `wsl.exe` leads to a shell of this machine. */
class WslFixture extends CliFixture {
  readonly #programs = join(this.directory, 'programs');

  constructor() {
    super();
    mkdirSync(this.#programs, { mode: 0o755 });
    const list = join(this.#programs, 'list');
    const table = '  NAME      STATE           VERSION\r\n* Ubuntu    Running         2\r\n';
    writeFileSync(list, Buffer.from(table, 'utf16le'));
    const script = `case $1 in
--list) exec cat ${list} ;;
--distribution) shift 3; cd /; XDG_STATE_HOME=${join(this.directory, 'there')} exec "$@" ;;
esac`;
    const program = join(this.#programs, 'wsl.exe');
    writeFileSync(program, `#!/bin/sh\n${script}\n`);
    chmodSync(program, 0o755);
  }

  readonly litterbox = (...args: readonly string[]) =>
    this.run(args, undefined, { LITTERBOX_PROGRAMS: this.#programs });
}

test('machines of WSL2 are hosts like all others', async () => {
  await using fixture = new WslFixture();
  expect((await fixture.litterbox('host', 'list')).stdout).toContain('wsl:ubuntu');
  expect((await fixture.litterbox('host', 'check', 'wsl:Ubuntu')).stdout).toMatch(/answers: linux .* Connected in/);
  expect((await fixture.litterbox('doctor', '--host', 'wsl:ubuntu')).stdout).toContain('overlayfs@wsl:ubuntu: usable');
  expect(await fixture.litterbox('create', 'one', '--host', 'wsl:Ubuntu')).toMatchObject({ code: 0 });
  expect((await fixture.litterbox('run', 'one', '--', 'cat', 'a.txt')).stdout).toBe('a\n');

  const several = await fixture.litterbox('create', 'two', '--host', 'wsl:ubuntu', '--host', 'lima:default', '--json');
  expect(JSON.parse(several.stdout)).toMatchObject({
    host: 'wsl:ubuntu',
    placement: {
      hosts: [
        { host: 'wsl:ubuntu', verdict: 'chosen' },
        { host: 'lima:default', verdict: 'silent' },
      ],
    },
    warnings: [expect.stringMatching(/^lima:default: passed over, .* Set it up once: brew install lima/)],
  });
  const listed = await fixture.litterbox('list', '--json');
  expect(JSON.parse(listed.stdout)).toMatchObject([{ host: 'wsl:ubuntu' }, { host: 'wsl:ubuntu' }]);
  expect((await fixture.litterbox('list')).stdout).toMatch(/one\tready\toverlayfs\twsl:ubuntu\t/);
  expect((await fixture.litterbox('explain', 'two')).stdout).toMatch(
    /Litterbox chose its host .*:\n {2}wsl:ubuntu: chosen, .* free/,
  );
  expect(await fixture.litterbox('delete', 'one', 'two', '--force')).toMatchObject({ code: 0 });
});

test('a host that is preferred has the sandboxes of who names none', async () => {
  await using fixture = new WslFixture();
  expect(await fixture.litterbox('host', 'prefer', 'wsl:ubuntu', '--json')).toMatchObject({
    stdout: '{"preferred":["wsl:ubuntu"]}\n',
  });
  const created = await fixture.litterbox('create', 'one', '--json');
  expect(JSON.parse(created.stdout)).toMatchObject({ host: 'wsl:ubuntu' });
  expect(await fixture.litterbox('delete', 'one', '--force')).toMatchObject({ code: 0 });
  expect(await fixture.litterbox('host', 'prefer', 'attic')).toMatchObject({ code: 3 });
  expect(await fixture.litterbox('host', 'prefer', '--clear')).toMatchObject({ code: 0, stdout: '' });
  expect((await fixture.litterbox('doctor')).stdout).not.toContain('wsl:');
});

test('a host that nobody has, and memory that none has, are refused with what there is', async () => {
  await using fixture = new WslFixture();
  expect(await fixture.litterbox('create', 'x', '--host', 'attic')).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('litterbox host add attic'),
  });
  expect(await fixture.litterbox('host', 'add', 'wsl:other', 'me@there')).toMatchObject({ code: 2 });
  expect(await fixture.litterbox('create', 'x', '--host', 'wsl:ubuntu,local', '--memory', '900TiB')).toMatchObject({
    code: 5,
    stderr: expect.stringMatching(/No host has room (?=.*wsl:ubuntu: too small for )(?=.*local: too small for )/),
  });
});
