// The load of this program alone, on an API server that only pretends: node --no-warnings --expose-gc --conditions=@litterbox/source
// tools/kubernetes/client-load.mjs [SANDBOXES] [PROGRAMS]. Opens so many sandboxes at once, lists them, and has so many programs run.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { WebSocketServer } from 'ws';

const PAGE = 500;
const idOf = (number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

function podOf(number) {
  const id = idOf(number);
  const meta = {
    version: 1,
    id,
    slug: 'load',
    repositoryId: idOf(0),
    workdir: '/src',
    environment: {},
    limits: { memoryBytes: 2 ** 32, cpus: 2, processes: 512, openFiles: 4096 },
    playground: id,
    allowDegraded: false,
    image: 'busybox:latest',
    user: 1_000_000_000 + number,
  };
  const made = { firstMark: 'x:0', imageEnvironment: {}, processors: [0, 1] };
  return {
    metadata: {
      name: `litterbox-${id}`,
      labels: { 'litterbox.dev/id': id },
      annotations: { 'litterbox.dev/sandbox': JSON.stringify(meta), 'litterbox.dev/made': JSON.stringify(made) },
    },
    spec: { nodeName: `node-${number % 100}` },
    status: { phase: 'Running', containerStatuses: [{ name: 'sandbox', state: { running: {} } }] },
  };
}

/** The other program: it serves pods and programs that never end, and tells how many questions, watches and websockets it has seen. */
async function serve(count) {
  const seen = { questions: 0, watches: 0, mostSockets: 0 };
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: () => 'v5.channel.k8s.io' });
  const server = createServer(({ url }, response) => {
    seen.questions += 1;
    const { pathname, searchParams } = new URL(url, 'http://x');
    if (searchParams.has('watch')) seen.watches += 1;
    const number = Number(/litterbox-0{8}-0000-4000-8000-(\d{12})$/.exec(pathname)?.[1] ?? NaN);
    if (!Number.isNaN(number)) return void response.end(JSON.stringify(podOf(number)));
    if (pathname.endsWith('/persistentvolumeclaims')) return void response.end('{"items":[]}');
    if (!pathname.endsWith('/pods')) return void response.writeHead(404).end('{}');
    const from = Number(searchParams.get('continue') ?? 0);
    const items = Array.from({ length: Math.min(PAGE, count - from) }, (_, at) => podOf(from + at));
    const next = from + PAGE < count ? { continue: String(from + PAGE) } : {};
    response.end(JSON.stringify({ metadata: next, items }));
  });
  server.on('upgrade', (request, socket, head) =>
    sockets.handleUpgrade(request, socket, head, () => {
      seen.mostSockets = Math.max(seen.mostSockets, sockets.clients.size);
    }),
  );
  server.listen(0, '127.0.0.1', () => process.send(server.address().port));
  process.on('message', () => process.send(seen));
  process.on('disconnect', () => process.exit());
}

async function load(count, programs) {
  const server = fork(import.meta.filename, ['serve', String(count)]);
  const [port] = await once(server, 'message');
  const ask = async () => {
    server.send('tell');
    return (await once(server, 'message'))[0];
  };
  const directory = await mkdtemp(join(tmpdir(), 'litterbox-load-'));
  const file = join(directory, 'config');
  const { kubeconfig } = await import('../../packages/provider-kubernetes/test/fake-cluster.ts');
  await writeFile(file, kubeconfig(`http://127.0.0.1:${port}`));
  const { localHost } = await import('@litterbox/host');
  const { kubernetes } = await import('../../packages/provider-kubernetes/src/index.ts');
  const { KubeApi } = await import('../../packages/provider-kubernetes/src/api/kube-api.ts');
  const { podExecEngine } = await import('../../packages/provider-kubernetes/src/pod-exec.ts');
  const local = localHost();
  const facts = await local.facts();
  const host = Object.assign(Object.create(local), { environment: { ...local.environment, KUBECONFIG: file } });
  const provider = kubernetes({ host, facts, directory });
  const memory = () => {
    globalThis.gc?.();
    return process.memoryUsage().rss;
  };
  const begin = { ms: performance.now(), rss: 0 };
  const tell = (title, number) => {
    const rss = memory();
    const ms = performance.now() - begin.ms;
    const kib = (rss - begin.rss) / number / 1024;
    console.log(
      `${title}: ${number} in ${(ms / 1000).toFixed(1)} s (${(ms / number).toFixed(2)} ms each), ${(rss / 2 ** 20).toFixed(0)} MiB, ${kib.toFixed(1)} KiB each`,
    );
    begin.rss = rss;
    begin.ms = performance.now();
  };
  await (await provider.open(idOf(0)))[Symbol.asyncDispose](); // the client library is loaded with the first question
  begin.rss = memory();
  begin.ms = performance.now();
  const runtimes = [];
  for (let from = 0; from < count; from += 100)
    runtimes.push(
      ...(await Promise.all(
        Array.from({ length: Math.min(100, count - from) }, (_, at) => provider.open(idOf(from + at))),
      )),
    );
  tell('opened', count);
  let listed = 0;
  for await (const _one of provider.list()) listed += 1;
  tell('listed', listed);
  const before = await ask();
  await delay(5_000);
  const { questions } = await ask();
  console.log(`at rest for five seconds: ${questions - before.questions} questions`);
  begin.ms = performance.now();
  const api = new KubeApi({ provider: 'kubernetes', environment: { KUBECONFIG: file }, homeDirectory: '/nowhere' });
  const running = [];
  for (let from = 0; from < programs; from += 50)
    running.push(
      ...(await Promise.all(
        Array.from({ length: Math.min(50, programs - from) }, (_, at) =>
          podExecEngine(api, 'kubernetes', { pod: `litterbox-${idOf(from + at)}` }).start({
            script: () => 'sleep 1000',
            environment: [],
            hasTerminal: false,
            hasStdin: false,
          }),
        ),
      )),
    );
  tell('programs', programs);
  const { watches, mostSockets } = await ask();
  console.log(`watches: ${watches}; websockets at once: ${mostSockets}`);
  for (const exec of running) exec.destroy();
  for (const runtime of runtimes) await runtime[Symbol.asyncDispose]();
  api.close();
  await provider[Symbol.asyncDispose]();
  server.kill();
  await rm(directory, { recursive: true, force: true });
}

if (process.argv[2] === 'serve') await serve(Number(process.argv[3]));
else await load(Number(process.argv[2] ?? 10_000), Number(process.argv[3] ?? 1_000));
