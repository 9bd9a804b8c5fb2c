import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { describeSandboxProvider } from '@litterbox/conformance';
import { localHost } from '@litterbox/host';
import { provider } from '../src/index.ts';

const directory = await mkdtemp(join(tmpdir(), '{{name}}-'));
after(() => rm(directory, { recursive: true, force: true }));
const host = localHost();
const facts = await host.facts();

describeSandboxProvider({
  name: '{{name}}',
  runner: {
    describe: (title, body) => void describe(title, body),
    it: (title, body, timeout) => void it(title, { timeout: timeout ?? 60_000 }, body),
    afterAll: (body, timeout) => after(body, { timeout: timeout ?? 60_000 }),
  },
  open: async () => provider({ host, facts, directory }),
  host,
});
