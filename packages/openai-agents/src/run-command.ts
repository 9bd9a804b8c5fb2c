import type { ExecCommandArgs, SandboxExecResult } from '@openai/agents-core/sandbox';
import { truncateOutput } from '@openai/agents-core/sandbox/internal';
import type { Sandbox } from 'litterbox';
import { assertNoRunAs } from './refused.ts';

/**
 * Runs a command to its end, or to the sandbox's time limit. There is no terminal, and no login shell: it would set PATH anew. A model hears
 * of both after the output.
 */
export async function runCommand(
  sandbox: Sandbox,
  { cmd, workdir, shell, tty = false, maxOutputTokens, runAs }: ExecCommandArgs,
): Promise<SandboxExecResult> {
  assertNoRunAs(runAs);
  const ran = await sandbox.run(shell === undefined ? cmd : [shell, '-c', cmd], {
    ...(workdir !== undefined && { cwd: workdir }),
  });
  const [stdout, stderr] = [ran.stdoutBytes, ran.stderrBytes].map((bytes) => new TextDecoder().decode(bytes));
  const left = ran.dropped.stdout + ran.dropped.stderr;
  const notes = [
    ...(ran.timedOut ? [`Its time limit ended it after ${Math.round(ran.durationMs / 1000)} s.`] : []),
    ...(left > 0 ? [`${left} bytes in the middle of the output are left out.`] : []),
    ...(tty ? ['There is no terminal here: it ran with plain pipes.'] : []),
    ...ran.hints,
  ].map((note) => `[litterbox: ${note}]\n`);
  const printed = [stdout, stderr, ...notes].filter((part) => part !== undefined && part !== '');
  const { text, originalTokenCount } = truncateOutput(
    printed.map((part, at) => (at < printed.length - 1 && !part?.endsWith('\n') ? `${part}\n` : part)).join(''),
    maxOutputTokens,
  );
  return {
    output: text,
    stdout: stdout ?? '',
    stderr: stderr ?? '',
    wallTimeSeconds: ran.durationMs / 1000,
    exitCode: ran.exitCode,
    ...(originalTokenCount !== undefined && { originalTokenCount }),
  };
}
