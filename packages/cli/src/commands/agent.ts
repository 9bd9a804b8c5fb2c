import { relative } from 'node:path';
import { prepareStateDirectory } from '@litterbox/state-sqlite';
import { LitterboxError, shown, slugify, visible } from '@litterbox/core';
import { defaultStateDirectory } from 'litterbox/performer';
import { type Places, type Scope, SCOPES, type StartCommand } from '../agents/agent-client.ts';
import type { Plan } from '../agents/change.ts';
import { CLIENTS } from '../agents/clients.ts';
import {
  type InstallOptions,
  isFound,
  planEntry,
  planEntryRemoval,
  planExclusive,
  planExclusiveRemoval,
  planHands,
  planHandsRemoval,
  stateOf,
} from '../agents/installation.ts';
import { placesOf } from '../agents/places.ts';
import { Receipts } from '../agents/receipts.ts';
import { ownPath } from '../agents/own-path.ts';
import { findProgram } from '../agents/start-command.ts';
import { assertAgreed } from '../agree.ts';
import type { Context } from '../context.ts';
import { insideAgents, insideTable } from '../inside/list.ts';
import type { Perform } from '../perform.ts';
import { table } from '../terminal/table.ts';
import { showDiff, unifiedDiff } from '../terminal/unified-diff.ts';

const PROGRAM = 'litterbox';

