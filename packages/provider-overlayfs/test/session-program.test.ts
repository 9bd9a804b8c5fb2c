import { type ChildProcess, type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, existsSync, openSync, readdirSync, readlinkSync, readSync, writeSync } from 'node:fs';
import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import * as fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { collected, eventually } from '@litterbox/conformance';
import { type HostFacts, SandboxId } from '@litterbox/core/provider';
import { localHost } from '@litterbox/host';
import { overlayfs } from '../src/index.ts';
import { backendDirectory, removeBackend } from './backends.ts';
import { sandboxSpec } from './sandbox-spec.ts';
import { sessionProgramBytes } from './session-program-bytes.ts';

const run = promisify(execFile);
const host = localHost();
let facts: HostFacts;
let program = '';
let directory = '';
const children: ChildProcess[] = [];
const descriptors: number[] = [];

beforeAll(async () => {
  facts = await host.facts();
  program = join(await mkdtemp(join(tmpdir(), 'litterbox-program-')), 'litterbox-session');
  await writeFile(program, await sessionProgramBytes(facts.architecture), { mode: 0o755 });
});
afterAll(() => rm(join(program, '..'), { recursive: true }));
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'litterbox-session-'));
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  for (const descriptor of descriptors.splice(0)) closeSync(descriptor);
  await rm(directory, { recursive: true, force: true });
});

function start(...argv: readonly string[]): ChildProcessWithoutNullStreams {
  const child = spawn(program, argv, { stdio: 'pipe', detached: true });
  children.push(child);
  return child;
}

/** All that a child says until it ends, and how it ended. */
async function outcome(child: ChildProcessWithoutNullStreams) {
  const [stdout, stderr, [code, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  return { stdout, stderr, code, signal };
}

/** Words with a NUL behind each. */
const words = (...all: readonly string[]) => all.map((word) => `${word}\0`).join('');

describe('a plan', () => {
  const plan =
    words('directory', '1', '/nowhere', 'user', '2', '61100', '61100', 'open-files', '1', '99') +
    words('core-bytes', '1', '1', 'processors', '0', 'filter', '1', '/f', 'sandbox', '1', 'bwrap') +
    words('environment', '0', 'scanned', '2', '/io', 'io', 'unwanted', '0');

  it.each([
    ['that ends too soon', words('directory', '1'), 'ends too soon'],
    ['without numbers', words('directory', 'x', 'y'), 'no number of arguments'],
    ['with a number too large', words('directory', '9999999'), 'too many words'],
    ['with a number of eight digits', words('directory', '00000001'), 'no number of arguments'],
    ['that says nothing', words('go', '0'), 'has no directory'],
    ['that says a thing twice', words('directory', '1', '/a', 'directory', '1', '/b', 'go', '0'), 'directory twice'],
    ['with a setting of too many words', words('directory', '2', '/a', '/b', 'go', '0'), 'directory with 2 arguments'],
    ['of a sandbox that is root', `${plan.replace('61100', '0')}${words('go', '0')}`, 'does not run as root'],
    ['with a number that is none', `${plan.replace('99', '9x')}${words('go', '0')}`, 'where a number is wanted'],
    ['of another release', `${plan}${words('fly', '0', 'go', '0')}`, 'does not know the step fly'],
    ['with a step of too few words', `${plan}${words('bind', '1', '/a', 'go', '0')}`, 'the step bind has 1 arguments'],
    [
      'with a tree that has no name',
      `${plan.replace(words('scanned', '2'), words('scanned', '3', '/more'))}${words('go', '0')}`,
      'a tree without a name',
    ],
    ['of a sandbox that is gone', `${plan}${words('go', '0')}`, 'the directory of the sandbox is gone'],
    ['without an end', 'x'.repeat(5 * 2 ** 20), 'too long'],
  ])('%s is refused', async (_what, bytes, reason) => {
    const child = start('session');
    child.stdin.on('error', () => {}); // it does not read to the end
    child.stdin.end(bytes);
    const { stdout } = await outcome(child);
    expect(stdout).toMatch(/^error /);
    expect(stdout).toContain(reason);
    expect(stdout.indexOf('\0')).toBe(stdout.length - 1);
  });

  it('may be anything: what is none is refused, and nothing else happens', async () => {
    const word = fc.oneof(
      fc.constantFrom(
        'directory',
        'user',
        'groups',
        'sandbox',
        'bind',
        'layers',
        'hand-out',
        'hide-absent',
        'go',
        '0',
        '1',
        '2',
        '65536',
      ),
      fc.string({ unit: 'binary-ascii', maxLength: 12 }).map((one) => one.replaceAll('\0', '')),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(word, { maxLength: 60 }), async (all) => {
        const child = start('session');
        child.stdin.on('error', () => {});
        child.stdin.end(words(...all));
        const { stdout, stderr, signal } = await outcome(child);
        expect({ stdout, stderr, signal }).toEqual({
          stdout: expect.stringMatching(/^error [^\0]*\0$/),
          stderr: '',
          signal: null,
        });
      }),
      { numRuns: Math.ceil(20 * Number(process.env['LITTERBOX_FUZZ_RUNS'] ?? 1)) },
    );
  });

  it('is all that it takes', async () => {
    expect(await outcome(start())).toMatchObject({ code: 2, stderr: expect.stringContaining('usage: ') });
    expect(await outcome(start('session', 'more'))).toMatchObject({ code: 2 });
  });
});

describe('one thing after another', () => {
  const stage = (name: string, ...more: readonly string[]) =>
    words(
      'stage',
      '0',
      'above',
      '1',
      directory,
      'names',
      '3',
      directory,
      join(directory, 'new'),
      join(directory, name),
    ) + words('bases', '0', 'refused', '0', ...more, 'go', '0');
  const serve = async (bytes: string) => {
    const child = start('serve');
    child.stdin.on('error', () => {});
    child.stdin.end(bytes);
    return await outcome(child);
  };

  it('is answered in its turn, however it is asked', async () => {
    await writeFile(join(directory, 'file'), '');
    const look = words('look', '0', 'there', '2', join(directory, 'file'), '/nowhere', 'go', '0');
    const said = `${join(directory, 'file')}\n\0end\0`;
    expect(await serve(look + stage('one') + look + stage('two'))).toEqual({
      stdout: `${said}staged\0${said}staged\0`,
      stderr: '',
      code: 0,
      signal: null,
    });
    expect((await readdir(directory)).toSorted()).toEqual(['file', 'one', 'two']);
  });

  it('ends where one of them fails, and does none behind it', async () => {
    expect(await serve(stage('one') + stage('one') + stage('two'))).toMatchObject({ stdout: 'staged\0', code: 88 });
    expect(await readdir(directory)).toEqual(['one']);
  });

  it('holds no lock on a directory that it has made', async () => {
    const child = start('serve');
    child.stdin.write(stage('one'));
    await once(child.stdout, 'data');
    await run('flock', ['-n', join(directory, 'one'), 'true']);
  });

  it.each([
    ['that it does not know', words('fly', '0', 'go', '0'), 'how to do fly'],
    ['that is nothing', words('go', '0'), 'how to do go'],
    ['a watch of nothing', words('watch', '0', 'go', '0'), 'how to do watch'],
    ['half a link', words('link', '1', '/', 'go', '0'), 'how to do link'],
    ['half a plan', words('look', '0'), 'ends too soon'],
  ])('is not %s', async (_what, bytes, reason) => {
    expect(await serve(bytes)).toMatchObject({ code: 1, stdout: expect.stringContaining(reason) });
  });

  it('may be anything: what is no plan is refused, and nothing else happens', async () => {
    const word = fc.oneof(
      fc.constantFrom('look', 'stage', 'session', 'watch', 'link', 'there', 'etc', 'go', '0', '1', '2'),
      fc.string({ unit: 'binary-ascii', maxLength: 12 }).map((one) => one.replaceAll('\0', '')),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(word, { minLength: 1, maxLength: 60 }), async (all) => {
        const { stdout, stderr, signal } = await serve(words(...all));
        expect({ stdout, stderr, signal }).toEqual({
          stdout: expect.stringMatching(/^$|\0$/),
          stderr: '',
          signal: null,
        });
      }),
      { numRuns: Math.ceil(20 * Number(process.env['LITTERBOX_FUZZ_RUNS'] ?? 1)) },
    );
  });
});

