import { ERRORS } from '../codex/messages.ts';

/** What of pi's extension API is used, as pi 1.6.0 has it. */
interface Pi {
  registerTool(tool: object): void;
  on(event: 'user_bash' | 'session_shutdown', handler: () => object | undefined): void;
}
type Tool = object & { execute(...args: readonly unknown[]): Promise<unknown> };
interface BashResult {
  readonly content: readonly object[];
  readonly details?: { readonly fullOutputPath?: string };
}
type MakeTool = (cwd: string, options?: { readonly operations: object }) => Tool;
/** What the package gives to extensions. */
interface Kit {
  readonly createBashTool: MakeTool;
  readonly createReadTool: MakeTool;
  readonly createWriteTool: MakeTool;
  readonly createEditTool: MakeTool;
  readonly createLsTool: MakeTool;
}
interface Seat {
  /** Of the exec server. */
  readonly url: string;
  readonly shell: string;
  /** Inside, absolute. */
  readonly home: string;
}

/**
 * The file that pi loads: its tools, whose operations are requests of the exec server. It runs nothing on this machine, and of its files it
 * reads those alone in which pi keeps long output, whose paths pi names to the model.
 */
export function piExtension(seat: Seat): string {
  return `import * as kit from '@earendil-works/pi-coding-agent';\nexport default (pi) => (${extension.toString()})(pi, kit, ${JSON.stringify(seat)}, ${ERRORS.notFound});\n`;
}

