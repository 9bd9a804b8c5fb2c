import { describe, expect, it } from '@jest/globals';
import { seePage } from './browser.ts';
import { fakeWorks, numberedPatch, PLAN, TIP } from './fake-works.ts';

const NEXT = '3'.repeat(40);
const summary = {
  state: 'ready',
  provider: 'overlayfs',
  repository: '/home/me/shop',
  createdAtMs: 0,
  work: { revisions: 1, unmilestoned: 1, files: 2, addedLines: 1, removedLines: 0 },
};
const diffOf = (tip: string, more: object = {}) => ({
  tip,
  files: async () => [1, 2],
  patch: () => numberedPatch(2, 3),
  markShown: async () => {},
  ...more,
});
const names = (...all: string[]) => all.map((name) => ({ ...summary, name }));

describe('who comes back', () => {
  it('FC-506: finds what they had ticked, from another sandbox and after another look, until it went on', async () => {
    let tip = TIP;
    const works = fakeWorks(() => numberedPatch(2, 3), 2, {
      'sandbox-list': () => names('hostile', 'other'),
      'sandbox-diff': () => diffOf(tip),
    });
    await using seen = await seePage(works);
    const { page } = seen;
    const loaded = async () => await page.getByText(/2 files, state/).waitFor();
    const box = page.locator('.files').getByRole('checkbox').first();
    const apply = async (words: string) => await page.getByRole('button', { name: words }).waitFor();
    await loaded();
    await box.check();
    await apply('Apply 1 file');
    await page.keyboard.press('Shift+J');
    await apply('Apply all');
    await page.keyboard.press('Shift+K');
    await loaded();
    await apply('Apply 1 file');
    expect(await box.isChecked()).toBe(true);
    await page.keyboard.press('r');
    await page.locator('main.one h1').waitFor();
    await loaded();
    await apply('Apply 1 file');
    tip = NEXT;
    await page.keyboard.press('r');
    await page.getByText('It went on: choose again what to take').waitFor();
    await apply('Apply all');
    expect(await box.isChecked()).toBe(false);
  });

  it('FC-507: finds the text of a conflict that they had begun, and changes one that they had settled', async () => {
    const works = fakeWorks(() => numberedPatch(1, 3), 1, {
      'sandbox-list': () => names('hostile', 'other'),
      'sandbox-plan': () => ({ ...PLAN, conflicts: ['a.txt'] }),
      'sandbox-conflict': () => {
        const side = { mode: '100644', size: 4 };
        const parts = [{ text: 'a\r\n' }, { ours: 'b\r\n', theirs: 'c\r\n' }];
        return { plan: PLAN, file: { path: 'a.txt', digest: 'd'.repeat(64), ours: side, theirs: side, parts } };
      },
    });
    await using seen = await seePage(works);
    const { page } = seen;
    const field = page.getByRole('textbox', { name: 'Merged text of place 1' });
    const settle = async () => await page.getByRole('button', { name: 'Settle a.txt' }).click();
    await settle();
    await field.fill('begun\n');
    await page.mouse.click(2, 2); // beside the dialog
    await page.keyboard.press('Shift+J');
    await page.keyboard.press('Shift+K');
    await settle();
    expect(await field.inputValue()).toBe('begun\n');
    await page.getByRole('button', { name: 'Keep this text' }).click();
    await page.getByText('Settled, for when you apply or merge').waitFor();
    await page.getByRole('button', { name: 'Change a.txt' }).click();
    await page.getByRole('button', { name: 'Edit the whole text' }).click();
    const whole = page.getByRole('textbox', { name: 'The whole text' });
    await whole.fill('all\nof it\n');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Change a.txt' }).click();
    expect(await whole.inputValue()).toBe('all\nof it\n');
    await page.getByRole('button', { name: 'Keep this text' }).click();
    await page.keyboard.press('m');
    await page.locator('dialog').getByText('Settled, for when you apply or merge').waitFor();
    const plans = works.asked.filter(({ operation }) => operation === 'sandbox-plan');
    expect(plans.at(-1)?.input).toMatchObject({ settled: [{ text: 'all\r\nof it\r\n' }] });
  });

  it('finds the place in the changes where they were, and what changed since once', async () => {
    let isFirst = true;
    const works = fakeWorks(() => numberedPatch(9, 30), 9, {
      'sandbox-diff': ({ sinceSeen }: { readonly sinceSeen?: boolean }) =>
        sinceSeen
          ? diffOf(TIP, { since: isFirst ? undefined : NEXT, patch: () => numberedPatch(2, 3) })
          : diffOf(TIP, { patch: () => numberedPatch(9, 30) }),
    });
    await using seen = await seePage(works);
    const { page } = seen;
    const selected = async () => await page.locator('[role=tab][aria-selected=true]').allInnerTexts();
    await page.getByText('9 files, state').waitFor();
    await page.keyboard.press('2');
    expect(await selected()).toEqual(['Changes']); // nobody looked before
    expect(await page.locator('.file-head').count()).toBeGreaterThan(0);
    for (let step = 0; step < 5; step++) await page.keyboard.press('j');
    const at = await page.locator('.current-file').innerText();
    await page.keyboard.press('3');
    await page.locator('.calls-body .empty').waitFor();
    await page.keyboard.press('1');
    await page.locator('.current-file', { hasText: at.split('\n').at(-1) ?? at }).waitFor(); // once its lines are drawn
    expect(await page.locator('.current-file').innerText()).toBe(at);
    await page.locator('.line code').first().waitFor();
    isFirst = false;
    await page.keyboard.press('r');
    await page.getByRole('tab', { name: 'Since you looked' }).waitFor();
    for (const key of ['2', '2', '1', '2']) await page.keyboard.press(key);
    await page.locator('.file-head').nth(1).waitFor();
    await page.evaluate('new Promise((resolve) => setTimeout(() => requestAnimationFrame(resolve)))');
    expect(await page.locator('.file-head').count()).toBe(2);
    isFirst = true; // another sandbox has the name by now
    await page.reload();
    await page.getByText('9 files, state').waitFor();
    expect(await page.getByRole('tab', { name: 'Since you looked' }).isVisible()).toBe(false);
  });

  it('hears that the page is served no more, that a sandbox is gone, and that a line is of another state', async () => {
    let all = names('hostile', 'other');
    const works = fakeWorks(() => numberedPatch(2, 3), 2, {
      'sandbox-list': () => all,
      'sandbox-blame': () => ({ tip: NEXT, changes: [] }),
    });
    await using seen = await seePage(works);
    const { page } = seen;
    await page.getByText('2 files, state').waitFor();
    await page.locator('button.number').nth(1).click();
    await page.locator('dialog').getByText('The sandbox went on').waitFor();
    await page.keyboard.press('Escape');
    all = names('other');
    await page.keyboard.press('r');
    await page.getByRole('heading', { name: 'The sandbox hostile is gone' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('2 files, state').waitFor();
    await page.route('**/api/**', async (route) => await route.abort());
    await page.keyboard.press('3');
    await page.locator('.status').getByText('The page is not served any more').waitFor();
    await page.keyboard.press('r');
    await page.locator('dialog').getByText('The page is not served any more').waitFor();
  });
});

describe('a page that stays open', () => {
  it('FC-516: says that the sandbox went on when somebody looks at it again, and changes nothing under their eyes', async () => {
    const revision = (number: number, commit: string) => ({ type: 'revision', number, commit, atMs: 0, subject: 'w' });
    const call = { type: 'call', call: 9, atMs: 0, subject: 'true', actor: 'cli', outcome: 'ok', exitCode: 0 };
    let log: object[] = [call, revision(1, TIP)];
    const works = fakeWorks(() => numberedPatch(2, 3), 2, { 'sandbox-log': () => log });
    await using seen = await seePage(works);
    const { page } = seen;
    const lookAgain = async () => {
      const answered = page.waitForResponse(/calls$/);
      await page.evaluate("dispatchEvent(new Event('focus'))");
      await answered;
    };
    await page.getByText('2 files, state').waitFor();
    await lookAgain();
    log = [call, revision(2, NEXT), ...log];
    const looks = works.asked.filter(({ operation }) => operation === 'sandbox-diff').length;
    expect(await page.locator('.status').innerText()).toMatch(/^2 files, state/);
    await lookAgain();
    await page.locator('.status').getByText('The sandbox went on. Press r to see what it is now.').waitFor();
    expect(works.asked.filter(({ operation }) => operation === 'sandbox-diff')).toHaveLength(looks);
    await page.locator('.line code').first().waitFor();
  });
});

describe('the conflicts of a page', () => {
  it('FC-517: come behind the sandboxes and their changes, which do not wait for them', async () => {
    const { promise: tried, resolve } = Promise.withResolvers<void>();
    const works = fakeWorks(() => numberedPatch(2, 3), 2, {
      'sandbox-list': () => names('hostile', 'other'),
      'sandbox-forecast': async () => {
        await tried;
        const conflicts = [{ sandbox: 'hostile', other: 'other', paths: ['both.txt'] }];
        return { conflicts, compared: ['hostile', 'other'], leftOut: 0, untried: 0 };
      },
    });
    await using seen = await seePage(works);
    const { page } = seen;
    await page.getByText('2 files, state').waitFor();
    await page.getByText('Merges cleanly into main').waitFor();
    resolve();
    await page.locator('nav').getByText('conflicts with other').waitFor();
    await page.locator('.overview').getByText('both.txt').waitFor();
  });
});
