import { stat } from 'node:fs/promises';
import { LitterboxError } from '@litterbox/core';
import type { AgentClient, Places, Scope, StartCommand } from './agent-client.ts';
import { type ChangeOf, listChange, type Place, type Plan, planInstall, planUninstall, tableChange } from './change.ts';
import { type ConfigEditor, ConfigSyntaxError } from './config-editor.ts';
import { readConfigFile } from './config-file.ts';
import { jsonEditor } from './edit-json.ts';
import type { Receipts } from './receipts.ts';
import { findProgram } from './start-command.ts';

export interface InstallOptions {
  readonly client: AgentClient;
  readonly scope: Scope;
  readonly name: string;
  readonly places: Places;
  readonly receipts: Receipts;
}

/** The editor of TOML brings a parser along, which only one client needs. */
async function editorOf({ format }: AgentClient): Promise<ConfigEditor> {
  return format === 'json' ? jsonEditor : (await import('./edit-toml.ts')).tomlEditor;
}

/** @throws LitterboxError `NOT_A_REPO` */
function placesFor(scope: Scope, places: Places): Places & { readonly root: string } {
  const { root } = places;
  if (root !== undefined || scope === 'user') return { ...places, root: root ?? '' };
  throw new LitterboxError('NOT_A_REPO', 'There is no project here: this is not in a git repository.', {
    operation: 'agent.install',
    hint: 'Change into one, or use --scope user.',
  });
}

async function firstExisting(files: readonly string[]): Promise<string> {
  for (const file of files) if (await stat(file).catch(() => undefined)) return file;
  return files[0] ?? '';
}

async function placeOf({ client, scope, places, receipts }: InstallOptions): Promise<Place> {
  const known = placesFor(scope, places);
  const path = await firstExisting(client.files(scope, known));
  return { path, receipts, editor: await editorOf(client), ...(scope === 'project' && { within: known.root }) };
}

function entryChange({ client, name }: InstallOptions, editor: ConfigEditor, start: StartCommand): ChangeOf {
  return (document) =>
    tableChange(`mcp ${name}`, editor, client.keyPath(name, document), client.entry(start, document));
}

export async function planEntry(options: InstallOptions, start: StartCommand): Promise<Plan> {
  const place = await placeOf(options);
  return await planInstall(place, entryChange(options, place.editor, start));
}

export async function planEntryRemoval(options: InstallOptions): Promise<Plan | undefined> {
  const place = await placeOf(options);
  return await planUninstall(place, entryChange(options, place.editor, { command: 'litterbox', args: ['mcp'] }));
}

/** For `--exclusive`. @throws LitterboxError `UNSUPPORTED` */
export async function planExclusive(options: InstallOptions): Promise<Plan> {
  const { exclusive, title } = options.client;
  if (!exclusive) {
    throw new LitterboxError('UNSUPPORTED', `Litterbox cannot switch off the own tools of ${title}.`, {
      operation: 'agent.install',
      hint: 'Leave out --exclusive. After the installation Litterbox prints what you can do by hand.',
    });
  }
  return await planInstall(await exclusivePlace(options, exclusive), exclusiveChange(exclusive));
}

export async function planExclusiveRemoval(options: InstallOptions): Promise<Plan | undefined> {
  const { exclusive } = options.client;
  return exclusive && (await planUninstall(await exclusivePlace(options, exclusive), exclusiveChange(exclusive)));
}

/** For `--hands`. @throws LitterboxError `UNSUPPORTED` */
export async function planHands(options: InstallOptions, sandbox: string, start: StartCommand): Promise<Plan> {
  const [place, change] = await handsChange(options, sandbox, start);
  return await planInstall(place, change);
}

export async function planHandsRemoval(options: InstallOptions, sandbox: string): Promise<Plan | undefined> {
  const [place, change] = await handsChange(options, sandbox, { command: 'litterbox', args: [] });
  return await planUninstall(place, change);
}

/** A sandbox that is missing is made before the server answers. */
const HANDS_START_SECONDS = 300;

async function handsChange(
  { client, places, receipts, scope }: InstallOptions,
  sandbox: string,
  { command, args }: StartCommand,
): Promise<readonly [Place, ChangeOf]> {
  const { hands, title } = client;
  if (!hands || scope !== 'user')
    throw new LitterboxError(
      'UNSUPPORTED',
      hands
        ? `${title} reads where it works from your own files alone.`
        : `No file leads the commands of ${title} to a sandbox.`,
      {
        operation: 'agent.install',
        hint: hands
          ? 'Leave out --scope.'
          : `litterbox with ${client.id} does it for one session; litterbox with --help names the agents.`,
      },
    );
  const [{ environmentChange }, { tomlEditor }] = await Promise.all([
    import('./environments-change.ts'),
    import('./edit-toml.ts'),
  ]);
  const table = { program: command, args, initialize_timeout_sec: HANDS_START_SECONDS };
  const place = { path: hands.file(places), receipts, editor: tomlEditor };
  return [place, () => environmentChange(`litterbox-${sandbox}`, table)];
}

type Exclusive = NonNullable<AgentClient['exclusive']>;

async function exclusivePlace({ scope, places, receipts }: InstallOptions, { files }: Exclusive): Promise<Place> {
  const known = placesFor(scope, places);
  const path = await firstExisting(files(scope, known));
  return { path, receipts, editor: jsonEditor, ...(scope === 'project' && { within: known.root }) };
}

const exclusiveChange =
  ({ keyPath, values }: Exclusive): ChangeOf =>
  () =>
    listChange('exclusive', jsonEditor, keyPath, values);

/** Whether the client has been on this machine: a program of it, or a directory that it makes. */
export async function isFound(client: AgentClient, places: Places): Promise<boolean> {
  if (client.programs.some((program) => findProgram(program, places.environment['PATH']))) return true;
  for (const path of client.traces(places)) if (await stat(path).catch(() => undefined)) return true;
  return false;
}

export interface InstallState {
  readonly path: string;
  readonly isInstalled: boolean;
  /** Why that cannot be told, with the place. */
  readonly problem?: string;
}

export async function stateOf(options: InstallOptions): Promise<InstallState> {
  const place = await placeOf(options);
  const { path } = place;
  try {
    const { text = '' } = await readConfigFile(path, place.within);
    const document = place.editor.read(text);
    const change = entryChange(options, place.editor, { command: '', args: [] })(document);
    return { path, isInstalled: change.isIn(document) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const problem = error instanceof ConfigSyntaxError ? `${path}:${error.line}:${error.column} ${message}` : message;
    return { path, isInstalled: false, problem };
  }
}