describe('the start of a session', () => {
  /** Of a session of this directory that does these steps and would start nothing. */
  const sessionPlan = (...steps: readonly string[]) =>
    words('directory', '1', directory, ...(facts.uid === 0 ? ['user', '2', '61100', '61100'] : ['own-users', '0'])) +
    words('open-files', '1', '99', 'core-bytes', '1', '1') +
    words(
      'processors',
      '0',
      'filter',
      '1',
      '/f',
      'sandbox',
      '1',
      'bwrap',
      'environment',
      '0',
      'scanned',
      '2',
      '/io',
      'io',
    ) +
    words('unwanted', '0', ...steps, 'go', '0');

  it('says no more of a step that fails than fits, however much that says', async () => {
    const child = start('session');
    child.stdin.write(sessionPlan('shell', '1', 'head -c 1000000 /dev/zero | tr "\\0" x >&2; exit 1'));
    const { stdout } = await outcome(child);
    expect(stdout).toMatch(/^error x{4000,4096}\0$/);
  });

  it('that fails keeps its turn until nothing of it says that the session lives', async () => {
    const child = start('session');
    await run('mkfifo', [join(directory, 'fail')]);
    child.stdin.write(sessionPlan('shell', '1', 'read -r word <fail; exit 1'));
    const of = async (pid: number | string) =>
      (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')).trim();
    const keeper = await eventually(
      () => of(child.pid ?? 0),
      (one) => /^\d+$/.test(one),
    );
    const supervisor = await eventually(
      () => of(keeper),
      (one) => /^\d+$/.test(one),
    );
    const fail = await open(join(directory, 'fail'), 'w');
    process.kill(Number(keeper), 'SIGSTOP');
    await fail.close();
    // It is there until the keeper has heard of its end.
    await eventually(
      () => readFile(`/proc/${supervisor}/stat`, 'utf8'),
      (line) => line.includes(') Z '),
    );
    const isFree = async (...argv: readonly string[]) =>
      await run('flock', [...argv]).then(
        () => true,
        () => false,
      );
    const [alive, turn] = [join(directory, 'alive.lock'), join(directory, 'start.lock')];
    expect({ alive: await isFree('-n', alive, 'true'), turn: await isFree('-n', turn, 'true') }).toEqual({
      alive: false,
      turn: false,
    });
    process.kill(Number(keeper), 'SIGCONT');
    expect(await isFree('-w', '60', turn, 'flock', '-n', alive, 'true')).toBe(true);
  });

  it('goes by no part of a path that is too long', async () => {
    const name = `${'./'.repeat(3000)}no-such-file`; // its first 4,095 characters are a directory that is there
    const child = start('session');
    child.stdin.write(sessionPlan('hide-absent', '4', directory, '1', name, directory));
    expect(await outcome(child)).toMatchObject({ stdout: expect.stringContaining('is too long for a path') });
  });

  it.each(['serve', 'session'])('ends what it has begun when whoever asked (%s) has gone', async (verb) => {
    const plan = sessionPlan('shell', '1', 'echo >begun; exec sleep 60');
    const child = start(verb);
    child.stdin.write(verb === 'serve' ? words('session', '0') + plan : plan);
    await eventually(
      () => readdir(directory),
      (names) => names.includes('begun'),
    );
    child.stdin.end();
    expect(await outcome(child)).toMatchObject({ stdout: 'error whoever asked for it has gone\0' });
    await run('flock', ['-w', '20', join(directory, 'alive.lock'), 'true']); // which is held by all of it
  });
});

describe('the directory of a sandbox', () => {
  /** Made in the test's directory, `whole`, of these entries. */
  const plan = (more: string, { above = directory, refused = ['1234'], bases = [] as string[] } = {}) =>
    words('above', '1', above, 'names', '3', directory, join(directory, 'new'), join(directory, 'whole')) +
    words('bases', `${bases.length}`, ...bases, 'refused', `${refused.length}`, ...refused) +
    more +
    words('go', '0');
  const stage = async (bytes: string) => {
    const child = start('stage');
    child.stdin.on('error', () => {});
    child.stdin.end(bytes);
    return await outcome(child);
  };
  const SOME =
    words('directories', '3', '711', 'a', 'b', 'files', '2', '644', 'f', 'pipes', '2', '600', 'p') +
    words('write', '2', 'meta.json', '{"it":"is"}');

  it('is whole, with its modes, or not there at all', async () => {
    const above = join(directory, 'not', 'there', 'yet');
    expect(await stage(plan(SOME, { above }))).toEqual({ stdout: '', stderr: '', code: 0, signal: null });
    const { stdout } = await run('find', [directory, '-mindepth', '1', '-printf', '%y %m %P\n']);
    expect(stdout.trim().split('\n').toSorted()).toEqual([
      'd 700 not',
      'd 700 not/there',
      'd 700 not/there/yet',
      'd 711 whole',
      'd 711 whole/a',
      'd 711 whole/b',
      'f 644 whole/f',
      'f 644 whole/meta.json',
      'p 600 whole/p',
    ]);
    expect(await readFile(join(directory, 'whole', 'meta.json'), 'utf8')).toBe('{"it":"is"}');
  });

  it.each([
    ['is taken', async () => await mkdir(join(directory, 'whole')), {}, { code: 88, stderr: '' }],
    ['stands on nothing', async () => {}, { bases: ['/nowhere'] }, { code: 89, stderr: '' }],
    [
      'cannot have its parent',
      async () => await writeFile(join(directory, 'file'), ''),
      { above: 'file/below' },
      { code: 91, stderr: expect.stringContaining('Not a directory') },
    ],
  ])('says that it %s', async (_what, prepare, options, wanted) => {
    await prepare();
    const above = 'above' in options ? join(directory, options.above) : directory;
    const before = await readdir(directory);
    expect(await stage(plan(SOME, { ...options, above }))).toMatchObject(wanted);
    expect(await readdir(directory)).toEqual(before);
  });

  it('is not made on a file system that is refused, and leaves nothing there', async () => {
    const { stdout } = await run('stat', ['-f', '-c', '%t', directory]);
    const type = stdout.trim();
    expect(await stage(plan(SOME, { refused: ['6969', type] }))).toMatchObject({ code: 90, stderr: type });
    expect(await readdir(directory)).toEqual([]);
  });

  it('leaves nothing where it cannot be filled', async () => {
    const more = words('directories', '2', '755', 'a', 'write', '2', 'a', 'text');
    expect(await stage(plan(more))).toMatchObject({ code: 1, stderr: 'a: Is a directory\n' });
    expect(await readdir(directory)).toEqual([]);
  });

  it.each([
    ['an entry that it does not know', words('fly', '0'), 'fly'],
    ['a mode that is none', words('directories', '2', '7x7', 'a'), 'the mode 7x7'],
    ['a mode with more than permissions', words('directories', '2', '4755', 'a'), 'the mode 4755'],
    ['too few words', words('owner', '1', '5'), 'owner with 1 arguments'],
  ])('is not made of %s', async (_what, more, reason) => {
    expect(await stage(plan(more))).toMatchObject({ code: 1, stdout: expect.stringContaining(reason) });
  });
});

describe('a copy of trees', () => {
  const at = (...names: readonly string[]) => join(directory, ...names);
  const plan = (...more: readonly string[]) =>
    words('above', '1', directory, 'names', '3', directory, at('new'), at('whole'), 'bases', '0', 'refused', '0') +
    words(...more, 'go', '0');
  const STILL = () => ['still', '1', at('source')];
  const copies = (...triples: readonly string[]) => ['copies', `${triples.length + 1}`, directory, ...triples];
  const stage = async (bytes: string, answer = '') => {
    const child = start('stage');
    child.stdin.on('error', () => {});
    child.stdin.end(bytes + answer);
    return await outcome(child);
  };
  const asRoot = process.getuid?.() === 0 ? it : it.skip; // nobody else may mount by itself
  beforeEach(async () => {
    await mkdir(at('source', 'upper'), { recursive: true });
    await writeFile(at('source', 'upper', 'file'), 'text', { mode: 0o640 });
    await symlink('/etc/passwd', at('source', 'upper', 'link'));
  });

  asRoot('has all of them, and the lock is free again', async () => {
    const triples = ['upper', at('source', 'upper'), at('new', 'upper'), 'some', at('none'), at('new', 'frozen')];
    const files = ['file', at('source', 'none'), at('new', 'a'), 'file', at('source', 'upper', 'file'), at('new', 'b')];
    const bytes = plan(...STILL(), ...copies(...triples, ...files), 'ask', '1', 'copied', 'move', '2', 'b', 'c');
    expect(await stage(bytes, 'go\n')).toEqual({ stdout: 'copied\n', stderr: '', code: 0, signal: null });
    const { stdout } = await run('find', [at('whole'), '-mindepth', '1', '-printf', '%y %m %P[%l]\n']);
    expect(stdout.trim().split('\n').toSorted()).toEqual([
      'd 755 frozen[]',
      'd 755 upper[]',
      'f 640 c[]',
      'f 640 upper/file[]',
      'l 777 upper/link[/etc/passwd]',
    ]);
    for (const lock of ['start', 'clients', 'alive']) await run('flock', ['-n', at('source', `${lock}.lock`), 'true']);
  });

  asRoot('begins with the upper layer that a killed program left under its next name', async () => {
    await rename(at('source', 'upper'), at('source', 'upper.new'));
    const bytes = plan(...STILL(), ...copies('upper', at('source', 'upper'), at('new', 'upper')));
    expect(await stage(bytes)).toMatchObject({ code: 0 });
    expect((await readdir(at('whole', 'upper'))).toSorted()).toEqual(['file', 'link']);
  });

  asRoot('follows no link on the way', async () => {
    await symlink(at('source'), at('way'));
    const bytes = (from: string) => plan(...STILL(), ...copies('tree', from, at('new', 'upper')));
    expect(await stage(bytes(at('way', 'upper')))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('symbolic links'),
    });
    expect(await stage(bytes(at('source', 'upper')))).toMatchObject({ code: 0 });
  });

  asRoot("is nobody's where nobody waits for it", async () => {
    const bytes = plan(...STILL(), ...copies('tree', at('source'), at('new', 'all')), 'ask', '1', 'copied');
    for (const answer of ['', 'no\n']) expect(await stage(bytes, answer)).toMatchObject({ code: 99 });
    expect(await readdir(directory)).toEqual(['source']);
  });

  asRoot('AX208: is made by a program with so much memory, however many names of files there are', async () => {
    await mkdir(at('bin'));
    await writeFile(at('bin', 'cp'), '#!/bin/sh\nfor to; do :; done; ulimit -v >"$to"\n', { mode: 0o755 });
    const env = { ...process.env, PATH: `${at('bin')}:${process.env['PATH']}` };
    const child = spawn(program, ['stage'], { stdio: 'pipe', detached: true, env });
    children.push(child);
    child.stdin.end(plan(...STILL(), ...copies('tree', at('source', 'upper'), at('new', 'upper'))));
    expect(await outcome(child)).toMatchObject({ code: 0, stderr: '' });
    expect(await readFile(at('whole', 'upper'), 'utf8')).toBe(`${2 ** 20}\n`);
  });

  it('is not of what is gone, or runs and cannot be stopped', async () => {
    const bytes = plan(...STILL(), ...copies('tree', at('source', 'upper'), at('new', 'upper')));
    const holder = spawn('flock', [at('source', 'alive.lock'), 'sh', '-c', 'echo; exec sleep 60'], { detached: true });
    children.push(holder);
    await once(holder.stdout, 'data');
    expect(await stage(bytes)).toMatchObject({ code: 96 });
    process.kill(-holder.pid!, 'SIGKILL');
    await rm(at('source'), { recursive: true });
    expect(await stage(bytes)).toMatchObject({ code: 94 });
    expect(await readdir(directory)).toEqual([]);
  });

  it.each([
    ['a kind that there is not', ['fly', '/a', '/b'], 'no copy of the kind fly'],
    ['half a triple', ['tree', '/a', '/b', 'tree'], 'a copy without a place'],
    ['an upper layer that is none', ['upper', '/a', '/b'], 'an upper layer that is none'],
  ])('is not made of %s', async (_what, triples, reason) => {
    expect(await stage(plan(...STILL(), ...copies(...triples)))).toMatchObject({
      code: 1,
      stdout: expect.stringContaining(reason),
    });
  });
});

