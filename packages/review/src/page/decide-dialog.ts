import type { Decided, FilePart, Plan } from './answers.ts';
import type { ConflictDialogs } from './conflict/conflict-dialogs.ts';
import { openDialog } from './dialog.ts';
import { element } from './element.ts';
import { conflictsPart, proofPart, risksPart } from './overview.ts';
import { Refused, type Server } from './server.ts';
import { counted } from './words.ts';

/** The work that a person is about to take. */
export interface Asked {
  readonly sandbox: string;
  readonly verb: 'apply' | 'merge';
  /** Only these paths, for an apply; all of it where there is none. */
  readonly paths: readonly string[];
  /** Files that are taken whole. One that was renamed has two paths. */
  readonly whole: number;
  /** Some changes of other files, for an apply. */
  readonly parts: readonly FilePart[];
  /** Whether something of it is left. */
  readonly isPart: boolean;
  /** The state that the page shows: a yes is to it and to no other. */
  readonly tip: string;
  /** Lines of it that were too many for the page. */
  readonly unshownLines: number;
}

/** Ways from the question back to what it is about. */
export interface DecisionEvents {
  onDone(decided: Decided): void;
  onCall(call: number): void;
  onPath(path: string): void;
}

/** Shows the plan, and carries it out when somebody says yes to it. */
export async function openDecision(
  server: Server,
  asked: Asked,
  conflicts: ConflictDialogs,
  events: DecisionEvents,
): Promise<void> {
  const body = element('div', {}, element('p', { class: 'faint' }, 'Working out what it does …'));
  const dialog = openDialog(titleOf(asked), body);
  const close = () => dialog.close();
  const show = async (commit = false): Promise<void> => {
    const found = await planOf(server, asked, conflicts, commit).catch((error: unknown) => error as Error);
    if (found instanceof Error) return body.replaceChildren(refusal(found));
    if (found.plan.tip !== asked.tip) return body.replaceChildren(movedOn());
    const committing = commitPart(asked, found.plan, commit, (isWanted) => void show(isWanted));
    const decision = new DecisionForm(asked, found.plan, commit, async (acceptRisky) => {
      const { tip, paths, parts } = asked;
      const decided = await server.post<Decided>(`${addressOf(asked)}/${asked.verb}`, {
        tip,
        paths,
        parts,
        acceptRisky,
        ...(found.settled.length > 0 && { settled: found.settled }),
        ...committing.wanted(),
      });
      close();
      events.onDone(decided);
    });
    const into = found.plan.branch ?? found.plan.head.slice(0, 10);
    body.replaceChildren(
      element('p', {}, effectOf(found.plan, asked.sandbox, commit)),
      found.refused === undefined
        ? ''
        : element('p', { class: 'refusal', role: 'alert' }, `${found.refused} What you settled is not taken.`),
      conflictsPart(found.plan, undefined, asked.sandbox, {
        settled: found.settledFiles,
        onConflict: (file) =>
          void conflicts.open(file, { integration: asked.verb, into, ...asked }, asked.tip, () => void show(commit)),
      }),
      proofPart(found.plan, (call) => events.onCall(call), asked.isPart),
      risksPart(found.plan, (path) => {
        close();
        events.onPath(path);
      }),
      ...unshownOf(asked),
      ...messagesOf(found.plan),
      ...notesOf(found.plan).map((note) => element('p', { class: 'faint' }, note)),
      ...committing.rows,
      ...decision.rows(close),
    );
    decision.focus();
  };
  await show();
}

const addressOf = ({ sandbox }: Asked) => `/api/sandboxes/${encodeURIComponent(sandbox)}`;

/** The plan with what is settled of it. Where that was of other sides, it is forgotten, and `refused` says so. */
async function planOf(server: Server, asked: Asked, { settled }: ConflictDialogs, commit: boolean) {
  const { verb: integration, paths, parts } = asked;
  const same = { integration, paths, parts, ...(commit && { commit }) };
  const plan = async (more: object) => await server.post<Plan>(`${addressOf(asked)}/plan`, { ...same, ...more });
  const open = await plan({});
  const files = settled.of(open.conflicts);
  const none = { plan: open, settled: [], settledFiles: [], refused: undefined };
  if (files.length === 0) return none;
  try {
    const settledFiles = open.conflicts.filter(({ path }) => settled.has(path));
    return { plan: await plan({ settled: files }), settled: files, settledFiles, refused: undefined };
  } catch (error) {
    if (!(error instanceof Refused) || error.code !== 'CHANGED_SINCE_SHOWN') throw error;
    settled.clear();
    return { ...none, refused: error.message };
  }
}

/** Whether an apply is committed at once, and with which words: those of the work, unless the person writes others. */
function commitPart({ verb }: Asked, { messages }: Plan, commit: boolean, onWanted: (isWanted: boolean) => void) {
  if (verb === 'merge') return { rows: [], wanted: () => ({}) };
  const box = element('input', { type: 'checkbox', onchange: () => onWanted(box.checked) });
  box.checked = commit;
  const words = messages.at(-1) ?? '';
  const field = element('textarea', { rows: 4, 'aria-label': 'Message of the commit' });
  field.value = words;
  return {
    rows: [element('label', {}, box, ' Commit it at once'), commit ? field : ''],
    wanted: () => (commit ? { commit, ...(field.value !== words && { message: field.value }) } : {}),
  };
}

