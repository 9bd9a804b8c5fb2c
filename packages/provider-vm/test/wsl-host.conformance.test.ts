import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, it } from '@jest/globals';
import { describeHost } from '@litterbox/conformance';
import { Machines } from '@litterbox/provider-vm';
import { FakePrograms } from './fake-programs.ts';
import { WSL_LIST } from './recorded.ts';

const directory = await mkdtemp(join(tmpdir(), 'litterbox-wsl-'));
afterAll(() => rm(directory, { recursive: true, force: true }));

const programs = new FakePrograms(join(directory, 'programs'));
const list = programs.file('wsl.txt', Buffer.from(WSL_LIST, 'utf16le'));
programs.add('wsl.exe', `case $1 in --list) exec cat ${list} ;; *) shift 3; cd /; exec "$@" ;; esac`);

describeHost({
  name: 'a distribution of WSL2',
  runner: { describe, it, afterAll },
  open: async () => (await new Machines(programs.host).open('wsl:ubuntu-24.04', { hostKeys: [] })).host,
  directory: async () => directory,
  hasSockets: false,
});
