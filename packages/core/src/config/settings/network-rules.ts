import {
  NETWORK_RULE,
  NETWORK_RULE_HINT,
  parseNetworkRule,
  parsePrivateRule,
  PRIVATE_RULE,
  PRIVATE_RULE_HINT,
} from './parse-network-rule.ts';
import { Refused, refusedValue, setting } from './setting.ts';

/** A key that takes a list of rules for the proxy. */
export function networkRules(description: string) {
  return rulesOf(description, 'registry.npmjs.org', parseNetworkRule, NETWORK_RULE, NETWORK_RULE_HINT);
}

/** A key that takes a list of hosts of private networks. */
export function privateRules(description: string) {
  return rulesOf(description, 'registry.example.org', parsePrivateRule, PRIVATE_RULE, PRIVATE_RULE_HINT);
}

function rulesOf(
  description: string,
  example: string,
  parse: (text: string) => string | undefined,
  wanted: string,
  hint: string,
) {
  const schema = { type: 'array', items: { type: 'string' }, examples: [[example]], description };
  return setting(schema, (value): readonly string[] | Refused => {
    if (!Array.isArray(value)) return refusedValue('NET_RULE_INVALID', value, `a list of ${wanted}`, hint);
    const rules: string[] = [];
    for (const [index, item] of value.entries()) {
      const rule = typeof item === 'string' ? parse(item) : undefined;
      if (rule === undefined) return refusedValue('NET_RULE_INVALID', item, wanted, hint, [index]);
      rules.push(rule);
    }
    return rules;
  });
}
