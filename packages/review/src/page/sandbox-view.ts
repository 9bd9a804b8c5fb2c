import type { DiffStart, LogLine, NamedPath, PatchFile, Plan, Works } from './answers.ts';
import { CallDialogs } from './call-dialogs.ts';
import { callsView } from './calls-view.ts';
import { openDecision } from './decide-dialog.ts';
import { ConflictDialogs } from './conflict/conflict-dialogs.ts';
import { DiffView } from './diff/diff-view.ts';
import { element } from './element.ts';
import { FileList } from './file-list.ts';
import { FileSource } from './file-source.ts';
import { lostTestsPart } from './lost-tests.ts';
import { NotesView } from './notes.ts';
import { conflictsPart, proofPart, risksPart } from './overview.ts';
import { Refused, type Server, wordsOf } from './server.ts';
import { Taken } from './taken.ts';
import { showDone } from './show-done.ts';
import { counted } from './words.ts';

type Tab = 'changes' | 'since' | 'calls';
type DiffLine = DiffStart | { readonly file: PatchFile } | { readonly end: true };

/** How a sandbox is shown. */
export interface ViewForm {
  readonly isSplit: boolean;
  /** Whether another one is shown beside it. */
  readonly isBeside: boolean;
}

/** Events for the page around the view. */
export interface SandboxEvents {
  onPlan(name: string, plan: Plan): void;
  onChanged(): void;
}

/** One sandbox: what to read first, whether it was tested, its calls, its diff, and what is taken of it. */
export class SandboxView {
  readonly view: HTMLElement;
  readonly #server: Server;
  readonly #name: string;
  readonly #events: SandboxEvents;
  readonly #diff: DiffView;
  readonly #files: FileList;
  readonly #overview = element('div', { class: 'overview' }, element('p', { class: 'faint' }, 'Looking …'));
  readonly #lostTests = element('div', { class: 'lost' });
  readonly #calls = element('div', { class: 'tab-body calls-body', hidden: true });
  readonly #status = element('span', { class: 'status faint', role: 'status' }, 'Reading the changes …');
  readonly #taking = element('div', { class: 'taking' });
  readonly #tabs: ReadonlyMap<Tab, HTMLButtonElement>;
  readonly #gone = new AbortController();
  readonly #notes: NotesView;
  readonly #conflicts: ConflictDialogs;
  readonly #dialogs: CallDialogs;
  readonly #source: FileSource;
  #taken = new Taken();
  #tip: string | undefined;
  #since: DiffStart['since'];
  #all: PatchFile[] = [];
  readonly #current = element('div', { class: 'current-file' });
  #tab: Tab = 'changes';
  readonly #works: Works;