/** Its text is the extension, so it names nothing outside of itself. */
function extension(pi: Pi, kit: Kit, { url, shell, home }: Seat, absent: number): void {
  const { readFileSync, statSync } = process.getBuiltinModule('node:fs');
  const MAX_OUTPUT_BYTES = 32 * 2 ** 20;
  type Params = Readonly<Record<string, unknown>>;
  interface Link {
    ask(method: string, params: object): Promise<Params>;
    readonly listeners: Map<string, (method: string, params: Params) => void>;
    close(): void;
  }
  let link: Promise<Link> | undefined;
  const connected = async (): Promise<Link> => {
    link ??= new Promise<Link>((resolve, reject) => {
      const socket = new WebSocket(url);
      const answers = new Map<number, PromiseWithResolvers<Params>>();
      const listeners: Link['listeners'] = new Map();
      let last = 0;
      const ask: Link['ask'] = async (method, params) => {
        last += 1;
        const answer = Promise.withResolvers<Params>();
        answers.set(last, answer);
        socket.send(JSON.stringify({ id: last, method, params }));
        return await answer.promise;
      };
      const lost = () => {
        link = undefined;
        const error = new Error('Litterbox does not answer any more, so nothing ran. Nothing runs on this machine.');
        for (const { reject: fail } of answers.values()) fail(error);
        for (const listen of listeners.values()) listen('lost', { error });
        reject(error);
      };
      socket.addEventListener('close', lost);
      socket.addEventListener('error', lost);
      socket.addEventListener('message', ({ data }) => {
        const { id, method, params, result, error } = JSON.parse(String(data)) as {
          readonly id?: number;
          readonly method?: string;
          readonly params?: Params;
          readonly result?: Params;
          readonly error?: { readonly code: number; readonly message: string };
        };
        if (method !== undefined && params) return listeners.get(String(params['processId']))?.(method, params);
        const answer = answers.get(id ?? 0);
        answers.delete(id ?? 0);
        if (error) answer?.reject(Object.assign(new Error(error.message), { code: error.code }));
        else answer?.resolve(result ?? {});
      });
      socket.addEventListener('open', () => {
        void ask('initialize', { clientName: 'pi', resumeSessionId: null }).then(
          () => resolve({ ask, listeners, close: () => socket.close() }),
          lost,
        );
      });
    });
    return await link;
  };
  const address = (path: string) => `file://${path.split('/').map(encodeURIComponent).join('/')}`;
  const ask = async (method: string, path: string, more: object = {}) =>
    await (await connected()).ask(method, { path: address(path), sandbox: null, ...more });

  const run = (callId?: string) => ({
    async exec(
      command: string,
      cwd: string,
      {
        onData,
        signal,
        timeout,
      }: { onData(data: Buffer): void; readonly signal?: AbortSignal; readonly timeout?: number },
    ) {
      const { ask: send, listeners } = await connected();
      const processId = crypto.randomUUID();
      const ended = Promise.withResolvers<number>();
      ended.promise.catch(() => {}); // heard below
      listeners.set(processId, (method, params) => {
        if (method === 'process/output') onData(Buffer.from(String(params['chunk']), 'base64'));
        else if (method === 'process/exited') ended.resolve(Number(params['exitCode']));
        else if (method === 'lost') ended.reject(params['error']);
      });
      let why: string | undefined;
      const end = (reason: string) => {
        why ??= reason;
        send('process/terminate', { processId }).catch(() => {});
      };
      const timer = timeout ? setTimeout(() => end(`timeout:${timeout}`), timeout * 1000) : undefined;
      const abort = () => end('aborted');
      signal?.addEventListener('abort', abort, { once: true });
      try {
        await send('process/start', {
          processId,
          ...(callId !== undefined && { metadata: { toolCallId: callId } }),
          argv: [shell, '-c', command],
          cwd: address(cwd),
          env: {},
          tty: false,
        });
        if (signal?.aborted) abort();
        const exitCode = await ended.promise;
        if (why !== undefined) throw new Error(why);
        return { exitCode };
      } finally {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
        listeners.delete(processId);
      }
    },
  });

  const readFile = async (path: string) =>
    Buffer.from(String((await ask('fs/readFile', path))['dataBase64']), 'base64');
  const access = async (path: string) => {
    await ask('fs/getMetadata', path);
  };
  const writeFile = async (path: string, content: string) => {
    await ask('fs/writeFile', path, { dataBase64: Buffer.from(content).toString('base64') });
  };
  /** A file of long output, to its path in the sandbox. The command has run, so what it printed is told even where that fails. */
  const broughtIn = async (file: string) => {
    try {
      if (statSync(file).size > MAX_OUTPUT_BYTES) return false;
      await ask('fs/writeFile', file, { dataBase64: readFileSync(file).toString('base64') });
      return true;
    } catch {
      return false;
    }
  };
  const KINDS = [
    ['image/png', '89504e47'],
    ['image/jpeg', 'ffd8ff'],
    ['image/gif', '47494638'],
    ['image/webp', '52494646'],
  ] as const;
  const operations = {
    read: {
      readFile,
      access,
      async detectImageMimeType(path: string) {
        const start = (await readFile(path)).subarray(0, 4).toString('hex');
        return KINDS.find(([, magic]) => start.startsWith(magic))?.[0];
      },
    },
    write: {
      writeFile,
      async mkdir(path: string) {
        await ask('fs/createDirectory', path, { recursive: true });
      },
    },
    edit: { readFile, writeFile, access },
    ls: {
      exists: async (path: string) =>
        await access(path).then(
          () => true,
          (error: Error & { readonly code?: number }) => {
            if (error.code !== absent) throw error;
            return false;
          },
        ),
      async stat(path: string) {
        const { isDirectory } = await ask('fs/getMetadata', path);
        return { isDirectory: () => isDirectory === true };
      },
      async readdir(path: string) {
        const { entries } = await ask('fs/readDirectory', path);
        return (entries as readonly { readonly fileName: string }[]).map(({ fileName }) => fileName);
      },
    },
  };
  const cwd = process.cwd();
  // pi would take ~ for the home of the person.
  const atHome = (tool: Tool): Tool => ({
    ...tool,
    async execute(id: unknown, input: unknown, ...rest: readonly unknown[]) {
      const { path, ...given } = input as { readonly path?: unknown };
      const own = typeof path === 'string' ? path.replace(/^~(?=\/|$)/, home) : path;
      return await tool.execute(id, path === undefined ? given : { ...given, path: own }, ...rest);
    },
  });
  pi.registerTool(atHome(kit.createReadTool(cwd, { operations: operations.read })));
  pi.registerTool(atHome(kit.createWriteTool(cwd, { operations: operations.write })));
  pi.registerTool(atHome(kit.createEditTool(cwd, { operations: operations.edit })));
  pi.registerTool(atHome(kit.createLsTool(cwd, { operations: operations.ls })));
  pi.registerTool({
    ...kit.createBashTool(cwd, { operations: run() }),
    async execute(id: string, ...rest: readonly unknown[]) {
      const result = (await kit.createBashTool(cwd, { operations: run(id) }).execute(id, ...rest)) as BashResult;
      const { fullOutputPath: file } = result.details ?? {};
      if (file === undefined || (await broughtIn(file))) return result;
      const text = `[Litterbox: ${file} is not in the sandbox. Print to a file below /tmp there, and read that.]`;
      return { ...result, content: [...result.content, { type: 'text', text }] };
    },
  });
  // An open connection would keep pi from ending.
  pi.on('session_shutdown', () => void link?.then((one) => one.close()));
  // What the person types with ! runs where the agent's commands run.
  pi.on('user_bash', () => ({ operations: run() }));
}
