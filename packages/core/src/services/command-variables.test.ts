import { describe, expect, it } from '@jest/globals';
import type { SandboxRecord } from '../ports/state/state-store.ts';
import { commandVariables } from './command-variables.ts';

function variablesOf(run: 'none' | 'allow-list', environment: Readonly<Record<string, string>> = {}) {
  const policy = { limits: { cpus: 2 }, network: { setup: 'none', run }, environment };
  return commandVariables({ ports: [], policy } as unknown as SandboxRecord, 'run');
}

describe('commandVariables', () => {
  it('lets package managers give up at once where there is no network', () => {
    expect(variablesOf('none')).toMatchObject({ npm_config_fetch_retries: '0', PIP_RETRIES: '0', LITTERBOX_CPUS: '2' });
    expect(variablesOf('none')).not.toHaveProperty('HTTPS_PROXY');
  });

  it('leaves what the person set as it is', () => {
    expect(variablesOf('none', { PIP_RETRIES: '7' })).not.toHaveProperty('PIP_RETRIES');
  });

  it('names the way to the network where there is one, and nothing else', () => {
    const variables = variablesOf('allow-list');
    expect(variables).toHaveProperty('HTTPS_PROXY', 'http://127.0.0.1:3128');
    expect(variables).not.toHaveProperty('npm_config_fetch_retries');
  });
});
