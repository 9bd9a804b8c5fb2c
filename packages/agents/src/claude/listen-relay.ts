import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { type AttachedProcess, isLitterboxError } from 'litterbox';
import * as z from 'zod';
import type { ExecPlace } from '../exec-place.ts';
import { failureText } from '../failure-text.ts';
import { passedOn } from '../passed-on.ts';
import { AnnouncedCalls } from './announced-calls.ts';
import { type BashCall, bashCall } from './bash-call.ts';
import { frame, frameReader, FRAMES, MAX_FRAME_BYTES } from './frames.ts';
import { Directories, tellDirectory } from './directories.ts';
import { SavedOutputs } from './saved-outputs.ts';

const MAX_ANNOUNCEMENT_BYTES = 2 ** 20;
/** What the commands of Claude have in their environment of Claude's own: how to behave without a person. Nothing of the machine's. */
const ENVIRONMENT = { CLAUDECODE: '1', GIT_EDITOR: 'true' };

type Running = AttachedProcess['process'];

const request = z.object({
  text: z.string(),
  directory: z.string(),
  isMerged: z.boolean(),
  output: z.string().optional(),
});
type Request = z.output<typeof request>;

/** Where a command's input goes. */
interface Input {
  write(bytes: Uint8Array): Promise<void>;
  end(): Promise<void>;
}

/** What one relay is answered with. */
interface Caller {
  readonly input: (to: Input) => void;
  readonly send: (kind: number, bytes?: Uint8Array) => Promise<void>;
  readonly gone: Promise<void>;
}

/** A seat that hears relays. */
export interface SeatedClaude {
  readonly place: ExecPlace;
  /** The text that the hook before each call is known by. */
  readonly hook: string;
  /** A directory of the seat's, to which Claude may go. */
  readonly standIns: string;
}

/** What one session of Claude's has. */
interface Session {
  readonly place: ExecPlace;
  readonly calls: AnnouncedCalls;
  readonly directories: Directories;
  readonly outputs: SavedOutputs;
  readonly running: Set<Running>;
}

/** Listens for relays on a socket, and runs in the sandbox what they hand over. Its disposal ends all of it, and records what it changed. */
export async function listenRelay(seated: SeatedClaude, socketPath: string): Promise<AsyncDisposable> {
  const { place, standIns } = seated;
  const running = new Set<Running>();
  const outputs = new SavedOutputs();
  const calls = new AnnouncedCalls((transcript) => outputs.session(transcript));
  const session: Session = { place, calls, outputs, running, directories: new Directories(place, standIns) };
  const sockets = new Set<Socket>();
  const work = new Set<Promise<void>>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    const working = answer(socket, async (asked, caller) => {
      if (asked.text === seated.hook) await announced(calls, caller);
      else await ran(session, asked, caller);
    });
    work.add(working);
    void working.finally(() => work.delete(working));
  });
  server.listen(socketPath);
  await once(server, 'listening');
  return {
    async [Symbol.asyncDispose]() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await Promise.all([...running].map(async (one) => await one[Symbol.asyncDispose]()));
      await Promise.all(work);
    },
  };
}

/** Never rejects: what goes wrong is said where the command's errors go, with a code that says that it did not end by itself. */
async function answer(socket: Socket, perform: (asked: Request, caller: Caller) => Promise<void>): Promise<void> {
  const asked = Promise.withResolvers<Request>();
  const input = Promise.withResolvers<Input>();
  const gone = Promise.withResolvers<void>();
  const send = async (kind: number, bytes?: Uint8Array) => {
    if (socket.writable && !socket.write(frame(kind, bytes))) await Promise.race([once(socket, 'drain'), gone.promise]);
  };
  let given: Promise<void> = Promise.resolve();
  const read = frameReader(MAX_FRAME_BYTES, (kind, bytes) => {
    if (kind === FRAMES.request) asked.resolve(request.parse(JSON.parse(bytes.toString('utf8'))));
    else if (kind === FRAMES.input)
      given = given.then(async () => {
        await (await input.promise).write(bytes);
        await send(FRAMES.accepted);
      });
    else if (kind === FRAMES.inputEnd) given = given.then(async () => await (await input.promise).end());
    given.catch(() => socket.destroy());
  });
  socket.on('data', (piece: Buffer) => {
    try {
      read(piece);
    } catch (error) {
      socket.destroy(error as Error);
    }
  });
  socket.on('error', () => {}); // its end is what counts
  socket.on('close', () => {
    gone.resolve();
    asked.reject(new Error('the relay is gone'));
  });
  try {
    await perform(await asked.promise, { send, input: input.resolve, gone: gone.promise });
  } catch (error) {
    await send(FRAMES.error, Buffer.from(`Litterbox: ${failureText(error)}\n`));
    await send(FRAMES.exit, Buffer.from([126]));
  }
  socket.end();
}

