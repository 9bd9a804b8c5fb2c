import { element } from '../element.ts';

/** The rows of a list. Heights are guesses until a row was drawn. */
export interface ListSource {
  readonly length: number;
  guess(index: number): number;
  draw(index: number): HTMLElement;
}

/** Rows drawn beyond the edges. */
const BEYOND = 8;

/**
 * A list of any length of which only what is seen is drawn. Rows wrap, so that nothing stands outside of the window, and have the height
 * that they need.
 */
export class VirtualList {
  readonly scroller: HTMLElement;
  readonly #inner: HTMLElement;
  #source: ListSource = { length: 0, guess: () => 0, draw: () => element('div') };
  #heights = new Float32Array(0);
  /** Where each row begins, and last where all end. */
  #tops = new Float64Array(1);
  readonly #drawn = new Map<number, HTMLElement>();
  #isAsked = false;
  #isStale = false;
  #width = 0;
  #first = 0;
  #window = { from: 0, to: 0 };
  #lastFirst = -1;
  #height = 0;
  readonly #onFirst: (first: number) => void;

  constructor(label: string, onFirst: (first: number) => void) {
    this.#inner = element('div', { class: 'list-inner' });
    this.scroller = element('div', { class: 'list', tabindex: 0, role: 'region', 'aria-label': label }, this.#inner);
    this.scroller.addEventListener('scroll', () => this.#ask(), { passive: true });
    this.#onFirst = onFirst;
    new ResizeObserver(() => {
      if (this.scroller.clientWidth === this.#width) return this.#ask();
      this.#width = this.scroller.clientWidth;
      this.#guessFrom(0);
      this.redraw();
    }).observe(this.scroller);
  }

  /** The first row that is seen. */
  get first(): number {
    return this.#first;
  }

  /** Whether the beginning of a row was seen when rows were drawn last: asking where the window is now would cost a layout. */
  isSeen(index: number): boolean {
    const top = this.#tops[index] ?? 0;
    return top >= this.#window.from - 1 && top < this.#window.to;
  }

  /** @param kept rows at the beginning that are as they were */
  show(source: ListSource, kept = 0): void {
    this.#source = source;
    if (source.length > this.#heights.length || kept === 0) {
      const heights = new Float32Array(Math.max(source.length, kept === 0 ? 0 : 2 * this.#heights.length));
      heights.set(this.#heights.subarray(0, kept));
      const tops = new Float64Array(heights.length + 1);
      tops.set(this.#tops.subarray(0, kept + 1));
      this.#heights = heights;
      this.#tops = tops;
    }
    this.#guessFrom(kept);
    if (kept === 0) this.redraw();
    else this.#ask();
  }

  /** Draws what is seen anew: rows are the same, and look different. */
  redraw(): void {
    this.#isStale = true;
    this.#ask();
  }

  scrollTo(index: number): void {
    this.scroller.scrollTop = this.#tops[Math.min(index, this.#source.length)] ?? 0;
    this.#draw();
    this.scroller.scrollTop = this.#tops[Math.min(index, this.#source.length)] ?? 0; // by then the rows there are measured
    this.#ask();
  }

  #guessFrom(start: number): void {
    const { length } = this.#source;
    for (let index = start; index < length; index++) this.#heights[index] = this.#source.guess(index);
    this.#addFrom(start);
  }

  #addFrom(start: number): void {
    const { length } = this.#source;
    let top = this.#tops[start] ?? 0;
    for (let index = start; index < length; index++) {
      top += this.#heights[index] ?? 0;
      this.#tops[index + 1] = top;
    }
    if (top !== this.#height) this.#inner.style.height = `${top}px`;
    this.#height = top;
  }

  #at(y: number): number {
    let [low, high] = [0, this.#source.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#tops[middle + 1] ?? 0) <= y) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #ask(): void {
    if (this.#isAsked) return;
    this.#isAsked = true;
    requestAnimationFrame(() => {
      this.#isAsked = false;
      this.#draw();
      if (this.#first === this.#lastFirst) return;
      this.#lastFirst = this.#first;
      this.#onFirst(this.#first);
    });
  }

  #draw(): void {
    const { scrollTop, clientHeight } = this.scroller;
    this.#window = { from: scrollTop, to: scrollTop + clientHeight };
    this.#first = this.#at(scrollTop + 1);
    const first = Math.max(0, this.#first - BEYOND);
    const last = Math.min(this.#source.length, this.#at(scrollTop + clientHeight) + BEYOND);
    for (const [index, row] of this.#drawn) {
      if (index >= first && index < last && !this.#isStale) continue;
      row.remove();
      this.#drawn.delete(index);
    }
    this.#isStale = false;
    for (let index = first; index < last; index++) {
      if (this.#drawn.has(index)) continue;
      const row = this.#source.draw(index);
      row.classList.add('row');
      this.#drawn.set(index, row);
      this.#inner.append(row);
    }
    this.#measure(first, last);
  }

  #measure(first: number, last: number): void {
    let changed = this.#source.length;
    for (let index = first; index < last; index++) {
      const height = this.#drawn.get(index)?.offsetHeight ?? 0;
      if (height === this.#heights[index] || height === 0) continue;
      this.#heights[index] = height;
      changed = Math.min(changed, index);
    }
    if (changed < this.#source.length) this.#addFrom(changed);
    for (const [index, row] of this.#drawn) row.style.transform = `translateY(${this.#tops[index]}px)`;
  }
}
