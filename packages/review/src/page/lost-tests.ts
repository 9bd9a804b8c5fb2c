import type { PatchFile } from './answers.ts';
import { element } from './element.ts';
import { countsOf } from './file-list.ts';
import { section } from './overview.ts';
import { counted } from './words.ts';

/** Names by which Jest, Vitest, Mocha, node --test, pytest, go test, JUnit, RSpec and PHPUnit find tests, by their manuals. */
const IS_TEST =
  /(?:^|\/)(?:tests?|specs?|e2e|__tests__|__snapshots__)\/|(?:^|[/._-])(?:test|spec)s?(?:[._-][^/]*)?\.[^/.]+$|[a-z0-9](?:Tests?|Spec)\.[^/.]+$/;
const MAX_LISTED = 12;

/** Tests that were there before and lost lines: their pass no longer says what it said. Nothing where there is none. */
export function lostTestsPart(files: readonly PatchFile[], onPath: (path: string) => void): readonly HTMLElement[] {
  const lost = files.flatMap((file) => {
    const [, minus] = countsOf(file);
    return IS_TEST.test(file.fromName ?? file.name) && (minus > 0 || file.change === 'deleted')
      ? [{ file, minus }]
      : [];
  });
  if (lost.length === 0) return [];
  const item = ({ file: { path, name, change }, minus }: (typeof lost)[number]) =>
    element(
      'li',
      {},
      element('button', { class: 'path', onclick: () => onPath(path) }, name),
      element('span', { class: 'minus' }, change === 'deleted' ? 'deleted' : `−${minus}`),
    );
  const unlisted = lost.length - MAX_LISTED;
  return [
    section(
      'lost-tests',
      `${counted(lost.length, 'test file')} lost lines`,
      'fair',
      element('ul', {}, ...lost.slice(0, MAX_LISTED).map(item)),
      unlisted > 0 ? element('p', { class: 'faint' }, `and ${unlisted} more`) : '',
    ),
  ];
}