/** The hook before a call: it reads of the call, and the call is made or not. */
async function announced(calls: AnnouncedCalls, { input, send }: Caller): Promise<void> {
  const whole = Promise.withResolvers<string>();
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  input({
    async write(piece) {
      bytes += piece.length;
      if (bytes <= MAX_ANNOUNCEMENT_BYTES) pieces.push(piece);
    },
    async end() {
      whole.resolve(Buffer.concat(pieces).toString('utf8'));
    },
  });
  const told = await whole.promise;
  const refusal = bytes > MAX_ANNOUNCEMENT_BYTES ? 'The call is too large for Litterbox.' : calls.announce(told);
  if (refusal !== undefined) await send(FRAMES.error, Buffer.from(`${refusal}\n`));
  await send(FRAMES.exit, Buffer.from([refusal === undefined ? 0 : 2])); // 2 is how a hook refuses
}

/** A command, or the text of a hook of the person's: it runs in the sandbox too. */
async function ran(
  { place, calls, directories, outputs, running }: Session,
  { text, directory, isMerged, output: file }: Request,
  { input, send, gone }: Caller,
): Promise<void> {
  const { hands, shell, root } = place;
  const call = bashCall(text);
  const callId = call && calls.take(call.command);
  if (call && file !== undefined) outputs.printed(file);
  const cwd = directories.inside(directory);
  using note = directories.note();
  const script = call ? await outputs.broughtInto(hands, notedIn(note.file, call)) : text;
  const start = async () =>
    await hands.attach({
      command: [shell, '-c', script],
      cwd,
      env: ENVIRONMENT,
      tool: 'claude',
      mergeOutput: isMerged,
      ...(call && { subject: call.command, noInput: true }), // its input is empty, or in its text
      ...(callId !== undefined && { callId }),
    });
  const attached = await start().catch(async (error: unknown) => {
    // Another directory would be another command: Claude goes back to the workspace, and the model decides.
    if (cwd === '.' || !(await isAbsent(place, cwd))) throw error;
    if (call) await tellDirectory(call.directoryFile, root);
    throw new Error(`${cwd} is not there in the sandbox any more, so nothing ran. The next command starts in ${root}.`);
  });
  const { process } = attached;
  running.add(process);
  let hasExited = false;
  process.exit.then(
    () => {
      hasExited = true;
    },
    () => {}, // heard below
  );
  void gone.then(async () => {
    if (!hasExited) await process[Symbol.asyncDispose]();
  });
  input(
    call
      ? { async write() {}, async end() {} }
      : { write: async (bytes) => await process.write(bytes), end: async () => await process.closeStdin() },
  );
  const over = () => void running.delete(process);
  try {
    const { exit, silent } = await passedOn(process, async ({ type, bytes }) => {
      const kind = type === 'stdout-data' ? FRAMES.output : FRAMES.error;
      for (let at = 0; at < bytes.length; at += MAX_FRAME_BYTES)
        await send(kind, bytes.slice(at, at + MAX_FRAME_BYTES));
    });
    // What it left in the background works on until the seat is given up.
    void silent.then(over, over);
    const [after] = await Promise.all([
      call && exit.code === 0 ? directories.after(note.file) : undefined,
      attached.finish(exit).catch(async (error: unknown) => {
        await send(FRAMES.error, Buffer.from(`Litterbox: what it changed is not recorded: ${failureText(error)}\n`));
      }),
    ]);
    if (call && after !== undefined) await tellDirectory(call.directoryFile, after);
    await send(FRAMES.exit, Buffer.from([exit.code & 0xff]));
  } finally {
    if (!hasExited) {
      over();
      await attached[Symbol.asyncDispose]();
    }
  }
}

/** The note is empty first: what is left of the command before would be taken for this one's when it ends the shell. */
const notedIn = (file: string, { script }: BashCall) => `{ true >| ${file}; } 2>/dev/null; ${script}${file}`;

async function isAbsent({ hands }: ExecPlace, path: string): Promise<boolean> {
  try {
    await hands.files.stat(path);
    return false;
  } catch (error) {
    return isLitterboxError(error, 'NOT_FOUND') || isLitterboxError(error, 'NOT_A_DIRECTORY');
  }
}
