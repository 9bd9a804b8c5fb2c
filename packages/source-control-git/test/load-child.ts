// Started by the load test with a small heap: records many files and says how much memory that took.
import { type ChangedPath, type SandboxId } from '@litterbox/core/provider';
import { git } from '../src/index.ts';
import { TAR_END, tarHeader, tarPadding } from '../src/objects/tar-writer.ts';

const [state = '', root = '', id = '', countText = ''] = process.argv.slice(2);
const count = Number(countText);
const content = (path: string) => Buffer.from(`content of ${path}\n`.repeat(20));

await using control = git({ stateDirectory: state });
await using repository = await control.open(root);
const before = process.memoryUsage().rss;
let most = before;
const watch = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 5);
const start = performance.now();
const { changedFiles } = await repository.record(id as SandboxId, {
  changes: (async function* (): AsyncGenerator<ChangedPath> {
    for (let index = 0; index < count; index++) {
      const path = `d${Math.floor(index / 200)}/file-${index}.txt`;
      yield { type: 'file', path, sizeBytes: content(path).length, executable: false };
      yield { type: 'file', path: `skip/${index}`, sizeBytes: 1, executable: false };
    }
  })(),
  contents: (paths) =>
    ReadableStream.from(
      (async function* () {
        for await (const name of paths) {
          if (name.startsWith('skip/')) throw new Error('asked for an ignored file');
          const bytes = content(name);
          const header = tarHeader({ type: 'file', name, mode: 0o644, sizeBytes: bytes.length });
          yield Buffer.concat([header, bytes, tarPadding(bytes.length)]);
        }
        yield TAR_END;
      })(),
    ),
  message: { subject: 'many', trailers: [] },
});
clearInterval(watch);
const grownBytes = Math.max(most, process.memoryUsage().rss) - before;
process.stdout.write(JSON.stringify({ changedFiles, grownBytes, ms: performance.now() - start }));
