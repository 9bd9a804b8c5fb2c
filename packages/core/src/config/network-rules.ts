import { NETWORK_RULE, NETWORK_RULE_HINT, parseNetworkRule } from './parse-network-rule.ts';
import { Refused, refusedValue, setting } from './setting.ts';

/** A key that takes a list of rules for the proxy. */
export function networkRules(description: string) {
  const schema = { type: 'array', items: { type: 'string' }, examples: [['registry.npmjs.org']], description };
  return setting(schema, (value): readonly string[] | Refused => {
    if (!Array.isArray(value))
      return refusedValue('NET_RULE_INVALID', value, `a list of ${NETWORK_RULE}`, NETWORK_RULE_HINT);
    const rules: string[] = [];
    for (const [index, item] of value.entries()) {
      const rule = typeof item === 'string' ? parseNetworkRule(item) : undefined;
      if (rule === undefined) return refusedValue('NET_RULE_INVALID', item, NETWORK_RULE, NETWORK_RULE_HINT, [index]);
      rules.push(rule);
    }
    return rules;
  });
}
