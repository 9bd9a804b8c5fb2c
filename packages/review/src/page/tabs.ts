import { element } from './element.ts';

export type Tab = 'changes' | 'since' | 'calls';

const TITLES: readonly (readonly [key: Tab, title: string])[] = [
  ['changes', 'Changes'],
  ['since', 'Since you looked'],
  ['calls', 'Calls'],
];

/** The views of a sandbox, of which one is shown. */
export class Tabs {
  readonly view: HTMLElement;
  readonly #buttons: ReadonlyMap<Tab, HTMLButtonElement>;
  #shown: Tab = 'changes';
  #gone = new AbortController();

  constructor(label: string, onShow: (key: Tab) => void) {
    const button = (key: Tab, title: string) =>
      element('button', { role: 'tab', 'aria-selected': String(key === 'changes'), onclick: () => onShow(key) }, title);
    this.#buttons = new Map(TITLES.map(([key, title]) => [key, button(key, title)]));
    this.view = element('div', { role: 'tablist', 'aria-label': label }, ...this.#buttons.values());
    this.offer('since', false);
  }

  get shown(): Tab {
    return this.#shown;
  }

  offer(key: Tab, isThere: boolean): void {
    (this.#buttons.get(key) as HTMLElement).hidden = !isThere;
  }

  /** @returns aborted when another one is shown, or undefined where there is no such view */
  show(key: Tab): AbortSignal | undefined {
    if (this.#buttons.get(key)?.hidden) return undefined;
    this.#shown = key;
    this.#gone.abort();
    this.#gone = new AbortController();
    for (const [one, button] of this.#buttons) button.setAttribute('aria-selected', String(one === key));
    return this.#gone.signal;
  }
}
