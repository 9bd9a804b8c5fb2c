import { readdir, readFile } from 'node:fs/promises';
import { homedir, userInfo } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { LitterboxError } from '@litterbox/core/provider';
import { parse, SSHConfig } from 'ssh-config';
import { type Destination, parseDestination, showDestination } from './destination.ts';

/** How to reach one machine and log in there, with everything that the client's configuration says about it. */
export interface Endpoint {
  readonly host: string;
  /** 1 to 65535. */
  readonly port: number;
  readonly user: string;
  /** What known_hosts files call it. */
  readonly hostKeyName: string;
  /** Absolute paths, in the order in which they are read. */
  readonly knownHostsFiles: readonly string[];
  /** Absolute paths of private keys that may be there, in the order in which they are tried. */
  readonly identityFiles: readonly string[];
  /** Socket of the agent that signs for the login; absent: none is asked. */
  readonly agentSocket?: string;
  /** Machines to go by, the first one first. */
  readonly jumps: readonly Destination[];
  /** What of the configuration was passed over because it runs programs, in words for a person. */
  readonly notices: readonly string[];
}

/** Where the client's files are, and what it has. */
export interface ClientHome {
  /** @defaultValue `~/.ssh/config`; no file: none is read */
  readonly configFile?: string | undefined;
  /** Text in place of the file, of which nothing is included. */
  readonly configText?: string;
  /** Absolute path. @defaultValue the home directory */
  readonly home?: string;
  /** @defaultValue that of this process */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

const MAX_INCLUDES = 64;
const IDENTITIES = ['id_ed25519', 'id_ecdsa', 'id_rsa'];
const KNOWN_HOSTS = ['~/.ssh/known_hosts', '~/.ssh/known_hosts2'];
const SYSTEM_KNOWN_HOSTS = ['/etc/ssh/ssh_known_hosts', '/etc/ssh/ssh_known_hosts2'];

/**
 * Reads what the client's configuration says of a destination. Nothing of it is run: a `Match exec` never matches, no name is made canonical, and a
 * host that is reached by a `ProxyCommand` is refused.
 *
 * @throws LitterboxError `UNSUPPORTED` for a `ProxyCommand`; `SSH_HOST_INVALID` when a name leads to what is none
 */
export async function resolveEndpoint(destination: Destination, clientHome: ClientHome = {}): Promise<Endpoint> {
  const home = clientHome.home ?? homedir();
  const environment = clientHome.environment ?? process.env;
  const file = clientHome.configFile ?? join(home, '.ssh', 'config');
  const notices: string[] = [];
  const text = clientHome.configText ?? (await expanded(await readText(file), { home, left: MAX_INCLUDES }));
  const said = settings(text, destination, notices);
  const host = said.one('hostname')?.replaceAll('%h', destination.host) ?? destination.host;
  const port = destination.port ?? Number(said.one('port') ?? 22);
  const user = destination.user ?? said.one('user') ?? userInfo().username;
  // What a file says is checked as what a person writes.
  parseDestination(showDestination({ host, port, user }));
  const command = said.one('proxycommand');
  const jump = said.one('proxyjump');
  if (command !== undefined && command !== 'none' && (jump === undefined || jump === 'none')) {
    throw new LitterboxError(
      'UNSUPPORTED',
      `${destination.host} is reached by a ProxyCommand, and no program of a file is run.`,
      {
        operation: 'host.connect',
        hint: 'Write ProxyJump instead of ProxyCommand for it, where the machine in between speaks SSH.',
      },
    );
  }
  const place = (path: string) => placeOf(path, { home, host, user, port });
  const agent = said.one('identityagent') ?? environment['SSH_AUTH_SOCK'];
  const agentSocket = agent === 'SSH_AUTH_SOCK' ? environment['SSH_AUTH_SOCK'] : agent;
  const identities = said.all('identityfile').filter((path) => path !== 'none');
  const alias = said.one('hostkeyalias');
  return {
    host,
    port,
    user,
    hostKeyName: alias ?? (port === 22 ? host : `[${host}]:${port}`),
    knownHostsFiles: [
      ...(said.all('userknownhostsfile').length > 0 ? said.all('userknownhostsfile') : KNOWN_HOSTS),
      ...(said.all('globalknownhostsfile').length > 0 ? said.all('globalknownhostsfile') : SYSTEM_KNOWN_HOSTS),
    ]
      .filter((path) => path !== 'none')
      .map(place),
    identityFiles: (identities.length > 0 ? identities : IDENTITIES.map((name) => `~/.ssh/${name}`)).map(place),
    ...(agentSocket && agentSocket !== 'none' && { agentSocket: place(agentSocket) }),
    jumps: jump === undefined || jump === 'none' ? [] : jump.split(',').map((one) => parseDestination(one.trim())),
    notices,
  };
}

/** The keys of a configuration for one host, by their names in small letters. */
function settings(text: string, { host, user }: Destination, notices: string[]) {
  const config = parse(text);
  const kept = config.filter((line) => {
    if (!('param' in line) || line.param.toLowerCase() !== 'match' || !('criteria' in line)) return true;
    const running = Object.keys(line.criteria).find((name) => name.toLowerCase() === 'exec');
    if (running) notices.push('A "Match exec" of the SSH configuration is passed over: it would run a program.');
    return !running;
  });
  for (const line of kept) if ('config' in line) removeCanonical(line.config);
  // `filter` of this subclass of Array gives the subclass, whose method this is.
  const query = { Host: host, ...(user !== undefined && { User: user }) };
  const computed: Readonly<Record<string, string | readonly string[] | undefined>> = Object.assign(
    new SSHConfig(),
    kept,
  ).compute(query, { ignoreCase: true, matchExec: false });
  const all = (name: string): readonly string[] => {
    const value = computed[name];
    return value === undefined ? [] : typeof value === 'string' ? [value] : value;
  };
  return { all, one: (name: string) => all(name)[0] };
}

/** To make a name canonical the library runs `nslookup`. */
function removeCanonical(section: SSHConfig): void {
  for (let index = section.length - 1; index >= 0; index -= 1) {
    const line = section[index];
    if (line && 'param' in line && /^canonical/i.test(line.param)) section.splice(index, 1);
  }
}

/** The text with what it includes; more than some files are not read. */
async function expanded(text: string, state: { readonly home: string; left: number }): Promise<string> {
  const lines: string[] = [];
  for (const line of text.split('\n')) {
    const [, patterns] = /^\s*include\s*[= \t]\s*(.*)$/i.exec(line) ?? [];
    if (patterns === undefined) lines.push(line);
    else
      for (const pattern of patterns.match(/"[^"]*"|\S+/g) ?? [])
        for (const path of await included(pattern.replaceAll('"', ''), state.home)) {
          if ((state.left -= 1) < 0) break;
          lines.push(await expanded(await readText(path), state));
        }
  }
  return lines.join('\n');
}

async function included(pattern: string, home: string): Promise<readonly string[]> {
  const path = resolve(join(home, '.ssh'), pattern.replace(/^~(?=\/)/, home));
  if (!/[*?]/.test(basename(path))) return [path];
  const expression = new RegExp(
    `^${basename(path)
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replace(/\*+/g, '.*')
      .replace(/\?/g, '.')}$`,
  );
  const names = await readdir(dirname(path)).catch(() => []);
  return names
    .filter((name) => expression.test(name))
    .sort()
    .map((name) => join(dirname(path), name));
}

/** A file that is not there says nothing. */
async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch {
    return '';
  }
}

/** Tokens as in ssh_config(5), those that name files. */
function placeOf(
  path: string,
  {
    home,
    host,
    user,
    port,
  }: { readonly home: string; readonly host: string; readonly user: string; readonly port: number },
): string {
  const tokens: Readonly<Record<string, string>> = {
    '%d': home,
    '%h': host,
    '%r': user,
    '%p': String(port),
    '%u': userInfo().username,
    '%%': '%',
  };
  return resolve(
    home,
    path.replace(/^~(?=\/|$)/, home).replace(/%[dhrpu%]/g, (token) => tokens[token] ?? token),
  );
}
