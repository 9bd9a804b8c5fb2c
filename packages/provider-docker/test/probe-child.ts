import { localHost } from '@litterbox/host';
import { docker } from '../src/index.ts';

// A program of its own: prints what it finds at the address that its environment names.
const host = localHost();
const provider = docker({ host, facts: await host.facts(), directory: '/nowhere' });
const { checks } = await provider.probe();
process.stdout.write(checks[0]?.finding ?? '');
await provider[Symbol.asyncDispose]();
