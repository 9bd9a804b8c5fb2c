import type { Plan, Works } from './answers.ts';
import { openDialog } from './dialog.ts';
import { element } from './element.ts';
import { type Action, KEYS, listenToKeys } from './keys.ts';
import { testTone } from './overview.ts';
import { sandboxList, type Verdict } from './sandbox-list.ts';
import { SandboxView } from './sandbox-view.ts';
import type { Server } from './server.ts';

const THEMES = ['', 'dark', 'light'];
/** Sandboxes that are looked into before somebody opens them. */
const MAX_LOOKED = 12;
const PROOF = { good: 'tested', fair: 'tests unclear', bad: 'tests fail' };

/** The whole page: sandboxes at the side, and one of them. */
export class App {
  readonly #server: Server;
  readonly #nav = element('nav', { 'aria-label': 'Sandboxes' });
  readonly #title = element('span', { class: 'repository' });
  readonly #split = element('button', { class: 'quiet', onclick: () => this.#do('split') }, 'Side by side');
  readonly #verdicts = new Map<string, Verdict>();
  #works: Works | undefined;
  #isLooking = false;
  #one: SandboxView | undefined;
  #selected: string | undefined;

  constructor(server: Server) {
    this.#server = server;
    document.documentElement.dataset['theme'] = localStorage.getItem('theme') ?? '';
    const quiet = (text: string, label: string, action: Action) =>
      element('button', { class: 'quiet', 'aria-label': label, title: label, onclick: () => this.#do(action) }, text);
    document.body.replaceChildren(
      element(
        'header',
        { class: 'top' },
        element('span', { class: 'brand' }, 'Litterbox'),
        this.#title,
        element(
          'div',
          { class: 'tools' },
          this.#split,
          quiet('↻', 'Look again (r)', 'reload'),
          quiet('◐', 'Dark or light (d)', 'theme'),
          quiet('?', 'Keys (?)', 'help'),
        ),
      ),
      this.#nav,
      element('main', { class: 'one' }, element('p', { class: 'empty' }, 'Looking …')),
    );
    listenToKeys((action) => this.#do(action));
  }

  async load(): Promise<void> {
    const works = await this.#server.get<Works>('/api/sandboxes');
    this.#verdicts.clear();
    this.#works = works;
    this.#title.textContent = works.repository;
    const names = works.sandboxes.map(({ name }) => name);
    const wanted = this.#selected ?? sessionStorage.getItem('sandbox') ?? '';
    const name = names.includes(wanted) ? wanted : names[0];
    this.#showList();
    if (name === undefined)
      return this.#swap(
        element(
          'main',
          { class: 'one' },
          element('p', { class: 'empty' }, 'There are no sandboxes in this repository.'),
        ),
      );
    this.#select(name);
  }

  #swap(view: HTMLElement): void {
    this.#one?.close();
    document.querySelector('main')?.replaceWith(view);
  }

  #select(name: string): void {
    if (!this.#works) return;
    this.#selected = name;
    sessionStorage.setItem('sandbox', name);
    document.title = `${name} – Litterbox review`;
    const isSplit = localStorage.getItem('split') === 'yes' && innerWidth > 900;
    const view = new SandboxView(this.#server, name, this.#works, isSplit, {
      onChanged: () => void this.load(),
      onPlan: (of, plan) => {
        this.#note(of, plan);
        void this.#lookAtOthers();
      },
    });
    this.#swap(view.view);
    this.#one = view;
    view.diff.view.focus({ preventScroll: true }); // so that the keys of the browser scroll it
    this.#split.textContent = isSplit ? 'Unified' : 'Side by side';
    this.#showList();
  }

  #showList(): void {
    if (this.#works)
      this.#nav.replaceChildren(sandboxList(this.#works, this.#verdicts, this.#selected, (name) => this.#select(name)));
    this.#nav.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }

  #note(name: string, { risks, proof }: Plan): void {
    const [test] = proof.tests;
    const tone = test ? testTone(test) : 'fair';
    this.#verdicts.set(name, { risks: risks.files, proof: tone, proofText: test ? PROOF[tone] : 'not tested' });
    this.#showList();
  }

  /** One after the other, so that no agent that is at work waits. */
  async #lookAtOthers(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      const idle = this.#works?.sandboxes.filter(({ work, lastCall }) => work?.files && !lastCall?.isRunning) ?? [];
      for (const { name } of idle.slice(0, MAX_LOOKED)) {
        if (this.#verdicts.has(name)) continue;
        const address = `/api/sandboxes/${encodeURIComponent(name)}/plan`;
        try {
          this.#note(name, await this.#server.post<Plan>(address, { integration: 'merge' }));
        } catch (error) {
          this.#verdicts.set(name, { refused: error instanceof Error ? error.message : String(error) });
          this.#showList();
        }
      }
    } finally {
      this.#isLooking = false;
    }
  }

  #step(by: 1 | -1): void {
    const names = this.#works?.sandboxes.map(({ name }) => name) ?? [];
    const next = names[names.indexOf(this.#selected ?? '') + by];
    if (next !== undefined) this.#select(next);
  }

  #do(action: Action): void {
    const one = this.#one;
    switch (action) {
      case 'next-file':
        return one?.diff.step('file', 1);
      case 'last-file':
        return one?.diff.step('file', -1);
      case 'next-hunk':
        return one?.diff.step('hunk', 1);
      case 'last-hunk':
        return one?.diff.step('hunk', -1);
      case 'fold':
        return one?.diff.fold();
      case 'take':
        return one?.takeCurrent();
      case 'whole':
        return void one?.diff.toggleWhole();
      case 'take-hunk':
        return one?.takeHunk();
      case 'changes':
      case 'since':
      case 'calls':
        return one?.show(action);
      case 'apply':
      case 'merge':
        return one?.decide(action);
      case 'next-sandbox':
        return this.#step(1);
      case 'last-sandbox':
        return this.#step(-1);
      case 'reload':
        return void this.load();
      case 'split':
        return this.#toggleSplit();
      case 'theme':
        return toggleTheme();
      case 'help':
        return showHelp();
    }
  }

  #toggleSplit(): void {
    const isSplit = !(this.#one?.diff.isSplit ?? false);
    localStorage.setItem('split', isSplit ? 'yes' : 'no');
    this.#one?.diff.setSplit(isSplit);
    this.#split.textContent = isSplit ? 'Unified' : 'Side by side';
  }
}

function toggleTheme(): void {
  const { dataset } = document.documentElement;
  const next = THEMES[(THEMES.indexOf(dataset['theme'] ?? '') + 1) % THEMES.length] ?? '';
  dataset['theme'] = next;
  localStorage.setItem('theme', next);
}

function showHelp(): void {
  const rows = KEYS.map(([keys, words]) =>
    element(
      'tr',
      {},
      element('td', {}, ...keys.flatMap((key) => [element('kbd', {}, key), ' '])),
      element('td', {}, words),
    ),
  );
  openDialog('Keys', element('table', { class: 'keys' }, element('tbody', {}, ...rows)));
}
