import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, expect, it } from '@jest/globals';
import { type ConflictPart, LitterboxError } from '@litterbox/core';
import type { Page } from 'playwright-core';
import { seePage } from './browser.ts';
import { fakeWorks, numberedPatch, PLAN, TIP } from './fake-works.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Violations of axe, as far as they were found. */
async function violations(page: Page): Promise<unknown> {
  await page.evaluate(AXE);
  return await page.evaluate(
    'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]))',
  );
}

const HOSTILE = [
  String.raw`diff --git "a/a\nb<img src=x onerror=alert(1)>.svg" "b/a\nb<img src=x onerror=alert(1)>.svg"`,
  'new file mode 100644',
  '@@ -0,0 +1,5 @@ <script>alert(2)</script>',
  '+<svg xmlns="http://www.w3.org/2000/svg" onload="alert(3)"><script>alert(4)</script></svg>',
  '+access \u202e lavita \u001b[31m red \u0007',
  '+`${alert(5)}` </code></div><iframe src="javascript:alert(6)"></iframe>',
  '+{{constructor.constructor("alert(7)")()}} <base href="http://evil.example/">',
  `+${' '.repeat(9_000)}evil()`,
  '',
].join('\n');
async function* hostilePatch(): AsyncGenerator<Uint8Array> {
  yield Buffer.from(HOSTILE);
}
const WORDS = '<img src=x onerror=alert(8)>\u202e\u001b[2J';

function hostileWorks() {
  return fakeWorks(hostilePatch, 1, {
    'sandbox-plan': () => ({
      ...PLAN,
      headRef: `refs/heads/${WORDS}`,
      conflicts: [WORDS],
      messages: [WORDS],
      risky: [{ path: WORDS, reasons: ['runs when a folder is opened in an editor', WORDS] }],
      proof: {
        tests: [
          {
            call: 3,
            command: WORDS,
            actor: WORDS,
            atMs: 0,
            outcome: 'ok',
            exitCode: 0,
            isOwnExit: true,
            changesSince: 0,
          },
        ],
        looked: 1,
        isMore: false,
      },
    }),
    'sandbox-log': () => [
      { type: 'call', call: 3, atMs: 0, subject: WORDS, command: WORDS, actor: WORDS, outcome: 'ok', exitCode: 0 },
    ],
    'sandbox-call': () => ({
      call: 3,
      atMs: 0,
      subject: WORDS,
      actor: WORDS,
      outcome: 'ok',
      printed: { stdout: { type: 'kept', bytes: Buffer.from(WORDS), cutAt: 0, droppedBytes: 0 } },
    }),
  });
}

const worksOf = (patch: string) =>
  fakeWorks(async function* () {
    yield Buffer.from(patch);
  }, 1);

const COMMON = Array.from({ length: 20 }, (_, at) => `common ${at}\n`).join('');
const PARTS: readonly ConflictPart[] = [
  { text: COMMON },
  { ours: 'mine\n', theirs: 'agent\n' },
  { text: 'between\n' },
  { ours: 'm\n', theirs: '' },
  { text: 'end' },
];

/** A sandbox of which one file conflicts until it is settled. @param isOther whether its sides are others by now */
function conflictingWorks(isOther: () => boolean = () => false, parts = PARTS) {
  const path = 'src/a.ts';
  const plan = ({ settled, integration = 'merge' }: { settled?: readonly unknown[]; integration?: string }) => {
    if (settled && isOther())
      throw new LitterboxError('CHANGED_SINCE_SHOWN', `${path} does not conflict as it did.`, { operation: 'plan' });
    return { ...PLAN, integration, conflicts: settled ? [] : [path] };
  };
  return fakeWorks(() => numberedPatch(1, 5), 1, {
    'sandbox-plan': plan,
    'sandbox-conflict': () => {
      const side = { mode: '100644', size: 10 };
      return { plan: PLAN, file: { path, digest: 'd'.repeat(64), ours: side, theirs: side, parts } };
    },
    'sandbox-merge': () => ({ outcome: 'committed', commit: TIP, isDeleted: true, conflicts: [], plan: PLAN }),
    'sandbox-apply': () => ({ outcome: 'conflicts', isDeleted: false, conflicts: [path], plan: PLAN }),
  });
}

