import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { LitterboxError } from 'litterbox';
import { killTree } from '../end-tree.ts';
import type { Hands } from '../hands.ts';
import { ownDirectory } from '../own-directory.ts';
import type { Seat } from '../seats/seat.ts';

/** A program that says nothing for so long is not one that can be trusted with a turn. */
const PATIENCE_MS = 60_000;

/**
 * Lets the program take one turn of a model of ours in an empty home, and sees where the command of that turn arrives. Versions of
 * agents come every week; one that no longer hands its commands to us would run the person's task on the person's machine.
 *
 * @throws LitterboxError `UNSUPPORTED` when the command ran here, or came to nobody
 */
export async function trySeat(seat: Seat, program: string, environment: NodeJS.ProcessEnv): Promise<void> {
  const home = await ownDirectory('trial');
  const directory = join(home, 'work');
  await mkdir(directory);
  const ranHere = join(directory, 'ran-here');
  const arrived = Promise.withResolvers<'arrived'>();
  await using model = await trialModel(seat, `: >'${ranHere.replaceAll("'", "'\\''")}'`);
  let child: ChildProcess | undefined;
  let patience: NodeJS.Timeout | undefined;
  const end = () => {
    if (child?.pid !== undefined && child.exitCode === null && child.signalCode === null) killTree(child.pid);
  };
  try {
    await using opened = await seat.open({
      hands: nobody(directory, () => arrived.resolve('arrived')),
      root: directory,
      shell: '/bin/sh',
    });
    child = spawn(program, [...opened.args, ...seat.trial.args], {
      cwd: directory,
      env: {
        PATH: environment['PATH'],
        HOME: home,
        ...seat.trial.prepare(home, model.url),
        ...opened.environment,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    patience = setTimeout(end, PATIENCE_MS);
    const said = [child.stdout, child.stderr].map(async (stream) => (stream ? await text(stream) : ''));
    const ended = once(child, 'close').then(() => 'ended' as const);
    const outcome = await Promise.race([arrived.promise, ended]);
    if (existsSync(ranHere)) throw refusal(seat, program, 'ran a command on this machine instead of in the sandbox');
    if (outcome === 'arrived') return;
    const last = (await Promise.all(said)).join('\n').trim().split('\n').slice(-3).join(' | ').slice(-400);
    throw refusal(seat, program, `did not hand its command to Litterbox; it ended with: ${last}`);
  } finally {
    clearTimeout(patience);
    end();
    if (child && child.exitCode === null && child.signalCode === null) await once(child, 'close');
    await rm(home, { recursive: true, force: true });
  }
}

function refusal({ title, id }: Seat, program: string, what: string): LitterboxError {
  return new LitterboxError('UNSUPPORTED', `On trial, ${title} (${program}) ${what}.`, {
    operation: 'agent.trial',
    hint: `Nothing of your task has run. HOME is empty on trial, so a launcher that looks there for the program fails: put the program itself first in your PATH. Else use another version of ${title}, or let it work by tools: litterbox agent install ${id}.`,
  });
}

/** Answers every turn with the same command, and everything else with nothing. */
async function trialModel(seat: Seat, command: string): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const answer = request.method === 'POST' ? seat.trial.answer(command, parsed(body)) : undefined;
      if (answer) response.writeHead(200, { 'content-type': answer.type }).end(answer.body);
      else response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** A sandbox with nothing in it, that tells when somebody wants to run something. */
function nobody(workdir: string, onCommand: () => void): Hands {
  const absent = async () => {
    throw new LitterboxError('NOT_FOUND', 'There is nothing here.', { operation: 'agent.trial' });
  };
  return {
    name: 'trial',
    record: { id: 'trial', workdir } as unknown as Hands['record'],
    async attach() {
      onCommand();
      return await absent();
    },
    files: {
      read: absent,
      stat: absent,
      list: absent,
      write: absent,
      mkdir: absent,
      remove: absent,
      copy: absent,
    },
  };
}
