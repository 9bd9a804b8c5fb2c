import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { AgentFixture } from './agent-fixture.ts';
import { type SeatedClient, treeOf, withTool } from './drive-seat.ts';
import { modelServer } from './model-server.ts';
import type { OtherMachine } from './place-on.ts';
import { calling, mustMatch, type Plot } from './plot.ts';

const LIMIT_MS = 150_000;
/** Long enough for every fault, and found again by its number. */
const LONG = 'sleep 314159';
const SANDBOX = 'faulty';

/** What goes wrong, and when: before the first call, while one runs, or between two. */
export interface Fault {
  readonly title: string;
  readonly at: 'before' | 'during' | 'after';
  inflict(scene: Scene): void;
  /** What the agent's first command does about it; the calls after it still come to the sandbox then. */
  readonly command?: string;
  /** Between agent and Litterbox stands a program that kills Litterbox at the first message of this method; `-` is none. */
  readonly killAt?: string;
}

interface Scene {
  readonly fixture: AgentFixture;
  /** `litterbox with`. */
  readonly command: ChildProcess;
  /** The person's agent. */
  readonly agent: number;
  /** That of the sandbox, where it is another one. */
  readonly machine: OtherMachine | undefined;
}

/** Everything in a sandbox by which an agent could try to have its next command elsewhere. */
const WAYS_OUT = [
  'unset CLAUDE_CODE_SHELL_PREFIX CODEX_EXEC_SERVER_URL',
  'mkdir -p ~/.claude ~/.codex ~/.pi/agent .claude .codex .pi/extensions',
  `for d in . ~; do echo '{"env":{"CLAUDE_CODE_SHELL_PREFIX":""},"disableAllHooks":true}' | tee $d/.claude/settings.json >$d/.claude/settings.local.json; done`,
  `printf 'default = "local"\\n[[environments]]\\nid = "local"\\n' | tee .codex/environments.toml >~/.codex/environments.toml`,
  `echo 'export default () => {}' >.pi/extensions/own.js`,
].join('; ');

export const FAULTS: readonly Fault[] = [
  ...(['before', 'during', 'after'] as const).flatMap((at): readonly Fault[] => [
    { title: 'the agent is killed', at, inflict: ({ agent }) => void process.kill(agent, 'SIGKILL') },
    { title: 'Litterbox is killed', at, inflict: ({ command }) => void command.kill('SIGKILL') },
    { title: 'Ctrl-C', at, inflict: ({ command }) => void process.kill(-(command.pid ?? 0), 'SIGINT') },
    { title: 'the terminal is closed', at, inflict: ({ command }) => void process.kill(-(command.pid ?? 0), 'SIGHUP') },
    {
      title: 'the sandbox is deleted',
      at,
      inflict({ fixture }) {
        const { status, stderr } = fixture.litterbox('delete', SANDBOX, '--force');
        assert.equal(status, 0, stderr);
      },
    },
  ]),
  {
    title: 'Litterbox is killed, and its files in the temporary directory are removed',
    at: 'after',
    inflict({ command }) {
      command.kill('SIGKILL');
      for (const name of seatsOf(command)) rmSync(join(tmpdir(), name), { recursive: true });
    },
  },
  { title: 'the agent writes settings that lead out', at: 'after', inflict() {}, command: WAYS_OUT },
];

/** Those of a sandbox on another machine. */
export const MACHINE_FAULTS: readonly Fault[] = (['before', 'during', 'after'] as const).flatMap(
  (at): readonly Fault[] => [
    { title: 'the line to the machine is cut', at, inflict: ({ machine }) => machine?.signal('SIGKILL') },
    { title: 'the machine does not answer any more', at, inflict: ({ machine }) => machine?.signal('SIGSTOP') },
  ],
);

