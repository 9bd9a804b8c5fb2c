import type { Blame, PastCall, PatchFile } from './answers.ts';
import { callDetail } from './calls-view.ts';
import { openDialog } from './dialog.ts';
import { element } from './element.ts';
import { type Server, wordsOf } from './server.ts';
import { WENT_ON } from './words.ts';

/** Dialogs with calls of one sandbox. */
export class CallDialogs {
  readonly #server: Server;
  readonly #address: string;
  readonly #signal: AbortSignal;
  readonly #blames = new Map<string, Promise<Blame>>();

  constructor(server: Server, address: string, signal: AbortSignal) {
    this.#server = server;
    this.#address = address;
    this.#signal = signal;
  }

  /** A call with what it printed. */
  async showCall(call: number): Promise<void> {
    const body = element('div', {}, element('p', { class: 'faint' }, 'Reading …'));
    openDialog(`Call ${call}`, body);
    try {
      body.replaceChildren(
        callDetail(await this.#server.get<PastCall>(`${this.#address}/calls/${call}`, this.#signal)),
      );
    } catch (error) {
      body.replaceChildren(element('p', { class: 'refusal' }, wordsOf(error)));
    }
  }

  /** The call that wrote a line. @param tip the state that the page shows: in another one the line may be elsewhere */
  async showLine(
    { path, name }: PatchFile,
    line: number,
    tip: string | undefined,
    noteForm: (onKept: () => void) => HTMLElement,
  ): Promise<void> {
    const body = element('div', {}, element('p', { class: 'faint' }, 'Looking …'));
    const dialog = openDialog(
      `${name}, line ${line}`,
      body,
      noteForm(() => dialog.close()),
    );
    const asked = this.#blames.get(path) ?? this.#server.post<Blame>(`${this.#address}/blame`, { path }, this.#signal);
    this.#blames.set(path, asked);
    try {
      const blame = await asked;
      if (blame.tip !== tip) {
        this.#blames.delete(path);
        return body.replaceChildren(element('p', { class: 'refusal' }, WENT_ON));
      }
      const run = blame.runs.find(({ firstLine, lines }) => line >= firstLine && line < firstLine + lines);
      if (!run) return body.replaceChildren(element('p', {}, 'It was there when the sandbox began.'));
      const { call } = run;
      body.replaceChildren(
        element('p', {}, `Written by revision ${run.revision}${run.actor === undefined ? '' : `, by ${run.actor}`}.`),
        ...(call === undefined
          ? [element('pre', { class: 'command' }, run.subject)]
          : [callDetail(await this.#server.get<PastCall>(`${this.#address}/calls/${call}`, this.#signal))]),
      );
    } catch (error) {
      this.#blames.delete(path);
      if (dialog.open) body.replaceChildren(element('p', { class: 'refusal' }, wordsOf(error)));
    }
  }
}
