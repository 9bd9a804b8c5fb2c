import type { Calls, DiffStart, Forecast, PatchFile, Plan } from './answers.ts';
import { CallDialogs } from './call-dialogs.ts';
import { callsView } from './calls-view.ts';
import type { Choice } from './choice/choice.ts';
import { openDecision } from './decide-dialog.ts';
import { ConflictDialogs } from './conflict/conflict-dialogs.ts';
import { ConflictsView } from './conflict/conflicts-view.ts';
import { DiffView } from './diff/diff-view.ts';
import { element } from './element.ts';
import { FileList } from './file-list.ts';
import { FileSource } from './file-source.ts';
import { lostTestsPart } from './lost-tests.ts';
import { NotesView } from './notes.ts';
import { proofPart, risksPart } from './overview.ts';
import { Refused, type Server, wordsOf } from './server.ts';
import { Taken } from './choice/taken.ts';
import { takingButtons } from './choice/taking-buttons.ts';
import { showDone } from './show-done.ts';
import { type Tab, Tabs } from './tabs.ts';
import { counted, WENT_ON } from './words.ts';

type DiffLine = DiffStart | { readonly file: PatchFile } | { readonly end: true };

/** How a sandbox is shown. */
export interface ViewForm {
  readonly isSplit: boolean;
  /** Whether another one is shown beside it. */
  readonly isBeside: boolean;
  readonly choice: Choice;
  /** Absent until it is known. */
  readonly forecast: Forecast | undefined;
}

/** Events for the page around the view. */
export interface SandboxEvents {
  onPlan(name: string, plan: Plan): void;
  /** All of its changes were read. */
  onRead(name: string, files: readonly PatchFile[]): void;
  /** Some of it was taken. */
  onDecided(name: string): void;
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
  readonly #tabs: Tabs;
  readonly #gone = new AbortController();
  readonly #notes: NotesView;
  readonly #conflicts: ConflictDialogs;
  readonly #dialogs: CallDialogs;
  readonly #source: FileSource;
  readonly #choice: Choice;
  #tip: string | undefined;
  #since: ReadonlySet<string> = new Set();
  #all: PatchFile[] = [];
  readonly #current = element('div', { class: 'current-file' });
  /** The changes that the diff holds, also while calls are shown. */
  #inDiff: Tab = 'changes';
  readonly #inTheWay: ConflictsView;

