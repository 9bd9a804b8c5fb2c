import type { Decided, FilePart, Plan } from './answers.ts';
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
  /** Some changes of other files, for an apply. */
  readonly parts: readonly FilePart[];
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
export async function openDecision(server: Server, asked: Asked, events: DecisionEvents): Promise<void> {
  const { sandbox, verb, paths, parts, tip } = asked;
  const address = `/api/sandboxes/${encodeURIComponent(sandbox)}`;
  const body = element('div', {}, element('p', { class: 'faint' }, 'Working out what it does …'));
  const dialog = openDialog(titleOf(asked), body);
  const plan = await server
    .post<Plan>(`${address}/plan`, { integration: verb, paths, parts })
    .catch((error: unknown) => error as Refused);
  if (plan instanceof Error) return body.replaceChildren(refusal(plan));
  if (plan.tip !== tip) return body.replaceChildren(movedOn());
  const accept = element('input', { type: 'checkbox', id: 'accept' });
  const isRisky = plan.risks.files > 0;
  const status = element('div', { role: 'status' });
  const go = element(
    'button',
    {
      class: 'primary',
      onclick: () => {
        go.disabled = true;
        status.replaceChildren('Taking it …');
        server.post<Decided>(`${address}/${verb}`, { tip, paths, parts, acceptRisky: accept.checked }).then(
          (decided) => {
            dialog.close();
            events.onDone(decided);
          },
          (error: Error) => {
            go.disabled = isRisky && !accept.checked;
            status.replaceChildren(refusal(error));
          },
        );
      },
    },
    verb === 'merge' ? `Merge into ${plan.branch ?? 'HEAD'}` : 'Stage the changes',
  );
  go.disabled = isRisky;
  accept.addEventListener('change', () => (go.disabled = !accept.checked));
  const close = () => dialog.close();
  body.replaceChildren(
    element('p', {}, effectOf(plan, sandbox)),
    conflictsPart(plan, undefined, sandbox),
    proofPart(plan, (call) => events.onCall(call)),
    risksPart(plan, (path) => {
      close();
      events.onPath(path);
    }),
    ...unshownOf(asked),
    ...messagesOf(plan),
    ...notesOf(plan).map((note) => element('p', { class: 'faint' }, note)),
    isRisky
      ? element('label', { class: 'accept' }, accept, ' I have read the files that can run code, and take them')
      : '',
    status,
    element('div', { class: 'actions' }, element('button', { onclick: close }, 'Cancel'), go),
  );
  (isRisky ? accept : go).focus();
}

function titleOf({ sandbox, verb, paths, parts }: Asked): string {
  const some = [
    ...(paths.length > 0 ? [counted(paths.length, 'path')] : []),
    ...(parts.length > 0 ? [`parts of ${counted(parts.length, 'file')}`] : []),
  ].join(' and ');
  return `${verb === 'merge' ? 'Merge' : 'Apply'} ${some === '' ? sandbox : `${some} of ${sandbox}`}`;
}

function effectOf({ integration, files, branch, head, tip }: Plan, sandbox: string): string {
  const into = branch ?? head.slice(0, 10);
  const what = `${counted(files, 'file')} at ${tip.slice(0, 10)} ${files === 1 ? 'goes' : 'go'}`;
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