interface Flags {
  readonly scope?: Scope;
  readonly name?: string;
  readonly sandbox?: string;
  readonly share?: boolean;
  readonly tools?: string;
  readonly toolPrefix?: string;
  readonly exclusive?: boolean;
  readonly hands?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

export const install: Perform = async (context, [id], given) => {
  const flags: Flags = given;
  const { talk } = context;
  const options = optionsOf(context, id, flags);
  if (flags.hands) return await installHands(context, options, flags);
  const { client, scope, name, places } = options;
  const plans = [await planEntry(options, startCommand(options, flags))];
  if (flags.exclusive) plans.push(await planExclusive(options));
  const isDone = await perform(context, options, plans, 'Write', flags);
  if (talk.json || flags.dryRun) return;
  if (!isDone)
    talk.notice(`Already installed: ${client.title} starts ${name} (${shortPath(plans[0]?.file.path ?? '', places)}).`);
  else talk.notice(`Installed: ${client.title} starts ${name} from now on. Restart it if it is running.`);
  if (scope === 'project' && !findProgram(PROGRAM, places.environment['PATH']))
    talk.warning('This file can be shared, so it starts litterbox by name: put litterbox into your PATH.');
  if (ownPath().includes('/_npx/'))
    talk.warning('npx runs litterbox from a cache that npm clears: install litterbox, then run this again.');
  for (const line of client.advice(scope, name, flags.exclusive === true))
    talk.notice(`${talk.paint('cyan', '→', process.stderr)} ${line}`);
};

export const uninstall: Perform = async (context, [id], given) => {
  const flags: Flags = given;
  const { talk } = context;
  const options = optionsOf(context, id, flags);
  const { client, name, scope } = options;
  const sandbox = handsIn(flags);
  const found = flags.hands
    ? [await planHandsRemoval(options, sandbox)]
    : [await planEntryRemoval(options), await planExclusiveRemoval(options)];
  const plans = found.filter((plan) => plan !== undefined);
  const isDone = await perform(context, options, plans, 'Take it out of', flags);
  if (talk.json || flags.dryRun) return;
  if (flags.hands)
    return talk.notice(
      isDone
        ? `Uninstalled: ${client.title} does not work in ${sandbox} any more.`
        : `Not installed: ${client.title} does not work in ${sandbox}.`,
    );
  talk.notice(
    isDone
      ? `Uninstalled: ${client.title} does not start ${name} any more.`
      : `Not installed: ${client.title} has no ${name} in the ${scope} scope.`,
  );
};

const handsIn = ({ sandbox = 'codex' }: Flags) => slugify(sandbox).slug;

/** Its own program without our tools: it works in the sandbox by its own. */
async function installHands(context: Context, options: InstallOptions, flags: Flags): Promise<void> {
  const { talk } = context;
  const { client, places } = options;
  const [other] = (['exclusive', 'tools', 'toolPrefix'] as const).filter((flag) => flags[flag] !== undefined);
  if (other !== undefined)
    throw new LitterboxError('ARG_UNKNOWN', 'With --hands the client works by its own tools, in a sandbox.', {
      operation: 'agent.install',
      hint: `Leave out --${other === 'toolPrefix' ? 'tool-prefix' : other}.`,
    });
  const sandbox = handsIn(flags);
  const args = ['agent', 'serve', client.id, '--sandbox', sandbox, ...(flags.share ? ['--share'] : [])];
  const plan = await planHands(options, sandbox, ownCommand(options, args));
  if (plan.isChanged && !flags.dryRun) await assertLed(talk, options);
  const isDone = await perform(context, options, [plan], 'Write', flags);
  if (talk.json || flags.dryRun) return;
  const [is, path] = [isDone ? 'Installed' : 'Already installed', shortPath(plan.file.path, places)];
  talk.notice(`${is}: ${client.title} works in the sandbox ${sandbox} of the repository where you start it (${path}).`);
  for (const line of [
    'Start it without a sandbox of its own, which would stand inside: codex --sandbox danger-full-access',
    'Outside of a repository it has no place to run anything. litterbox agent serve codex tells why, where it has none.',
  ])
    talk.notice(`${talk.paint('cyan', '→', process.stderr)} ${line}`);
}

/** A version that does not read the file would work here. @throws LitterboxError `UNSUPPORTED`, `TOOL_MISSING` */
async function assertLed(talk: Context['talk'], { client, places }: InstallOptions): Promise<void> {
  const program = findProgram(client.programs[0] ?? '', places.environment['PATH']);
  if (!program)
    throw new LitterboxError('TOOL_MISSING', `There is no program ${client.programs[0]} in your PATH to be tried.`, {
      operation: 'agent.install',
      hint: `Install ${client.title}, then run this again.`,
    });
  talk.notice(`Trying once whether ${client.title} works where such a file leads it …`);
  const { codexByFile, trySeat } = await import('@litterbox/agents');
  await trySeat(codexByFile(), program.real, places.environment);
}

export const list: Perform = async (context, _words, given) => {
  const { talk } = context;
  const states = await Promise.all(
    CLIENTS.map(async (client) => {
      const isHere = await isFound(client, placesOf(context.directory));
      const scopes = await Promise.all(
        SCOPES.map(async (scope) => {
          const options = { ...optionsOf(context, client.id, given), scope };
          return scope === 'project' && options.places.root === undefined
            ? undefined
            : { scope, ...(await stateOf(options)) };
        }),
      );
      return { client, isHere, scopes: scopes.filter((one) => one !== undefined) };
    }),
  );
  const agents = await insideAgents(context);
  if (talk.json) {
    return talk.document({
      agents,
      clients: states.map(({ client, isHere, scopes }) => ({
        client: client.id,
        title: client.title,
        found: isHere,
        scopes: scopes.map(({ scope, path, isInstalled, problem }) => ({
          scope,
          path,
          installed: isInstalled,
          ...(problem !== undefined && { problem }),
        })),
      })),
    });
  }
  const cell = (scopes: (typeof states)[number]['scopes'], wanted: Scope) => {
    const one = scopes.find(({ scope }) => scope === wanted);
    if (!one) return '-';
    if (one.problem !== undefined) return talk.paint('red', 'unreadable');
    return one.isInstalled ? talk.paint('green', 'installed') : '-';
  };
  const rows = states.map(({ client, isHere, scopes }) => [
    client.id,
    client.title,
    isHere ? 'yes' : talk.paint('dim', 'no'),
    ...SCOPES.map((scope) => cell(scopes, scope)),
  ]);
  talk.result(insideTable(talk, agents));
  talk.result('');
  talk.result(table(['CLIENT', 'IS', 'FOUND', 'USER', 'PROJECT'], rows, process.stdout.isTTY));
  for (const { scopes } of states)
    for (const { problem } of scopes) if (problem !== undefined) talk.warning(visible(problem));
};

/** Shows, asks, writes. Tells whether anything changed. */
async function perform(
  { talk, signal }: Context,
  { client, scope, name, places }: InstallOptions,
  plans: readonly Plan[],
  question: string,
  { dryRun = false, yes = false }: Flags,
): Promise<boolean> {
  const changed = plans.filter(({ isChanged }) => isChanged);
  const diffs = changed.map(({ file, before, after }) => unifiedDiff(file.path, before, after));
  if (!talk.json)
    for (const { file, before, after } of changed)
      showDiff(talk, unifiedDiff(shortPath(file.path, places), before, after));
  const isWritten = changed.length > 0 && !dryRun;
  if (isWritten) {
    if (!yes) {
      const files = changed.map(({ file }) => shortPath(file.path, places)).join(' and ');
      await assertAgreed(`${question} ${files}?`, files, 'cli.agent', signal);
    }
    for (const plan of changed) await plan.carryOut();
  }
  if (talk.json) {
    const files = changed.map(({ file, after }, index) => ({
      path: file.path,
      action: after === undefined ? 'deleted' : file.text === undefined ? 'created' : 'changed',
      diff: diffs[index],
    }));
    talk.document({
      client: client.id,
      scope,
      name,
      path: plans[0]?.file.path ?? null,
      changed: isWritten,
      dryRun,
      diff: diffs.join(''),
      files,
    });
  }
  return changed.length > 0;
}

function optionsOf(context: Context, id: string | undefined, { scope, name = PROGRAM }: Flags): InstallOptions {
  const client = CLIENTS.find((one) => one.id === id);
  if (!client) throw new Error(`No client ${id}.`); // the parser of words lets only ours through
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$/.test(name)) {
    throw new LitterboxError('ARG_RANGE', `--name ${shown(name)} is not a name that every client takes.`, {
      operation: 'cli.parse',
      hint: 'Use up to 32 letters, digits, dashes and underscores.',
    });
  }
  const receipts = new Receipts(defaultStateDirectory(process.env), prepareStateDirectory);
  return { client, scope: scope ?? client.defaultScope, name, places: placesOf(context.directory), receipts };
}

