import { Refused, refusedValue, setting } from './setting.ts';

/** The name of a pool is a label of RFC 1123, as that of any object of Kubernetes may be. */
const MAKER = /^(litterbox|agent-sandbox|warm-pool\/[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)$/;

/** A key that says who makes the pods of sandboxes. */
export function podMaker(description: string) {
  return setting({ type: 'string', pattern: MAKER.source, description }, (value): string | Refused => {
    if (typeof value === 'string' && MAKER.test(value)) return value;
    return refusedValue(
      typeof value === 'string' ? 'CONFIG_VALUE' : 'CONFIG_TYPE',
      value,
      'litterbox, agent-sandbox, or warm-pool/ and the name of a pool',
      'Write "agent-sandbox", for example.',
    );
  });
}
