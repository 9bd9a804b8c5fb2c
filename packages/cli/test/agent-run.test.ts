import { type ChildProcess, execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '@litterbox/conformance';
import { keyServer } from '@litterbox/testing';
import { CliFixture, type Ran } from './cli-fixture.ts';

/** An agent: asks its model, then does what its prompt says, by whatever is there. */
const AGENT = `#!/bin/sh
at=\${MODEL_URL#http://}
printf 'POST /v1/messages HTTP/1.1\\r\\nHost: %s\\r\\nConnection: close\\r\\nx-api-key: %s\\r\\nContent-Length: 0\\r\\n\\r\\n' "$at" "$MODEL_KEY" >/tmp/asked
if command -v perl >/dev/null; then
perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new($ARGV[0]) or die "nothing listens\\n"; open F, "/tmp/asked"; local $/; print $s <F>; print <$s>' "$at" >/tmp/answer
else mkfifo /tmp/open; nc "\${at%:*}" "\${at#*:}" </tmp/open >/tmp/answer & exec 3>/tmp/open; cat /tmp/asked >&3; wait $!; exec 3>&-; rm /tmp/open; fi
printf '{"type":"answer","status":"%s"}\\n' "$(head -n1 /tmp/answer | tr -d '\\r')"
printf '%s\\n' "$MODEL_STATE" >"$MODEL_STATE/at"
eval "$1"
`;

const TABLE = `[agents.scripted]
title = "Scripted"
program = "./agent.sh"
args = ["{prompt}"]
endpoint = "anthropic"
state = ".scripted"
logins = ["auth.json"]
env = { MODEL_URL = "{url}", MODEL_KEY = "{placeholder}", MODEL_STATE = "{state}" }
files = { "sub/settings.json" = '{"url":"{url}"}' }
end = { type = "result" }
tokens = { input = "usage.input_tokens", output = "usage.output_tokens" }
`;
const ABSENT =
  '[agents.absent]\ntitle = "Absent"\nprogram = "absent-agent"\nargs = ["{prompt}"]\nendpoint = "anthropic"\nstate = ".absent"\n';
const DONE = `echo '{"type":"result","usage":{"input_tokens":12,"output_tokens":3}}'`;

interface AgentFixture extends AsyncDisposable {
  readonly environment: Readonly<Record<string, string>>;
  readonly fixture: CliFixture;
  readonly key: string;
  readonly heard: readonly string[];
  readonly outputs: string[];
  run(...args: readonly string[]): Promise<Ran>;
  agent(prompt: string, ...flags: readonly string[]): Promise<Ran>;
}

async function agentFixture(): Promise<AgentFixture> {
  const fixture = new CliFixture();
  const key = `sk-real-${randomBytes(16).toString('hex')}`;
  const server = fixture.use(await keyServer(key));
  const ca = join(fixture.directory, 'ca.pem');
  writeFileSync(ca, server.certificate);
  fixture.file('agent.sh', AGENT);
  chmodSync(join(fixture.repository, 'agent.sh'), 0o755);
  fixture.file(
    '.litterbox.toml',
    `[secrets]\nKEY = { environment = "MODEL_KEY_OUTSIDE" }\n[endpoints.model]\nkind = "anthropic"\nurl = "${server.url}"\nsecret = "KEY"\n${TABLE}${ABSENT}`,
  );
  fixture.git('add', '-A');
  fixture.git('commit', '-qm', 'agent');
  const outputs: string[] = [];
  const environment = { MODEL_KEY_OUTSIDE: key, NODE_EXTRA_CA_CERTS: ca };
  const run = async (...args: readonly string[]) => {
    const ran = await fixture.run(args, undefined, environment);
    outputs.push(ran.stdout, ran.stderr);
    return ran;
  };
  expect((await run('trust', '--yes')).code).toBe(0);
  return {
    fixture,
    environment,
    key,
    outputs,
    heard: server.heard,
    run,
    agent: (prompt, ...flags) => run('agent', 'run', 'scripted', '--sandbox', 'one', ...flags, '--', prompt),
    [Symbol.asyncDispose]: async () => await fixture[Symbol.asyncDispose](),
  };
}

/** Once a file inside is there, as the person sees it. */
async function appears({ run }: AgentFixture, path: string): Promise<void> {
  while ((await run('run', 'one', `test -e ${path}`)).code !== 0)
    await new Promise((resolve) => setTimeout(resolve, 50));
}

/** The page of the sandbox `one`: with a body it is a POST. */
async function askOf(page: ChildProcess): Promise<(what: string, body?: object) => Promise<unknown>> {
  const [bytes] = (await once(page.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
  const { origin, hash } = new URL((JSON.parse(bytes.toString()) as { readonly address: string }).address);
  const send = async (path: string, token: string, body?: object) => {
    const headers = { authorization: `Bearer ${token}`, origin, 'content-type': 'application/json' };
    const answer = await fetch(origin + path, { headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) });
    const lines = (await answer.text()).trimEnd().split('\n');
    return lines.length > 1
      ? lines.map((line) => JSON.parse(line) as unknown)
      : (JSON.parse(lines[0] ?? '') as unknown);
  };
  const { session } = (await send('/api/session', hash.slice(1), {})) as { readonly session: string };
  return async (what, body) => await send(`/api/sandboxes/one/${what}`, session, body);
}

describe('litterbox agent run', () => {
  it('AX155: works inside with a key that is nowhere inside, and leaves one diff to merge', async () => {
    await using scene = await agentFixture();
    const { fixture, key, run, agent } = scene;
    const ran = await agent(`cat ~/.scripted/sub/settings.json; echo; sed -i s/a/b/ a.txt; ${DONE}; exit 3`);
    expect(ran).toMatchObject({ code: 3, stdout: expect.stringContaining('"status":"HTTP/1.1 200 OK"') });
    expect(ran.stdout).toMatch(/^\{"url":"http:\/\/127\.0\.0\.1:\d+"\}$/m);
    expect(ran.stderr).toMatch(
      /^Scripted ended after \d+ s with exit code 3, by its own count with 12 tokens in and 3 out, and left one with one changed file\.\n {2}litterbox diff one\n {2}litterbox merge one\n {2}litterbox agent run scripted --sandbox one -- PROMPT$/m,
    );
    expect(scene.heard).toEqual(['POST /v1/messages 200']);
    expect((await run('agent', 'logs', 'one')).stdout).toBe(ran.stdout);
    const cost = JSON.parse((await run('cost', 'one', '--json')).stdout) as { readonly compute: { callMs: number } };
    expect(cost).toMatchObject({ endpoints: [{ requests: 1 }], compute: { calls: 3, untimed: 0 } });
    expect(cost.compute.callMs).toBeGreaterThan(0);
    expect((await run('list', '--wide')).stdout).toMatch(/\t0\t\d+\.\d s\t/);
    expect((await run('log', 'one')).stdout).toMatch(/scripted: "cat ~/);
    await run('run', 'one', 'env; cat /proc/*/environ; true');
    await run('audit', '--json');
    expect(scene.outputs.join('\n')).not.toContain(key);
    const search = (text: string) =>
      execFileSync('sh', ['-c', 'grep -rlaF -e "$0" "$1" || true', text, fixture.directory], { encoding: 'utf8' });
    expect(search('input_tokens')).not.toBe(''); // what the agent printed is kept, so the search finds things
    expect(search(key)).toBe('');
    expect(await run('merge', 'one', '--tip', '1')).toMatchObject({ code: 0 });
    expect(readFileSync(join(fixture.repository, 'a.txt'), 'utf8')).toBe('b\n');
    expect(readdirSync(join(fixture.stateDirectory, 'agents'))).toEqual([]); // what the agent printed went with the sandbox
  });

  it('FC-311: says so when its sandbox is deleted meanwhile', async () => {
    await using scene = await agentFixture();
    const working = scene.agent('touch /tmp/works; sleep 987');
    while (!existsSync(join(scene.fixture.stateDirectory, 'agents'))) await new Promise((go) => setTimeout(go, 50));
    await appears(scene, '/tmp/works');
    expect((await scene.run('delete', 'one', '--force')).code).toBe(0);
    const { code, stderr } = await working;
    expect(code).not.toBe(70);
    expect(stderr).not.toContain('bug in Litterbox');
    expect(stderr).toContain('one');
  });

  it('FC-318: ends inside when its litterbox is killed', async () => {
    await using scene = await agentFixture();
    const { fixture, run, environment } = scene;
    const words = ['agent', 'run', 'scripted', '--sandbox', 'one', '--', 'touch /tmp/works; exec sleep 98765'];
    const child = fixture.start(words, environment);
    const closed = once(child, 'close');
    while (!existsSync(join(fixture.stateDirectory, 'agents'))) await new Promise((go) => setTimeout(go, 50));
    await appears(scene, '/tmp/works');
    const works = async () => (await run('run', 'one', 'cat /proc/[0-9]*/cmdline')).stdout.includes('98765');
    expect(await works()).toBe(true); // and so it is long enough at work for the guard
    child.kill('SIGKILL');
    await closed;
    await eventually(works, (isThere) => !isThere, 10_000);
  });

  it('FC-318: several end inside when the litterbox that started them is killed', async () => {
    await using scene = await agentFixture();
    const { fixture, run, environment } = scene;
    const words = [
      'agent',
      'run',
      'scripted',
      '--sandbox',
      'one',
      '-n',
      '2',
      '--',
      'touch /tmp/works; exec sleep 98764',
    ];
    const child = fixture.start(words, environment);
    const closed = once(child, 'close');
    while (!existsSync(join(fixture.stateDirectory, 'agents'))) await new Promise((go) => setTimeout(go, 50));
    await appears(scene, '/tmp/works');
    const works = async () => (await run('run', 'one', 'cat /proc/[0-9]*/cmdline')).stdout.includes('98764');
    expect(await works()).toBe(true);
    child.kill('SIGKILL');
    await closed;
    await eventually(works, (isThere) => !isThere, 10_000);
  });

  it('FC-449: notes of the person are its next task, and those with which it cannot begin wait again', async () => {
    await using scene = await agentFixture();
    const { fixture, run } = scene;
    // The first task writes what each later one is told: its own prompt.
    const program = AGENT.replace('eval "$1"', 'case $1 in The*) printf "%s" "$1" >>told.txt;; *) eval "$1";; esac');
    fixture.file('agent.sh', program);
    fixture.git('commit', '-qam', 'notes');
    expect((await scene.agent(`echo new >new.txt; ${DONE}`)).code).toBe(0);
    const page = fixture.start(['review', 'one', '--no-open', '--json'], scene.environment);
    try {
      const ask = await askOf(page);
      const [{ tip }] = (await ask('diff')) as [{ tip: string }];
      const note = { path: 'new.txt', line: 1, words: 'Say "why".\nIn two lines.', tip };
      expect(await ask('note', note)).toMatchObject({ notes: [{ note: 1, name: 'new.txt', revision: 1 }] });
      expect(await run('agent', 'run', 'absent', '--sandbox', 'one')).toMatchObject({ code: 5 });
      expect(await ask('notes')).toMatchObject({ notes: [{ words: note.words }] });
      expect(((await ask('notes')) as { notes: { given?: unknown }[] }).notes[0]?.given).toBeUndefined();
      const ran = await run('agent', 'run', 'scripted', '--sandbox', 'one');
      expect(ran).toMatchObject({ code: 0, stderr: expect.stringContaining('Its task: a note of yours') });
      expect(await ask('notes')).toMatchObject({ notes: [{ given: { to: 'scripted', isTask: true } }] });
      const heard = async () => (await run('run', 'one', 'cat told.txt')).stdout;
      expect(await heard()).toContain(`\n\nnew.txt, line 1 as of revision 1, "new":\n${note.words}`);
      expect(await run('agent', 'run', 'scripted', '--sandbox', 'one')).toMatchObject({ code: 2 });

      // One that comes while the agent is at work is its next task.
      const working = scene.agent('touch /tmp/works; until [ -e /tmp/go ]; do sleep 0.05; done');
      await appears(scene, '/tmp/works');
      expect(await ask('note', { ...note, words: 'Later.' })).toMatchObject({ agent: 'scripted' });
      await run('run', 'one', 'touch /tmp/go');
      expect(await working).toMatchObject({ code: 0 });
      expect(await heard()).toMatch(/Later\.$/);
    } finally {
      page.kill('SIGINT');
      await once(page, 'exit');
    }
  });

  it('is stopped by another command, and what it did is recorded', async () => {
    await using scene = await agentFixture();
    const { agent, run } = scene;
    const working = agent('echo d >d.txt; touch /tmp/works; sleep 987');
    while (!existsSync(join(scene.fixture.stateDirectory, 'agents'))) await new Promise((go) => setTimeout(go, 50));
    await appears(scene, '/tmp/works');
    const attached = run('agent', 'attach', 'one');
    expect(JSON.parse((await run('list', '--json')).stdout)).toMatchObject([{ agent: 'scripted' }]);
    expect(await agent('true')).toMatchObject({ code: 6, stderr: expect.stringContaining('is at work in one') });
    const stops = await Promise.all([run('agent', 'stop', 'one'), run('agent', 'stop', 'one')]);
    expect(Math.min(...stops.map(({ code }) => code))).toBe(0); // the other may find none any more
    expect(await working).toMatchObject({ code: 143, stderr: expect.stringContaining('was stopped after') });
    expect((await run('diff', 'one')).stdout).toContain('d.txt');
    const seen = await attached;
    expect(seen).toMatchObject({ code: 0, stdout: (await run('agent', 'logs', 'one')).stdout });
    expect(seen.stdout).toContain('"type":"answer"');
    expect((await run('agent', 'attach', 'one')).code).toBe(3);
    expect((await run('agent', 'stop', 'one')).code).toBe(3);
    expect((await run('agent', 'logs', 'one')).code).toBe(0);
    expect((await run('delete', 'one', '--force')).code).toBe(0);
    expect(readdirSync(join(scene.fixture.stateDirectory, 'agents'))).toEqual([]);
  });

  it('lets several work at once, each in a sandbox of its own', async () => {
    await using scene = await agentFixture();
    const { run } = scene;
    const ran = await run(
      'agent',
      'run',
      'scripted',
      '--sandbox',
      'one',
      '-n',
      '2',
      '--json',
      '--',
      `echo $$ >d.txt; ${DONE}`,
    );
    expect(JSON.parse(ran.stdout)).toEqual(
      ['one', 'one-2'].map((sandbox) =>
        expect.objectContaining({ sandbox, exitCode: 0, changedFiles: 1, tokens: { input: 12, output: 3 } }),
      ),
    );
    expect(ran.code).toBe(0);
    const { stderr, code } = await run(
      'agent',
      'run',
      'scripted',
      '--sandbox',
      'one',
      '-n',
      '2',
      '--provider',
      'nowhere',
      '--',
      'true',
    );
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/one-3: .*nowhere/) });
  });

  it('ranks agents and prompts by a judge, whose own changes are taken back', async () => {
    await using scene = await agentFixture();
    const { run, fixture } = scene;
    const file = join(fixture.repository, '.litterbox.toml');
    writeFileSync(file, readFileSync(file, 'utf8') + TABLE.replaceAll('scripted', 'second'));
    expect((await run('trust', '--yes')).code).toBe(0);
    const words = ['agent', 'run', 'scripted,second', '--prompt', `echo 3 >s; ${DONE}`, '--judge', 'echo >>b; cat s'];
    const ran = await run(...words, '--json', '--', `echo 1 >s; ${DONE}`);
    const branch = fixture.git('symbolic-ref', '--short', 'HEAD').trim();
    const expected = (sandbox: string, score: number) =>
      expect.objectContaining({ sandbox, changedFiles: 1, judgement: { passed: true, score, exitCode: 0 } });
    expect(JSON.parse(ran.stdout)).toEqual([
      expected(`${branch}-scripted-2`, 3),
      expected(`${branch}-second-2`, 3),
      expected(`${branch}-scripted`, 1),
      expected(`${branch}-second`, 1),
    ]);
    expect((await run('diff', `${branch}-second`)).stdout).not.toContain('b/b');
    const failed = await run('agent', 'run', 'scripted', '-n', '2', '--judge', 'exit 4', '--', DONE);
    expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining('None passed.') });
    expect(failed.stdout).toMatch(/^exit 4\t\t\S+-scripted-3\t/m);
  });

  it('Ctrl-C ends several by hand, and what each of them did is recorded', async () => {
    await using scene = await agentFixture();
    const { fixture, run, environment } = scene;
    const words = ['agent', 'run', 'scripted', '-n', '2', '--', 'echo 1 >s; touch /tmp/works; exec sleep 98765'];
    const child = fixture.startInTerminal(words, environment);
    const closed = once(child, 'close');
    let shown = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (shown += text));
    const branch = fixture.git('symbolic-ref', '--short', 'HEAD').trim();
    const names = [`${branch}-scripted`, `${branch}-scripted-2`];
    for (const name of names)
      await eventually(
        async () => (await run('run', name, 'test -e /tmp/works')).code,
        (code) => code === 0,
      );
    child.stdin?.write('\u0003');
    expect(await closed).toEqual([130, null]);
    for (const name of names) {
      expect(shown).toContain(`${name}: ended by hand`);
      expect((await run('diff', name, '--name-only')).stdout).toContain('s');
      expect((await run('log', name)).stdout).not.toContain('unknown');
    }
  });

  it('FC-457: says what is wrong before anything is made, to an editor too, and lists what there is', async () => {
    await using scene = await agentFixture();
    const { run } = scene;
    for (const [words, code, says] of [
      [['scripte', '--', 'x'], 3, /Did you mean scripted\?/],
      [['scripted', '--time-limit', 'soon', '--', 'x'], 2, /--time-limit "soon"/],
      [['scripted', '-n', '17', '--', 'x'], 2, /--number "17" is not from 1 to 16/],
      [['scripted,absent', '-n', '9', '--', 'x'], 2, /18 agents at once are more than 16/],
      [['scripted', '--judge', 'true', '--', 'x'], 2, /--judge compares several/],
      [['scripted', '--', '-x'], 2, /begins with a dash/],
      [['codex', '--', 'x'], 2, /Codex needs an endpoint of the kind openai, and \.litterbox\.toml has model alone/],
    ] as const)
      expect(await run('agent', 'run', ...words)).toMatchObject({ code, stderr: expect.stringMatching(says) });
    const { agents } = JSON.parse((await run('agent', 'list', '--json')).stdout) as {
      readonly agents: readonly object[];
    };
    const own = { agent: 'scripted', title: 'Scripted', found: false, endpoint: 'anthropic', origin: 'own' };
    expect(agents).toContainEqual(own);
    expect(agents).toContainEqual(expect.objectContaining({ agent: 'goose', origin: 'untried' }));
    expect(await run('agent', 'run', 'absent', '-n', '2', '--', 'x')).toMatchObject({
      stderr: expect.stringContaining('There is no program absent-agent in '),
    }); // FC-316: and what was made for it is gone
    expect((await run('list', '--json')).stdout).toBe('[]\n');
    const initialize = '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}\n';
    const refused = await scene.fixture.run(['acp', 'scripte'], initialize, scene.environment);
    expect(refused).toMatchObject({ code: 3, stderr: expect.stringContaining('Did you mean scripted?') });
    expect(JSON.parse(refused.stdout)).toMatchObject({
      id: 0,
      error: { message: expect.stringContaining('Did you mean scripted?') },
    }); // FC-457: an editor shows an answer, and no other stream
  });
});
