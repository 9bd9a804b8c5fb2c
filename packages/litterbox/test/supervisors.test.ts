import { existsSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { eventually, forBackend } from '@litterbox/conformance';
import { isLitterboxError } from '@litterbox/core';
import type { Litterbox, Sandbox } from '../src/index.ts';
import { PROVIDER } from './provider.ts';
import { LibraryFixture } from './library-fixture.ts';

const DIRECTORY = '/var/lib/litterbox-test/images/supervisors';
const suite = await forBackend('supervisors', { describe, it }, async () =>
  existsSync(DIRECTORY) ? undefined : `${DIRECTORY} is missing: sh tools/test-host.sh up makes it`,
);
/** A root file system that has all three, made by tools/test-host/images.sh: as an image, and as a directory. */
const ROOT = PROVIDER === 'overlayfs' ? `[overlayfs]\nrootfs = "${DIRECTORY}"\n` : '';
const IMAGE = PROVIDER === 'overlayfs' ? '' : 'base-image = "supervisors:bookworm"\n';

const WEB = `trap "echo reloaded" HUP; trap "echo bye; exit 0" INT; echo up; while :; do sleep 0.05; done`;

/** What an agent uses inside to look at `web`, and to end what supervises. */
const INSIDE: Readonly<Record<string, { readonly look: string; readonly says: RegExp; readonly program: string }>> = {
  supervisord: {
    look: 'supervisorctl -c ~/.litterbox-services/supervisord.conf status web',
    says: /^web +RUNNING /,
    program: 'supervisord -n',
  },
  s6: { look: 's6-svstat ~/.litterbox-services/services/web', says: /^up /, program: 's6-svscan ' },
  runit: { look: 'sv status ~/.litterbox-services/services/web', says: /^run: /, program: 'runsvdir ' },
};

/** A person whose sandboxes have one service, which sleeps. */
const withWeb = (supervisor: string) =>
  new LibraryFixture({
    '.litterbox.toml': `${ROOT}[container]
${IMAGE}supervisor = "${supervisor}"
[container.services]
web = { command = ["sh", "-c", "echo up; exec sleep 4321"] }
`,
  });

const firstOf = async (sandbox: Sandbox) => (await sandbox.services())[0];

async function made(litterbox: Litterbox): ReturnType<Litterbox['create']> {
  await litterbox.trust((await litterbox.trustStatus()).contentHash);
  return await litterbox.create({ name: 'one' });
}

const logOf = async (sandbox: Sandbox, service: string) => {
  let log = '';
  for await (const { text } of sandbox.logs({ service })) log += text;
  return log;
};

/** Processes with this argument. */
const countOf = async (sandbox: Sandbox, argument: string) =>
  Number((await sandbox.run(`grep -lz "^${argument}$" /proc/[0-9]*/cmdline 2>/dev/null | wc -l`)).stdout);

for (const [supervisor, inside] of Object.entries(INSIDE))
  suite.describe(`services under ${supervisor}`, () => {
    it('start, answer to their signals, say how they ended, and stop', async () => {
      await using fixture = new LibraryFixture({
        '.litterbox.toml': `${ROOT}[container]
${IMAGE}supervisor = "${supervisor}"
[container.services]
web = { command = ["sh", "-c", '${WEB}'], signals = { stop = "SIGINT", restart = "SIGHUP" } }
late = { command = ["sh", "-c", "echo late; sleep 0.3; touch /playground/healthy; exec sleep 4321"], health = { command = ["test", "-e", "/playground/healthy"] }, after = ["web"] }
crash = { command = ["sh", "-c", "echo going down; exit 3"] }
once = { command = ["sh", "-c", "echo only once; exit 4"], restart = "never" }
done = { command = ["sh", "-c", "echo all done"] }
deaf = { command = ["sh", "-c", "trap '' TERM; echo deaf; while :; do sleep 1234; done"], stop-timeout = "1s" }
`,
      });
      const litterbox = fixture.open();
      const sandbox = await made(litterbox);
      expect(sandbox.created.warnings.join('\n')).toContain('once');
      const states = async () =>
        Object.fromEntries((await sandbox.services()).map((service) => [service.name, service] as const));
      expect(await eventually(states, ({ crash }) => (crash?.restarts ?? 0) > 0)).toMatchObject({
        web: { state: 'running', restarts: 0 },
        late: { state: 'running', restarts: 0 },
        once: { state: 'failed', restarts: 0, exit: { code: 4 } },
        done: { state: 'exited', restarts: 0, exit: { code: 0 } },
        deaf: { state: 'running', restarts: 0 },
        crash: { exit: { code: 3 } },
      });
      expect(await logOf(sandbox, 'once')).toMatch(/^only once\n/);
      expect((await logOf(sandbox, 'crash')).split('going down\n').length).toBeGreaterThan(2);
      // An agent can use what it knows of the image.
      expect((await sandbox.run(inside.look)).stdout).toMatch(inside.says);
      await sandbox.service('restart', 'web');
      await eventually(
        async () => await logOf(sandbox, 'web'),
        (log) => log.includes('reloaded\n'),
      );
      expect((await states())['web']).toMatchObject({ state: 'running', restarts: 0 });
      await sandbox.service('stop', 'web');
      expect(await logOf(sandbox, 'web')).toMatch(/^up\n[^]*reloaded\nbye\n/);
      expect((await states())['web']).toMatchObject({ state: 'stopped' });
      await sandbox.service('start', 'web');
      expect((await states())['web']).toMatchObject({ state: 'running' });
      const failure = await sandbox.service('start', 'once').catch((error: unknown) => error);
      expect(isLitterboxError(failure, 'SERVICE_FAILED') && failure.message).toContain('only once');
      expect(await countOf(sandbox, '1234')).toBe(1); // positive control
      await sandbox.service('stop');
      expect(new Set(Object.values(await states()).map(({ state }) => state))).toEqual(new Set(['stopped']));
      expect(await countOf(sandbox, '1234')).toBe(0);
      expect(await countOf(sandbox, '4321')).toBe(0);
    });

    it('come back when the supervisor is killed inside, or the sandbox was stopped', async () => {
      await using fixture = withWeb(supervisor);
      const litterbox = fixture.open();
      const sandbox = await made(litterbox);
      const web = () => firstOf(sandbox);
      expect(await web()).toMatchObject({ state: 'running', restarts: 0 });
      await sandbox.run(`for d in /proc/[0-9]*; do
  case $(tr '\\0' ' ' <$d/cmdline 2>/dev/null) in *'${inside.program}'*) kill -KILL \${d#/proc/} ;; esac
done; true`);
      await eventually(web, (one) => one?.state === 'running' && one.restarts > 0, 30_000);
      expect(await countOf(sandbox, '4321')).toBe(1);
      await litterbox.setRunState('one', 'stopped');
      await litterbox.setRunState('one', 'ready');
      await eventually(web, (one) => one?.state === 'running', 30_000);
      expect(await countOf(sandbox, '4321')).toBe(1);
    });

    it('start once what kept the supervisor from starting is mended', async () => {
      await using fixture = withWeb(supervisor);
      const litterbox = fixture.open();
      const sandbox = await made(litterbox);
      const web = () => firstOf(sandbox);
      await sandbox.run('cd ~/.litterbox-services && rm -rf services && touch services && chmod 500 .');
      await litterbox.setRunState('one', 'stopped');
      await litterbox.setRunState('one', 'ready');
      const failed = await eventually(web, (one) => one?.state === 'failed', 30_000);
      expect(failed?.note).toContain('cannot be written');
      await sandbox.run('chmod 700 ~/.litterbox-services');
      await sandbox.service('start', 'web');
      expect(await web()).toMatchObject({ state: 'running', restarts: 0 });
      expect(await countOf(sandbox, '4321')).toBe(1);
    });
  });

it.each(['supervisord', 's6', 'runit'])('a create with %s is refused where the image has none', async (supervisor) => {
  await using fixture = new LibraryFixture({
    '.litterbox.toml': `[container]\n${PROVIDER === 'overlayfs' ? '' : 'base-image = "debian:bookworm"\n'}supervisor = "${supervisor}"\nservices.web.command = ["sleep", "1000"]\n`,
  });
  const litterbox = fixture.open();
  const refusal = await made(litterbox).catch((error: unknown) => error);
  expect(refusal).toMatchObject({
    code: 'UNSUPPORTED',
    message: expect.stringContaining(`container.supervisor is ${supervisor}`),
  });
  expect(await litterbox.list()).toEqual([]);
});
