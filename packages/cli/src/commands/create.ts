import type { BaseSource, PolicyOverrides } from '@litterbox/core';
import { visible } from '@litterbox/core';
import type { Context } from '../context.ts';
import { flag } from '../flags.ts';

export interface CreateOptions {
  readonly from?: string;
  readonly provider?: string;
  readonly memory?: string;
  readonly cpus?: string;
  readonly processes?: string;
  readonly timeout?: string;
  readonly env: readonly string[];
  readonly workdir?: string;
  readonly setup?: string;
  readonly rootfs?: string;
  readonly allowDegraded?: boolean;
  readonly rollback?: boolean;
}

export async function create(context: Context, name: string, options: CreateOptions): Promise<void> {
  const { talk, signal } = context;
  const started = performance.now();
  const overrides = overridesOf(options);
  const litterbox = await context.settled();
  const sandbox = await litterbox.create(
    { name, from: sourceOf(options.from), provider: options.provider, rollback: options.rollback, overrides },
    { signal, onProgress: talk.progress },
  );
  const { created } = sandbox;
  const { assurance } = await litterbox.assurance(sandbox.name);
  for (const warning of created.warnings) talk.warning(warning);
  if (created.isRenamed) talk.notice(`The name became ${sandbox.name}.`);
  const { leftOut } = created;
  if (leftOut.total > 0) {
    talk.notice(
      `${leftOut.total === 1 ? 'One uncommitted change is' : `${leftOut.total} uncommitted changes are`} not in the sandbox: ${leftOut.paths.slice(0, 5).map(visible).join(', ')}${leftOut.total > 5 ? ' …' : ''} (take them along: --from worktree)`,
    );
  }
  if (talk.json) {
    return talk.document({
      name: sandbox.name,
      id: sandbox.id,
      provider: created.record.provider,
      base: created.record.baseCommit,
      workdir: created.record.workdir,
      leftOut,
      warnings: created.warnings,
      mechanism: assurance?.mechanism,
    });
  }
  const weak = assurance?.controls.filter(({ status }) => status !== 'enforced').map((control) => control.name) ?? [];
  talk.notice(
    `${assurance?.mechanism ?? created.record.provider}${weak.length > 0 ? `; not enforced: ${weak.join(', ')}` : ''}; ${Math.round(performance.now() - started)} ms`,
  );
  talk.result(sandbox.name);
}

function sourceOf(from: string | undefined): BaseSource | undefined {
  if (from === undefined) return undefined;
  return from === 'head' || from === 'worktree' ? { type: from } : { type: 'ref', name: from };
}

function overridesOf(options: CreateOptions): PolicyOverrides {
  const memoryBytes = flag.bytes('--memory', options.memory);
  const cpus = flag.number('--cpus', options.cpus);
  const processes = flag.count('--processes', options.processes);
  const timeoutMs = flag.duration('--timeout', options.timeout);
  return {
    limits: {
      ...(memoryBytes !== undefined && { memoryBytes }),
      ...(cpus !== undefined && { cpus }),
      ...(processes !== undefined && { processes }),
    },
    environment: flag.variables(options.env),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(options.workdir !== undefined && { workdir: options.workdir }),
    ...(options.setup !== undefined && { setup: [['sh', '-c', options.setup] as const] }),
    ...(options.rootfs !== undefined && { root: { type: 'directory' as const, path: options.rootfs } }),
    ...(options.allowDegraded === true && { allowDegraded: true }),
  };
}
