import type { ConflictPart, ConflictRegion, ExactText } from '../answers.ts';

export type Choice = 'ours' | 'theirs' | 'ours-theirs' | 'theirs-ours';

const isRegion = (part: ConflictPart): part is ConflictRegion => 'ours' in part;

/** Text as a field of the browser has it, which knows one end of lines; undefined where it would not come back exactly. */
export function fieldText(
  ...texts: readonly ExactText[]
): { readonly value: string; readonly end: '\n' | '\r\n' } | undefined {
  if (texts.some(({ shown }) => shown !== undefined)) return undefined;
  const text = texts.map(({ exact }) => exact).join('');
  const lines = text.replaceAll('\r\n', '\n');
  const breaks = lines.split('\n').length - 1;
  const ofWindows = text.length - lines.length;
  if (ofWindows !== 0 && ofWindows !== breaks) return undefined;
  return { value: lines, end: ofWindows === 0 ? '\n' : '\r\n' };
}

/** A text in conflict while a person settles it, place by place and then as a whole. Nothing in it is a mark: what is open has no text. */
export class ConflictText {
  readonly regions: readonly ConflictRegion[];
  readonly #parts: readonly ConflictPart[];
  readonly #settled: (string | undefined)[];
  #whole: string | undefined;

  constructor(parts: readonly ConflictPart[]) {
    this.#parts = parts;
    this.regions = parts.filter(isRegion);
    this.#settled = this.regions.map(() => undefined);
  }

  get open(): number {
    return this.#whole === undefined ? this.#settled.filter((text) => text === undefined).length : 0;
  }

  /** Both sides of a region as one text that a field holds exactly; undefined where they are chosen alone. */
  field(region: number): { readonly end: '\n' | '\r\n' } | undefined {
    const { ours, theirs } = this.regions[region] as ConflictRegion;
    return fieldText(ours, theirs);
  }

  at(region: number): string | undefined {
    return this.#settled[region];
  }

  choose(region: number, choice: Choice): void {
    const { ours, theirs } = this.regions[region] as ConflictRegion;
    const sides = { ours: ours.exact, theirs: theirs.exact };
    const names = choice.split('-') as ('ours' | 'theirs')[];
    // Lines of one side do not go on in those of the other.
    const joined = names.map((name, at) =>
      at < names.length - 1 ? ended(sides[name], sides[names[at + 1] as 'ours']) : sides[name],
    );
    this.edit(region, joined.join(''));
  }

  /** @param text with the ends of lines that the file has */
  edit(region: number, text: string): void {
    this.#settled[region] = text;
    this.#whole = undefined;
  }

  /** The whole text, once every place is settled. */
  get text(): string | undefined {
    if (this.#whole !== undefined) return this.#whole;
    if (this.open > 0) return undefined;
    let region = 0;
    return this.#parts.map((part) => (isRegion(part) ? this.#settled[region++] : part.text.exact)).join('');
  }

  /** The whole text for a field; undefined while a place is open, and where a field would not hold it exactly. */
  get whole(): { readonly value: string; readonly end: '\n' | '\r\n' } | undefined {
    const text = this.text;
    const hides = this.#parts.some((part) =>
      ('text' in part ? [part.text] : [part.ours, part.theirs]).some(({ shown }) => shown !== undefined),
    );
    return text === undefined || hides ? undefined : fieldText({ exact: text });
  }

  /** Whether the person went on from the places to the whole text. */
  get isWhole(): boolean {
    return this.#whole !== undefined;
  }

  editWhole(text: string): void {
    this.#whole = text;
  }
}

function ended(text: string, next: string): string {
  if (text === '' || text.endsWith('\n') || next === '') return text;
  return `${text}${/\r\n/.test(text + next) ? '\r\n' : '\n'}`;
}
