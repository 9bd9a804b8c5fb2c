import { resolve } from 'node:path';
import { type HostFacts, LitterboxError, visible } from '@litterbox/core';
import { HostBook, type KeptHost, openKeptHost, type ReachedHost } from '@litterbox/providers';
import { prepareStateDirectory } from '@litterbox/state-sqlite';
import { defaultStateDirectory } from 'litterbox/performer';
import { askAtTerminal, isAtTerminal } from '../ask.ts';
import type { Context } from '../context.ts';
import type { Perform } from '../perform.ts';
import { table } from '../table.ts';

interface AddFlags {
  readonly identityFile?: string;
  readonly hostKey?: string;
}

type HostKey = KeptHost['hostKeys'][number];

function openBook(): HostBook {
  const directory = defaultStateDirectory();
  prepareStateDirectory(directory);
  return new HostBook(directory);
}

export const add: Perform = async (context, [name = '', destination = ''], given) => {
  const { talk } = context;
  const flags: AddFlags = given;
  const book = openBook();
  book.assertName(name);
  if ((await book.list()).some((host) => host.name === name)) {
    throw new LitterboxError('ALREADY_EXISTS', `There is a host ${name} already.`, {
      operation: 'host.add',
      hint: `Take another name, or forget that one first: litterbox host remove ${name}.`,
    });
  }
  const draft: KeptHost = {
    name,
    destination,
    hostKeys: [],
    ...(flags.identityFile !== undefined && { identityFile: resolve(flags.identityFile) }),
  };
  const facts = await withHost(context, draft, flags.hostKey, async (reached) => {
    await book.put(reached.kept);
    return await reached.host.facts();
  });
  if (talk.json) return talk.document({ name, destination, ...shownFacts(facts) });
  talk.notice(`Added ${name}: ${sentence(facts)}`);
  talk.notice(`${talk.paint('cyan', '→', process.stderr)} litterbox doctor --host ${name}`);
};

export const list: Perform = async ({ talk }) => {
  const hosts = await openBook().list();
  if (talk.json) return talk.document(hosts);
  if (hosts.length === 0) return talk.notice('No machines but this one. Add one: litterbox host add NAME USER@HOST.');
  const rows = hosts.map(({ name, destination, identityFile = '' }) => [name, destination, identityFile].map(visible));
  talk.result(table(['NAME', 'DESTINATION', 'KEY FILE'], rows, process.stdout.isTTY));
};

export const check: Perform = async (context, [name = '']) => {
  const { talk } = context;
  const kept = await openBook().get(name);
  const start = performance.now();
  const facts = await withHost(context, kept, undefined, async ({ host }) => await host.facts());
  const tookMs = Math.round(performance.now() - start);
  if (talk.json) return talk.document({ name, ...shownFacts(facts), connectMs: tookMs });
  talk.result(`${name} answers: ${sentence(facts)} Connected in ${tookMs} ms.`);
};

export const remove: Perform = async ({ talk }, [name = '']) => {
  const { destination } = await openBook().remove(name);
  if (talk.json) return talk.document({ name, destination });
  talk.notice(`Forgot ${name}. What is on ${visible(destination)} stays there.`);
};

/** Reaches a machine for as long as `work` takes. */
async function withHost<Result>(
  { talk, signal }: Context,
  kept: KeptHost,
  expectedKey: string | undefined,
  work: (reached: ReachedHost) => Promise<Result>,
): Promise<Result> {
  talk.progress({ step: 'connect', message: `Connecting to ${kept.destination}` });
  const reached = await openKeptHost(kept, {
    signal,
    onNotice: (notice) => talk.warning(notice),
    askHostKey: (machine, key) => isExpected(machine, key, expectedKey, signal),
  });
  try {
    return await work(reached);
  } finally {
    await reached.host[Symbol.asyncDispose]();
  }
}

async function isExpected(
  machine: string,
  { type, fingerprint }: HostKey,
  expected: string | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  if (expected !== undefined) return fingerprint === expected;
  if (!isAtTerminal()) return false;
  const details = [
    `${visible(machine)} shows a key that nobody here knows: ${visible(type)}`,
    visible(fingerprint),
    'On that machine, ssh-keygen -l -f /etc/ssh/ssh_host_ed25519_key.pub and the like print what it should be.',
  ];
  return await askAtTerminal.approve({ question: 'Is that its key?', details }, { signal });
}

function sentence({ uid, kernelRelease, architecture, platform }: HostFacts): string {
  return `${visible(platform)} ${visible(kernelRelease)} on ${visible(architecture)}, as ${uid === 0 ? 'root' : `user ${uid}`}.`;
}

function shownFacts({ platform, architecture, kernelRelease, uid, homeDirectory }: HostFacts) {
  return { platform, architecture, kernelRelease, uid, homeDirectory };
}
