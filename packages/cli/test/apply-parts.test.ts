import { type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { CliFixture } from './cli-fixture.ts';

let fixture: CliFixture;
beforeEach(async () => {
  fixture = new CliFixture();
  writeFileSync(join(fixture.repository, 'many.txt'), Array.from({ length: 30 }, (_, at) => `${at + 1}\n`).join(''));
  fixture.git('add', '-A');
  fixture.git('commit', '-qm', 'many');
  await fixture.run(['create', 'one']);
  const change = "sed -i 's/^2$/TWO/; s/^4$/FOUR/; s/^28$/END \\x1b[2J/' many.txt; echo new > new.txt";
  await fixture.run(['run', 'one', change]);
});
afterEach(async () => await fixture[Symbol.asyncDispose]());

/** Answers each question when it is asked. */
async function answered(child: ChildProcess, answers: readonly string[]): Promise<readonly [number | null, string]> {
  let text = '';
  let asked = 0;
  child.stdout?.setEncoding('utf8').on('data', (more: string) => {
    text += more;
    const questions = text.match(/\? $|\?\u001b\S* $|\]\? (?:\u001b\[\d+m)*$/g);
    if (questions && asked < answers.length) {
      text += '\n';
      child.stdin?.write(answers[asked++]);
    }
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return [code, text];
}

const apply = (answers: readonly string[], ...args: readonly string[]) =>
  answered(fixture.startInTerminal(['--no-color', 'apply', 'one', '-p', ...args]), answers);
const file = (name: string) => readFileSync(join(fixture.repository, name), 'utf8');

describe('litterbox apply -p', () => {
  it('FC-420: takes the hunks that were chosen, of hostile bytes nothing, and a second time offers the rest', async () => {
    const [code, text] = await apply(['?\n', 's\n', 'n\n', 'Y\n', 'd\n', 'n\n']);
    expect([code, text]).toEqual([0, expect.stringContaining('The changes are staged')]);
    expect(text).toContain('s - split it into smaller hunks');
    expect(text).toContain('(1/2) Take hunk [y,n,q,a,d,s,?]?');
    expect(text).toContain('(3/3) Take hunk [y,n,q,a,d,?]?');
    expect(text).toContain(String.raw`+END \x1b[2J`);
    expect(text).not.toContain('\u001b[2J');
    expect(file('many.txt')).toBe(Array.from({ length: 30 }, (_, at) => `${at === 3 ? 'FOUR' : at + 1}\n`).join(''));
    expect(fixture.git('status', '--porcelain')).toBe('M  many.txt');

    fixture.git('commit', '-qm', 'four');
    const [, again] = await apply(['a\n', 'y\n'], '--yes-risky');
    expect(again).not.toContain('+FOUR');
    expect(fixture.git('status', '--porcelain')).toBe('M  many.txt\nA  new.txt');
    expect(file('many.txt')).toContain('END');
    const { stderr, code: end } = await fixture.run(['apply', 'one']);
    expect([end, stderr]).toEqual([0, expect.stringContaining('Nothing to do: your work tree has it all.')]);
  });

  it('q keeps what was taken, the end of the input takes nothing, and no answer is none', async () => {
    const [code, text] = await apply(['y\n', '\u0004']);
    expect([code, text]).toEqual([4, expect.stringContaining('Nothing was taken')]);
    expect(fixture.git('status', '--porcelain')).toBe('');
    expect((await apply(['n\n', 'n\n', 'n\n']))[1]).toContain('It is all still in the sandbox.');
    await apply(['\n', 'y\n', 'q\n']);
    expect(file('many.txt')).toMatch(/^1\nTWO\n3\nFOUR\n5\n(.*\n)+28\n/);
    expect(fixture.git('status', '--porcelain')).toBe('M  many.txt');
  });

  it('AX165: names, headings and lines say nothing to the terminal, and none passes for a question', async () => {
    const name = 'bad\\n(1 of 1) Take hunk [y,n,?]? \\033]0;title\\007';
    const body = "printf 'fn \\033[31m() {\\n1\\n2\\n3\\n4\\n5\\n}\\n'";
    await fixture.run(['run', 'one', `${body} > "$(printf '${name}')"; sed -i 's/^12$/TWELVE\\r/' many.txt`]);
    const [, text] = await apply(['n\n', 'd\n', 'n\n']);
    expect(text).toContain(String.raw`bad\n(1 of 1) Take hunk [y,n,?]? \x1b]0;title\x07`);
    expect(text).toContain(String.raw`+fn \x1b[31m() {`);
    expect(text.replaceAll('\r\n', '\n')).not.toMatch(/[\u001b\u0007\r]/);
    expect(text).toContain('Nothing was taken. It is all still in the sandbox.');
  });

  it('refuses without a terminal, and with arguments of git merge', async () => {
    for (const args of [
      ['apply', 'one', '-p'],
      ['apply', 'one', '-p', '--json'],
    ])
      expect(await fixture.run(args, 'y\n')).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('needs a terminal'),
      });
    expect(await fixture.run(['apply', 'one', '-p', '--', '-X', 'theirs'])).toMatchObject({ code: 2 });
  });

  it('AX167: takes nothing of a sandbox that went on while the person read', async () => {
    const child = fixture.startInTerminal(['--no-color', 'apply', 'one', '-p']);
    let text = '';
    let isOther = false;
    child.stdout?.setEncoding('utf8').on('data', (more: string) => {
      text += more;
      if (isOther || !text.includes('Take hunk')) return;
      isOther = true;
      void fixture.run(['run', 'one', 'echo other > other.txt']).then(() => child.stdin?.write('y\nq\n'));
    });
    const [code] = (await once(child, 'close')) as [number | null];
    expect([code, text]).toEqual([6, expect.stringContaining('than the one that was shown')]);
    expect(fixture.git('status', '--porcelain')).toBe('');
  });

  it('FC-421: takes paths from the directory that it runs in, and fits forty columns', async () => {
    mkdirSync(join(fixture.repository, 'sub'));
    const child = fixture.startInTerminal(['--no-color', '-C', 'sub', 'apply', 'one', '-p', '../new.txt']);
    const [code, shown] = await answered(child, ['y\n']);
    expect(code).toBe(0);
    expect(fixture.git('status', '--porcelain')).toBe('A  new.txt');
    // What a hint names is typed from there too.
    await fixture.run(['diff', 'one']);
    await fixture.run(['run', 'one', 'echo later > new.txt']);
    fixture.git('reset', '-q', '--hard');
    const { stderr } = await fixture.run(
      ['apply', 'one', '../new.txt'],
      undefined,
      {},
      join(fixture.repository, 'sub'),
    );
    expect(stderr).toContain('litterbox apply one ../new.txt');
    for (const line of shown.split(/\r?\n/).filter((one) => one.includes('Take ')))
      expect(line.length).toBeLessThan(40);
  });
});
