// Runs one command line after the other in this process, as the parent asks: { args, directory, environment }.
import { main } from '@litterbox/cli';
import type { CommandLine, Said } from './bad-input-fixture.ts';

const own = { ...process.env };

/** What is written while `body` runs. */
async function listening(body: () => Promise<void>): Promise<Omit<Said, 'code'>> {
  const said = { stdout: '', stderr: '' };
  const restore = (['stdout', 'stderr'] as const).map((name) => {
    const stream = process[name];
    const { write } = stream;
    stream.write = (text: string | Uint8Array) => {
      said[name] += typeof text === 'string' ? text : Buffer.from(text).toString();
      return true;
    };
    return () => {
      stream.write = write;
      stream.removeAllListeners('error'); // `main` expects to be the only one in its process
    };
  });
  try {
    await body();
  } finally {
    for (const one of restore) one();
  }
  return said;
}

process.on('message', ({ args, directory, environment }: CommandLine) => {
  void (async () => {
    for (const name of Object.keys(process.env)) delete process.env[name];
    Object.assign(process.env, own, environment);
    process.chdir(directory);
    process.exitCode = undefined;
    const said = await listening(() => main(args));
    const code = process.exitCode ?? 0;
    process.exitCode = 0;
    process.send?.({ code, ...said });
  })();
});
