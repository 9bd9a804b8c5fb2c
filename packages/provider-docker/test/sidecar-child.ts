import { SandboxId } from '@litterbox/core/provider';
import { localHost } from '@litterbox/host';
import { docker } from '../src/index.ts';

// A program of its own that listens in a sandbox until it is killed. Arguments: socket of the engine, directory of the provider, sandbox.
const [socket = '', directory = '', id = ''] = process.argv.slice(2);
const host = localHost();
const provider = docker({ host, facts: await host.facts(), directory, socket });
const runtime = await provider.open(SandboxId.parse(id));
await runtime.listen?.(3128, () => {});
process.stdout.write('listens\n');
