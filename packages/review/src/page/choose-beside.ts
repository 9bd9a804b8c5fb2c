import type { Summary } from './answers.ts';
import { openDialog } from './dialog.ts';
import { element } from './element.ts';

/** Asks which sandbox is shown beside another one. Racers, which are forks of the same sandbox, come first. */
export function chooseBeside(here: Summary, sandboxes: readonly Summary[], onChosen: (name: string) => void): void {
  const isRacer = ({ name, forkedFrom }: Summary) =>
    forkedFrom === here.name ||
    name === here.forkedFrom ||
    (forkedFrom !== undefined && forkedFrom === here.forkedFrom);
  const others = sandboxes
    .filter(({ name }) => name !== here.name)
    .toSorted((a, b) => Number(isRacer(b)) - Number(isRacer(a)));
  const choose = (name: string) => {
    dialog.close();
    onChosen(name);
  };
  const item = (one: Summary) =>
    element(
      'li',
      {},
      element('button', { class: 'command', onclick: () => choose(one.name) }, one.name),
      isRacer(one) && element('span', { class: 'chip' }, 'same race'),
    );
  const list =
    others.length > 0
      ? element('ul', { class: 'calls' }, ...others.map(item))
      : element('p', {}, 'There is no other one.');
  const dialog = openDialog(`Beside ${here.name}`, list);
  list.querySelector('button')?.focus();
}
