import { after, describe, it } from 'node:test';
import { describeSandboxProvider } from '@litterbox/conformance';
import type { Host } from '@litterbox/core/provider';
import { localHost } from '@litterbox/host';
import { startService } from '../fake/service.ts';
import { provider } from '../src/index.ts';

const service = await startService('kit');
after(() => service.close());
const machine = localHost();
const facts = await machine.facts();
const host: Host = Object.assign(Object.create(machine), {
  environment: { ...machine.environment, MACHINES_URL: service.url, MACHINES_TOKEN: 'kit' },
});

describeSandboxProvider({
  name: '{{name}}',
  runner: {
    describe: (title, body) => void describe(title, body),
    it: (title, body, timeout) => void it(title, { timeout: timeout ?? 60_000 }, body),
    afterAll: (body, timeout) => after(body, { timeout: timeout ?? 60_000 }),
  },
  open: async () => provider({ host, facts, directory: '/nowhere' }),
  host: machine,
});
