const LABEL = '(?:xn--[a-z0-9-]{1,58}[a-z0-9]|(?!xn--)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)';
const RULE = new RegExp(`^(\\*\\.)?(${LABEL}(?:\\.${LABEL})+)(?::([1-9][0-9]{0,4}))?$`);

/** What a rule looks like, for messages. */
export const NETWORK_RULE = 'host.example.org, *.example.org or host.example.org:443';
export const NETWORK_RULE_HINT =
  'Names only: no addresses, no schemes, no paths, at least two labels, and no star over a whole registry.';

/**
 * Endings below which anyone can register a name, beside those of one label. Not the whole public suffix list, which
 * changes weekly: the ones that people meet. The proxy refuses addresses of the local network in any case.
 */
const SHARED_ENDINGS = new RegExp(
  `^(?:${[
    '(?:co|com|net|org|gov|edu|ac|me|ne|or|go|ltd|plc)\\.[a-z]{2}',
    '(?:github|gitlab|netlify|vercel|pages|workers|web|herokuapp|azurewebsites|cloudfront|appspot|amazonaws|blogspot|firebaseapp|fly|onrender|ngrok|ngrok-free)\\.[a-z]{2,5}',
    '(?:[a-z0-9-]+\\.)?s3(?:[.-][a-z0-9-]+)?\\.amazonaws\\.com',
    '(?:storage\\.)?googleapis\\.com',
    '(?:[a-z]+\\.)?core\\.windows\\.net',
    '(?:githubusercontent|trycloudflare)\\.com',
    '(?:r2|deno)\\.dev',
    'run\\.app|duckdns\\.org|supabase\\.co|(?:nip|sslip)\\.io',
  ].join('|')})$`,
);

/** What a rule of a private network looks like, for messages. */
export const PRIVATE_RULE = 'registry.example.org or registry.example.org:8443';
export const PRIVATE_RULE_HINT =
  'One whole name of at least two labels each: no stars, no addresses, no schemes, no paths.';

/** As {@link parseNetworkRule}, of one host of a private network: no star, and the ending that is kept for such names. */
export function parsePrivateRule(text: string): string | undefined {
  if (text.startsWith('*')) return undefined;
  const own = /^(.*\.)internal(\.?(?::\d+)?)$/i.exec(text);
  if (!own) return parseNetworkRule(text);
  // Judged as any other name would be.
  return parseNetworkRule(`${own[1]}internal.example${own[2]}`)?.replace(/\.example(?=:|$)/, '');
}

/** One rule in its normal form (lower case, no dot at the end), or nothing when it is not a rule. */
export function parseNetworkRule(text: string): string | undefined {
  if (text.length > 260) return undefined;
  const normal = text.toLowerCase().replace(/^([^:]*[^.:])\.(?=:|$)/, '$1');
  const [, star, host = '', port] = RULE.exec(normal) ?? [];
  if (host === '' || host.length > 253 || Number(port ?? 1) > 65_535) return undefined;
  const last = host.slice(host.lastIndexOf('.') + 1);
  // A last label that is a number is an address to every resolver: 10.0.0.1, 127.1, 0x7f.1.
  if (/^(?:[0-9]+|0x[0-9a-f]*)$/.test(last) || ['localhost', 'local', 'internal', 'localdomain'].includes(last))
    return undefined;
  if (star && SHARED_ENDINGS.test(host)) return undefined;
  return normal;
}
