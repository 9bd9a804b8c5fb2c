import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { PROXY_VARIABLES } from '@litterbox/core/agent';

/** All that a program of ours needs to know of its surroundings: it outlives who started it, whose secrets it has no use for. */
const VARIABLES = ['PATH', 'HOME', 'USER', 'LANG', 'TMPDIR', 'XDG_STATE_HOME', 'XDG_RUNTIME_DIR', 'XDG_CONFIG_HOME'];
/** By which it logs in on the machine that sandboxes are on. */
const HOST_VARIABLES = ['SSH_AUTH_SOCK'];
/** Where its provider finds the engine that sandboxes are on. */
const ENGINE_VARIABLES = [
  'DOCKER_HOST',
  'DOCKER_CONTEXT',
  'DOCKER_CONFIG',
  'DOCKER_TLS',
  'DOCKER_TLS_VERIFY',
  'DOCKER_CERT_PATH',
  'CONTAINER_HOST',
  'CONTAINER_SSHKEY',
  'CONTAINER_CONNECTION',
  'CONTAINERS_CONF',
  'PODMAN_CONNECTIONS_CONF',
];

/** How it finds the person's keyring, password store and keys, and whom it trusts over TLS: endpoints need both. */
const SECRET_STORE_VARIABLES = [
  'DBUS_SESSION_BUS_ADDRESS',
  'DISPLAY',
  'GNUPGHOME',
  'NODE_EXTRA_CA_CERTS',
  'PASSWORD_STORE_DIR',
  'SSL_CERT_DIR',
  'SSL_CERT_FILE',
  'WAYLAND_DISPLAY',
];

/** How the program that keeps a sandbox, and outlives this one, is started: its arguments for Node, and its whole environment. */
export function ownProgram(sandbox: string, variables: readonly string[] = []) {
  const start = pathToFileURL(createRequire(import.meta.url).resolve('@litterbox/mcp/start')).href;
  const script = `import(process.argv[1]).then((module) => (module.start ?? module.default.start)('keep', process.argv.slice(2)))`;
  const conditions = process.execArgv.filter((one) => one.startsWith('--conditions=') || one === '--no-warnings');
  return {
    args: [...conditions, '--input-type=module', '--eval', script, start, sandbox],
    env: environment(variables),
  };
}

function environment(variables: readonly string[]): Record<string, string> {
  const found = Object.entries(process.env).filter(
    ([name, value]) =>
      value !== undefined &&
      (VARIABLES.includes(name) ||
        SECRET_STORE_VARIABLES.includes(name) ||
        variables.includes(name) ||
        ENGINE_VARIABLES.includes(name) ||
        HOST_VARIABLES.includes(name) ||
        PROXY_VARIABLES.includes(name) || // the way out of its sandboxes begins with it
        name.startsWith('LITTERBOX_') ||
        name.startsWith('LC_')),
  );
  return Object.fromEntries(found) as Record<string, string>;
}
