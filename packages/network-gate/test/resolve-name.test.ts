import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { resolveName } from '../src/resolve-name.ts';

const directory = mkdtempSync(join(tmpdir(), 'litterbox-hosts-'));
afterAll(() => rmSync(directory, { recursive: true }));

const hosts = join(directory, 'hosts');
writeFileSync(
  hosts,
  '# 9.9.9.9 npm.corp.example\n10.1.2.3\tnpm.corp.example  NPM # 10.9.9.9 other.example\n::1 NPM.Corp.Example\nno-address npm.corp.example\n',
);

describe('resolveName', () => {
  it('takes all addresses of the hosts file', async () => {
    expect(await resolveName('npm.corp.example', hosts)).toEqual(['10.1.2.3', '::1']);
  });

  it('AX73: asks the resolver for the whole name, so that it asks for nothing below a domain of its own', async () => {
    const asked: string[] = [];
    const ask = async (name: string) => {
      asked.push(name);
      return [{ address: '9.9.9.9' }];
    };
    expect(await resolveName('other.example', hosts, ask)).toEqual(['9.9.9.9']);
    expect(await resolveName('other.example', join(directory, 'none'), ask)).toEqual(['9.9.9.9']);
    expect(asked).toEqual(['other.example.', 'other.example.']);
  });
});
