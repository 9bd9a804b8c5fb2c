import { ExecChannel } from '@litterbox/core/provider';
import { Sandboxes } from './sandboxes.ts';

// A program that makes a sandbox, works in it and stays. Arguments: socket of the engine, directory.
const sandboxes = await Sandboxes.open(...(process.argv.slice(2) as [string, string]));
const runtime = await sandboxes.create();
await new ExecChannel(runtime).run({ argv: ['sh', '-c', 'echo made >made'] });
process.stdout.write(`${runtime.id}\n`);
setInterval(() => {}, 1000);