/** The question at the end, and its answer. */
class DecisionForm {
  readonly #accept = element('input', { type: 'checkbox', id: 'accept' });
  readonly #status = element('div', { role: 'status' });
  readonly #go: HTMLButtonElement;
  readonly #isRisky: boolean;

  constructor({ verb }: Asked, plan: Plan, commit: boolean, onYes: (acceptRisky: boolean) => Promise<void>) {
    this.#isRisky = plan.risks.files > 0;
    const into = plan.branch ?? 'HEAD';
    const words = verb === 'merge' ? `Merge into ${into}` : commit ? `Commit to ${into}` : 'Stage the changes';
    const left = plan.conflicts.length > 0 ? ` and leave ${counted(plan.conflicts.length, 'conflict')} to me` : '';
    this.#go = element('button', { class: 'primary', onclick: () => this.#decide(onYes) }, words + left);
    this.#go.disabled = this.#isRisky;
    this.#accept.addEventListener('change', () => (this.#go.disabled = !this.#accept.checked));
  }

  #decide(onYes: (acceptRisky: boolean) => Promise<void>): void {
    this.#go.disabled = true;
    this.#status.replaceChildren('Taking it …');
    onYes(this.#accept.checked).catch((error: Error) => {
      this.#go.disabled = this.#isRisky && !this.#accept.checked;
      this.#status.replaceChildren(refusal(error));
    });
  }

  rows(onCancel: () => void): readonly (Node | string)[] {
    const words = ' I have read the files that can run code, and take them';
    return [
      this.#isRisky ? element('label', { class: 'accept' }, this.#accept, words) : '',
      this.#status,
      element('div', { class: 'actions' }, element('button', { onclick: onCancel }, 'Cancel'), this.#go),
    ];
  }

  focus(): void {
    (this.#isRisky ? this.#accept : this.#go).focus();
  }
}

function titleOf({ sandbox, verb, whole, parts }: Asked): string {
  const some = [
    ...(whole > 0 ? [counted(whole, 'file')] : []),
    ...(parts.length > 0 ? [`parts of ${counted(parts.length, 'file')}`] : []),
  ].join(' and ');
  return `${verb === 'merge' ? 'Merge' : 'Apply'} ${some === '' ? sandbox : `${some} of ${sandbox}`}`;
}

function effectOf(
  { integration, files, branch, head, tip, conflicts }: Plan,
  sandbox: string,
  commit: boolean,
): string {
  const into = branch ?? head.slice(0, 10);
  const what = `${counted(files, 'file')} at ${tip.slice(0, 10)} ${files === 1 ? 'goes' : 'go'}`;
  if (conflicts.length > 0)
    return `${what} into index and work tree of ${into}, with ${counted(conflicts.length, 'conflict')} for you to resolve and commit. The sandbox ${sandbox} stays.`;
  if (commit)
    return `${what} into a commit of yours on ${into}. What you have staged besides stays. The sandbox stays.`;
  return integration === 'merge'
    ? `${what} into ${into} as git merge does. The sandbox ${sandbox} is deleted once its work is in.`
    : `${what} into index and work tree of ${into}, for you to commit. The sandbox ${sandbox} stays.`;
}

function unshownOf({ unshownLines }: Asked): HTMLElement[] {
  if (unshownLines === 0) return [];
  return [
    element(
      'p',
      { class: 'refusal' },
      `${counted(unshownLines, 'line')} of it were too many for this page. Nobody has seen them here: read them in the terminal.`,
    ),
  ];
}

function messagesOf({ integration, messages, moreMessages }: Plan): HTMLElement[] {
  if (integration !== 'merge' || messages.length === 0) return [];
  return [
    element(
      'details',
      { class: 'part' },
      element(
        'summary',
        {},
        element('h2', {}, `${counted(messages.length + moreMessages, 'commit')} with these words`),
      ),
      ...messages.map((message) => element('pre', { class: 'message' }, message)),
    ),
  ];
}

function notesOf({ hooks, filters, halfRenames, unmilestoned, unmergedBase }: Plan): string[] {
  return [
    ...(hooks.length > 0
      ? [`Your hooks do not run (${hooks.join(', ')}). To have them run, apply, then git commit.`]
      : []),
    ...(filters.length > 0
      ? [`Your filters do not run (${filters.join(', ')}). To have them run, apply, then git add --renormalize.`]
      : []),
    ...(unmilestoned > 0 ? [`${counted(unmilestoned, 'revision')} came after the last milestone.`] : []),
    ...(unmergedBase === undefined
      ? []
      : ['It began with commits that are not in this branch: only its own changes are taken.']),
    ...halfRenames.map(({ from, to, taken }) =>
      taken === 'to'
        ? `${to} was ${from}, which stays beside it. To take both, take both.`
        : `${from} became ${to}, which is not taken: the file is under neither name then.`,
    ),
  ];
}

const movedOn = () =>
  element(
    'p',
    { class: 'refusal' },
    'The sandbox went on since you opened it. Close this and press r to see what it is now; then decide.',
  );

function refusal(error: Error): HTMLElement {
  const hint = error instanceof Refused ? error.hint : undefined;
  return element(
    'div',
    { class: 'refusal', role: 'alert' },
    element('p', {}, error.message),
    hint !== undefined && element('p', { class: 'faint' }, hint),
  );
}