/** Calls that go on whatever comes of them. Each would leave a file on the person's machine if it ran there. */
function* stubborn(tool: string, input: SeatedClient['input'], canary: string, { at, command }: Fault): Plot {
  const mark = (name: string) => `: 2>/dev/null >'${join(canary, name)}'; echo ${name} >${name}; echo in ${name}`;
  yield* calling(tool, input(`${command ?? 'true'}; ${mark('one')}`));
  yield* calling(tool, input(at === 'during' ? `${mark('two')}; ${LONG}; echo slept` : mark('two')));
  yield* calling(tool, input(mark('three')));
  const last = yield* calling(tool, input(mark('four')));
  if (command !== undefined) mustMatch('a command after it', last, /in four/);
  return 'That is all.';
}

export interface Faulted {
  /** What the model was told last. */
  readonly told: string;
  readonly seconds: number;
  /** The methods of the messages that the agent sent, where they were heard. */
  readonly methods: readonly string[];
}

/** Lets a client work, and something go wrong: nothing of the agent's may run or change here, and nothing of it may stay. @throws AssertionError */
export async function driveFault(
  { client, tool, input, args }: SeatedClient,
  install: string,
  fixture: AgentFixture,
  fault: Fault,
  machine?: OtherMachine,
): Promise<Faulted> {
  const canary = join(fixture.scratch.directory, 'canary');
  mkdirSync(canary, { recursive: true });
  const done = Promise.withResolvers<void>();
  const inflict = () => {
    const agent = agentOf(command.pid ?? 0, client.program) ?? assert.fail('the agent is not there');
    fault.inflict({ fixture, command, agent, machine });
    done.resolve();
  };
  await using model = await modelServer(
    withTool(client.dialect, tool),
    stubborn(tool, input, canary, fault),
    async (calls) => {
      if (fault.killAt !== undefined) return; // by the one between
      if (fault.at === 'before' && calls === 0) inflict();
      if (fault.at === 'after' && calls === 1) inflict();
      if (calls === 1 && fault.at === 'during')
        void (async () => {
          while (!isRunning()) await sleep(20);
          inflict();
        })();
    },
  );
  for (const name of readdirSync(fixture.home))
    if (name !== '.ssh') rmSync(join(fixture.home, name), { recursive: true }); // that is the way to the machine
  const more = client.prepare(fixture, model.url);
  const heard = join(fixture.scratch.directory, 'messages');
  writeFileSync(heard, '');
  startsAgent(join(fixture.scratch.directory, 'bin', client.id), join(install, client.program), heard, fault.killAt);
  const before = treeOf(fixture);
  const startedMs = performance.now();
  const command = spawn(
    'litterbox',
    ['with', client.id, '--sandbox', SANDBOX, ...(machine?.place ?? []), '--', ...args('Go on.')],
    {
      cwd: fixture.scratch.repository,
      env: { ...fixture.environment, ...more },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true, // a group of its own, as a terminal gives it
    },
  );
  const closed = once(command, 'close').then(() => {
    if (fault.killAt === '-' || command.signalCode === 'SIGKILL') done.resolve();
  });
  const said = Promise.all([text(command.stdout), text(command.stderr)]);
  const patience = new AbortController();
  const late = sleep(LIMIT_MS, 'late' as const, { signal: patience.signal }).catch(() => 'late' as const);
  const ended = await Promise.race([
    done.promise.then(async () => {
      await closed;
      // The agent may live on without us: it has to find out by itself.
      while (agentsIn(fixture, client.program).length > 0) await sleep(50);
      return 'ended' as const;
    }),
    closed.then(
      async () => await Promise.race([done.promise.then(() => 'ended' as const), sleep(5000, 'early' as const)]),
    ),
    late,
  ]);
  patience.abort();
  const seconds = Math.round((performance.now() - startedMs) / 100) / 10;
  const agents = agentsIn(fixture, client.program);
  for (const pid of agents) process.kill(pid, 'SIGKILL');
  if (command.exitCode === null && command.signalCode === null) command.kill('SIGKILL');
  const words = (await said).join('');
  assert.equal(model.talk.failure, undefined, words);
  if (fault.killAt === '-')
    assert.ok(
      model.talk.isOver,
      `${command.exitCode} ${command.signalCode} ${seconds} ${words}${readFileSync(heard, 'utf8')}`,
    );
  assert.equal(ended, 'ended', `${words}\n${model.talk.results.join('\n---\n')}`);
  assert.deepEqual(readdirSync(canary), [], 'a command ran on the machine of the person');
  assert.equal(treeOf(fixture), before, 'files of the person changed');
  machine?.signal('SIGCONT');
  await settled(fixture);
  if (command.signalCode === null) assert.deepEqual(seatsOf(command), [], 'files of the seat are left');
  const told = (model.talk.results.at(-1) ?? '').replaceAll(/\s+/g, ' ').slice(0, 300);
  return { told, seconds, methods: [...new Set(readFileSync(heard, 'utf8').split('\n').filter(Boolean))] };
}

