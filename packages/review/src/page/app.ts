import type { Forecast, Plan, Works } from './answers.ts';
import { Choice } from './choice/choice.ts';
import { chooseBeside } from './choose-beside.ts';
import { openDialog } from './dialog.ts';
import { openFind } from './diff/open-find.ts';
import { element } from './element.ts';
import { type Action, listenToKeys } from './keys.ts';
import { testTone } from './overview.ts';
import { sandboxList, type Verdict } from './sandbox-list.ts';
import { SandboxView } from './sandbox-view.ts';
import { type Server, wordsOf } from './server.ts';
import { showHelp } from './show-help.ts';
import { withCounts } from './with-counts.ts';

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
  readonly #choices = new Map<string, Choice>();
  #works: Works | undefined;
  #forecast: Forecast | undefined;
  /** Counts the looks: an answer to one before says nothing. */
  #turn = 0;
  #isLooking = false;
  #one: SandboxView | undefined;
  #beside: SandboxView | undefined;
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
          quiet('Beside', 'Beside another sandbox (c)', 'beside'),
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
    this.#closeViews();
    if (name !== undefined) {
      this.#select(name);
      return void this.#loadForecast();
    }
    this.#selected = undefined;
    const words = 'There are no sandboxes in this repository.';
    this.#swap(element('main', { class: 'one' }, element('p', { class: 'empty' }, words)));
  }

  /** Behind the rest: it tries merges, one after the other. Without it nothing is said of other sandboxes. */
  async #loadForecast(): Promise<void> {
    const turn = ++this.#turn;
    const forecast = await this.#server.get<Forecast>('/api/forecast').catch(() => undefined);
    if (!forecast || turn !== this.#turn) return;
    this.#forecast = forecast;
    this.#showList();
    for (const view of [this.#one, this.#beside]) view?.showForecast(forecast);
  }

  /** Where it fails, the page stays as it is; a sandbox that is gone is never another one without a word. */
  async #loadAgain(): Promise<void> {
    const before = this.#selected;
    this.#title.textContent = 'Looking …';
    try {
      await this.load();
    } catch (error) {
      this.#title.textContent = this.#works?.repository ?? '';
      openDialog('Nothing could be looked at again', element('p', { class: 'refusal', role: 'alert' }, wordsOf(error)));
    }
    const isThere = this.#works?.sandboxes.some(({ name }) => name === before) ?? true;
    if (before !== undefined && !isThere && !document.querySelector('dialog[open]'))
      openDialog(`The sandbox ${before} is gone`, element('p', {}, `The page shows ${this.#selected ?? 'none'} now.`));
  }

  #swap(view: HTMLElement): void {
    document.querySelector('main')?.replaceWith(view);
  }

  #select(name: string): void {
    this.#selected = name;
    sessionStorage.setItem('sandbox', name);
    document.title = `${name} – Litterbox review`;
    this.#closeViews();
    this.#one = this.#open(name, false);
    this.#swap(this.#one?.view ?? element('main'));
    this.#one?.diff.view.focus({ preventScroll: true }); // so that the keys of the browser scroll it
    this.#split.textContent = this.#one?.diff.isSplit ? 'Unified' : 'Side by side';
    this.#showList();
  }

  /** Two sandboxes beside each other, each with its own boxes. Keys are about the one that has the focus. */
  #pair(name: string, other: string): void {
    this.#closeViews();
    const views = [name, other].flatMap((one) => this.#open(one, true) ?? []);
    for (const view of views) view.view.addEventListener('focusin', () => this.#activate(view, views));
    this.#swap(
      element(
        'main',
        { class: 'pair' },
        element('h1', { class: 'unseen' }, `${name} and ${other}`),
        ...views.map(({ view }) => view),
      ),
    );
    const [first] = views;
    if (first) this.#activate(first, views);
    first?.diff.view.focus({ preventScroll: true });
  }

  #activate(one: SandboxView, views: readonly SandboxView[]): void {
    this.#one = one;
    this.#beside = views.find((view) => view !== one);
    for (const { view } of views) view.classList.toggle('active', view === one.view);
  }

  #open(name: string, isBeside: boolean): SandboxView | undefined {
    if (!this.#works) return undefined;
    const choice = this.#choices.get(name) ?? new Choice();
    this.#choices.set(name, choice);
    const isSplit = !isBeside && localStorage.getItem('split') === 'yes' && innerWidth > 900;
    return new SandboxView(
      this.#server,
      name,
      { isSplit, isBeside, choice, forecast: this.#forecast },
      {
        onDecided: (of) => {
          this.#choices.delete(of);
          void this.#loadAgain();
        },
        onRead: (of, files) => {
          this.#works = this.#works && withCounts(this.#works, of, files);
          this.#showList();
        },
        onPlan: (of, plan) => {
          this.#note(of, plan);
          void this.#lookAtOthers();
        },
      },
    );
  }

  #closeViews(): void {
    this.#one?.close();
    this.#beside?.close();
    this.#one = undefined;
    this.#beside = undefined;
  }

  #chooseBeside(): void {
    const { sandboxes = [] } = this.#works ?? {};
    const here = sandboxes.find(({ name }) => name === this.#selected);
    if (!here) return;
    if (this.#beside) return this.#select(here.name);
    chooseBeside(here, sandboxes, (name) => this.#pair(here.name, name));
  }

  #showList(): void {
    if (this.#works)
      this.#nav.replaceChildren(
        sandboxList(this.#works, this.#forecast, this.#verdicts, this.#selected, (name) => this.#select(name)),
      );
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

  /** The one beside it shows the same file, where it has changed that too. */
  #stepFile(by: 1 | -1): void {
    this.#one?.diff.step('file', by);
    const path = this.#one?.diff.currentFile?.path;
    if (path !== undefined) this.#beside?.diff.scrollToPath(path);
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
      case 'last-file':
        return this.#stepFile(action === 'next-file' ? 1 : -1);
      case 'next-hunk':
        return one?.diff.step('hunk', 1);
      case 'last-hunk':
        return one?.diff.step('hunk', -1);
      case 'find':
        return one && openFind(one.diff);
      case 'fold':
        return one?.diff.fold();
      case 'take':
        return one?.takeCurrent();
      case 'take-all':
        return one?.takeAll();
      case 'whole':
        return void one?.diff.toggleWhole();
      case 'take-hunk':
        return one?.takeHunk();
      case 'split-hunk':
        return one?.diff.split();
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
        return void this.#loadAgain();
      case 'beside':
        return this.#chooseBeside();
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
