import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { CliFixture, NODE } from './cli-fixture.ts';

/** A program that embeds Litterbox, does one thing in the sandbox, and ends. */
const program = (what: string) => `import { overlayfs } from '@litterbox/provider-overlayfs';
import { launchKeeper } from '@litterbox/mcp/start';
import { createLitterbox } from 'litterbox';
await using litterbox = createLitterbox({ repo: process.env.REPOSITORY, providers: [overlayfs], launchKeeper });
const say = (value) => console.log(JSON.stringify(value));
const sandbox = await litterbox.open('kept');
${what}`;

describe('a command that is kept', () => {
  it('outlives the program that spawned it, and another program finds, hears and stops it', async () => {
    await using scratch = new CliFixture();
    await scratch.run(['create', 'kept']);
    const run = async (what: string): Promise<unknown> => {
      const [node = process.execPath, ...flags] = NODE.slice(0, -1);
      const { stdout } = await promisify(execFile)(node, [...flags, '--input-type=module', '-e', program(what)], {
        cwd: new URL('.', import.meta.url).pathname,
        env: { ...scratch.environment, REPOSITORY: scratch.repository },
      });
      return stdout === '' ? undefined : JSON.parse(stdout);
    };
    const started = `const options = { keep: true, name: 'watcher', cwd: '/tmp', env: { WORD: "it's" } };
say((await sandbox.spawn('trap "echo ended >$HOME/ended; exit 3" TERM; echo "$WORD in $PWD"; while :; do sleep 0.1; done', options)).name);`;
    expect(await run(started)).toBe('watcher');
    expect(await run("say(await sandbox.kept('watcher').status())")).toMatchObject({
      name: 'watcher',
      state: 'running',
    });
    expect(
      await run(`say(await sandbox.spawn('true', { keep: true, name: 'watcher' }).catch(({ code }) => code))`),
    ).toBe('ALREADY_EXISTS');
    expect(await run("for await (const { text } of sandbox.kept('watcher').logs()) say(text)")).toContain(
      "it's in /tmp\n",
    );
    // One that ends by itself is beside it, and is not started again.
    expect(await run("say((await sandbox.spawn(['sh', '-c', 'echo x >>once'], { keep: true })).name)")).toBe(
      'command-1',
    );
    expect(await run("say(await sandbox.kept('command-1').status())")).toMatchObject({ state: 'exited' });
    const listed = JSON.parse((await scratch.run(['service', 'kept', 'status', '--json'])).stdout) as {
      name: string;
    }[];
    expect(listed.map(({ name }) => name)).toEqual(['watcher', 'command-1']);

    // A fork has none of them.
    expect(await run("say(await (await sandbox.fork({ name: 'forked' })).services())")).toEqual([]);
    expect(await run("say(await sandbox.kept('watcher').stop())")).toMatchObject({
      state: 'stopped',
      exit: { code: 3 },
    });
    expect(await run("say((await sandbox.run('cat ~/ended once')).stdout)")).toBe('ended\nx\n');

    // Its sandbox stops and goes on: it is not started a second time.
    await scratch.run(['pause', 'kept', '--stop']);
    await scratch.run(['resume', 'kept']);
    expect(await run("say(await sandbox.kept('watcher').status())")).toMatchObject({ state: 'stopped' });
    expect(await run("say((await sandbox.run('cat once')).stdout)")).toBe('x\n');
  });
});