/** Puts the agent's program into the PATH of the person, behind one that listens to its messages where a fault needs it. */
function startsAgent(link: string, program: string, heard: string, killAt: string | undefined): void {
  rmSync(link, { force: true });
  if (killAt === undefined) return symlinkSync(program, link);
  const tap = fileURLToPath(new URL('message-tap.ts', import.meta.url));
  const words = [process.execPath, '--no-warnings', tap, heard, killAt, program].map((word) => `'${word}'`);
  const asked = `[ "$1" != --version ] || exec '${program}' --version`; // before anybody listens
  writeFileSync(link, `#!/bin/sh\n${asked}\nexec ${words.join(' ')} "$@"\n`, { mode: 0o755 });
}

/** What is left of it goes when the person comes back, at the latest. */
async function settled(fixture: AgentFixture): Promise<void> {
  const list = JSON.parse(fixture.litterbox('list', '--json').stdout) as readonly { name: string; agent?: string }[];
  for (const { name, agent } of list) {
    assert.equal(agent, undefined, 'the sandbox counts as taken');
    const { status, stdout, stderr } = fixture.litterbox('run', name, 'echo fine');
    assert.equal(`${status} ${stdout}`, '0 fine\n', stderr);
  }
  const until = performance.now() + 10_000;
  while (isRunning() && performance.now() < until) await sleep(50);
  assert.equal(isRunning(), false, 'the command works on in the sandbox');
  for (const { name } of list) {
    const { status, stderr } = fixture.litterbox('delete', name, '--force');
    assert.equal(status, 0, stderr);
  }
}

const seatsOf = ({ pid }: ChildProcess) =>
  readdirSync(tmpdir()).filter((name) => name.startsWith(`litterbox-seat-${pid}-`));
const processes = () => readdirSync('/proc').filter((name) => /^\d+$/.test(name));
const ofProcess = (pid: number | string, file: string) => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return ''; // it ended
  }
};
const isRunning = () => processes().some((pid) => ofProcess(pid, 'cmdline') === `${LONG.replace(' ', '\0')}\0`);

function agentOf(command: number, program: string): number | undefined {
  return agents(program).find((pid) => Number(/^PPid:\t(\d+)$/m.exec(ofProcess(pid, 'status'))?.[1]) === command);
}

const agents = (program: string) =>
  processes()
    .map(Number)
    .filter((pid) => ofProcess(pid, 'environ').includes('LITTERBOX_HOME=') && isProgram(pid, program));
const agentsIn = ({ home }: AgentFixture, program: string) =>
  agents(program).filter(
    (pid) => ofProcess(pid, 'environ').includes(`HOME=${home}\0`) && !/^State:\tZ/m.test(ofProcess(pid, 'status')),
  );

function isProgram(pid: number, program: string): boolean {
  const [name = ''] = program.split('/').slice(-1);
  const command = ofProcess(pid, 'cmdline');
  return (
    command.includes(program) ||
    command.split('\0')[0] === 'pi' ||
    (command.split('\0')[0]?.endsWith(`/bin/${name}`) ?? false)
  );
}
