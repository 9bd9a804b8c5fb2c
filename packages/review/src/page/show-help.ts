import { openDialog } from './dialog.ts';
import { element } from './element.ts';
import { KEYS } from './keys.ts';

/** Lists the keys. */
export function showHelp(): void {
  const rows = KEYS.map(([keys, words]) =>
    element(
      'tr',
      {},
      element('td', {}, ...keys.flatMap((key) => [element('kbd', {}, key), ' '])),
      element('td', {}, words),
    ),
  );
  openDialog('Keys', element('table', { class: 'keys' }, element('tbody', {}, ...rows)));
}
