/** Everything that a hint can name as the next step, with what each takes. Closed: each door words every one of them. */
export interface StepInputs {
  'agent-install': { readonly agent: string };
  'agent-uninstall': { readonly agent: string; readonly hands?: true };
  'config-trust': Nothing;
  'host-add': { readonly name?: string; readonly address?: string };
  'host-list': Nothing;
  'host-remove': { readonly name: string };
  'machine-check': { readonly host?: string };
  'sandbox-apply': OfFiles;
  'sandbox-create': Named & {
    readonly from?: 'worktree';
    readonly include?: readonly string[];
    readonly setup?: string;
    readonly network?: 'run';
    readonly allow?: readonly string[];
  };
  'sandbox-clone': OfSandbox & { readonly url: string; readonly destination?: readonly [string] };
  'sandbox-delete': OfSandbox & Forced & { readonly repository?: string };
  'sandbox-diff': OfSandbox & { readonly stat?: true };
  'sandbox-explain': OfSandbox;
  'sandbox-list': Nothing;
  'sandbox-log': OfSandbox;
  'sandbox-logs': OfSandbox & { readonly service: string };
  'sandbox-merge': OfFiles;
  'sandbox-milestone': OfSandbox;
  'sandbox-pause': OfSandbox;
  'sandbox-pause-all': Nothing;
  'sandbox-recover': OfSandbox & Forced;
  'sandbox-restore': OfSandbox & { readonly revision?: string };
  'sandbox-resume': OfSandbox;
  'sandbox-run': OfSandbox & { readonly command: string };
  'sandbox-shell': OfSandbox;
  'sandbox-stop': OfSandbox;
  'sandbox-worktree': OfFiles;
  'snapshot-create': OfSandbox;
  'snapshot-remove': OfSandbox & { readonly snapshot: string };
}

type Nothing = Readonly<Record<string, never>>;
interface Named {
  readonly name?: string;
}
interface Forced {
  readonly force?: true;
}
/** Without it, any sandbox: `NAME`. */
interface OfSandbox {
  readonly sandbox?: string;
}
interface OfFiles extends OfSandbox {
  readonly paths?: readonly string[];
  readonly yesRisky?: true;
  /** The state that is taken without a look. */
  readonly tip?: string;
}

/** A step by its name, which is that of the operation. */
export type StepName = keyof StepInputs;

/** One thing to do next, as data: which, and with what. */
export interface NextStep {
  readonly do: StepName;
  readonly with: Readonly<Record<string, string | true | readonly string[] | undefined>>;
}

/** A sentence in which steps stand where a door puts its own words for them. */
export type Advice = readonly (string | NextStep)[];

/** A hint as it is written: words alone, or words with steps among them. */
export type Hint = string | Advice;

/** One step, with what is known of its input. */
export function step<Name extends StepName>(name: Name, input?: StepInputs[Name]): NextStep {
  return { do: name, with: { ...input } };
}

/** Puts steps, and other advice, into a sentence: `` advice`Run ${step('sandbox-resume', { sandbox })}.` `` */
export function advice(
  texts: TemplateStringsArray,
  ...values: readonly (string | number | NextStep | Advice)[]
): Advice {
  return texts.flatMap((text, index) => {
    const value = values[index];
    if (value === undefined) return [text];
    return [text, ...(typeof value === 'number' ? [String(value)] : isAdvice(value) ? value : [value])];
  });
}

/** The sentence, with each step as a door words it. */
export function worded(hint: Hint, wordsOf: (next: NextStep) => string): string {
  return typeof hint === 'string'
    ? hint
    : hint.map((part) => (typeof part === 'string' ? part : wordsOf(part))).join('');
}

/** For programs that call the library: its methods, and plain words where it has none. */
export function stepForPrograms({ do: name, with: values }: NextStep): string {
  const method = METHODS[name];
  const options = OPTIONS.flatMap((key) =>
    values[key] === undefined ? [] : [`${key === 'yesRisky' ? 'acceptRisky' : key}: ${JSON.stringify(values[key])}`],
  );
  const given = options.length === 0 ? '' : `{ ${options.join(', ')} }`;
  const call = filled(method, (key) => (values[key] === undefined ? undefined : JSON.stringify(values[key])));
  return given === '' ? call : call.replace(/(\(?)\)$/, (_, isEmpty) => `${isEmpty || ', '}${given})`);
}

/** Puts values where a form has their names in capitals; a name whose value is unknown stays. */
export function filled(form: string, valueOf: (key: string) => string | undefined): string {
  return form.replace(/\b[A-Z]{3,}\b/g, (name) => valueOf(name.toLowerCase()) ?? UNKNOWN[name] ?? name);
}

function isAdvice(value: string | NextStep | Advice): value is Advice {
  return Array.isArray(value);
}

/** Inputs of steps that programs give as options. */
const OPTIONS = ['from', 'include', 'setup', 'network', 'allow', 'paths', 'yesRisky', 'tip', 'force'] as const;

const METHODS: Readonly<Record<StepName, string>> = {
  'agent-install': 'the installation for agents',
  'agent-uninstall': 'the removal from agents',
  'config-trust': 'trust()',
  'host-add': 'adding it to the hosts',
  'host-list': 'the list of hosts',
  'host-remove': 'removing NAME from the hosts',
  'machine-check': 'probe()',
  'sandbox-apply': 'apply(SANDBOX)',
  'sandbox-create': 'create()',
  'sandbox-clone': 'a clone made outside',
  'sandbox-delete': 'delete(SANDBOX)',
  'sandbox-diff': 'diff(SANDBOX)',
  'sandbox-explain': 'assurance(SANDBOX)',
  'sandbox-list': 'list()',
  'sandbox-log': 'log(SANDBOX)',
  'sandbox-logs': 'logs() of the sandbox',
  'sandbox-merge': 'merge(SANDBOX)',
  'sandbox-milestone': "milestone(SANDBOX, 'MESSAGE')",
  'sandbox-pause': "setRunState(SANDBOX, 'paused')",
  'sandbox-pause-all': "setAllRunStates('repository', 'paused')",
  'sandbox-recover': 'recover(SANDBOX)',
  'sandbox-restore': 'restore(SANDBOX, REVISION)',
  'sandbox-resume': "setRunState(SANDBOX, 'ready')",
  'sandbox-run': 'run() of the sandbox',
  'sandbox-shell': 'attach()',
  'sandbox-stop': "setRunState(SANDBOX, 'stopped')",
  'sandbox-worktree': 'worktree(SANDBOX)',
  'snapshot-create': 'snapshot() of the sandbox',
  'snapshot-remove': 'removeSnapshot(SNAPSHOT) of the sandbox',
};

/** Words for a value that is not known, where the name of its place would not do. */
const UNKNOWN: Readonly<Record<string, string>> = { SANDBOX: 'NAME', ADDRESS: 'USER@HOST' };
