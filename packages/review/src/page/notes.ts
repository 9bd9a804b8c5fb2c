import type { Note, Notes, PatchFile } from './answers.ts';
import { element } from './element.ts';
import { type Server, wordsOf } from './server.ts';
import { ago, counted } from './words.ts';

/** Words that are not kept yet, by sandbox and line: a dialog that is closed loses none. */
const drafts = new Map<string, string>();

/** The notes on lines of one sandbox: the server keeps them, and agents are told of them. */
export class NotesView {
  readonly view = element('section', { class: 'notes', 'aria-label': 'Notes', hidden: true });
  readonly #server: Server;
  readonly #address: string;
  readonly #signal: AbortSignal;

  constructor(server: Server, address: string, signal: AbortSignal) {
    this.#server = server;
    this.#address = address;
    this.#signal = signal;
  }

  async load(): Promise<void> {
    await this.#show(this.#server.get<Notes>(`${this.#address}/notes`, this.#signal));
  }

  /** A field for words on a line. @param tip the state that the page shows */
  form({ path, name }: PatchFile, line: number, tip: string, onKept: () => void): HTMLElement {
    const key = `${this.#address} ${path} ${line}`;
    const status = element('p', { class: 'faint', role: 'status' });
    const field = element('textarea', {
      rows: 2,
      maxlength: 2_000,
      'aria-label': 'A note for the agent',
      placeholder: `A note for the agent on line ${line} of ${name}`,
    });
    field.value = drafts.get(key) ?? '';
    field.addEventListener('input', () => drafts.set(key, field.value));
    const keep = async () => {
      const words = field.value.trim();
      if (words === '') return;
      try {
        await this.#show(
          this.#server.post<Notes>(`${this.#address}/note`, { path, line, words, tip }, this.#signal),
          true,
        );
        drafts.delete(key);
        onKept();
      } catch (error) {
        status.textContent = wordsOf(error);
      }
    };
    return element(
      'div',
      { class: 'note-form' },
      field,
      element('button', { onclick: () => void keep() }, 'Keep the note'),
      status,
    );
  }

  async #show(asked: Promise<Notes>, throws = false): Promise<void> {
    try {
      this.#draw(await asked);
    } catch (error) {
      if (throws) throw error;
      if (this.#signal.aborted) return;
      this.view.hidden = false;
      this.view.replaceChildren(element('p', { class: 'refusal' }, wordsOf(error)));
    }
  }

  #draw({ notes, agent }: Notes): void {
    this.view.hidden = notes.length === 0;
    const copy = () => void navigator.clipboard.writeText(notesText(notes));
    this.view.replaceChildren(
      element('h2', {}, 'Notes'),
      element('p', { class: 'faint' }, wayOf(notes, agent)),
      element('ul', {}, ...notes.map((note) => this.#item(note))),
      element('button', { onclick: copy }, `Copy ${counted(notes.length, 'note')}`),
    );
  }

  #item({ note, name, line, words, given }: Note): HTMLElement {
    const drop = () => void this.#show(this.#server.post<Notes>(`${this.#address}/unnote`, { note }, this.#signal));
    return element(
      'li',
      {},
      element('code', {}, `${name}:${line}`),
      element('span', { class: 'words' }, words),
      element(
        'span',
        { class: 'faint' },
        given ? `${given.isTask ? 'task of' : 'told to'} ${given.to}, ${ago(given.atMs)}` : 'waits',
      ),
      element('button', { class: 'quiet', 'aria-label': `Take the note on ${name}:${line} away`, onclick: drop }, '✕'),
    );
  }
}

/** How those that wait come to an agent. */
function wayOf(notes: readonly Note[], agent: string | undefined): string {
  const waiting = notes.filter(({ given }) => given === undefined).length;
  if (waiting === 0) return 'Agents were told of all of them.';
  const next = agent === undefined ? 'the next agent run gets them' : `${agent} is at work here`;
  return `${counted(waiting, 'note')} wait${waiting === 1 ? 's' : ''}: ${next}, and sandbox-status has them.`;
}

/** Text for an agent: a paragraph for each, as `src/login.ts:12 "…": …`. */
const notesText = (notes: readonly Note[]): string =>
  notes
    .map(({ name, line, text, words }) => `${name}:${line}${text ? ` ${JSON.stringify(text)}` : ''}: ${words}`)
    .join('\n\n');
