import { FRAMES, frame, frameReader, MAX_FRAME_BYTES } from './frames.ts';

/**
 * The program that Claude starts in place of its shell, as CommonJS: `node FILE SOCKET TEXT`. It hands the text to the seat and is the
 * command's input, output and exit code. It runs nothing: without the seat it fails, with 125.
 */
export function relayProgram(): string {
  const given = [frame.toString(), frameReader.toString(), JSON.stringify(FRAMES), String(MAX_FRAME_BYTES)];
  return `(${relay.toString()})(${given.join(', ')});\n`;
}

/** Its text is the program, so it names nothing outside of itself. */
function relay(framed: typeof frame, readFrames: typeof frameReader, frames: typeof FRAMES, maxBytes: number): void {
  const { connect } = process.getBuiltinModule('node:net');
  const { fstatSync, readlinkSync } = process.getBuiltinModule('node:fs');
  const [, , path = '', text = ''] = process.argv;
  const send = (kind: number, bytes?: Uint8Array) => socket.write(framed(kind, bytes));
  const fail = (why: string) => {
    process.stderr.write(`Litterbox did not run this command, or lost it: ${why}. Nothing ran on this machine.\n`, () =>
      process.exit(125),
    );
  };
  const isMerged = () => {
    const [output, error] = [fstatSync(1), fstatSync(2)];
    return output.dev === error.dev && output.ino === error.ino;
  };
  // Claude has it print to a file, whose path it then names to the model.
  const output = () => {
    try {
      return fstatSync(1).isFile() ? readlinkSync('/proc/self/fd/1') : undefined;
    } catch {
      return undefined; // this machine has no such links
    }
  };
  let isOver = false;
  const socket = connect(path, () => {
    try {
      const asked = { text, directory: process.cwd(), isMerged: isMerged(), output: output() };
      send(frames.request, Buffer.from(JSON.stringify(asked)));
    } catch (error) {
      isOver = true;
      return fail(String(error));
    }
    process.stdin.on('data', (piece: Buffer) => {
      process.stdin.pause(); // until it is accepted
      send(frames.input, piece);
    });
    process.stdin.on('end', () => send(frames.inputEnd));
    process.stdin.on('error', () => send(frames.inputEnd));
  });
  const write = (to: NodeJS.WriteStream, bytes: Buffer) => {
    if (to.write(bytes)) return;
    socket.pause();
    to.once('drain', () => socket.resume());
  };
  const read = readFrames(maxBytes, (kind, bytes) => {
    if (kind === frames.output) write(process.stdout, bytes);
    else if (kind === frames.error) write(process.stderr, bytes);
    else if (kind === frames.accepted) process.stdin.resume();
    else if (kind === frames.exit) {
      isOver = true;
      const code = bytes[0] ?? 125;
      process.stdout.write('', () => process.stderr.write('', () => process.exit(code)));
    }
  });
  socket.on('data', read);
  socket.on('error', (error) => {
    if (!isOver) fail(error.message);
    isOver = true;
  });
  socket.on('close', () => {
    if (!isOver) fail('the connection ended');
    isOver = true;
  });
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => process.exit(125)); // nobody reads any more
}
