import { hostsOf } from './config-text.ts';
import type { Ecosystem } from '@litterbox/core';

/** What a configuration with these setups and their network asks a person for, in the lines of `litterbox trust`. */
export function wantedTrust(ecosystems: readonly Ecosystem[]): readonly string[] {
  return [
    `container.setup-command = ${JSON.stringify(ecosystems.map(({ setup }) => setup))}`,
    `network.allow = ${JSON.stringify(hostsOf(ecosystems))}`,
    'network.setup = "allow-list"',
  ];
}
