// The far end of the pipe host: does what lines on stdin ask for with a local host, and answers with lines on stdout.
import { createInterface } from 'node:readline';
import { type ProcessHandle, isLitterboxError } from '@litterbox/core/provider';
import { localHost } from '@litterbox/host';

interface Request {
  readonly call: number;
  readonly method: string;
  readonly args: readonly unknown[];
}

const host = localHost();
const processes = new Map<number, { readonly handle: ProcessHandle; acknowledge: () => void }>();
const bytesOf = (text: unknown) => Buffer.from(String(text), 'base64');
const say = (message: object) => void process.stdout.write(`${JSON.stringify(message)}\n`);

async function relay(id: number): Promise<void> {
  const entry = processes.get(id);
  if (!entry) return;
  entry.handle.exit.then(
    (exit) => say({ process: id, exit }),
    () => say({ process: id, exit: { code: 255 } }),
  );
  try {
    for await (const { type, bytes } of entry.handle) {
      const acknowledged = new Promise<void>((resolve) => {
        entry.acknowledge = resolve;
      });
      say({ process: id, type, bytes: Buffer.from(bytes).toString('base64') });
      await acknowledged; // one chunk on its way per process: a slow reader holds back its own process alone
    }
  } catch {
    // aborted: the end of the output says it
  }
  say({ process: id, end: true });
}

async function answer({ method, args }: Request): Promise<unknown> {
  const [first, second, third] = args as [never, never, never];
  const entry = processes.get(Number(first));
  switch (method) {
    case 'facts':
      return await host.facts();
    case 'spawn': {
      const handle = await host.spawn(second);
      processes.set(Number(first), { handle, acknowledge: () => {} });
      void relay(Number(first));
      return undefined;
    }
    case 'write':
      return await entry?.handle.write(bytesOf(second));
    case 'closeStdin':
      return await entry?.handle.closeStdin();
    case 'kill':
      return await entry?.handle.kill(second);
    case 'dispose':
      entry?.acknowledge();
      await entry?.handle[Symbol.asyncDispose]();
      return void processes.delete(Number(first));
    case 'read': {
      const bytes = await host.files.read(first, second ?? {});
      return bytes && Buffer.from(bytes).toString('base64');
    }
    case 'writeFile':
      return await host.files.write(first, bytesOf(second), third ?? {});
    case 'makeDirectory':
      return await host.files.makeDirectory(first, second ?? {});
    case 'list':
      return await host.files.list(first);
    case 'stat':
      return await host.files.stat(first);
    case 'rename':
      return await host.files.rename(first, second);
    case 'remove':
      return await host.files.remove(first);
    default:
      throw new Error(`no method ${method}`);
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line) as Request;
  if (request.method === 'acknowledge') processes.get(Number(request.args[0]))?.acknowledge();
  else {
    answer(request).then(
      (result) => say({ call: request.call, result }),
      (error: unknown) =>
        say({
          call: request.call,
          error: isLitterboxError(error)
            ? { code: error.code, message: error.message, details: error.details }
            : { message: String(error) },
        }),
    );
  }
}
