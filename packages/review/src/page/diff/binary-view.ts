import type { FileSide, PatchFile, Sides } from '../answers.ts';
import { element } from '../element.ts';
import { wordsOf } from '../server.ts';
import { counted } from '../words.ts';

const LOOKS_LIKE_A_PICTURE = /\.(?:png|apng|gif|jpe?g|webp)$/i;
/** Nothing else is made a picture of, whatever the server says. */
const PICTURES = new Set(['image/png', 'image/gif', 'image/jpeg', 'image/webp']);
/** Files whose content is kept; of more the oldest goes. */
const MAX_KEPT = 40;
/** Pixels of the page that one side of a picture gets. */
const MOST_PX = 320;

/** Reads a binary file before and after. */
export type ReadSides = (file: PatchFile) => Promise<Sides>;

type State =
  | 'asked'
  | { readonly sides: Sides; readonly addresses: ReadonlyMap<FileSide, string> }
  | { readonly refused: string };

/** Binary files as they were and are: pictures of pixels, and sizes of all else. One is read at a time, when it comes into sight. */
export class BinaryView {
  readonly #read: ReadSides;
  readonly #onChange: () => void;
  readonly #states = new Map<string, State>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(read: ReadSides, onChange: () => void) {
    this.#read = read;
    this.#onChange = onChange;
  }

  draw(file: PatchFile): HTMLElement {
    const state = this.#states.get(file.path);
    const view = element('div', { class: 'binary' });
    if (state === undefined && LOOKS_LIKE_A_PICTURE.test(file.path)) requestAnimationFrame(() => this.#ask(file, view));
    if (state === undefined)
      view.append('Binary. ', element('button', { onclick: () => this.#ask(file, view) }, 'Show before and after'));
    else if (state === 'asked') view.append('Reading …');
    else if ('refused' in state) view.append(state.refused);
    else view.append(...sidesOf(file, state.sides, state.addresses));
    return view;
  }

  /** Gives the memory of the pictures back. */
  clear(): void {
    for (const path of this.#states.keys()) this.#drop(path);
  }

  #ask(file: PatchFile, view: HTMLElement): void {
    const { path } = file;
    if (this.#states.has(path) || !view.isConnected) return;
    this.#states.set(path, 'asked');
    for (const [oldest] of this.#states) if (this.#states.size > MAX_KEPT) this.#drop(oldest);
    const read = async () => {
      try {
        const sides = await this.#read(file);
        this.#states.set(path, { sides, addresses: addressesOf(sides) });
      } catch (error) {
        this.#states.set(path, { refused: wordsOf(error) });
      }
      this.#onChange();
    };
    this.#last = this.#last.then(read);
  }

  #drop(path: string): void {
    const state = this.#states.get(path);
    if (typeof state === 'object' && 'addresses' in state)
      for (const address of state.addresses.values()) URL.revokeObjectURL(address);
    this.#states.delete(path);
  }
}

function addressesOf({ before, after }: Sides): ReadonlyMap<FileSide, string> {
  const addresses = new Map<FileSide, string>();
  for (const side of [before, after]) {
    if (side?.picture === undefined || !PICTURES.has(side.type ?? '')) continue;
    const bytes = Uint8Array.from(atob(side.picture), (letter) => letter.charCodeAt(0));
    addresses.set(side, URL.createObjectURL(new Blob([bytes], { type: side.type ?? '' })));
  }
  return addresses;
}

function sidesOf(
  { name }: PatchFile,
  { before, after }: Sides,
  addresses: ReadonlyMap<FileSide, string>,
): HTMLElement[] {
  const figure = (title: string, side: FileSide | undefined) => {
    const address = side && addresses.get(side);
    const { width = 0, height = 0 } = side ?? {};
    const scale = Math.min(1, MOST_PX / Math.max(1, width, height));
    const picture =
      address !== undefined &&
      element('img', {
        src: address,
        alt: `${name} ${title}`,
        width: Math.max(1, Math.round(width * scale)),
        height: Math.max(1, Math.round(height * scale)),
      });
    return element('figure', {}, picture, element('figcaption', {}, `${title}: ${wordsFor(side)}`));
  };
  return [figure('before', before), figure('after', after)];
}

function wordsFor(side: FileSide | undefined): string {
  if (!side) return 'no file';
  if (side.refused !== undefined) return side.refused;
  const size = counted(side.bytes ?? 0, 'byte');
  return side.width === undefined ? size : `${side.width} × ${side.height} pixels, ${size}`;
}
