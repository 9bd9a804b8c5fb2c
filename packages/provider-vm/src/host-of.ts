import { normalHostName } from '@litterbox/core/provider';

/** What a machine is called as a host: `wsl:ubuntu-24.04`. */
export const hostOf = (way: string, machine: string): string => normalHostName(`${way}:${machine}`);
