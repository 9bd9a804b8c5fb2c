import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { milestoneMessage, revisionMessage } from '../sandbox/revision-message.ts';
import { shown } from './shown.ts';
import { jsonEscape, UNSEEN } from './unseen.ts';
import { visible, visibleName } from './visible.ts';

const character = (code: number) => String.fromCodePoint(code);
/** Every character that a font may leave out, but the sign that may follow an emoji, and the empty Braille cell. */
const IGNORABLE = Array.from({ length: 0x110000 }, (_, code) => code)
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map(character)
  .filter((one) => /[\p{Default_Ignorable_Code_Point}\u2800]/u.test(one));

test('nothing that a font may leave out gets through any door', () => {
  expect(IGNORABLE.length).toBeGreaterThan(4000);
  for (const one of IGNORABLE) {
    const text = `a${one}b`;
    const doors = [visible(text), visibleName(text), shown(text), JSON.stringify(text).replace(UNSEEN, jsonEscape)];
    const kept = [milestoneMessage(text), revisionMessage({ tool: 'run', subject: text, sandbox: 'a' }).subject];
    for (const seen of [...doors, ...kept])
      expect({ codePointAt: one.codePointAt(0), seen }).toEqual({
        codePointAt: one.codePointAt(0),
        seen: expect.stringMatching(/^[ -~]+$/),
      });
  }
});

test('the sign that an emoji comes in colours stays behind one, in texts; in a name nothing does', () => {
  expect(visible('fine \u2764\ufe0f')).toBe('fine \u2764\ufe0f');
  expect(visible('a\ufe0f 1\ufe0f \u2764\ufe0f\ufe0f')).toBe('a\\ufe0f 1\\ufe0f \u2764\ufe0f\\ufe0f');
  expect(visibleName('\u2764\ufe0f')).toBe('\u2764\\ufe0f');
});

test('a text keeps its lines and tabs, a name is one line', () => {
  expect(visible('a\n\tb\r\u001b[2K')).toBe('a\n\tb\\x0d\\x1b[2K');
  expect(visibleName('a\n\tb\r\u001b[2K\u00a0\u3000\ue000')).toBe('a\\n\\tb\\x0d\\x1b[2K\\xa0\\u3000\\ue000');
  expect(visibleName('\u{e0041}\udcff\ud800')).toBe('\\u{e0041}\\xff\\ud800');
  expect(visibleName('ein Name mit Umlauten äöü, 日本語, عربي')).toBe('ein Name mit Umlauten äöü, 日本語, عربي');
});

test('of a name that is too long both ends are shown', () => {
  const seen = visibleName(`${'d/'.repeat(300)}Makefile`);
  expect({
    length: Array.from(seen).length,
    seenStartsWith: seen.startsWith('d/d/'),
    seenEndsWith: seen.endsWith('/Makefile'),
  }).toEqual({ length: 200, seenStartsWith: true, seenEndsWith: true });
  expect(visibleName('d'.repeat(200))).toBe('d'.repeat(200));
  expect(visibleName('😀'.repeat(201))).toBe(`${'😀'.repeat(99)}…${'😀'.repeat(100)}`);
  expect(visibleName('d'.repeat(1000), Number.POSITIVE_INFINITY)).toHaveLength(1000);
});

test('whatever the name, it stands on one line of at most 200 characters, and nothing of it is unseen', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (name) => {
      const seen = visibleName(name);
      expect(Array.from(seen).length).toBeLessThanOrEqual(200);
      expect(seen).not.toMatch(/\p{C}|(?! )\p{Z}|\p{Default_Ignorable_Code_Point}|\u2800/u);
    }),
  );
});

test('words that are kept hold no control but the end of a line, and no trailer that was hidden behind one', () => {
  const message = milestoneMessage('Fine \u001b[2K\tdone\r\n\r\nmore\rSigned-off-by: A <a@localhost>\u202e');
  expect(message).toBe('Fine \\x1b[2K\\tdone\n\nmore\n> Signed-off-by: A <a@localhost>\\u202e');
  const { subject, body } = revisionMessage({
    tool: 'write',
    subject: 'a\u001b]52;c;\u0007',
    message: 'Say \u{e0041}it\nand\u3164more',
    sandbox: 'a',
  });
  expect({ subject, body }).toEqual({
    subject: 'Say \\u{e0041}it',
    body: 'and\\u3164more\n\nwrite: a\\x1b]52;c;\\x07',
  });
});
