import type { Assurance, EndpointPolicy, Policy, SandboxRecord, ServicePolicy } from '@litterbox/core/provider';
import {
  dictionary,
  flag,
  list,
  number,
  object,
  oneOf,
  optional,
  type Shape,
  type ShapeOf,
  text,
} from './json-shape.ts';

const root: Shape = (value, place) => {
  const type = (value as { type?: unknown } | null)?.type;
  if (type === 'machine') return undefined;
  if (type === 'directory') return object({ path: text })(value, place);
  if (type === 'image') return object({ reference: text, installed: optional(text) })(value, place);
  return `${place}.type is not one of machine, directory, image`;
};

const command: Shape = (value, place) =>
  Array.isArray(value) && value.length > 0 ? list(text)(value, place) : `${place} is not a command`;

const textOrCommand: Shape = (value, place) => (typeof value === 'string' ? undefined : command(value, place));

const health: Shape = (value, place) =>
  typeof value === 'object' && value !== null && 'port' in value
    ? object({ port: number })(value, place)
    : object({ command })(value, place);

const service = object<ServicePolicy>({
  name: text,
  command,
  signals: object({ stop: text, restart: optional(text) }),
  restart: oneOf('always', 'on-failure', 'never'),
  health: optional(health),
  after: list(text),
  stopTimeoutMs: number,
  isOnce: optional(flag),
});

/** Where a secret is kept: the kind and the name. */
const origin = dictionary(text);

const endpoint = object<EndpointPolicy>({
  name: text,
  kind: optional(text),
  inside: number,
  url: text,
  header: object({ name: text, value: text }),
  secret: object({ name: text, origin }),
  methods: list(text),
  paths: list(text),
  variables: dictionary(text),
  inSetup: optional(flag),
  budget: optional(object({ requests: optional(number), tokens: optional(number) })),
  placeholder: text,
});

const policy = object<Policy>({
  root,
  limits: object({
    memoryBytes: optional(number),
    cpus: optional(number),
    processes: optional(number),
    openFiles: optional(number),
    diskBytes: optional(number),
    diskBytesPerSecond: optional(number),
  }),
  environment: dictionary(text),
  services: optional(list(service)),
  supervisor: optional(oneOf('supervisord', 's6', 'runit')),
  ports: optional(list(object({ name: text, inside: number }))),
  endpoints: optional(list(endpoint)),
  exposed: optional(list(object({ name: text, variable: text, origin }))),
  install: optional(list(textOrCommand)),
  setup: list(textOrCommand),
  setupTimeoutMs: number,
  timeoutMs: number,
  network: object({
    setup: oneOf('none', 'allow-list'),
    run: oneOf('none', 'allow-list'),
    allow: optional(list(text)),
    deny: optional(list(text)),
    isWithheld: optional(flag),
  }),
  playgroundScope: oneOf('sandbox', 'shared'),
  workspaceGit: oneOf('none', 'throwaway'),
  worktrees: oneOf('on-demand', 'eager'),
  requireMessage: flag,
  allowDegraded: flag,
  include: optional(list(text)),
  strategy: optional(text),
  lower: optional(oneOf('live')),
});

/** What an `Assurance` of core looks like in the file. */
export const ASSURANCE_SHAPE: ShapeOf<Assurance> = object({
  provider: text,
  mechanism: text,
  controls: list(
    object({ name: text, status: oneOf('enforced', 'weak', 'absent'), finding: text, remedy: optional(text) }),
  ),
  readable: list(object({ path: text, reason: text })),
  masked: optional(list(text)),
  unreachable: optional(list(object({ path: text, target: text }))),
});

const placement = object({
  memoryBytes: number,
  isAsked: flag,
  hosts: list(
    object({
      host: text,
      verdict: oneOf('chosen', 'spare', 'too-small', 'unusable', 'silent'),
      load: optional(
        object({ memoryBytes: number, availableBytes: number, processors: number, load: number, roundTripMs: number }),
      ),
      promisedBytes: optional(number),
      reason: optional(text),
    }),
  ),
});

/** What a `SandboxRecord` of core looks like in the file. */
export const RECORD_SHAPE: ShapeOf<SandboxRecord> = object({
  id: text,
  repositoryId: text,
  repositoryRoot: text,
  slug: text,
  provider: text,
  placement: optional(placement),
  state: oneOf('creating', 'setup-failed', 'ready', 'paused', 'stopped', 'deleting'),
  baseCommit: text,
  baseTree: text,
  workdir: text,
  policy,
  createdAtMs: number,
  updatedAtMs: number,
  mark: optional(text),
  assurance: optional(ASSURANCE_SHAPE),
  setupLog: optional(text),
  ports: optional(list(object({ name: text, inside: number, outside: number }))),
  emptySubmodules: optional(list(object({ path: text, reason: text }))),
  missingLargeFiles: optional(object({ paths: list(text), total: number })),
  unrecorded: optional(object({ paths: list(text), total: number })),
  forkedFrom: optional(text),
  labels: optional(dictionary(text)),
  isEphemeral: optional(flag),
  shownTip: optional(text),
  notes: optional(
    list(
      object({
        note: number,
        path: text,
        line: number,
        revision: number,
        text: optional(text),
        words: text,
        atMs: number,
        given: optional(object({ to: text, atMs: number, isTask: flag })),
      }),
    ),
  ),
  replacements: optional(number),
  generation: number,
});
