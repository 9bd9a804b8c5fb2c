import { advice, step } from '../../domain/errors/next-step.ts';
import { MAX_HOSTS } from '../../domain/sandbox/host-names.ts';
import { isHostName, normalHostName } from '../../domain/sandbox/provider-key.ts';
import { Refused, refusedValue, setting } from './setting.ts';

const HINT = advice`Write hosts = ["build-box", "local"], for example: names of ${step('host-list')}.`;

/** A key that names machines of the user's. Which there are is theirs to say: whoever opens one tells. */
export function hostList(description: string) {
  const schema = {
    type: 'array',
    items: { type: 'string' },
    minItems: 1,
    maxItems: MAX_HOSTS,
    examples: [['build-box', 'local']],
    description,
  };
  return setting(schema, (value): readonly string[] | Refused => {
    if (!Array.isArray(value)) return refusedValue('CONFIG_TYPE', value, 'a list of hosts', HINT);
    if (value.length === 0 || value.length > MAX_HOSTS)
      return new Refused('CONFIG_VALUE', `got ${value.length} hosts, want 1 to ${MAX_HOSTS}`, HINT);
    const names: string[] = [];
    for (const [index, item] of value.entries()) {
      if (typeof item !== 'string') return refusedValue('CONFIG_TYPE', item, 'the name of a host', HINT, [index]);
      const name = normalHostName(item);
      if (!isHostName(name)) return refusedValue('CONFIG_VALUE', item, 'the name of a host', HINT, [index]);
      if (names.includes(name)) return refusedValue('CONFIG_VALUE', item, 'each host once', HINT, [index]);
      names.push(name);
    }
    return names;
  });
}