describe('AX144: what an agent wrote', () => {
  it('runs nothing and hides nothing, as a name, content, command, message and output', async () => {
    await using seen = await seePage(hostileWorks());
    const { page, trouble } = seen;
    await page.locator('.line code').nth(4).waitFor();
    await page.locator('.overview .risks').waitFor();
    const shown = await page.locator('.list').innerText();
    expect(shown).toContain(
      '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(3)"><script>alert(4)</script></svg>',
    );
    expect(shown).toContain(String.raw`access \u202e lavita \x1b[31m red \x07`);
    expect(shown).toContain(String.raw`a\nb<img src=x onerror=alert(1)>.svg`);
    expect(shown).toMatch(/5,00\d characters are not shown … +evil\(\)/);
    await page.keyboard.press('3');
    await page.locator('.calls button.command').click();
    await page.locator('dialog pre.output').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('m');
    await page.locator('dialog .accept').waitFor();
    const all = await page.locator('body').innerText();
    expect(all).toContain(String.raw`<img src=x onerror=alert(8)>\u202e\x1b[2J`);
    // Nothing of a character that reorders or controls is there, and no element that the page has not made.
    expect(await page.evaluate('document.body.textContent')).not.toMatch(
      /[\u202a-\u202e\u2066-\u2069\u0000-\u0008\u001b]/,
    );
    expect(
      await page
        .locator('svg, img, iframe, base, object, embed, link:not([rel=stylesheet]), script:not([src="/main.js"])')
        .count(),
    ).toBe(0);
    expect(trouble).toEqual([]);
  });

  it('would not run either if the page read it as HTML', async () => {
    await using seen = await seePage(hostileWorks());
    await seen.page.locator('.line code').first().waitFor();
    const tried = await seen.page.evaluate(`(() => {
      try { document.querySelector('.line code').innerHTML = '<img src=x onerror=alert(9)>'; return 'written'; } catch (error) { return error.name; }
    })()`);
    expect(tried).toBe('TypeError');
    expect(seen.trouble.some((words) => words.startsWith('dialog'))).toBe(false);
  });
});

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const SVG = '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(10)"><script>alert(11)</script></svg>';

describe('AX164: binary files', () => {
  const binary = (path: string) =>
    `diff --git a/${path} b/${path}\nindex 1..2 100644\nBinary files a/${path} and b/${path} differ\n`;
  const paths = ['real.png', 'svg.png', 'html.gif', 'huge.webp', 'other.bin'];
  const contents: Readonly<Record<string, string | Uint8Array>> = {
    'real.png': Buffer.from(PIXEL, 'base64'),
    'svg.png': SVG,
    'html.gif': 'GIF89a<script>alert(12)</script>'.slice(0, 9),
    'other.bin': '\0\u00ff'.repeat(100),
  };
  const works = () =>
    fakeWorks(
      async function* () {
        yield Buffer.from(paths.map(binary).join(''));
      },
      paths.length,
      {
        'sandbox-content': ({ path, revision }: { readonly path: string; readonly revision: string }) => {
          if (path === 'huge.webp')
            throw new LitterboxError('FILE_TOO_LARGE', `${WORDS} is too large`, { operation: 'test', hint: 'none' });
          return revision === '0' && path === 'real.png' ? undefined : Buffer.from(contents[path] ?? '');
        },
      },
    );

  it('are shown as pictures of pixels, or as sizes, and run nothing', async () => {
    await using seen = await seePage(works());
    const { page, trouble } = seen;
    await page.getByText('1 × 1 pixels, 70 bytes').waitFor();
    await page.getByText('before: no file').waitFor();
    await page.getByText(String.raw`\u202e\x1b[2J is too large`).first().waitFor();
    await page.getByRole('button', { name: 'Show before and after' }).click();
    await page.getByText('after: 300 bytes').waitFor();
    await page.getByText(`after: ${SVG.length} bytes`).waitFor();
    const images = page.locator('.list img');
    expect(await images.count()).toBe(1);
    expect(await images.evaluate((image) => (image as HTMLImageElement).naturalWidth)).toBe(1);
    expect(await images.getAttribute('src')).toMatch(/^blob:http:\/\/127\.0\.0\.1:/);
    expect(await violations(page)).toEqual([]);
    expect(trouble).toEqual([]);
  });
});

