import { isTable, Refused, refusedValue, setting } from './setting.ts';
import { isReservedVariable } from './variable-problem.ts';

/** Without a target the program listens on the number that it is given in `LITTERBOX_PORT_NAME`. */
export interface PortConfig {
  readonly target?: number;
}

const NAME = /^[a-z](?:[a-z0-9_-]{0,38}[a-z0-9])?$/;
const EXAMPLE = 'Write web = 8080, web = { target = 8080 }, or web = {} for a number chosen by Litterbox.';
const number = { type: 'integer', minimum: 1, maximum: 65_535 };
const schema = {
  type: 'object',
  description: 'Ports inside that are reachable from 127.0.0.1 outside, by name.',
  additionalProperties: { anyOf: [number, { type: 'object', properties: { target: number } }] },
};

export function portTable() {
  return setting(schema, (value): Readonly<Record<string, PortConfig>> | Refused => {
    if (!isTable(value)) return refusedValue('CONFIG_TYPE', value, 'a table of ports', EXAMPLE);
    const ports: [string, PortConfig][] = [];
    const variables = new Map<string, string>();
    const targets = new Map<number, string>();
    for (const [name, entry] of Object.entries(value)) {
      if (!NAME.test(name)) {
        const wanted = 'a port name of 1 to 40 characters a-z, 0-9, - and _, starting with a letter';
        return refusedValue('CONFIG_NAME', name, wanted, 'Rename the port.', [name]);
      }
      const variable = name.toUpperCase().replaceAll('-', '_');
      const twin = variables.get(variable);
      if (twin !== undefined || isReservedVariable(variable)) {
        const reason =
          twin === undefined
            ? `its variable ${variable} is reserved`
            : `its variable ${variable} is that of ${twin} as well`;
        return new Refused('PORT_ENV_RESERVED', reason, 'Rename the port.', [name]);
      }
      variables.set(variable, name);
      const target = isTable(entry) ? entry['target'] : entry;
      if (target === undefined) {
        ports.push([name, {}]);
        continue;
      }
      const path = isTable(entry) ? [name, 'target'] : [name];
      if (typeof target !== 'number' || !Number.isInteger(target) || target < 1 || target > 65_535) {
        return refusedValue('CONFIG_VALUE', target, '1..65535', EXAMPLE, path);
      }
      const other = targets.get(target);
      if (other !== undefined) {
        return new Refused('PORT_DUPLICATE', `${target} is the port of ${other} already`, 'Choose another one.', path);
      }
      targets.set(target, name);
      ports.push([name, { target }]);
    }
    return Object.fromEntries(ports);
  });
}
