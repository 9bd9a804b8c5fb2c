import { copyFile, lstat, readFile } from 'node:fs/promises';
import { constants, existsSync } from 'node:fs';
import { join } from 'node:path';
import { CONFIG_FILE, detected, type Ecosystem, LitterboxError, shown, trustConfig } from '@litterbox/core';
import { replaceFile, told } from '../agents/config-file.ts';
import { CLIENT_IDS } from '../agents/client-ids.ts';
import { assertAgreed } from '../agree.ts';
import { askAtTerminal, isAtTerminal } from '../terminal/ask.ts';
import type { Context } from '../context.ts';
import { configText } from '../init/config-text.ts';
import { wantedTrust } from '../init/wanted-trust.ts';
import type { Perform } from '../perform.ts';
import { repositoryRoot } from '../repository-root.ts';
import { showDiff, unifiedDiff } from '../terminal/unified-diff.ts';

interface Flags {
  readonly print?: boolean;
  readonly force?: boolean;
  readonly yes?: boolean;
}

export const init: Perform = async (context, _words, given) => {
  const { talk, signal, directory } = context;
  const { print = false, force = false, yes = false }: Flags = given;
  const root = repositoryRoot(directory);
  if (root === undefined) {
    throw new LitterboxError('NOT_A_REPO', `${shown(directory)} is not in a git repository.`, {
      operation: 'cli.init',
      hint: 'Change into one, or make one: git init.',
    });
  }
  const ecosystems = detected((name) => existsSync(join(root, name)));
  let text = configText(ecosystems);
  const path = join(root, CONFIG_FILE);
  if (print) {
    if (talk.json) talk.document({ path, text, written: false });
    else process.stdout.write(text);
    return;
  }
  const before = await presentText(path);
  if (before === text) {
    if (talk.json) talk.document({ path, text, written: false });
    else talk.notice(`${CONFIG_FILE} is up to date: there is nothing to write.`);
    return;
  }
  let backup: string | undefined;
  if (before !== undefined) {
    if (!force) {
      throw new LitterboxError('ALREADY_EXISTS', `${shown(path)} exists.`, {
        operation: 'cli.init',
        hint: '--print shows what would be written; --force replaces the file and keeps a copy.',
      });
    }
    if (!talk.json) showDiff(talk, unifiedDiff(CONFIG_FILE, before, text));
    if (!yes) await assertAgreed(`Replace ${CONFIG_FILE}?`, CONFIG_FILE, 'cli.init', signal);
    backup = await told(path, async () => await copyAside(path));
  }
  const isOn = !talk.json && !yes && (await isSwitchedOn(ecosystems, signal));
  if (isOn) text = configText(ecosystems, true);
  await told(path, async () => await replaceFile(path, text));
  if (talk.json) return talk.document({ path, text, written: true, ...(backup !== undefined && { backup }) });
  if (isOn) await agree(context, ecosystems);
  else talk.notice(`Wrote ${CONFIG_FILE}. Nothing changes yet: every setting in it is a comment.`);
  if (backup !== undefined) talk.notice(`Your old file is now ${backup}.`);
  talk.notice(
    [
      'Next:',
      ...(isOn ? [] : [`  edit ${CONFIG_FILE}, then litterbox trust if you switched on what widens a sandbox`]),
      `  litterbox agent install ${await likelyClient(directory)} lets your agent work in sandboxes`,
      '  litterbox create NAME makes one by hand',
    ].join('\n'),
  );
};

/** Asks a person about the setup and its network together: one without the other does nothing. */
async function isSwitchedOn(ecosystems: readonly Ecosystem[], signal: AbortSignal): Promise<boolean> {
  if (ecosystems.length === 0 || !isAtTerminal()) return false;
  const details = [
    'New sandboxes would begin with this setup, and it alone could reach these hosts:',
    ...wantedTrust(ecosystems),
  ];
  return await askAtTerminal.approve({ question: 'Switch it on?', details }, { signal });
}

/** Trusts the file where it asks for what the person has just agreed to, and for nothing else. */
async function agree({ talk, signal, litterbox }: Context, ecosystems: readonly Ecosystem[]): Promise<void> {
  const performer = await litterbox();
  const { trustText, contentHash } = await performer.perform(trustConfig, {}, { signal });
  const asked = trustText.split('\n').filter((line) => line !== '');
  const isAgreed = asked.toSorted().join('\n') === wantedTrust(ecosystems).toSorted().join('\n');
  if (isAgreed && (await performer.perform(trustConfig, { contentHash }, { signal })).isTrusted)
    talk.notice(`Wrote ${CONFIG_FILE}, and you agreed to it: new sandboxes begin with the setup.`);
  else talk.warning(`${CONFIG_FILE} asks for more than you agreed to here: litterbox trust shows all of it.`);
}

/** The text of the file that is there, if one is. @throws LitterboxError `NOT_A_REGULAR_FILE` */
async function presentText(path: string): Promise<string | undefined> {
  return await told(path, async () => {
    const found = await lstat(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
    if (found === undefined) return undefined;
    if (found.isFile()) return await readFile(path, 'utf8');
    throw new LitterboxError('NOT_A_REGULAR_FILE', `${shown(path)} is not a regular file.`, {
      operation: 'cli.init',
      hint: 'Litterbox reads only a regular file there: move this one aside.',
    });
  });
}

/** Beside the file, under the first name that is free. */
async function copyAside(path: string): Promise<string> {
  for (let number = 0; ; number += 1) {
    const copy = `${path}.bak${number === 0 ? '' : `.${number}`}`;
    try {
      await copyFile(path, copy, constants.COPYFILE_EXCL);
      return copy;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

/** The first client that has been on this machine. */
async function likelyClient(directory: string): Promise<string> {
  const [{ CLIENTS }, { isFound }, { placesOf }] = await Promise.all([
    import('../agents/clients.ts'),
    import('../agents/installation.ts'),
    import('../agents/places.ts'),
  ]);
  const places = placesOf(directory);
  for (const client of CLIENTS) if (await isFound(client, places)) return client.id;
  return CLIENT_IDS[0];
}