/** A person's file may hold paths of this machine; a shared one starts what each person has in `PATH`. */
function startCommand({ client, scope, places }: InstallOptions, flags: Flags): StartCommand {
  const repository = client.repositoryArguments?.(scope, places.root);
  if (client.repositoryArguments && !repository) {
    throw new LitterboxError(
      'NOT_A_REPO',
      `The configuration of ${client.title} has to name a repository, and this directory is in none.`,
      {
        operation: 'agent.install',
        hint: 'Change into a git repository.',
      },
    );
  }
  const { sandbox, share, tools, toolPrefix } = flags;
  if (toolPrefix !== undefined && !/^[A-Za-z][A-Za-z0-9_-]{0,31}$/.test(toolPrefix)) {
    throw new LitterboxError('ARG_RANGE', `--tool-prefix ${shown(toolPrefix)} cannot begin the name of a tool.`, {
      operation: 'cli.parse',
      hint: 'Use up to 32 letters, digits, dashes and underscores, a letter first.',
    });
  }
  const args = [
    'mcp',
    ...(repository ?? []),
    ...(sandbox === undefined ? [] : ['--sandbox', slugify(sandbox).slug]),
    ...(share ? ['--share'] : []),
    ...(tools === undefined ? [] : ['--tools', tools]),
    ...(toolPrefix === undefined ? [] : ['--tool-prefix', toolPrefix]),
  ];
  return ownCommand({ scope, places }, args);
}

function ownCommand(
  { scope, places }: Pick<InstallOptions, 'scope' | 'places'>,
  args: readonly string[],
): StartCommand {
  if (scope === 'project' || findProgram(PROGRAM, places.environment['PATH'])) return { command: PROGRAM, args };
  return { command: process.execPath, args: [ownPath(), ...args] };
}

/** As a person would write it. */
function shortPath(path: string, { root, home }: Places): string {
  const isBelow = (top: string) => path.startsWith(`${top}/`);
  if (root !== undefined && isBelow(root)) return relative(root, path);
  return isBelow(home) ? `~/${relative(home, path)}` : path;
}
