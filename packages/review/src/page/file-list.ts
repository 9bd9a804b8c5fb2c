import type { PatchFile } from './answers.ts';
import { element } from './element.ts';
import { signOf } from './diff/diff-rows.ts';
import type { Taken } from './choice/taken.ts';

/** Events of the list. */
export interface FileListEvents {
  onOpen(path: string): void;
  onTake(path: string, isTaken: boolean): void;
  onTakeAll(): void;
}

/** Files that are listed; of more the diff itself has all. */
const MAX_LISTED = 5_000;
/** The list follows when the diff stands still: finding a place in it costs a layout. */
const SETTLED_MS = 120;

/** The changed files with a box each, for who takes some of them. */
export class FileList {
  readonly head: HTMLElement;
  readonly view = element('ul', { class: 'files' });
  readonly #events: FileListEvents;
  readonly #items = new Map<string, { readonly item: HTMLElement; readonly box: HTMLInputElement }>();
  readonly #all = element('input', {
    type: 'checkbox',
    title: 'Take all files, or none (T)',
    'aria-label': 'Take all files',
    onchange: () => this.#events.onTakeAll(),
  });
  readonly #more = element('li', { class: 'faint' });
  #files = 0;
  #current: HTMLElement | undefined;
  #timer: number | undefined;

  constructor(events: FileListEvents) {
    this.#events = events;
    const box = element('label', { class: 'take' }, this.#all, 'all');
    this.head = element('div', { class: 'files-title' }, element('h2', {}, 'Files'), box);
  }

  add(files: readonly PatchFile[], isNew: (path: string) => boolean): void {
    this.#files += files.length;
    const room = Math.max(0, MAX_LISTED - this.#items.size);
    this.view.append(...files.slice(0, room).map((file) => this.#item(file, isNew(file.path))));
    const unlisted = this.#files - this.#items.size;
    if (unlisted === 0) return;
    this.#more.textContent = `and ${unlisted.toLocaleString('en')} more in the changes`;
    this.view.append(this.#more);
  }

  setTaken(taken: Taken): void {
    this.#all.checked = this.#files > 0 && taken.whole === this.#files;
    this.#all.indeterminate = taken.size > 0 && !this.#all.checked;
    for (const [path, { box }] of this.#items) {
      box.checked = taken.of(path) === 'all';
      box.indeterminate = taken.of(path) === 'some';
    }
  }

  setCurrent(path: string | undefined): void {
    const item = path === undefined ? undefined : this.#items.get(path)?.item;
    if (item === this.#current) return;
    this.#current?.classList.remove('current');
    item?.classList.add('current');
    this.#current = item;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => item?.scrollIntoView({ block: 'nearest' }), SETTLED_MS);
  }

  #item(file: PatchFile, isNew: boolean): HTMLElement {
    const slash = file.name.lastIndexOf('/') + 1;
    const box = element('input', {
      type: 'checkbox',
      'aria-label': `Take ${file.name}`,
      onchange: () => this.#events.onTake(file.path, box.checked),
    });
    const [plus, minus] = countsOf(file);
    const item = element(
      'li',
      { class: file.change },
      box,
      element(
        'button',
        { class: 'path', title: file.name, onclick: () => this.#events.onOpen(file.path) },
        element('span', { class: 'folder' }, file.name.slice(0, slash)),
        element('span', { class: 'base' }, file.name.slice(slash)),
      ),
      isNew && element('span', { class: 'chip fair', title: 'Changed since you last looked' }, 'new'),
      plus > 0 && element('span', { class: 'plus' }, `+${plus}`),
      minus > 0 && element('span', { class: 'minus' }, `−${minus}`),
    );
    this.#items.set(file.path, { item, box });
    return item;
  }
}

/** Lines that came, and lines that went. */
export function countsOf({ hunks }: PatchFile): readonly [plus: number, minus: number] {
  let [plus, minus] = [0, 0];
  for (const { lines } of hunks)
    for (const line of lines) {
      const sign = signOf(line);
      if (sign === '+') plus++;
      else if (sign === '-') minus++;
    }
  return [plus, minus];
}
