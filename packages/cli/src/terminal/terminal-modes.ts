/**
 * Modes that a program sets for itself, by their numbers: cursor keys, cursor, mouse, focus, bracketed paste and the other screen. Those that
 * are on at first are marked. @see https://invisible-island.net/xterm/ctlseqs/ctlseqs.html (DEC private mode set)
 */
const MODES: Readonly<Record<string, 'h' | 'l'>> = {
  1: 'l',
  25: 'h',
  1000: 'l',
  1002: 'l',
  1003: 'l',
  1004: 'l',
  1005: 'l',
  1006: 'l',
  1015: 'l',
  2004: 'l',
  47: 'l',
  1047: 'l',
  1049: 'l',
};
const SETTINGS = /\x1b(?:\[\?([\d;]{1,60})([hl])|([=>]))/g;
/** The beginning of one whose end comes with the next output. */
const BEGINNING = /\x1b(?:\[(?:\?[\d;]{0,60})?)?$/;

/** The modes that a program has set in the person's terminal, so that it is given back when the program could not do that itself. */
export class TerminalModes {
  readonly #set = new Map<string, string>();
  #hasKeypad = false;
  #begun = '';

  /** Takes the program's output, in order. */
  hear(bytes: Uint8Array): void {
    const text = this.#begun + Buffer.from(bytes).toString('latin1');
    for (const [, modes, setting, keypad] of text.matchAll(SETTINGS)) {
      if (keypad !== undefined) this.#hasKeypad = keypad === '=';
      for (const mode of modes?.split(';') ?? []) {
        if (setting === undefined || MODES[mode] === undefined) continue;
        if (setting === MODES[mode]) this.#set.delete(mode);
        else this.#set.set(mode, MODES[mode]);
      }
    }
    this.#begun = BEGINNING.exec(text)?.[0] ?? '';
  }

  /** Text that makes the terminal as it was; empty where the program left it so. */
  takeRestoring(): string {
    const settings = [...this.#set].map(([mode, setting]) => `\x1b[?${mode}${setting}`);
    if (this.#hasKeypad) settings.push('\x1b>');
    this.#set.clear();
    this.#hasKeypad = false;
    return settings.length === 0 ? '' : `\x1b[0m${settings.join('')}`;
  }
}

/** For a program that has the terminal itself, so that nobody hears what it sets: call what this returns when it did not end by itself. */
export function keepTerminal(): () => void {
  const { stdin, stdout } = process;
  const settle = () => {
    if (!stdin.isTTY) return;
    // Node keeps the line settings that it finds at first, and puts them back.
    stdin.setRawMode(true);
    stdin.setRawMode(false);
  };
  settle();
  return () => {
    settle();
    if (!stdout.isTTY) return;
    const settings = Object.entries(MODES).map(([mode, setting]) => `\x1b[?${mode}${setting}`);
    stdout.write(`\x1b[0m\x1b>${settings.join('')}`);
  };
}