  constructor(server: Server, name: string, works: Works, { isSplit, isBeside }: ViewForm, events: SandboxEvents) {
    this.#server = server;
    this.#name = name;
    this.#notes = new NotesView(server, this.#address, this.#gone.signal);
    this.#conflicts = new ConflictDialogs(server, this.#address);
    this.#dialogs = new CallDialogs(server, this.#address, this.#gone.signal);
    const onTrouble = (words: string) => (this.#status.textContent = words);
    this.#source = new FileSource(server, this.#address, this.#gone.signal, onTrouble);
    this.#works = works;
    this.#events = events;
    const onTake = (path: string, isTaken: boolean) => this.#take(this.#taken.withFile(path, isTaken));
    this.#diff = new DiffView(`Changes of ${name}`, {
      onFile: (file) => this.#showCurrent(file),
      onLine: (file, line) =>
        void this.#dialogs.showLine(file, line, (onKept) => this.#notes.form(file, line, this.#tip ?? '', onKept)),
      onTake,
      readSides: async (file) => await this.#source.sides(file, this.#tip),
      readWhole: async (file) => await this.#source.whole(file, this.#tip),
      onTakeHunk: (file, hunk, isTaken) => this.#take(this.#taken.withHunk(file, hunk, isTaken)),
    });
    this.#files = new FileList({ onOpen: (path) => this.openPath(path), onTake, onTakeAll: () => this.takeAll() });
    this.#diff.setSplit(isSplit);
    const tab = (key: Tab, title: string) => [key, tabButton(key, title, () => this.show(key))] as const;
    this.#tabs = new Map([tab('changes', 'Changes'), tab('since', 'Since you looked'), tab('calls', 'Calls')]);
    (this.#tabs.get('since') as HTMLElement).hidden = true;
    this.view = element(
      isBeside ? 'section' : 'main',
      { class: 'one', ...(isBeside && { 'aria-label': name }) },
      element(
        'section',
        { class: 'side', 'aria-label': `Overview of ${name}` },
        element(isBeside ? 'h2' : 'h1', { class: 'name' }, name),
        this.#overview,
        this.#files.head,
        this.#files.view,
        this.#taking,
        this.#notes.view,
      ),
      element(
        'section',
        { class: 'work', 'aria-label': `Work of ${name}` },
        element(
          'div',
          { class: 'tabs' },
          element('div', { role: 'tablist', 'aria-label': `Views of ${name}` }, ...this.#tabs.values()),
          this.#status,
        ),
        this.#current,
        this.#diff.view,
        this.#calls,
      ),
    );
    this.#showTaking();
    void this.#loadPlan();
    void this.#notes.load();
    void this.#loadDiff();
  }

  close(): void {
    this.#gone.abort();
  }

  show(key: Tab): void {
    this.#tab = key;
    for (const [one, button] of this.#tabs) button.setAttribute('aria-selected', String(one === key));
    this.#calls.hidden = key !== 'calls';
    this.#diff.view.hidden = key === 'calls';
    this.#current.hidden = key === 'calls';
    if (key === 'calls') void this.#loadCalls();
    else {
      this.#diff.clear();
      if (key === 'changes') this.#diff.add(this.#all);
      else void this.#loadSince();
    }
  }

  openPath(path: string): void {
    this.show('changes');
    this.#diff.scrollToPath(path);
  }

  get diff(): DiffView {
    return this.#diff;
  }

  takeCurrent(): void {
    const path = this.#diff.currentFile?.path;
    if (path !== undefined) this.#take(this.#taken.withFile(path, this.#taken.of(path) !== 'all'));
  }

  takeAll(): void {
    this.#take(this.#taken.whole === this.#all.length ? new Taken() : Taken.all(this.#all));
  }

  takeHunk(): void {
    const { file, hunk } = this.#diff.currentHunk ?? {};
    if (file && hunk) this.#take(this.#taken.withHunk(file, hunk, !this.#taken.hasHunk(file.path, hunk)));
  }

  decide(verb: 'apply' | 'merge'): void {
    if (this.#tip === undefined) return;
    const [paths, parts] = verb === 'apply' ? [this.#taken.paths(this.#all), this.#taken.parts(this.#all)] : [[], []];
    const isPart = parts.length > 0 || (paths.length > 0 && this.#taken.whole < this.#all.length);
    const unshownLines = this.#all.reduce((sum, { leftOut }) => sum + leftOut, 0);
    const asked = { sandbox: this.#name, verb, paths, parts, isPart, tip: this.#tip, unshownLines };
    void openDecision(this.#server, asked, this.#conflicts, {
      onDone: (decided) => {
        showDone(this.#name, verb, decided);
        this.#events.onChanged();
      },
      onCall: (call) => void this.#dialogs.showCall(call),
      onPath: (path) => this.openPath(path),
    });
  }

  #showCurrent(file: PatchFile | undefined): void {
    this.#files.setCurrent(file?.path);
    const at = file === undefined ? 0 : this.#all.indexOf(file) + 1;
    this.#current.replaceChildren(
      element('span', {}, file?.name ?? ''),
      at > 0 && this.#tab === 'changes' ? element('span', { class: 'faint' }, `${at} of ${this.#all.length}`) : '',
    );
  }

  get #address(): string {
    return `/api/sandboxes/${encodeURIComponent(this.#name)}`;
  }

  async #loadPlan(): Promise<void> {
    try {
      const plan = await this.#server.post<Plan>(`${this.#address}/plan`, { integration: 'merge' }, this.#gone.signal);
      this.#events.onPlan(this.#name, plan);
      this.#overview.replaceChildren(
        ...(plan.unsettled === undefined ? [] : [element('p', { class: 'unsettled' }, plan.unsettled)]),
        risksPart(plan, (path) => this.openPath(path)),
        proofPart(plan, (call) => void this.#dialogs.showCall(call)),
        this.#lostTests,
        this.#conflictsPart(plan),
      );
      this.#diff.setRisks(plan.risks.groups);
    } catch (error) {
      if (this.#gone.signal.aborted) return;
      this.#overview.replaceChildren(element('p', { class: 'refusal' }, wordsOf(error)));
    }
  }

  /** The decision carries out what is settled here; the plan of this view stays without it. */
  #conflictsPart(plan: Plan): HTMLElement {
    const { settled } = this.#conflicts;
    const isOpen = ({ path }: NamedPath) => !settled.has(path);
    const names = plan.conflicts.filter((file) => !isOpen(file)).map(({ name }) => name);
    const into = plan.branch ?? plan.head.slice(0, 10);
    const part = conflictsPart({ ...plan, conflicts: plan.conflicts.filter(isOpen) }, this.#works, this.#name, {
      settled: names,
      onConflict: (file) =>
        void this.#conflicts.open(file, { integration: 'merge', paths: [], parts: [], into }, plan.tip, () =>
          part.replaceWith(this.#conflictsPart(plan)),
        ),
    });
    return part;
  }

  async #loadDiff(): Promise<void> {
    let waiting: PatchFile[] = [];
    let [expected, isAsked, isWhole] = [0, false, false];
    const flush = () => {
      isAsked = false;
      const files = waiting;
      waiting = [];
      this.#all.push(...files);
      if (this.#tab === 'changes') this.#diff.add(files);
      this.#files.add(files, (path) => this.#since?.paths.includes(path) ?? false);
      if (!isWhole) this.#status.textContent = `Reading: ${this.#all.length} of ${expected} files …`;
    };
    try {
      for await (const line of this.#server.lines<DiffLine>(`${this.#address}/diff`, this.#gone.signal)) {
        if ('tip' in line) {
          this.#tip = line.tip;
          this.#since = line.since;
          expected = line.files;
          (this.#tabs.get('since') as HTMLElement).hidden = line.since === undefined;
        } else if ('file' in line) {
          waiting.push(line.file);
          if (!isAsked) requestAnimationFrame(flush);
          isAsked = true;
        } else isWhole = true;
      }
      flush();
      if (!isWhole) throw new Refused('CUT_OFF', 'The changes were not read to their end. Press r to read them again.');
      this.#status.textContent =
        this.#all.length === 0
          ? 'No changes.'
          : `${counted(this.#all.length, 'file')}, state ${this.#tip?.slice(0, 10)}`;
      this.#lostTests.replaceChildren(...lostTestsPart(this.#all, (path) => this.openPath(path)));
      this.#showTaking();
      this.#showCurrent(this.#diff.currentFile);
      if (this.#all.length === 0) this.#diff.view.replaceChildren(element('p', { class: 'empty' }, 'No changes.'));
    } catch (error) {
      if (!this.#gone.signal.aborted) this.#status.textContent = wordsOf(error);
      this.#tip = undefined; // nobody has seen all of it
    }
  }

  async #loadSince(): Promise<void> {
    for await (const line of this.#server.lines<DiffLine>(`${this.#address}/diff?part=since`, this.#gone.signal))
      if ('file' in line && this.#tab === 'since') this.#diff.add([line.file]);
  }

  async #loadCalls(): Promise<void> {
    const { entries, isMore } = await this.#server.get<{ entries: LogLine[]; isMore: boolean }>(
      `${this.#address}/calls`,
      this.#gone.signal,
    );
    this.#calls.replaceChildren(callsView(entries, isMore, (call) => void this.#dialogs.showCall(call)));
  }

  #take(taken: Taken): void {
    this.#taken = taken;
    this.#diff.setTaken(taken);
    this.#files.setTaken(taken);
    this.#showTaking();
  }

  #showTaking(): void {
    const some = this.#taken.size;
    const disabled = this.#tip === undefined || this.#all.length === 0;
    const button = (text: string, verb: 'apply' | 'merge', isPrimary: boolean) =>
      element('button', { class: isPrimary ? 'primary' : '', disabled, onclick: () => this.decide(verb) }, text);
    this.#taking.replaceChildren(
      button(some > 0 ? `Apply ${counted(some, 'file')} …` : 'Apply all …', 'apply', some > 0),
      ...(some > 0 ? [element('button', { class: 'quiet', onclick: () => this.#take(new Taken()) }, 'Take none')] : []),
      button('Merge …', 'merge', some === 0),
    );
  }
}

function tabButton(key: Tab, title: string, onclick: () => void): HTMLButtonElement {
  return element('button', { role: 'tab', 'aria-selected': String(key === 'changes'), onclick }, title);
}
