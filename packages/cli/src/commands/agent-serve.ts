import { ExecServer, SEATS, serveExecLines } from '@litterbox/agents';
import { askOrCancel } from '../terminal/ask.ts';
import { loadForAgent } from '../load-litterbox.ts';
import type { Perform } from '../perform.ts';
import { repositoryRoot } from '../repository-root.ts';
import { sandboxFor } from './with.ts';

interface Flags {
  readonly sandbox?: string;
  readonly share?: boolean;
}

/** `litterbox agent serve codex`: Codex starts it, and speaks with it over standard input and output. */
export const serve: Perform = async (context, [id], flags: Flags) => {
  const { directory, signal, settled } = context;
  const seat = SEATS.find((one) => one.id === id);
  if (!seat) throw new Error(`no seat ${id}`); // the choices are checked before
  await settled();
  // Standard output belongs to the protocol: whatever a library prints goes to the other stream.
  console.log = console.info = console.debug = console.error;
  const root = repositoryRoot(directory) ?? directory;
  await using litterbox = await loadForAgent(directory, askOrCancel, seat.id);
  const { sandbox } = await sandboxFor(context, litterbox, seat, flags, root);
  await using _seat = flags.share ? undefined : await sandbox.seat(seat.id, { signal });
  const shell = await sandbox.shell();
  signal.addEventListener('abort', () => process.stdin.destroy());
  await serveExecLines(new ExecServer({ hands: sandbox, root, shell }, seat.id), process.stdin, process.stdout);
};
