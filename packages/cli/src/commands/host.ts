import { resolve } from 'node:path';
import { type HostFacts, isLitterboxError, LitterboxError, normalHostName, shown, visible } from '@litterbox/core';
import {
  HostRegistry,
  isMachineName,
  type SavedHost,
  LateMachines,
  openSavedHost,
  openMachine,
  type ReachedHost,
} from '@litterbox/providers';
import { prepareStateDirectory } from '@litterbox/state-sqlite';
import { defaultStateDirectory } from 'litterbox/performer';
import { askAtTerminal, isAtTerminal } from '../terminal/ask.ts';
import type { Context } from '../context.ts';
import type { Perform } from '../perform.ts';
import { table } from '../terminal/table.ts';

interface AddFlags {
  readonly identityFile?: string;
  readonly hostKey?: string;
}

type HostKey = SavedHost['hostKeys'][number];

function openBook(): HostRegistry {
  const directory = defaultStateDirectory();
  prepareStateDirectory(directory);
  return new HostRegistry(directory);
}

/** The virtual machines of this computer. */
async function machinesHere() {
  const { localHost } = await import('@litterbox/host');
  return await new LateMachines(localHost()).load();
}

export const add: Perform = async (context, [name = '', destination = ''], given) => {
  const { talk } = context;
  const flags: AddFlags = given;
  assertFingerprint(flags.hostKey);
  const book = openBook();
  book.assertName(name);
  if ((await book.list()).some((host) => host.name === name)) {
    throw new LitterboxError('ALREADY_EXISTS', `There is a host ${name} already.`, {
      operation: 'host.add',
      hint: `Choose another name, or remove that one first: litterbox host remove ${name}.`,
    });
  }
  const draft: SavedHost = {
    name,
    destination,
    hostKeys: [],
    ...(flags.identityFile !== undefined && { identityFile: resolve(flags.identityFile) }),
  };
  const facts = await withHost(context, draft, flags.hostKey, async (reached) => {
    await book.put(reached.kept);
    return await reached.host.facts();
  }).catch((error: unknown) => {
    throw flags.hostKey === undefined ? error : otherKey(error, flags.hostKey);
  });
  if (talk.json) return talk.document({ name, destination, ...shownFacts(facts) });
  talk.notice(`Added ${name}: ${sentence(facts)}`);
  talk.notice(`${talk.paint('cyan', '→', process.stderr)} litterbox doctor --host ${name}`);
};

export const list: Perform = async ({ talk, signal }) => {
  const [kept, found] = await Promise.all([
    openBook().list(),
    machinesHere().then((machines) => machines.list({ signal })),
  ]);
  const added = kept.filter(({ name }) => !isMachineName(name));
  const machines = found.map(({ host, address, state }) => ({ name: host, destination: address, state }));
  if (talk.json) return talk.document([...added, ...machines]);
  if (added.length + machines.length === 0)
    return talk.notice('No machines but this one. Add one: litterbox host add NAME USER@HOST.');
  const rows = [
    ...added.map(({ name, destination, identityFile = '' }) => [name, destination, identityFile]),
    ...machines.map(({ name, destination }) => [name, destination, '']),
  ];
  talk.result(
    table(
      ['NAME', 'DESTINATION', 'KEY FILE'],
      rows.map((row) => row.map(visible)),
      process.stdout.isTTY,
    ),
  );
};

export const check: Perform = async (context, [name = '']) => {
  const { talk } = context;
  const start = performance.now();
  const wanted = normalHostName(name);
  const look = async ({ host }: ReachedHost) => await host.facts();
  const facts = isMachineName(wanted)
    ? await withMachine(context, wanted, look)
    : await withHost(context, await openBook().get(name), undefined, look);
  const tookMs = Math.round(performance.now() - start);
  if (talk.json) return talk.document({ name, ...shownFacts(facts), connectMs: tookMs });
  talk.result(`${name} answers: ${sentence(facts)} Connected in ${tookMs} ms.`);
};

export const prefer: Perform = async ({ talk }, [names], given) => {
  const { clear = false }: { readonly clear?: boolean } = given;
  if (clear && names !== undefined) {
    throw new LitterboxError('INVALID_ARGUMENT', 'Names and --clear cannot be combined.', {
      operation: 'host.prefer',
      hint: 'Leave out --clear: the names replace the ones before.',
    });
  }
  const book = openBook();
  const preferred = clear
    ? await book.prefer([])
    : names === undefined
      ? await book.preferred()
      : await book.prefer(names.split(','));
  if (talk.json) return talk.document({ preferred });
  if (preferred.length === 0) return talk.notice('No host is preferred: new sandboxes run on this machine.');
  for (const name of preferred) talk.result(name);
};

export const remove: Perform = async ({ talk }, [name = '']) => {
  const { destination } = await openBook().remove(normalHostName(name));
  if (talk.json) return talk.document({ name, destination });
  talk.notice(`Removed ${name} from the list. Its sandboxes on ${visible(destination)} were not changed.`);
};

/** @throws LitterboxError `INVALID_ARGUMENT` for what `ssh-keygen -l` does not print */
function assertFingerprint(text: string | undefined): void {
  if (text === undefined || /^SHA256:[A-Za-z0-9+/]{43}$/.test(text)) return;
  throw new LitterboxError('INVALID_ARGUMENT', `--host-key ${shown(text)} is not the fingerprint of a key.`, {
    operation: 'host.add',
    hint: 'Give what ssh-keygen -l prints on that machine: SHA256: and 43 characters.',
  });
}

/** Of a machine whose key nobody knows, and that is not the one that was given. */
function otherKey(error: unknown, given: string): unknown {
  if (!isLitterboxError(error, 'SSH_HOSTKEY_UNKNOWN')) return error;
  const { type, fingerprint } = error.details.facts ?? {};
  return new LitterboxError(
    error.code,
    `The machine shows the key ${String(type)} ${String(fingerprint)}, not the one that --host-key names, ${given}. Nothing was sent.`,
    {
      ...error.details,
      hint: 'Somebody may be intercepting the connection, or the machine has several keys. On that machine, ssh-keygen -l -f /etc/ssh/ssh_host_ed25519_key.pub prints the one that it shows first.',
    },
    { cause: error },
  );
}

/** Reaches a machine for as long as `work` takes. */
async function withHost<Result>(
  { talk, signal }: Context,
  kept: SavedHost,
  expectedKey: string | undefined,
  work: (reached: ReachedHost) => Promise<Result>,
): Promise<Result> {
  talk.progress({ step: 'connect', message: `Connecting to ${kept.destination}` });
  const reached = await openSavedHost(kept, {
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

/** Starts a virtual machine of this computer where it has to, and reaches it for as long as `work` takes. */
async function withMachine<Result>(
  { talk, signal }: Context,
  name: string,
  work: (reached: ReachedHost) => Promise<Result>,
): Promise<Result> {
  const book = openBook();
  const machines = await machinesHere();
  await machines.wake(name, { signal, onProgress: talk.progress });
  const known = (await book.list()).find((host) => host.name === name);
  const reached = await openMachine(machines, name, known, { signal });
  try {
    await book.put(reached.kept);
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
    `${visible(machine)} shows a key that is new to this machine: ${visible(type)}`,
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