describe('the way back to copies', () => {
  const entry = (name: string, ...all: readonly string[]) => words(name, `${all.length}`, ...all);
  const at = (...names: readonly string[]) => join(directory, ...names);
  const copies = () => [
    directory,
    'upper',
    at('kept', 'upper'),
    at('whole', 'restored', 'upper'),
    'some',
    at('kept', 'home'),
    at('whole', 'restored', 'home'),
  ];
  const plan = ({ layers = ['upper', 'home'], copied = copies() } = {}) =>
    entry('directory', at('whole')) +
    entry('groups') +
    entry('copies', ...copied) +
    entry('layers', ...layers) +
    entry('description', 'kept') +
    entry('by-shell', `echo restored >>${at('told')}; rm -rf ${at('whole', 'restored')}`) +
    entry('go');
  const restore = async (bytes = plan(), answer = 'go\n') => {
    const child = start('restore');
    child.stdin.on('error', () => {});
    child.stdin.end(bytes + answer);
    return await outcome(child);
  };
  const found = async () => {
    const { stdout } = await run('find', [
      at('whole'),
      '-mindepth',
      '1',
      '-not',
      '-name',
      '*.lock',
      '-printf',
      '%y %P[%l]\n',
    ]);
    return stdout.trim().split('\n').toSorted();
  };
  const asRoot = process.getuid?.() === 0 ? it : it.skip; // nobody else may mount by itself
  const BEFORE = ['d home[]', 'd upper[]', 'f meta.json[]', 'f paused[]', 'f scan-state.json[]', 'f upper/new[]'];
  const AFTER = [
    'd home-work[]',
    'd home[]',
    'd upper[]',
    'f meta.json[]',
    'f stopped[]',
    'f upper/old[]',
    'l upper/link[/etc/passwd]',
  ];
  beforeEach(async () => {
    await mkdir(at('kept', 'upper'), { recursive: true });
    await writeFile(at('kept', 'upper', 'old'), 'old');
    await symlink('/etc/passwd', at('kept', 'upper', 'link'));
    for (const layer of ['upper', 'home']) await mkdir(at('whole', layer), { recursive: true });
    await writeFile(at('whole', 'upper', 'new'), 'new');
    for (const file of ['meta.json', 'paused', 'scan-state.json']) await writeFile(at('whole', file), 'now');
  });

  asRoot('puts them where the layers were, and tells of nothing that was', async () => {
    expect(await restore()).toEqual({ stdout: 'copied\n', stderr: '', code: 0, signal: null });
    expect(await found()).toEqual(AFTER);
    expect(await readFile(at('whole', 'meta.json'), 'utf8')).toBe('kept');
    expect((await stat(at('whole', 'meta.json'))).mode & 0o777).toBe(0o600);
    for (const lock of ['start', 'restore']) await run('flock', ['-n', at('whole', `${lock}.lock`), 'true']);
  });

  asRoot('goes on with what a killed one has left', async () => {
    await rename(at('whole', 'meta.json'), at('whole', 'meta.restoring'));
    await mkdir(at('whole', 'restored', ...Array.from({ length: 40 }, () => 'd')), { recursive: true });
    await symlink(at('kept'), at('whole', 'restored', 'link'));
    await rename(at('whole', 'upper'), at('whole', 'restored', 'old-upper'));
    expect(await restore()).toMatchObject({ code: 0 });
    expect(await found()).toEqual(AFTER);
    expect((await readdir(at('kept', 'upper'))).toSorted()).toEqual(['link', 'old']);
  });

  asRoot('changes nothing where nobody waits, where one is missing, or where a link is on the way', async () => {
    for (const answer of ['', 'no\n']) expect(await restore(plan(), answer)).toMatchObject({ code: 99 });
    await symlink(at('kept'), at('way'));
    const linked = ['tree', at('way', 'upper'), at('whole', 'restored', 'upper')];
    expect(await restore(plan({ copied: [directory, ...linked] }))).toMatchObject({
      stderr: expect.stringContaining('symbolic links'),
    });
    const none = { layers: ['upper', 'none'] };
    expect(await restore(plan(none))).toMatchObject({ code: 1, stdout: expect.stringContaining('no copy of none') });
    expect((await found()).filter((line) => !line.startsWith('d restored') && !/ restored\//.test(line))).toEqual(
      BEFORE,
    );
  });

  asRoot('AX195: puts no link in the place of a layer', async () => {
    await rename(at('kept', 'upper'), at('elsewhere'));
    await symlink(at('elsewhere'), at('kept', 'upper'));
    const copied = copies().map((word) => (word === 'upper' ? 'tree' : word));
    expect(await restore(plan({ copied }))).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('no copy of upper'),
    });
    expect(await readdir(at('whole', 'upper'))).toEqual(['new']);
  });

  asRoot('waits for who copies, and for who starts, and ends the session first', async () => {
    await run('mkfifo', [at('whole', 'stop.fifo')]);
    const script = `: >${at('held')}; read -r word <${at('whole', 'stop.fifo')}; ls ${at('whole', 'upper')}; echo "$word"`;
    const holder = spawn('flock', [at('whole', 'alive.lock'), 'sh', '-c', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(holder);
    await eventually(async () => existsSync(at('held')), Boolean);
    const printed = text(holder.stdout);
    expect(await restore()).toMatchObject({ code: 0 });
    expect(await printed).toBe('new\nstop\n');
  });

  it('is no path, and not to what is gone', async () => {
    expect(await restore(plan({ layers: ['../upper'] }))).toMatchObject({ code: process.getuid?.() === 0 ? 1 : 93 });
    expect(await readdir(at('whole', 'upper'))).toEqual(['new']);
    await rm(at('whole'), { recursive: true });
    expect(await restore()).toMatchObject({ code: 94 });
  });
});

describe('the removal of a directory', () => {
  const entry = (name: string, ...all: readonly string[]) => words(name, `${all.length}`, ...all);
  const at = (...names: readonly string[]) => join(directory, ...names);
  /** Of `whole` with the tree `play` and the file `disk`. Shell text tells that it was run, and removes nothing. */
  const plan = ({ marks = [] as string[], kept = '3', more = '' } = {}) =>
    entry('directory', at('whole'), at('.unfinished-gone')) +
    entry('groups') +
    entry('marks', ...marks) +
    entry('trees', at('play')) +
    entry('files', at('disk')) +
    entry('by-shell', `echo gone >>${at('told')}; rm -rf ${at('.unfinished-gone')}`, `echo play >>${at('told')}`) +
    entry('sweep', `echo swept >>${at('told')}`, at('bases'), kept, 'a-', directory, at('bases')) +
    more +
    entry('go');
  const remove = async (bytes: string) => {
    const child = start('remove');
    child.stdin.on('error', () => {});
    child.stdin.end(bytes);
    return await outcome(child);
  };
  const told = async () => await readFile(at('told'), 'utf8').catch(() => '');
  beforeEach(async () => {
    await mkdir(at('whole', 'a', 'b'), { recursive: true });
    await writeFile(at('whole', 'a', 'file'), 'text');
    await mkdir(at('play'));
    await writeFile(at('play', 'file'), 'text');
    await writeFile(at('disk'), 'text');
    await mkdir(at('bases', 'ab'), { recursive: true });
    await mkdir(at('kept'));
    await writeFile(at('kept', 'file'), 'text');
    await symlink(at('kept'), at('whole', 'a', 'link'));
  });
  const DONE = { stdout: '', stderr: '', code: 0, signal: null };

  it('takes all that is of it, follows no link, and starts no other program', async () => {
    expect(await remove(plan())).toEqual(DONE);
    expect((await readdir(directory)).toSorted()).toEqual(['bases', 'kept']);
    expect(await readdir(at('kept'))).toEqual(['file']);
    expect(await remove(plan())).toEqual(DONE); // of what is gone
  });

  it('goes on with what a killed one has left', async () => {
    await rename(at('whole'), at('.unfinished-gone'));
    await mkdir(at('whole'));
    expect(await remove(plan())).toEqual(DONE);
    expect((await readdir(directory)).toSorted()).toEqual(['bases', 'kept']);
  });

  it('does nothing where a mark says that it is for other programs', async () => {
    const before = (await readdir(directory)).toSorted();
    expect(await remove(plan({ marks: [at('nothing'), at('whole', 'a', 'file')] }))).toMatchObject({ code: 92 });
    expect((await readdir(directory)).toSorted()).toEqual(before);
  });

  it('AX209: takes what is deeper than a path may be and closed to its owner', async () => {
    const script = `chdir shift; for (1 .. 40) { mkdir $_ for ".lifted-$_", "x" x 200; mkdir "x" x 200 . "/closed";
open my $file, ">", "x" x 200 . "/closed/file"; chmod 0, "x" x 200 . "/closed"; chdir "x" x 200 }`;
    await run('perl', ['-e', script, at('whole')]);
    await chmod(at('whole'), 0o500);
    expect(await remove(plan())).toEqual(DONE);
    expect((await readdir(directory)).toSorted()).toEqual(['bases', 'kept']);
  });

  const asRoot = process.getuid?.() === 0 ? it : it.skip; // nobody else mounts
  asRoot('leaves to a shell what it cannot take', async () => {
    const mounted = 'mount -t tmpfs none "$1" && exec "$0" remove';
    const argv = ['-m', 'sh', '-c', mounted, program, at('whole', 'a', 'b')];
    const child = spawn('unshare', argv, { stdio: 'pipe' });
    children.push(child);
    child.stdin.end(plan());
    expect(await outcome(child)).toMatchObject({ code: 1 });
    expect(await told()).toBe('gone\n');
  });

  it.each([
    ['something unfinished', '3', ['.unfinished-x']],
    ['more bases than are kept', '0', []],
    ['a layer of what came along', '3', ['bases/a-1']],
    ['a tree of uncommitted files', '3', ['bases/abc-1']],
  ])('has swept where there is %s', async (_what, kept, names) => {
    for (const name of names) await mkdir(at(name));
    expect(await remove(plan({ kept }))).toEqual(DONE);
    expect(await told()).toBe('swept\n');
  });

  it('ends the session first', async () => {
    await run('mkfifo', [at('whole', 'stop.fifo')]);
    const holder = spawn(
      'flock',
      [
        at('whole', 'alive.lock'),
        'sh',
        '-c',
        `: >${at('held')}; read -r word <${at('whole', 'stop.fifo')}; echo "$word"`,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    children.push(holder);
    const said = text(holder.stdout);
    await eventually(
      () => readdir(directory),
      (names) => names.includes('held'),
    );
    expect(await remove(plan())).toEqual(DONE);
    expect(await said).toBe('stop\n');
  });

  it.each([
    ['of another release', entry('fly'), 'has fly with 0 arguments'],
    ['with groups without a path', '', 'control groups without a path'],
    ['without a text for a tree', '', 'not one text for each tree'],
  ])('by a plan %s is refused', async (what, more, reason) => {
    const whole = plan({ more });
    const bytes = what.includes('groups')
      ? whole.replace(entry('groups'), entry('groups', '1'))
      : what.includes('text')
        ? whole.replace(entry('trees', at('play')), entry('trees'))
        : whole;
    expect(await remove(bytes)).toMatchObject({ code: 1, stdout: expect.stringContaining(reason) });
    expect(await readdir(at('whole'))).toEqual(['a']);
  });
});

/** Reads what a process of a sandbox is asked for, and runs shell text in its place, with the pipes as a sandbox has them. */
async function sandboxHalf(script: string): Promise<void> {
  await run('mkfifo', [join(directory, 'control')]);
  // As the first process of a sandbox does: what is written there is not lost before somebody reads it.
  descriptors.push(openSync(join(directory, 'control'), 'r+'));
  const half = spawn('sh', ['-c', `read -r verb id <control; exec 9>$id.exit; ${script}`], {
    cwd: directory,
    stdio: 'ignore',
    detached: true,
  });
  children.push(half);
}

/** The words by which the program of a sandbox begins. */
const BEGIN = 'echo "started 7 8" >&9; exec <$id.in >$id.out 2>$id.err';
function relay(stdin: 'pipe' | 'none' = 'none', plan = ''): ChildProcessWithoutNullStreams {
  const child = start('relay', directory, 'a', stdin, `${Buffer.byteLength(plan)}`);
  if (plan !== '') child.stdin.write(plan); // one that has ended takes nothing
  return child;
}

describe('the relay of a process', () => {
  it('passes on both outputs and the exit code, and leaves nothing behind', async () => {
    await sandboxHalf(
      'echo "started 7 8" >&9; exec </dev/null >$id.out 2>$id.err; echo out; echo err >&2; echo exit 3 >&9',
    );
    expect(await outcome(relay('none', 'some text'))).toEqual({
      stdout: 'started 7 8\nout\n',
      stderr: 'err\n',
      code: 3,
      signal: null,
    });
    expect(await readdir(directory)).toEqual(['control']);
  });

  it('writes the plan for the sandbox to read', async () => {
    await sandboxHalf('echo "started 7 8" >&9; exec >$id.out 2>$id.err; cat $id.cmd; echo exit 0 >&9');
    expect((await outcome(relay('none', words('some\ntext', '', 'more')))).stdout).toBe(
      'started 7 8\nsome\ntext\0\0more\0',
    );
  });

  it('passes on input of any size, and its end', async () => {
    await sandboxHalf(`${BEGIN}; wc -c; echo exit 0 >&9`);
    const child = relay('pipe');
    child.stdin.end(Buffer.alloc(3 * 2 ** 20, 1));
    expect((await outcome(child)).stdout).toBe(`started 7 8\n${3 * 2 ** 20}\n`);
  });

  it('drops input that nobody reads any more', async () => {
    await run('mkfifo', [join(directory, 'go')]);
    await sandboxHalf(`${BEGIN}; exec </dev/null; read -r go <go; echo done; echo exit 0 >&9`);
    const child = relay('pipe');
    const ended = outcome(child);
    child.stdin.on('error', () => {});
    await new Promise((resolve) => child.stdin.write(Buffer.alloc(2 ** 20), resolve));
    await writeFile(join(directory, 'go'), 'go\n');
    expect((await ended).stdout).toBe('started 7 8\ndone\n');
  });

  it('says at once how the process ended, and keeps what nobody has read yet', async () => {
    await run('mkfifo', [join(directory, 'go')]);
    await sandboxHalf(`${BEGIN.replace('<$id.in', '</dev/null')}; head -c 50000 /dev/zero; echo exit 0 >&9`);
    const script = '( "$0" relay . a none 0; echo $? >code ) | ( read -r go <go; wc -c )';
    const reader = spawn('sh', ['-c', script, program], { cwd: directory, detached: true });
    children.push(reader);
    const said = text(reader.stdout); // Node drops what nobody reads when the program has ended
    await eventually(
      async () => existsSync(join(directory, 'code')),
      (isThere) => isThere,
    );
    await writeFile(join(directory, 'go'), 'go\n');
    expect(await said).toBe(`${'started 7 8\n'.length + 50_000}\n`);
  });

  it('hears a background process of the program to its end', async () => {
    await run('mkfifo', [join(directory, 'go')]);
    await sandboxHalf(
      `${BEGIN.replace('<$id.in', '</dev/null')}; ( exec 9>&-; read -r go <go; echo later ) & echo exit 0 >&9`,
    );
    const child = relay();
    const said = text(child.stdout);
    expect((await once(child, 'exit'))[0]).toBe(0);
    await writeFile(join(directory, 'go'), 'go\n');
    expect(await said).toBe('started 7 8\nlater\n');
  });

  it.each([
    ['says why nothing was started', 'echo no-cwd >&9', { stdout: 'no-cwd\n', code: 1 }],
    ['dies where nobody says how the process ended', 'echo "started 7 8" >&9', { code: null, signal: 'SIGKILL' }],
    [
      'dies of a line without an end',
      'echo "started 7 8" >&9; yes | tr -d "\\n" >&9',
      { code: null, signal: 'SIGKILL' },
    ],
    [
      'takes no second start',
      'echo "started 7 8" >&9; echo "started 9 9" >&9; echo nonsense >&9; echo exit 4 >&9',
      { stdout: 'started 7 8\n', code: 4 },
    ],
  ])('%s', async (_what, script, wanted) => {
    await sandboxHalf(script);
    expect(await outcome(relay())).toMatchObject(wanted);
    expect((await readdir(directory)).filter((name) => name !== 'control')).toEqual([]);
  });

  it.each(['dying', 'paused', 'stopped'])('starts nothing in a session that is %s', async (mark) => {
    const io = join(directory, 'io');
    await mkdir(io);
    await writeFile(join(directory, mark), '');
    const wanted = mark === 'dying' ? 'ending' : mark;
    expect(await outcome(start('relay', io, 'a', 'none', '0'))).toMatchObject({ stdout: `${wanted}\n`, code: 1 });
    expect(await readdir(io)).toEqual([]);
  });

  /** A first process that reads nothing, and whose pipe programs inside have filled. */
  async function deafen(io: string): Promise<number> {
    await mkdir(io);
    await run('mkfifo', [join(io, 'control')]);
    const control = openSync(join(io, 'control'), constants.O_RDWR | constants.O_NONBLOCK);
    descriptors.push(control);
    while (succeeds(() => writeSync(control, Buffer.alloc(4096))));
    return control;
  }

  it('does not wait for a session that has let go of all others by then', async () => {
    const io = join(directory, 'io');
    const control = await deafen(io);
    const child = start('relay', io, 'a', 'none', '0'); // which has looked whether it may, and waits to be read
    await eventually(
      () => readFile(`/proc/${child.pid}/wchan`, 'utf8'),
      (place) => place.includes('poll'),
    );
    await writeFile(join(directory, 'dying'), '');
    while (succeeds(() => readSync(control, Buffer.alloc(4096))));
    expect(await outcome(child)).toMatchObject({ stdout: 'ending\n', code: 1 });
    expect(await readdir(io)).toEqual(['control']);
  });

  it('AX205: waits for no first process whose pipe is full', async () => {
    const io = join(directory, 'io');
    await deafen(io);
    expect(await outcome(start('relay', io, 'a', 'none', '0'))).toMatchObject({ stdout: 'deaf\n', code: 1 });
    expect(await readdir(io)).toEqual(['control']);
  });

  it.each(['../a', 'a/b', 'x'.repeat(65)])('takes no id like %s', async (id) => {
    expect(await outcome(start('relay', directory, id, 'none', '0'))).toMatchObject({ code: 1, stdout: '' });
    expect(await readdir(directory)).toEqual([]);
  });
});

describe('the link to a session', () => {
  beforeEach(async () => {
    for (const name of ['clients.lock', 'alive.lock', 'start.lock']) await writeFile(join(directory, name), '');
  });

  const link = (purpose: 'program' | 'facts', of = directory) => {
    const child = start('serve');
    child.stdin.write(words('link', '2', of, purpose, 'go', '0'));
    return child;
  };
  const linesOf = (child: ChildProcessWithoutNullStreams) => createInterface(child.stdout)[Symbol.asyncIterator]();
  const firstLine = async (child: ChildProcessWithoutNullStreams) => (await linesOf(child).next()).value;
  /** Holds a lock of the directory until it is killed. */
  const hold = async (name: string) => {
    const holder = spawn('flock', ['-x', join(directory, name), 'sh', '-c', 'echo; exec sleep infinity'], {
      detached: true,
    });
    children.push(holder);
    await once(holder.stdout, 'data');
    return () => process.kill(-holder.pid!, 'SIGKILL');
  };

  it('says that there is none, or what forbids one', async () => {
    expect(await firstLine(link('program'))).toBe('none');
    await writeFile(join(directory, 'paused'), '');
    expect(await outcome(link('program'))).toMatchObject({ stdout: 'paused\n', code: 0 });
    expect(await firstLine(link('facts'))).toBe('none');
    expect(await outcome(link('program', join(directory, 'gone')))).toMatchObject({ stdout: '', code: 1 });
  });

  it('says what is known of one that lives, and when it is gone', async () => {
    await writeFile(join(directory, 'session.json'), '{"known":1}\nand more');
    const end = await hold('alive.lock');
    const one = link('program');
    const lines = linesOf(one);
    expect((await lines.next()).value).toBe('alive {"known":1}');
    one.stdin.write(words('watch', '0', 'go', '0'));
    end();
    expect((await lines.next()).value).toBe('gone');
  });

  it('holds the lock of clients as long as its stdin is open', async () => {
    const one = link('facts');
    await firstLine(one);
    const lock = join(directory, 'clients.lock');
    await expect(run('flock', ['-n', '-x', lock, 'true'])).rejects.toMatchObject({ code: 1 });
    one.stdin.end();
    await once(one, 'exit');
    await run('flock', ['-n', '-x', lock, 'true']);
  });
});

describe('the file of the session program', () => {
  let state = '';
  beforeEach(async () => {
    state = await backendDirectory('copy');
  });
  afterEach(() => removeBackend(state));
  const files = async () =>
    (await readdir(join(state, 'overlayfs')))
      .filter((name) => name.startsWith('session-'))
      .map((name) => join(state, 'overlayfs', name));
  const provider = (
    strategy: 'copy' | 'overlay' = 'copy',
    sessionProgram?: (architecture: string) => Uint8Array | undefined,
  ) => overlayfs({ host, facts, directory: state, strategy, ...(sessionProgram && { sessionProgram }) });

  async function says(by: ReturnType<typeof provider>): Promise<{ said: string; programs: readonly string[] }> {
    const id = SandboxId.make();
    await using runtime = await by.create(sandboxSpec(id, { allowDegraded: true }));
    const { stdout } = await collected(await runtime.spawn({ argv: ['echo', 'hello'] }));
    const programs = runningFrom(state);
    await runtime[Symbol.asyncDispose]();
    await by.remove(id);
    return { said: stdout, programs };
  }

  it('is written once, as nobody else may change it, and starts sessions', async () => {
    await using by = provider();
    const { said, programs } = await says(by);
    expect(said).toBe('hello\n');
    const [file = '', ...others] = await files();
    expect(others).toEqual([]);
    expect((await stat(file)).mode & 0o7777).toBe(0o755);
    expect(new Set(programs)).toEqual(new Set([file]));
    const before = await stat(file);
    await using again = provider();
    await says(again);
    expect((await stat(file)).mtimeMs).toBe(before.mtimeMs);
  });

  it('is written again where it is not whole', async () => {
    await using by = provider();
    await says(by);
    const [file = ''] = await files();
    const whole = await readFile(file);
    await writeFile(file, whole.subarray(0, 1000));
    await using again = provider();
    expect((await says(again)).said).toBe('hello\n');
    expect(await readFile(file)).toEqual(whole);
  });

  it('is refused where somebody else may have written it', async () => {
    await using by = provider();
    await says(by);
    const [file = ''] = await files();
    await chmod(file, 0o722);
    await using again = provider();
    const refused = {
      code: 'PERMISSION_DENIED',
      message: expect.stringContaining('somebody else may have written it'),
    };
    await expect(says(again)).rejects.toMatchObject(refused);
    await chmod(file, 0o700);
    if (facts.uid !== 0) return; // another user's file is root's to make
    await chown(file, 61_100, 61_100);
    await using third = provider();
    await expect(says(third)).rejects.toMatchObject(refused);
  });

  it('makes the directory of a sandbox as shell text does', async () => {
    const entriesOf = async (sessionProgram?: () => undefined) => {
      await using by = provider('overlay', sessionProgram);
      const id = SandboxId.make();
      await using _runtime = await by.create(sandboxSpec(id, { allowDegraded: true }));
      const of = join(state, 'overlayfs', 'sandboxes', id);
      const { stdout } = await run('find', [of, '-maxdepth', '1', '-printf', '%y %m %U:%G %P\n']);
      await by.remove(id);
      return stdout.trim().split('\n').toSorted();
    };
    const byProgram = await entriesOf();
    // Shell text has tables of mounts besides, and the complaints of a second bubblewrap; the program has a place for itself.
    const shared = byProgram.filter((entry) => !entry.endsWith(' first'));
    expect(await entriesOf(() => undefined)).toEqual(expect.arrayContaining(shared));
    expect(byProgram).toContain('p 600 0:0 stop.fifo'.replaceAll('0:0', `${facts.uid}:${process.getgid?.()}`));
  });

  it.each([
    ['one without it', undefined, () => undefined],
    ['one with it', () => undefined, undefined],
  ] as const)('a session that another program has started is used by %s', async (_who, sessionProgram, others) => {
    await using first = provider('overlay', sessionProgram);
    await using second = provider('overlay', others);
    const id = SandboxId.make();
    await using _runtime = await first.create(sandboxSpec(id, { allowDegraded: true }));
    await using same = await second.open(id);
    const argv = ['sh', '-c', 'echo "$0" | wc -c; exit 3', 'x'.repeat(40_000)] as const;
    expect(await collected(await same.spawn({ argv }))).toMatchObject({ stdout: '40001\n' });
    await second.remove(id);
  });

  it.each([
    ['there is none for the machine', () => undefined],
    ['the machine does not run it', () => new TextEncoder().encode('\u007fELF of another machine')],
  ])('shell text starts sessions where %s', async (_what, sessionProgram) => {
    await using by = provider('copy', sessionProgram);
    expect(await says(by)).toEqual({ said: 'hello\n', programs: [] });
    expect(await files()).toEqual([]);
  });
});

/** False where it would have to wait. */
function succeeds(work: () => number): boolean {
  try {
    return work() > 0;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return false;
    throw error;
  }
}

/** The programs below a directory that run now. */
function runningFrom(place: string): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && existsSync(`/proc/${name}/exe`))
    .flatMap((name) => {
      try {
        return [readlinkSync(`/proc/${name}/exe`)];
      } catch {
        return []; // it has ended meanwhile
      }
    })
    .filter((path) => path.startsWith(`${place}/`));
}
