import type { EndpointBudget } from '../../domain/secrets/endpoint-policy.ts';
import { ENDPOINT_KINDS, type EndpointKind, PLACEHOLDER } from './endpoint-kinds.ts';
import { isTable, Refused, refusedValue, setting } from './setting.ts';
import { variableProblem } from './variable-problem.ts';

/** A way to one server outside, as the file has it. */
export interface EndpointConfig {
  /** The service by its name. Absent: none of those. */
  readonly kind?: string;
  /** `https://HOST[:PORT][/PATH]`, without a slash at its end. */
  readonly url: string;
  /** The name of a secret of the file. */
  readonly secret: string;
  /** The name in small letters; in the value `{secret}` stands once. */
  readonly header: { readonly name: string; readonly value: string };
  readonly methods: readonly string[];
  /** Each whole, or with a star at its end for whatever follows. */
  readonly paths: readonly string[];
  /** The port inside. Absent: Litterbox chooses. */
  readonly port?: number;
  /** With `{url}` and `{placeholder}` as the file has them. */
  readonly variables: Readonly<Record<string, string>>;
  readonly placeholder: string;
  /** The setup has it as well. */
  readonly inSetup?: true;
  readonly budget?: EndpointBudget;
}

type Table = Readonly<Record<string, unknown>>;

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
const KINDS = Object.keys(ENDPOINT_KINDS);
const KEYS = ['kind', 'url', 'secret', 'header', 'methods', 'paths', 'port', 'env', 'setup', 'budget'];
const NAME = /^[a-z](?:[a-z0-9_-]{0,38}[a-z0-9])?$/;
const SECRET = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;
const HEADER = /^([!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}): ?([\u0020-\u007e]{1,256})$/;
const PATH = /^\/[\w.~!$&'()+,;=:@/-]{0,255}\*?$/;
const MAX_ENDPOINTS = 32;
const MAX_LIST = 64;
/** Headers by which one server tells another where a message goes and ends: no secret belongs there. */
const OF_TRANSPORT =
  /^(?:host|connection|content-.*|transfer-encoding|te|trailer|upgrade|expect|keep-alive|proxy-.*|forwarded|x-forwarded-.*|via|sec-.*|accept.*)$/;
const EXAMPLE = 'Write [endpoints.model] with kind = "anthropic" and secret = "NAME".';

const strings = { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: MAX_LIST };
const schema = {
  type: 'object',
  description: 'Servers that programs inside reach by a port of their own loopback, with a secret that is set outside.',
  additionalProperties: {
    type: 'object',
    required: ['secret'],
    properties: {
      kind: { enum: KINDS },
      url: { type: 'string' },
      secret: { type: 'string' },
      header: { type: 'string' },
      methods: { ...strings, items: { enum: METHODS } },
      paths: strings,
      port: { type: 'integer', minimum: 1, maximum: 65_535 },
      env: { type: 'object', additionalProperties: { type: 'string' } },
      setup: { type: 'boolean' },
      budget: {
        type: 'object',
        properties: { requests: { type: 'integer', minimum: 1 }, tokens: { type: 'integer', minimum: 1 } },
        additionalProperties: false,
      },
    },
    additionalProperties: false,
  },
};

export function endpointTable() {
  return setting(schema, (value): Readonly<Record<string, EndpointConfig>> | Refused => {
    if (!isTable(value)) return refusedValue('CONFIG_TYPE', value, 'a table of endpoints', EXAMPLE);
    const entries = Object.entries(value);
    if (entries.length > MAX_ENDPOINTS)
      return refusedValue('CONFIG_VALUE', entries.length, `at most ${MAX_ENDPOINTS} endpoints`, 'Remove some.');
    const endpoints: [string, EndpointConfig][] = [];
    const variables = new Map<string, string>();
    for (const [name, entry] of entries) {
      const wrong = wrongName(name, variables);
      if (wrong) return wrong;
      const read = isTable(entry) ? readEndpoint(entry) : new Refused('CONFIG_TYPE', 'want a table', EXAMPLE);
      if (read instanceof Refused) return new Refused(read.code, read.reason, read.hint, [name, ...read.path]);
      endpoints.push([name, read]);
    }
    return Object.fromEntries(endpoints);
  });
}

/** @param variables those of the names before it, to which its own is added */
function wrongName(name: string, variables: Map<string, string>): Refused | undefined {
  if (!NAME.test(name)) {
    const wanted = 'a name of 1 to 40 characters a-z, 0-9, - and _, starting with a letter';
    return refusedValue('CONFIG_NAME', name, wanted, 'Rename the endpoint.', [name]);
  }
  const variable = name.toUpperCase().replaceAll('-', '_');
  const twin = variables.get(variable);
  variables.set(variable, name);
  if (twin === undefined) return undefined;
  return new Refused('CONFIG_NAME', `its variable is that of ${twin} as well`, 'Rename the endpoint.', [name]);
}

/** Repeats nothing of an address or a header: a secret may stand there by mistake. */
function readEndpoint(entry: Table): EndpointConfig | Refused {
  const unknown = Object.keys(entry).find((key) => !KEYS.includes(key));
  if (unknown !== undefined)
    return refusedValue('CONFIG_UNKNOWN_KEY', unknown, `one of ${KEYS.join(', ')}`, EXAMPLE, [unknown]);
  const kindName = entry['kind'];
  const kind: EndpointKind | undefined = typeof kindName === 'string' ? kindOf(kindName) : undefined;
  if (kindName !== undefined && !kind)
    return refusedValue('CONFIG_VALUE', kindName, `one of ${KINDS.join(', ')}`, EXAMPLE, ['kind']);
  const secret = entry['secret'];
  if (secret === undefined) return new Refused('CONFIG_MISSING', 'is missing', EXAMPLE, ['secret']);
  if (typeof secret !== 'string' || !SECRET.test(secret))
    return new Refused('SECRET_NAME', 'want the name of a secret', 'Name one that stands below [secrets].', ['secret']);
  const url = readUrl(entry['url'] ?? kind?.url);
  if (url instanceof Refused) return url;
  const header = readHeader(entry['header'] ?? kind?.header);
  if (header instanceof Refused) return header;
  const methods = readList('methods', entry['methods'] ?? kind?.methods, (one) => METHODS.includes(one), {
    wanted: `a list of ${METHODS.join(', ')}`,
    hint: 'Write methods = ["GET", "POST"].',
  });
  if (methods instanceof Refused) return methods;
  const paths = readList('paths', entry['paths'] ?? kind?.paths, isPath, {
    wanted: 'a list of absolute paths, each with a star at its end or without',
    hint: 'Write paths = ["/v1/models", "/v1/chat/*"].',
  });
  if (paths instanceof Refused) return paths;
  const { port } = entry;
  if (port !== undefined && !(Number.isInteger(port) && Number(port) >= 1 && Number(port) <= 65_535))
    return refusedValue('CONFIG_VALUE', port, '1..65535', 'Leave it out, and Litterbox chooses.', ['port']);
  const variables = readVariables(entry['env'] ?? kind?.variables ?? {});
  if (variables instanceof Refused) return variables;
  const { setup = false } = entry;
  if (typeof setup !== 'boolean')
    return refusedValue('CONFIG_TYPE', setup, 'true or false', 'Write setup = true.', ['setup']);
  const budget = readBudget(entry['budget'], kind !== undefined);
  if (budget instanceof Refused) return budget;
  return {
    ...(budget && { budget }),
    ...(setup && { inSetup: true }),
    ...(typeof kindName === 'string' && { kind: kindName }),
    url,
    secret,
    header,
    methods,
    paths,
    ...(port !== undefined && { port: Number(port) }),
    variables,
    placeholder: kind?.placeholder ?? PLACEHOLDER,
  };
}

/** @param hasTokens whether the answers of its servers are known to count tokens */
function readBudget(value: unknown, hasTokens: boolean): EndpointBudget | undefined | Refused {
  const hint = 'Write budget = { requests = 500, tokens = 2000000 }, with one of them or both.';
  if (value === undefined) return undefined;
  if (!isTable(value)) return refusedValue('CONFIG_TYPE', value, 'a table', hint, ['budget']);
  for (const [key, most] of Object.entries(value)) {
    if (key !== 'requests' && key !== 'tokens')
      return refusedValue('CONFIG_UNKNOWN_KEY', key, 'requests or tokens', hint, ['budget', key]);
    if (!Number.isSafeInteger(most) || Number(most) < 1)
      return refusedValue('CONFIG_VALUE', most, 'a whole number from 1', hint, ['budget', key]);
    if (key === 'tokens' && !hasTokens)
      return new Refused('CONFIG_VALUE', 'tokens are counted for an endpoint of a kind alone', hint, ['budget', key]);
  }
  return Object.keys(value).length > 0 ? value : undefined;
}

function kindOf(name: string): EndpointKind | undefined {
  return Object.hasOwn(ENDPOINT_KINDS, name) ? ENDPOINT_KINDS[name] : undefined;
}

function readUrl(value: unknown): string | Refused {
  const hint = 'Write url = "https://api.example.org", with a path where all requests have it.';
  if (value === undefined) return new Refused('CONFIG_MISSING', 'is missing', hint, ['url']);
  const refused = new Refused('CONFIG_VALUE', 'want an https address without a user, a query and a fragment', hint, [
    'url',
  ]);
  if (typeof value !== 'string' || !/^https:\/\/[\w.:[\]-]{1,262}(?:\/[\w.~/-]{0,255})?$/.test(value)) return refused;
  const url = URL.parse(value);
  const path = url?.pathname.replace(/\/$/, '') ?? '';
  // An address that changes when it is read is not what a person agreed to.
  if (!url || /\/\/|\/\.\.?(?:\/|$)/.test(value.slice('https://'.length)) || url.host === '') return refused;
  return `https://${url.host}${path}`;
}

function readHeader(value: unknown): EndpointConfig['header'] | Refused {
  const hint = 'Write header = "authorization: Bearer {secret}".';
  if (value === undefined) return new Refused('CONFIG_MISSING', 'is missing', hint, ['header']);
  const [, name = '', text = ''] = (typeof value === 'string' && HEADER.exec(value)) || [];
  const parts = text.split('{secret}');
  if (name === '' || parts.length !== 2 || OF_TRANSPORT.test(name.toLowerCase()))
    return new Refused('CONFIG_VALUE', 'want NAME: VALUE with {secret} once in the value', hint, ['header']);
  return { name: name.toLowerCase(), value: text };
}

function readList(
  key: string,
  value: unknown,
  isRight: (one: string) => boolean,
  { wanted, hint }: { readonly wanted: string; readonly hint: string },
): readonly string[] | Refused {
  if (value === undefined) return new Refused('CONFIG_MISSING', 'is missing', hint, [key]);
  const isList = Array.isArray(value) && value.length > 0 && value.length <= MAX_LIST;
  if (isList && value.every((one): one is string => typeof one === 'string' && isRight(one)))
    return [...new Set(value)];
  return refusedValue('CONFIG_VALUE', value, wanted, hint, [key]);
}

function isPath(path: string): boolean {
  return PATH.test(path) && !/\/\/|\/\.\.?(?:[/;]|$)/.test(path);
}

function readVariables(value: unknown): Readonly<Record<string, string>> | Refused {
  const hint = 'Write env = { API_URL = "{url}", API_TOKEN = "{placeholder}" }.';
  if (!isTable(value)) return refusedValue('CONFIG_TYPE', value, 'a table of strings', hint, ['env']);
  for (const [name, text] of Object.entries(value)) {
    const problem = variableProblem(name, typeof text === 'string' ? text : '');
    if (problem) return new Refused(problem.code, problem.reason, problem.hint, ['env', name]);
    if (typeof text !== 'string') return refusedValue('CONFIG_TYPE', text, 'a string', hint, ['env', name]);
  }
  return value as Readonly<Record<string, string>>;
}
