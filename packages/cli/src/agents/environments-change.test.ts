import { expect, test } from '@jest/globals';
import { tomlEditor } from './edit-toml.ts';
import { environmentChange } from './environments-change.ts';

const change = (id: string) => environmentChange(id, { program: 'litterbox', args: [id], initialize_timeout_sec: 9 });
const [one, two] = ['litterbox-one', 'litterbox-two'] as const;
const documentOf = (text: string) => tomlEditor.read(text);

function installed(text: string, id: string): string {
  const after = change(id).apply(text);
  expect(change(id).isApplied(documentOf(text), documentOf(after))).toBe(true);
  return after;
}

function reverted(text: string, id: string): string {
  const after = change(id).revert(text, { createdLevels: 0 });
  expect(change(id).isReverted(documentOf(text), documentOf(after), { createdLevels: 0 })).toBe(true);
  return after;
}

test('the first place is where Codex works, this machine is none, and each goes by itself', () => {
  const both = installed(installed('# mine\n', one), two);
  expect(both).toBe(`# mine
default = "litterbox-one"
include_local = false

[[environments]]
id = "litterbox-one"
program = "litterbox"
args = ["litterbox-one"]
initialize_timeout_sec = 9

[[environments]]
id = "litterbox-two"
program = "litterbox"
args = ["litterbox-two"]
initialize_timeout_sec = 9
`);
  expect(installed(both, one)).toBe(both);
  expect(documentOf(reverted(both, one))).toMatchObject({ default: two, include_local: false });
  expect(documentOf(reverted(both, two))).toMatchObject({ default: one, include_local: false });
  expect(reverted(reverted(both, one), two)).toBe('# mine\n\n');
  expect(reverted(reverted(both.replace('# mine\n', ''), two), one)).toBe('');
});

test.each([
  ['a place of their own', '[[environments]]\nid = "box"\nurl = "ws://127.0.0.1:1"\n'],
  ['a first place of their own', 'default = "none"\n'],
  [
    'this machine beside ours',
    `default = "${one}"\ninclude_local = true\n[[environments]]\nid = "${one}"\nprogram = "a"\n`,
  ],
  ['ours, of which none is the first', `default = "local"\n[[environments]]\nid = "${one}"\nprogram = "a"\n`],
  ['a key that is not known', 'other = 1\n'],
])('a file in which a person has %s is not edited', (_what, text) => {
  const after = change(two).apply(text);
  expect(after).toBe(text);
  expect(change(two).isApplied(documentOf(text), documentOf(after))).toBe(false);
});