describe('the page', () => {
  it('shows all lines of a file when it is asked, and its changes alone again', async () => {
    const whole = [
      '@@ -1,9 +1,9 @@',
      ...[1, 2, 3, 4].map((at) => ` line ${at}`),
      '-old',
      '+new',
      ' line 6',
      ' end',
      '',
    ];
    const head = 'diff --git a/a b/a\n--- a/a\n+++ b/a\n';
    const some = `${head}@@ -5,1 +5,1 @@\n-old\n+new\n`;
    let tip = TIP;
    const works = fakeWorks(() => numberedPatch(1, 1), 1, {
      'sandbox-diff': ({ contextLines }: { readonly contextLines?: number }) => ({
        tip: contextLines === undefined ? TIP : tip,
        files: async () => [1],
        patch: async function* () {
          yield Buffer.from(contextLines === undefined ? some : head + whole.join('\n'));
        },
        markShown: async () => {},
      }),
    });
    await using seen = await seePage(works);
    const { page } = seen;
    await page.getByText('new', { exact: true }).waitFor();
    expect(await page.getByText('line 1', { exact: true }).count()).toBe(0);
    await page.keyboard.press('f');
    await page.getByText('line 1', { exact: true }).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'changes alone of a' }).click();
    await page.getByText('line 1', { exact: true }).waitFor({ state: 'detached' });
    tip = '3'.repeat(40);
    await page.keyboard.press('f');
    await page.getByText('The sandbox went on').waitFor();
    expect(await page.getByText('line 1', { exact: true }).count()).toBe(0);
  });

  it('has no violation of axe, light and dark, wide and narrow, with its dialogs', async () => {
    for (const [isDark, width] of [
      [false, 1360],
      [true, 390],
    ] as const) {
      await using seen = await seePage(hostileWorks(), { isDark, width });
      const { page } = seen;
      await page.locator('.overview .risks').waitFor();
      await page.locator('.line code').first().waitFor();
      expect(await violations(page)).toEqual([]);
      await page.keyboard.press('a');
      await page.locator('dialog .accept').waitFor();
      expect(await violations(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await page.keyboard.press('?');
      expect(await violations(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await page.keyboard.press('3');
      await page.locator('.calls').waitFor();
      expect(await violations(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    }
  });

  it('FC-490: marks each word that differs, in a line where more than one does', async () => {
    const [before, after] = [
      '  return items.slice(from, from + size);',
      '  return lines.slice(from, from + size - 1);',
    ];
    const patch = `diff --git a/a.js b/a.js\n--- a/a.js\n+++ b/a.js\n@@ -1,2 +1,2 @@\n-${before}\n-all of it\n+${after}\n+something other\n`;
    await using seen = await seePage(worksOf(patch));
    await seen.page.locator('.line.added .changed').first().waitFor();
    const marked = async (side: string) =>
      (await seen.page.locator(`.line.${side}`).first().locator('.changed').allInnerTexts())
        .join('')
        .replaceAll(' ', '');
    expect([await marked('removed'), await marked('added')]).toEqual(['items', 'lines-1']);
    expect(await seen.page.locator('.line.added').last().locator('.changed').count()).toBe(0); // another line
  });

  it('FC-491: names the tests that lost lines, and none that only got some', async () => {
    const file = (path: string, line: string) =>
      `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n${line}`;
    const loses = '@@ -1,1 +1,1 @@\n-test(one)\n+test.skip(one)\n';
    const paths = ['a.test.js', 'pkg/a_test.go', 'src/OrderTest.java', 'test_b.py', 'tests/c.rs'];
    const others = ['src/latest.js', 'src/contest.js', 'src/attestation.go', 'inspect.py'];
    const patch = [...paths, ...others].map((path) => file(path, loses)).join('');
    await using seen = await seePage(worksOf(`${patch}${file('grown.test.js', '@@ -1,1 +1,2 @@\n one\n+two\n')}`));
    const { page } = seen;
    await page.getByText('5 test files lost lines').waitFor();
    expect(await page.locator('.lost-tests .path').allInnerTexts()).toEqual(paths);
    expect(await violations(page)).toEqual([]);
    await page.locator('.lost-tests .path').last().click();
    await page.locator('.current-file').getByText('tests/c.rs').waitFor();
  });

  it('FC-492: takes all files but some, by key and by mouse', async () => {
    const test = { call: 1, command: 'npm test', actor: 'cli', atMs: 0, outcome: 'ok', exitCode: 0, isOwnExit: true };
    const proof = { tests: [{ ...test, changesSince: 0 }], looked: 1, isMore: false };
    const more = { 'sandbox-plan': () => ({ ...PLAN, integration: 'apply', proof }) };
    await using seen = await seePage(fakeWorks(() => numberedPatch(9, 2), 9, more));
    const { page } = seen;
    await page.locator('.files li').nth(8).waitFor();
    const all = page.getByRole('checkbox', { name: 'Take all files' });
    await page.keyboard.press('Shift+T');
    await page.getByRole('button', { name: 'Apply 9 files' }).waitFor();
    expect(await all.isChecked()).toBe(true);
    await page.locator('.files').getByRole('checkbox').nth(3).uncheck();
    await page.getByRole('button', { name: 'Apply 8 files' }).click();
    await page.locator('dialog').getByText('Tested with all its changes, not with these alone').waitFor();
    await page.keyboard.press('Escape');
    expect(await all.evaluate((box) => (box as HTMLInputElement).indeterminate)).toBe(true);
    await all.click();
    await page.getByRole('button', { name: 'Apply 9 files' }).click();
    await page.locator('dialog').getByText('Tested as it is now').waitFor();
    await page.keyboard.press('Escape');
    await all.click();
    await page.getByRole('button', { name: 'Apply all' }).waitFor();
  });

  it('FC-493: says before a yes that conflicts go into the work tree, and names that behind it', async () => {
    await using seen = await seePage(conflictingWorks());
    const { page } = seen;
    await page.getByRole('button', { name: 'Apply all' }).click();
    await page.getByText('with 1 conflict for you to resolve and commit. The sandbox hostile stays.').waitFor();
    await page.getByRole('button', { name: 'Stage the changes and leave 1 conflict to me' }).click();
    await page.getByRole('heading', { name: 'Conflicts are in your work tree' }).waitFor();
  });

  it('FC-494: breaks a long line between words, and a word alone that is longer than the line', async () => {
    const patch = `diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -0,0 +1,2 @@\n+${'1000 '.repeat(80)}\n+${'x'.repeat(600)}\n`;
    await using seen = await seePage(worksOf(patch));
    await seen.page.locator('.line code').nth(1).waitFor();
    const [words, word] = (await seen.page.locator('.line code').evaluateAll((codes) =>
      codes.map((code) => {
        const text = code.firstChild as Text;
        const range = document.createRange();
        return Array.from({ length: text.length / 5 }, (_, at) => {
          range.setStart(text, at * 5);
          range.setEnd(text, at * 5 + 4);
          return range.getClientRects().length;
        }).filter((rows) => rows > 1).length;
      }),
    )) as [number, number];
    expect(words).toBe(0);
    expect(word).toBeGreaterThan(0);
  });

  it('FC-354: escapes stand side by side too; FC-357: lines of both sides stand beside each other, however they wrap', async () => {
    const long = 'word '.repeat(80);
    const patch = `diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n one\n-\u202eshort\n+${long}\n three\n`;
    await using seen = await seePage(
      fakeWorks(async function* () {
        yield Buffer.from(patch);
      }, 1),
    );
    const { page } = seen;
    await page.locator('.line code').first().waitFor();
    await page.keyboard.press('s');
    await page.locator('.line.two code').nth(4).waitFor();
    expect(await page.locator('.half.removed').innerText()).toBe(String.raw`\u202eshort`);
    const tops = (await page.evaluate(
      "[...document.querySelectorAll('.line.two')].map((row) => [...row.querySelectorAll('.half')].map((half) => half.getBoundingClientRect().top))",
    )) as [number, number][];
    expect(tops).toHaveLength(3);
    for (const [left, right] of tops) expect(left).toBe(right);
    const [, changed, after] = tops.map(([top]) => top) as [number, number, number];
    expect(after - changed).toBeGreaterThan(30); // it wrapped
  });

  it('FC-508: says side by side too where a file has no newline at its end; FC-511: and that it is a link', async () => {
    const head = (path: string, mode: string) =>
      `diff --git a/${path} b/${path}\nindex 1..2 ${mode}\n--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n`;
    const none = '\\ No newline at end of file\n';
    const text = `${head('a', '100644')}-same\n${none}+same\n${head('l', '120000')}-to\n${none}+there\n${none}`;
    await using seen = await seePage(worksOf(text));
    const { page } = seen;
    await page.locator('.line code').nth(3).waitFor();
    await page.keyboard.press('s');
    await page.locator('.line.two').nth(1).waitFor();
    const notes = await page.locator('.note').allInnerTexts();
    const [before, now] = ['Before: no newline at the end.', 'Now: no newline at the end.'];
    expect(notes).toEqual([before, 'is a symbolic link', before, now]);
  });

  it('FC-512: says how many lines are folded, and how many files are not listed', async () => {
    const lines = Array.from({ length: 3_001 }, (_, at) => `+${at}\n`).join('');
    const long = `diff --git a/long b/long\nnew file mode 100644\n--- /dev/null\n+++ b/long\n@@ -0,0 +1,3001 @@\n${lines}`;
    const rest = Array.from({ length: 5_200 }, (_, at) => `diff --git a/f${at} b/f${at}\ndeleted file mode 100644\n`);
    await using seen = await seePage(worksOf(long + rest.join('')));
    const { page } = seen;
    await page.getByText('5,201 files, state').waitFor();
    await page.getByText('3,001 lines are folded. x shows them.').waitFor();
    expect(await page.locator('.files li.faint').allTextContents()).toEqual(['and 201 more in the changes']);
    await page.keyboard.press('x');
    await page.locator('.line code').first().waitFor();
  });

  it('FC-518: finds words in lines that are not drawn, and in files that are folded', async () => {
    const lines = Array.from({ length: 3_100 }, (_, at) => `+${at === 3_000 ? 'Needle <b>' : at}\n`).join('');
    const file = (name: string) =>
      `diff --git a/${name} b/${name}\nnew file mode 100644\n--- /dev/null\n+++ b/${name}\n@@ -0,0 +1,3100 @@\n${lines}`;
    await using seen = await seePage(worksOf(file('a') + file('b')));
    const { page } = seen;
    await page.getByText('2 files, state').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('needle <');
    await page.keyboard.press('Enter');
    await page.getByRole('search').getByText('1 of 2').waitFor();
    await page.locator('.row.cursor').getByText('Needle <b>').waitFor();
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await page.getByRole('search').getByText('2 of 2').waitFor();
    expect(await page.locator('.current-file').innerText()).toMatch(/^b/);
    await page.keyboard.press('Enter');
    await page.getByRole('search').getByText('1 of 2').waitFor();
    await page.getByRole('searchbox').fill('absent');
    await page.keyboard.press('Shift+Enter');
    await page.getByText('in no line').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('j');
    expect(await page.locator('.current-file').innerText()).toMatch(/^b/);
  });

  it('FC-519: counts in the list what it shows, and a renamed file once', async () => {
    const renamed =
      'diff --git a/a b/b\nsimilarity index 90%\nrename from a\nrename to b\n@@ -1,2 +1,3 @@\n a\n-b\n+B\n+c\n';
    await using seen = await seePage(
      fakeWorks(async function* () {
        yield Buffer.from(renamed);
      }, 2),
    );
    await seen.page.getByText('1 file, state').waitFor();
    expect(await seen.page.locator('nav .work').innerText()).toBe('+2 −1 in 1 file');
    await seen.page.keyboard.press('t');
    await seen.page.keyboard.press('a');
    await seen.page.getByRole('heading', { name: 'Apply 1 file of hostile' }).waitFor();
  });

  it('FC-520: does by a key what its cap says, with Caps Lock and in another alphabet', async () => {
    const names = ['hostile', 'other'];
    const summary = { state: 'ready', provider: 'overlayfs', repository: '/r', createdAtMs: 0 };
    const more = { 'sandbox-list': () => names.map((name) => ({ ...summary, name })) };
    await using seen = await seePage(fakeWorks(() => numberedPatch(3, 5), 3, more));
    const { page } = seen;
    await page.getByText('3 files, state').waitFor();
    const press = async (key: string, code: string, shiftKey = false) =>
      await page.evaluate(
        (init) => document.dispatchEvent(new KeyboardEvent('keydown', { ...init, bubbles: true, cancelable: true })),
        { key, code, shiftKey },
      );
    const name = async () => await page.locator('h1').innerText();
    await press('T', 'KeyT'); // with Caps Lock
    await page.getByRole('button', { name: 'Apply 1 file' }).waitFor();
    await press('\u0422', 'KeyT', true); // shift on a Cyrillic layout
    await press('\u0435', 'KeyT', true);
    await page.getByRole('button', { name: 'Apply all' }).waitFor();
    await press('J', 'KeyJ');
    expect(await name()).toBe('hostile');
    await press('\u041e', 'KeyJ', true);
    expect(await name()).toBe('other');
  });

  it('takes the shown state and no other, chosen files alone, and says what it is refused', async () => {
    const works = fakeWorks(() => numberedPatch(3, 5), 3, {
      'sandbox-plan': () => ({
        ...PLAN,
        integration: 'apply',
        risky: [{ path: 'src/folder1/file1.ts', reasons: ['runs in continuous integration'] }],
      }),
      'sandbox-apply': () => ({ outcome: 'staged', isDeleted: false, conflicts: [], plan: PLAN }),
    });
    await using seen = await seePage(works);
    const { page } = seen;
    await page.locator('.files li').nth(2).waitFor();
    await page.getByRole('checkbox', { name: 'Take src/folder1/file1.ts' }).first().check();
    await page.getByRole('button', { name: 'Apply 1 file' }).click();
    const go = page.getByRole('button', { name: 'Stage the changes' });
    await go.waitFor();
    expect(await go.isDisabled()).toBe(true);
    await page.locator('#accept').check();
    await go.click();
    await page.getByText('The changes are staged').waitFor();
    // FC-356: the list and the sandbox are looked at again, whatever is left of them.
    await expect(page.locator('.line code').first().waitFor()).resolves.toBeUndefined();
    const looks = works.asked.filter(({ operation }) => operation === 'sandbox-list');
    expect(looks.length).toBeGreaterThan(1);
    const applied = works.asked.filter(({ operation }) => operation === 'sandbox-apply');
    expect(applied.map(({ input }) => input)).toEqual([
      { sandbox: 'hostile', tip: TIP, acceptRisky: true, paths: ['src/folder1/file1.ts'] },
    ]);
  });

  it('takes hunks of a file, by mouse and by key, with the digest of what is shown', async () => {
    const hunk = (at: number) => `@@ -${at},3 +${at},3 @@\n a\n-b${at}\n+B${at}\n c\n`;
    const whole = 'diff --git a/new b/new\nnew file mode 100644\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+n\n';
    const patch = `diff --git a/a b/a\n--- a/a\n+++ b/a\n${[10, 30, 50].map(hunk).join('')}${whole}`;
    const works = fakeWorks(
      async function* () {
        yield Buffer.from(patch);
      },
      2,
      {
        'sandbox-plan': () => ({ ...PLAN, integration: 'apply' }),
        'sandbox-apply': () => ({ outcome: 'staged', isDeleted: false, conflicts: [], plan: PLAN }),
      },
    );
    await using seen = await seePage(works);
    const { page } = seen;
    const box = (name: RegExp) => page.locator('.list').getByRole('checkbox', { name });
    await box(/line 30/).check();
    await page.getByRole('button', { name: 'Apply 1 file' }).waitFor();
    await page.locator('.list input[aria-label="Take a"]:indeterminate').waitFor(); // drawn with the next frame
    expect(await page.locator('.hunk').getByRole('checkbox').count()).toBe(3); // a new file is whole or nothing
    expect(await violations(page)).toEqual([]);
    await box(/^Take a$/).check();
    await box(/line 30/).uncheck();
    await page.keyboard.press('Home');
    await page.keyboard.press('n');
    await page.keyboard.press('h'); // leaves the first one
    await page.getByRole('button', { name: 'Apply 1 file' }).click();
    await page.getByText('parts of 1 file of hostile').waitFor();
    await page.getByRole('button', { name: 'Stage the changes' }).click();
    await page.getByText('The changes are staged').waitFor();
    const parts = [{ path: 'a', digest: expect.stringMatching(/^[0-9a-f]{64}$/), changes: [2] }];
    const asked = works.asked.filter(({ operation }) => operation === 'sandbox-apply');
    expect(asked.map(({ input }) => input)).toEqual([
      { sandbox: 'hostile', tip: TIP, acceptRisky: false, paths: [], parts },
    ]);
  });

  it('FC-427: splits a hunk into its changes, by mouse and by key, and commits the ones that are taken', async () => {
    const lines = [' a', '-b', '+B', ' c', '+new', ' d', '-e', ' f'];
    const other = '@@ -50,1 +51,1 @@\n-x\n+X\n';
    const patch = `diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -10,6 +10,6 @@\n${lines.join('\n')}\n${other}`;
    const works = fakeWorks(
      async function* () {
        yield Buffer.from(patch);
      },
      1,
      {
        'sandbox-plan': ({ commit }: { readonly commit?: boolean }) => ({
          ...PLAN,
          integration: 'apply',
          messages: commit ? [`Words of the work ${WORDS}`] : [],
          ...(commit && { notFollowed: { hooks: ['pre-commit'] } }),
        }),
        'sandbox-apply': () => ({ outcome: 'committed', commit: TIP, isDeleted: false, conflicts: [], plan: PLAN }),
      },
    );
    await using seen = await seePage(works);
    const { page } = seen;
    await page.getByRole('button', { name: 'Split the change at line 10 of a' }).click();
    const box = (name: RegExp) => page.locator('.list').getByRole('checkbox', { name });
    await box(/line 12 of a$/).waitFor();
    expect(await page.locator('.hunk').allInnerTexts()).toHaveLength(4);
    expect(await page.locator('.line code').allInnerTexts()).toHaveLength(10); // each line once
    expect(await violations(page)).toEqual([]);
    await box(/line 12 of a$/).check();
    await page.getByRole('button', { name: 'Apply 1 file' }).waitFor();
    await page.locator('.list input[aria-label="Take a"]:indeterminate').waitFor(); // drawn with the next frame
    await page.getByRole('button', { name: 'Take none' }).click();
    await page.keyboard.press('r');
    await page.locator('.hunk').nth(3).waitFor({ state: 'detached' }); // the view that is new
    await box(/line 10 of a$/).waitFor();
    await page.keyboard.press('Home');
    await page.keyboard.press('n');
    await page.keyboard.press('e');
    await page.keyboard.press('n');
    await page.keyboard.press('h'); // the second change
    await page.keyboard.press('a');
    await page.getByLabel('Commit it at once').check();
    const words = page.getByRole('textbox', { name: 'Message of the commit' });
    expect(await words.inputValue()).toBe(String.raw`Words of the work <img src=x onerror=alert(8)>\u202e\x1b[2J`);
    await page.getByText('Your hooks do not run (pre-commit)').waitFor();
    expect(await violations(page)).toEqual([]);
    await words.fill('Mine.');
    await page.getByRole('button', { name: 'Commit to main' }).click();
    await page.getByText('Committed as').waitFor();
    const applied = works.asked.filter(({ operation }) => operation === 'sandbox-apply').map(({ input }) => input);
    const parts = [{ path: 'a', digest: expect.any(String), changes: [1] }];
    expect(applied).toEqual([
      { sandbox: 'hostile', tip: TIP, acceptRisky: false, paths: [], parts, commit: true, message: 'Mine.' },
    ]);
  });

  it('FC-447: shows both sides of a conflict before anything is done, and takes the text that was made of them', async () => {
    const works = conflictingWorks();
    await using seen = await seePage(works);
    const { page } = seen;
    await page.getByRole('button', { name: 'Settle src/a.ts' }).click();
    const dialog = page.getByRole('dialog', { name: 'Settle src/a.ts' });
    await dialog.getByText('mine', { exact: true }).waitFor();
    expect(await dialog.locator('.common').first().innerText()).toContain('… 16 lines …');
    expect(await violations(page)).toEqual([]);
    const keep = dialog.getByRole('button', { name: 'Keep this text' });
    expect(await keep.isDisabled()).toBe(true);
    await dialog.getByRole('button', { name: 'Both, yours first, at place 1' }).click();
    await dialog.getByRole('textbox', { name: 'Merged text of place 2' }).fill('written\n');
    await dialog.getByRole('button', { name: 'Edit the whole text' }).click();
    const whole = dialog.getByRole('textbox', { name: 'The whole text of src/a.ts' });
    expect(await whole.inputValue()).toBe(`${COMMON}mine\nagent\nbetween\nwritten\nend`);
    await whole.fill(`${COMMON}mine\nagent\nelsewhere too\nend`);
    await keep.click();
    await page.locator('.overview').getByText('Settled, for when you apply or merge').waitFor();
    expect(works.asked.filter(({ operation }) => /apply|merge/.test(operation))).toEqual([]);
    await page.keyboard.press('m');
    await page.locator('dialog').getByText('Settled, for when you apply or merge').waitFor();
    await page.getByRole('button', { name: 'Merge into main' }).click();
    await page.getByText('Merged as').waitFor();
    const text = `${COMMON}mine\nagent\nelsewhere too\nend`;
    expect(works.asked.filter(({ operation }) => operation === 'sandbox-merge').map(({ input }) => input)).toEqual([
      {
        sandbox: 'hostile',
        tip: TIP,
        acceptRisky: false,
        settled: [{ path: 'src/a.ts', digest: 'd'.repeat(64), text }],
      },
    ]);
  });

  it('forgets what was settled of other sides, and says so before anybody can say yes', async () => {
    let isOther = false;
    const works = conflictingWorks(() => isOther);
    await using seen = await seePage(works);
    const { page } = seen;
    await page.getByRole('button', { name: 'Settle src/a.ts' }).click();
    await page.getByRole('button', { name: 'The file as the sandbox has it' }).click();
    await page.getByText('Settled, for when you apply or merge').waitFor();
    isOther = true;
    await page.keyboard.press('a');
    await page.getByText('What you settled is not taken.').waitFor();
    expect(await page.locator('dialog').getByRole('button', { name: 'Settle src/a.ts' }).count()).toBe(1);
    await page.getByRole('button', { name: 'Stage the changes' }).click();
    await page.getByText('conflict: src/a.ts').waitFor();
    const applied = works.asked.filter(({ operation }) => operation === 'sandbox-apply');
    expect(applied.map(({ input }) => input)).toEqual([
      { sandbox: 'hostile', tip: TIP, acceptRisky: false, paths: [] },
    ]);
  });

  it('AX182: text of a conflict that hides something is shown as escapes, chosen exactly, and edited by nobody', async () => {
    const works = conflictingWorks(undefined, [
      { ours: 'a\u202eb\n', theirs: '<img src=x onerror=alert(1)>\n' },
      { ours: 'x\r\n', theirs: 'y\n' },
    ]);
    await using seen = await seePage(works);
    const { page, trouble } = seen;
    await page.getByRole('button', { name: 'Settle src/a.ts' }).click();
    const dialog = page.getByRole('dialog', { name: 'Settle src/a.ts' });
    await dialog.getByText(String.raw`a\u202eb`).waitFor();
    expect(await page.locator('body').evaluate((body) => body.textContent)).not.toMatch(/\u202e/);
    expect(await dialog.getByRole('textbox').count()).toBe(0);
    await dialog.getByRole('button', { name: 'Yours, at place 1' }).click();
    await dialog.getByRole('button', { name: 'Both, yours last, at place 2' }).click();
    expect(await dialog.getByRole('button', { name: 'Edit the whole text' }).isDisabled()).toBe(true);
    await dialog.getByRole('button', { name: 'Keep this text' }).click();
    await page.keyboard.press('m');
    await page.getByRole('button', { name: 'Merge into main' }).click();
    await page.getByText('Merged as').waitFor();
    expect(works.asked.findLast(({ operation }) => operation === 'sandbox-merge')?.input).toMatchObject({
      settled: [{ text: 'a\u202eb\ny\nx\r\n' }],
    });
    expect(trouble).toEqual([]);
  });

  it('says of a sandbox that cannot be looked at that nobody looked', async () => {
    const summary = {
      state: 'ready',
      provider: 'overlayfs',
      repository: '/home/me/shop',
      createdAtMs: 0,
      work: { revisions: 1, unmilestoned: 1, files: 1, addedLines: 1, removedLines: 0 },
    };
    await using seen = await seePage(
      fakeWorks(() => numberedPatch(1, 1), 1, {
        'sandbox-list': () => ['hostile', 'other'].map((name) => ({ ...summary, name })),
        'sandbox-plan': ({ sandbox }: { readonly sandbox: string }) => {
          if (sandbox === 'other') throw new Error('its disk is gone');
          return PLAN;
        },
      }),
    );
    await seen.page.getByText('cannot be looked at').waitFor();
    await expect(seen.page.getByText('not tested', { exact: true }).first().waitFor()).resolves.toBeUndefined();
  });

  it('shows two racers beside each other, each with boxes of its own', async () => {
    const summary = {
      state: 'ready',
      provider: 'overlayfs',
      repository: '/home/me/shop',
      createdAtMs: 0,
      work: { revisions: 1, unmilestoned: 1, files: 3, addedLines: 1, removedLines: 0 },
    };
    const works = fakeWorks(() => numberedPatch(3, 5), 3, {
      'sandbox-list': () => [
        { ...summary, name: 'hostile', forkedFrom: 'w' },
        { ...summary, name: 'apart' },
        { ...summary, name: 'racer', forkedFrom: 'w' },
      ],
      'sandbox-apply': () => ({ outcome: 'staged', isDeleted: false, conflicts: [], plan: PLAN }),
    });
    await using seen = await seePage(works);
    const { page } = seen;
    await page.locator('.line code').first().waitFor();
    await page.keyboard.press('c');
    expect(await page.locator('dialog li').first().innerText()).toMatch(/^racer\s+same race$/);
    await page.keyboard.press('Enter'); // the first one has the focus
    const racer = page.getByRole('region', { name: 'racer', exact: true });
    await racer.locator('.line code').first().waitFor();
    await page.getByRole('region', { name: 'hostile', exact: true }).locator('.line code').first().waitFor();
    expect(await violations(page)).toEqual([]);
    await racer.getByRole('checkbox', { name: 'Take src/folder1/file1.ts' }).first().check();
    await racer.getByRole('button', { name: 'Apply 1 file' }).click();
    await page.getByRole('button', { name: 'Stage the changes' }).click();
    await page.getByText('The changes are staged').waitFor();
    expect(
      works.asked.filter(({ operation }) => operation === 'sandbox-apply').map(({ input }) => input),
    ).toMatchObject([{ sandbox: 'racer', paths: ['src/folder1/file1.ts'] }]);
  });

  it('keeps notes on lines, says who was told of them, and copies them as text', async () => {
    const blame = { tip: TIP, changes: [] };
    let notes: object[] = [];
    let isRefused = true;
    const works = fakeWorks(() => numberedPatch(1, 3), 1, {
      'sandbox-blame': () => blame,
      'sandbox-notes': () => ({ notes, agent: 'codex' }),
      'sandbox-note': (note: object) => {
        if (isRefused) throw new LitterboxError('ARG_RANGE', 'hostile has 50 notes already.', { operation: 'note' });
        notes = [{ ...note, note: 1, revision: 4 }];
        return { notes, agent: 'codex' };
      },
      'note-remove': () => ({ notes: (notes = []) }),
    });
    await using seen = await seePage(works);
    const { page, context } = seen;
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.locator('button.number').nth(1).click();
    await page.getByText('It was there when the sandbox began').waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByRole('textbox', { name: 'A note for the agent' }).fill('Say why.');
    await page.getByRole('button', { name: 'Keep the note' }).click();
    await page.getByText('hostile has 50 notes already.').waitFor();
    await page.keyboard.press('Escape'); // what could not be kept is there still
    isRefused = false;
    await page.locator('button.number').nth(1).click();
    expect(await page.getByRole('textbox', { name: 'A note for the agent' }).inputValue()).toBe('Say why.');
    await page.getByRole('button', { name: 'Keep the note' }).click();
    await page.getByText('1 note waits: codex is at work here').waitFor();
    expect(await violations(page)).toEqual([]);
    notes = notes.map((note) => ({ ...note, given: { to: WORDS, atMs: Date.now(), isTask: true } }));
    await page.keyboard.press('r'); // looks again
    await page.getByText(String.raw`task of <img src=x onerror=alert(8)>\u202e\x1b[2J, just now`).waitFor();
    await page.getByRole('button', { name: 'Copy 1 note' }).click();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('src/folder0/file0.ts:2: Say why.');
    await page.getByRole('button', { name: 'Take the note on src/folder0/file0.ts:2 away' }).click();
    await page.locator('.notes').waitFor({ state: 'hidden' });
    expect(works.asked.filter(({ operation }) => operation === 'sandbox-note').at(-1)?.input).toEqual({
      sandbox: 'hostile',
      path: 'src/folder0/file0.ts',
      line: 2,
      words: 'Say why.',
      revision: TIP,
    });
  });

  it('a link that was used says so, and the window that used it goes on', async () => {
    await using seen = await seePage(fakeWorks(() => numberedPatch(1, 1), 1));
    const { page, context } = seen;
    await page.locator('.line code').first().waitFor();
    expect(page.url()).not.toContain('#');
    await page.reload();
    await page.locator('.line code').first().waitFor();
    const other = await context.newPage();
    await other.goto(new URL('/', page.url()).href);
    await other.getByText('This link was used already').waitFor();
  });
});

describe('2,000 files and 200,000 lines', () => {
  it('FC-423: are shown as they come, a screen of them at a time, without a block, in less than 300 MB', async () => {
    const warnings: string[] = [];
    const onWarning = ({ message }: Error) => void warnings.push(message);
    process.on('warning', onWarning);
    await using seen = await seePage(fakeWorks(() => numberedPatch(2_000, 100), 2_000));
    const { page } = seen;
    await page.addInitScript(`
      self.blocks = [];
      new PerformanceObserver((list) => self.blocks.push(...list.getEntries().map(({ startTime, duration }) => [startTime, duration])))
        .observe({ type: 'longtask', buffered: true });
      new MutationObserver(() => {
        if (self.first === undefined && document.querySelector('.line code'))
          self.first = { ms: performance.now(), files: document.querySelectorAll('.files li').length };
      }).observe(document, { childList: true, subtree: true });
    `);
    // Other work on the machine makes everything longer, and nothing shorter: the quietest of three says what the page does.
    const firsts: number[] = [];
    for (let round = 0; round < 3; round++) {
      await page.reload();
      await page.getByText('2,000 files, state').waitFor();
      const { files, ms } = (await page.evaluate('self.first')) as { readonly files: number; readonly ms: number };
      expect(files).toBeLessThan(1_000); // nobody waited for the rest
      firsts.push(ms);
    }
    expect(Math.min(...firsts)).toBeLessThan(1_000);
    const longest: number[] = [];
    for (let round = 0; round < 3; round++) {
      await page.evaluate('self.blocks.length = 0');
      await page.mouse.move(900, 400);
      for (let step = 0; step < 40; step++) await page.mouse.wheel(0, 3_000);
      for (const key of ['j', 'n', 'j', 'End', 'k', 'p', 'Home']) await page.keyboard.press(key);
      await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))');
      // A block that we make ourselves is told last: all before it have been told by then.
      await page.evaluate(`new Promise((resolve) => {
        setTimeout(() => {
          self.mark = performance.now();
          while (performance.now() < self.mark + 70);
          const look = () => (self.blocks.some(([started]) => started + 10 > self.mark) ? resolve() : setTimeout(look));
          setTimeout(look);
        });
      })`);
      const before = 'self.blocks.filter(([started]) => started + 10 <= self.mark)';
      longest.push(Number(await page.evaluate(`Math.max(0, ...${before}.map(([, duration]) => duration))`)));
    }
    expect(Math.min(...longest)).toBeLessThan(100);
    process.off('warning', onWarning);
    expect(warnings).toEqual([]);
    const rows = await page.locator('.row').count();
    expect(rows).toBeGreaterThan(20);
    expect(rows).toBeLessThan(200);
    expect(Number(await page.evaluate('performance.memory.usedJSHeapSize'))).toBeLessThan(300 * 2 ** 20);
  });
});
