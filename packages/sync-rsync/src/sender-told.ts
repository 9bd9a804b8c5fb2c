import { decodeRaw, encodeRaw, type SyncReport } from '@litterbox/core/provider';

/** No line of rsync is longer: a path has 4,096 bytes, each at most five characters. */
const MAX_LINE = 32 * 1024;
const MAX_COMPLAINTS = 4096;

/** Reads what the sender says: lines of the form `NONCE WHAT NAME`, and complaints. Holds a bounded part of it. */
export class SenderTold {
  readonly #prefix: string;
  readonly #maxTold: number;
  readonly #changed: string[] = [];
  readonly #removed: string[] = [];
  #changedCount = 0;
  #removedCount = 0;
  #line = '';
  #complaints = '';

  constructor(nonce: string, maxTold: number) {
    this.#prefix = `${nonce} `;
    this.#maxTold = maxTold;
  }

  /** The newest of what was said beside the changes. */
  get complaints(): string {
    return this.#complaints;
  }

  push(bytes: Uint8Array): void {
    const lines = (this.#line + decodeRaw(bytes)).split('\n');
    this.#line = (lines.pop() ?? '').slice(0, MAX_LINE);
    for (const line of lines) this.#take(line);
  }

  end(): void {
    if (this.#line !== '') this.#take(this.#line);
    this.#line = '';
  }

  report(): SyncReport {
    return {
      changed: this.#changed,
      removed: this.#removed,
      changedCount: this.#changedCount,
      removedCount: this.#removedCount,
    };
  }

  #take(line: string): void {
    if (!line.startsWith(this.#prefix)) {
      this.#complaints = `${this.#complaints}${line}\n`.slice(-MAX_COMPLAINTS);
      return;
    }
    const what = line.slice(this.#prefix.length, this.#prefix.length + 11);
    const name = plain(line.slice(this.#prefix.length + 12)).replace(/\/$/, '');
    if (what.startsWith('*deleting')) {
      this.#removedCount += 1;
      if (this.#isRoom()) this.#removed.push(name);
    } else if (name !== '.' && isChange(what)) {
      this.#changedCount += 1;
      if (this.#isRoom()) this.#changed.push(name);
    }
  }

  #isRoom(): boolean {
    return this.#changed.length + this.#removed.length < this.#maxTold;
  }
}

/** `YXcstpoguax`: how it was brought, type, then what differs. That a time alone differs is none. */
function isChange(what: string): boolean {
  return !what.startsWith('.') || /[csp]/.test(what.slice(2));
}

/** A name as it is: rsync tells bytes that cannot be shown, and a backslash that looks like that, as `\#` and three octal digits. */
function plain(text: string): string {
  const parts = text.split(/\\#([0-7]{3})/);
  const bytes = parts.flatMap((part, index) => (index % 2 === 1 ? [Number.parseInt(part, 8)] : [...encodeRaw(part)]));
  return decodeRaw(Uint8Array.from(bytes));
}