  constructor(server: Server, name: string, { isSplit, isBeside, choice, forecast }: ViewForm, events: SandboxEvents) {
    this.#server = server;
    this.#name = name;
    this.#choice = choice;
    this.#notes = new NotesView(server, this.#address, this.#gone.signal);
    this.#conflicts = new ConflictDialogs(server, this.#address, choice.settled);
    this.#inTheWay = new ConflictsView(name, this.#conflicts, forecast);
    this.#dialogs = new CallDialogs(server, this.#address, this.#gone.signal);
    const onTrouble = (words: string) => (this.#status.textContent = words);
    this.#source = new FileSource(server, this.#address, this.#gone.signal, onTrouble);
    this.#events = events;
    const onTake = (path: string, isTaken: boolean) => this.#take(this.#choice.taken.withFile(path, isTaken));
    this.#diff = new DiffView(`Changes of ${name}`, {
      onFile: (file) => this.#showCurrent(file),
      onLine: (file, line) =>
        void this.#dialogs.showLine(file, line, this.#tip, (onKept) =>
          this.#notes.form(file, line, this.#tip ?? '', onKept),
        ),
      onTake,
      readSides: async (file) => await this.#source.sides(file, this.#tip),
      readWhole: async (file) => await this.#source.whole(file, this.#tip),
      onTakeHunk: (file, hunk, isTaken) => this.#take(this.#choice.taken.withHunk(file, hunk, isTaken)),
    });
    this.#files = new FileList({ onOpen: (path) => this.openPath(path), onTake, onTakeAll: () => this.takeAll() });
    this.#diff.setSplit(isSplit);
    this.#tabs = new Tabs(`Views of ${name}`, (key) => this.show(key));
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
        element('div', { class: 'tabs' }, this.#tabs.view, this.#status),
        this.#current,
        this.#diff.view,
        this.#calls,
      ),
    );
    this.#showTaking();
    void this.#loadPlan();
    void this.#notes.load();
    void this.#loadDiff();
    const { signal } = this.#gone;
    addEventListener('focus', () => void this.#readCalls(signal).catch(() => undefined), { signal });
  }

  close(): void {
    this.#gone.abort();
  }

  show(key: Tab): void {
    const isShown = this.#tabs.show(key);
    if (!isShown) return;
    const signal = AbortSignal.any([this.#gone.signal, isShown]);
    this.#calls.hidden = key !== 'calls';
    this.#diff.view.hidden = key === 'calls';
    this.#current.hidden = key === 'calls';
    if (key === 'calls') return void this.#loadTab(key, signal);
    if (key === 'changes' && this.#inDiff === key) return this.#diff.setTaken(this.#choice.taken); // where it was left
    this.#inDiff = key;
    this.#diff.clear();
    if (key === 'changes') this.#diff.add(this.#all);
    else void this.#loadTab(key, signal);
  }

  openPath(path: string): void {
    this.show('changes');
    this.#diff.scrollToPath(path);
  }

  showForecast(forecast: Forecast): void {
    this.#inTheWay.showForecast(forecast);
  }

  get diff(): DiffView {
    return this.#diff;
  }

  takeCurrent(): void {
    const path = this.#diff.currentFile?.path;
    if (path !== undefined) this.#take(this.#choice.taken.withFile(path, this.#choice.taken.of(path) !== 'all'));
  }

  takeAll(): void {
    this.#take(this.#choice.taken.whole === this.#all.length ? new Taken() : Taken.all(this.#all));
  }

  takeHunk(): void {
    const { file, hunk } = this.#diff.currentHunk ?? {};
    if (file && hunk) this.#take(this.#choice.taken.withHunk(file, hunk, !this.#choice.taken.hasHunk(file.path, hunk)));
  }

  decide(verb: 'apply' | 'merge'): void {
    if (this.#tip === undefined) return;
    const chosen = verb === 'apply' ? this.#choice.asked(this.#all) : { paths: [], parts: [], whole: 0, isPart: false };
    const unshownLines = this.#all.reduce((sum, { leftOut }) => sum + leftOut, 0);
    const asked = { sandbox: this.#name, verb, tip: this.#tip, unshownLines, ...chosen };
    void openDecision(this.#server, asked, this.#conflicts, {
      onDone: (decided) => {
        showDone(this.#name, verb, decided);
        this.#events.onDecided(this.#name);
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
      at > 0 && this.#inDiff === 'changes' ? element('span', { class: 'faint' }, `${at} of ${this.#all.length}`) : '',
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
        this.#inTheWay.view,
      );
      this.#inTheWay.showPlan(plan);
      this.#diff.setRisks(plan.risks.groups);
    } catch (error) {
      if (this.#gone.signal.aborted) return;
      this.#overview.replaceChildren(element('p', { class: 'refusal' }, wordsOf(error)));
    }
  }

  async #loadDiff(): Promise<void> {
    let waiting: PatchFile[] = [];
    let [expected, isAsked, isWhole, isGivenUp] = [0, false, false, false];
    const flush = () => {
      isAsked = false;
      const files = waiting;
      waiting = [];
      this.#all.push(...files);
      if (this.#inDiff === 'changes') this.#diff.add(files);
      this.#files.add(files, (path) => this.#since.has(path));
      if (!isWhole) this.#status.textContent = `Reading: ${this.#all.length} of ${expected} files …`;
    };
    try {
      for await (const line of this.#server.lines<DiffLine>(`${this.#address}/diff`, this.#gone.signal)) {
        if ('tip' in line) {
          this.#tip = line.tip;
          isGivenUp = this.#choice.isOfOther(line.tip);
          this.#since = new Set(line.since?.paths);
          expected = line.files;
          this.#tabs.offer('since', line.since !== undefined);
        } else if ('file' in line) {
          waiting.push(line.file);
          if (!isAsked) requestAnimationFrame(flush);
          isAsked = true;
        } else isWhole = true;
      }
      flush();
      if (!isWhole) throw new Refused('CUT_OFF', 'The changes were not read to their end. Press r to read them again.');
      const words = isGivenUp ? '. It went on: choose again what to take' : '';
      this.#status.textContent = `${counted(this.#all.length, 'file')}, state ${this.#tip?.slice(0, 10)}${words}`;
      this.#lostTests.replaceChildren(...lostTestsPart(this.#all, (path) => this.openPath(path)));
      this.#take(this.#choice.taken);
      this.#events.onRead(this.#name, this.#all);
      this.#showCurrent(this.#diff.currentFile);
      if (this.#all.length === 0) this.#diff.view.replaceChildren(element('p', { class: 'empty' }, 'No changes.'));
    } catch (error) {
      if (!this.#gone.signal.aborted) this.#status.textContent = wordsOf(error);
      this.#tip = undefined; // nobody has seen all of it
      this.#showTaking();
    }
  }

  async #loadTab(key: 'since' | 'calls', signal: AbortSignal): Promise<void> {
    try {
      if (key === 'calls') {
        const { entries, isMore } = await this.#readCalls(signal);
        this.#calls.replaceChildren(callsView(entries, isMore, (call) => void this.#dialogs.showCall(call)));
      } else
        for await (const line of this.#server.lines<DiffLine>(`${this.#address}/diff?part=since`, signal))
          if ('file' in line) this.#diff.add([line.file]);
    } catch (error) {
      if (signal.aborted) return;
      this.#status.textContent = wordsOf(error);
      this.#calls.replaceChildren();
    }
  }

  /** Reads nothing anew: who is in the middle of it decides when. */
  async #readCalls(signal: AbortSignal): Promise<Calls> {
    const calls = await this.#server.get<Calls>(`${this.#address}/calls`, signal);
    const newest = calls.entries.find(({ commit }) => commit !== undefined)?.commit;
    if (newest !== undefined && this.#tip !== undefined && newest !== this.#tip) this.#status.textContent = WENT_ON;
    return calls;
  }

  #take(taken: Taken): void {
    this.#choice.taken = taken;
    this.#diff.setTaken(taken);
    this.#files.setTaken(taken);
    this.#showTaking();
  }

  #showTaking(): void {
    const isOpen = this.#tip !== undefined && this.#all.length > 0;
    const onNone = () => this.#take(new Taken());
    this.#taking.replaceChildren(
      ...takingButtons(this.#choice.taken.size, isOpen, (verb) => this.decide(verb), onNone),
    );
  }
}
