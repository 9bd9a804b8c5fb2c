import { describe, expect, it } from '@jest/globals';
import type { PatchFile } from './patch-file.ts';
import { PATCH_BOUNDS, type PatchBounds, readPatch } from './read-patch.ts';

async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
}

async function read(text: string | Uint8Array, size = 7, bounds: PatchBounds = PATCH_BOUNDS): Promise<PatchFile[]> {
  const files: PatchFile[] = [];
  for await (const file of readPatch(inPieces(Buffer.from(text), size), bounds)) files.push(file);
  return files;
}

const HEAD = 'diff --git a/a.txt b/a.txt\nindex 1..2 100644\n--- a/a.txt\n+++ b/a.txt\n';

describe('a patch of git', () => {
  it('is read by its counts: a line that looks like a heading is a line', async () => {
    const lines = ['-diff --git a/x b/x', '+diff --git a/y b/y', ' @@ -1 +1 @@', '--- a/z', '+++ b/z'];
    const [file, ...others] = await read(
      `${HEAD}@@ -1,3 +1,3 @@ function f() {\n${lines.join('\n')}\n@@ -9 +9 @@\n-a\n\\ No newline at end of file\n+b\n`,
    );
    expect(others).toEqual([]);
    expect(file).toMatchObject({ path: 'a.txt', change: 'modified', leftOut: 0 });
    expect(file?.hunks).toEqual([
      { oldStart: 1, newStart: 1, firstChange: 0, title: 'function f() {', lines },
      { oldStart: 9, newStart: 9, firstChange: 2, title: '', lines: ['-a', '\\ No newline at end of file', '+b'] },
    ]);
  });

  it('has characters whole that came in two pieces, and bytes that are none as escapes', async () => {
    const text = Buffer.concat([Buffer.from(`${HEAD}@@ -0,0 +1,2 @@\n+äöü€\n+`), Buffer.from([0xff, 0x0a])]);
    for (const size of [1, 2, 3, 1000]) {
      const [file] = await read(text, size);
      expect(file?.hunks[0]?.lines).toEqual(['+äöü€', String.raw`+\xff`]);
    }
  });

  it('gives names as they are, and as they may be seen', async () => {
    const quoted = String.raw`"a/a\nb\342\200\256\"<img>.txt" "b/a\nb\342\200\256\"<img>.txt"`;
    const [file] = await read(`diff --git ${quoted}\nnew file mode 100755\nindex 0..1\n`);
    expect(file).toMatchObject({ path: 'a\nb\u202e"<img>.txt', change: 'added', modes: ['', '100755'] });
    expect(file?.name).toBe(String.raw`a\nb\u202e"<img>.txt`);
  });

  it('knows renames, binaries, changed kinds and files with blanks in their names', async () => {
    const files = await read(
      [
        'diff --git a/old name b/new\tname',
        'similarity index 100%',
        'rename from old name',
        'rename to "new\\tname"',
        'diff --git a/a b/c b/a b/c',
        'index 1..2 100644',
        'Binary files a/a b/c and b/a b/c differ',
        'diff --git a/run b/run',
        'old mode 100644',
        'new mode 120000',
        'diff --git a/gone b/gone',
        'deleted file mode 100644',
        '',
      ].join('\n'),
    );
    expect(files.map(({ path, from, change, isBinary, modes }) => [path, from, change, isBinary, modes])).toEqual([
      ['new\tname', 'old name', 'renamed', false, undefined],
      ['a b/c', undefined, 'modified', true, undefined],
      ['run', undefined, 'modified', false, ['100644', '120000']],
      ['gone', undefined, 'deleted', false, undefined],
    ]);
  });

  it('tells the changes of a file from any others, unless it is whole or not wholly here', async () => {
    const digests = async (text: string, bounds?: PatchBounds) =>
      (await read(text, 7, bounds)).map(({ digest }) => digest);
    const body = '@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n';
    const [one] = await digests(`${HEAD}${body}`);
    expect(one).toMatch(/^[0-9a-f]{64}$/);
    expect(await digests(`${HEAD}${body.replace('-1,3 +1,3', '-7,3 +9,3')}`)).toEqual([one]);
    expect(await digests(`${HEAD}${body.replace('+B', '+C')}`)).not.toEqual([one]);
    const header = (...lines: string[]) => `diff --git a/a.txt b/a.txt\n${lines.join('\n')}\n`;
    const bounds = { maxLines: 2, maxFileLines: 10, maxLineCharacters: 100, maxCharacters: 10_000 };
    for (const whole of [
      await digests(`${header('old mode 100644', 'new mode 100755')}${body}`),
      await digests(`${header('new file mode 100644')}@@ -0,0 +1 @@\n+a\n`),
      await digests(`${header('deleted file mode 100644')}@@ -1 +0,0 @@\n-a\n`),
      await digests(`${header('rename from a.txt', 'rename to b.txt')}${body}`),
      await digests(`${HEAD}${body}`, bounds),
      await digests(`${HEAD}@@ -0,0 +1 @@\n+${'x'.repeat(200_000)}\n`),
    ])
      expect(whole).toEqual([undefined]);
  });

  it('keeps both ends of a long line, and counts what is between them', async () => {
    const line = `${' '.repeat(300_000)}evil()`;
    const [file] = await read(`${HEAD}@@ -0,0 +1 @@\n+${line}\n`, 10_000);
    const [head = '', more, tail = ''] = file?.hunks[0]?.lines[0] ?? [];
    expect([head, tail].map((end) => typeof end)).toEqual(['string', 'string']);
    expect(head).toMatch(/^\+ +$/);
    expect(tail).toMatch(/^ +evil\(\)$/);
    expect(`${head}${tail}`.length + Number(more)).toBe(line.length + 1);
  });

  it('counts the lines beyond its bounds', async () => {
    const body = (count: number) => `@@ -0,0 +1,${count} @@\n${'+x\n'.repeat(count)}`;
    const bounds = { maxLines: 12, maxFileLines: 10, maxLineCharacters: 100, maxCharacters: 10_000 };
    const files = await read(`${HEAD}${body(15)}${HEAD}${body(4)}${HEAD}${body(3)}`, 50, bounds);
    expect(files.map(({ hunks, leftOut }) => [hunks[0]?.lines.length ?? 0, leftOut])).toEqual([
      [10, 5],
      [2, 2],
      [0, 3],
    ]);
  });

  it('AX223: holds no more than its bound of characters, and tells of no changes among too many', async () => {
    const body = (count: number) => `@@ -1,1 +1,${count} @@\n-a\n${`+${'x'.repeat(90)}\n`.repeat(count)}`;
    const bounds = { ...PATCH_BOUNDS, maxCharacters: 500 };
    const files = await read(`${HEAD}${body(10)}${HEAD}${body(3)}`, 50, bounds);
    expect(files.map(({ hunks, leftOut }) => [hunks[0]?.lines.length ?? 0, leftOut])).toEqual([
      [7, 4],
      [0, 4],
    ]);
    const long = `+${'x'.repeat(100_000)}\n`;
    const [few, many] = await read(
      `${HEAD}@@ -0,0 +1,80 @@\n${long.repeat(80)}${HEAD}@@ -0,0 +1,90 @@\n${long.repeat(90)}`,
      65_536,
    );
    expect([few?.digest, many?.digest]).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/), undefined]);
    expect(many?.leftOut).toBe(0);
  });

  it('FC-509: shows ends of lines of Windows where they differ, and says so once where all lines have them', async () => {
    const all = '@@ -1,3 +1,3 @@\n one\r\n-two\r\n+TWO\r\n three\n\\ No newline at end of file\n';
    const [file] = await read(`${HEAD}${all}`);
    expect(file).toMatchObject({
      isCrLf: true,
      digest: expect.any(String),
      hunks: [{ lines: [' one', '-two', '+TWO', ' three', expect.stringMatching(/^\\/)] }],
    });
    const [mixed] = await read(`${HEAD}@@ -1,2 +1,2 @@\n one\r\n-two\r\n+two\n`);
    expect(mixed?.isCrLf).toBeUndefined();
    expect(mixed?.hunks[0]?.lines).toEqual([String.raw` one\x0d`, String.raw`-two\x0d`, '+two']);
    // Text that looks like such an end is none.
    const [hostile] = await read(String.raw`${HEAD}@@ -1 +1 @@${'\n'}-a\x0d${'\n'}+b\x0d${'\n'}`);
    expect(hostile?.hunks[0]?.lines).toEqual([String.raw`-a\x0d`, String.raw`+b\x0d`]);
    const long = 'x'.repeat(9_000);
    const [cut] = await read(`${HEAD}@@ -0,0 +1,2 @@\n+${long}\r\n+b\r\n`);
    expect(cut?.hunks[0]?.lines).toEqual([[expect.any(String), expect.any(Number), expect.stringMatching(/x$/)], '+b']);
  });

  it('FC-511: tells a link and a submodule from a file that holds such a line', async () => {
    const link = 'diff --git a/l b/l\nindex 1..2 120000\n--- a/l\n+++ b/l\n@@ -1 +1 @@\n-a\n+b\n';
    const module = 'diff --git a/m b/m\nindex 1..2 160000\n--- a/m\n+++ b/m\n@@ -1 +1 @@\n-Sub a\n+Sub b\n';
    const gone = 'diff --git a/g b/g\ndeleted file mode 120000\n';
    const files = await read(`${link}${module}${gone}`);
    expect(files.map(({ modes }) => modes)).toEqual([
      ['120000', '120000'],
      ['160000', '160000'],
      ['120000', ''],
    ]);
  });
});
