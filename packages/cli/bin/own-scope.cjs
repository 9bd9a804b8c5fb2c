'use strict';
const { accessSync, constants, existsSync, readFileSync, statSync } = require('node:fs');

/** Commands that start, or look at what starts, a sandbox. Whatever else starts no program that is to be limited. */
const VERBS = new Set([
  'create',
  'fork',
  'run',
  'shell',
  'clone',
  'service',
  'restore',
  'recover',
  'resume',
  'pool',
  'mcp',
  'serve',
  'doctor',
  'explain',
]);
/** Where root installs it. PATH has no part in it: npm and direnv put directories of the repository there. */
const SYSTEMD_RUN = '/usr/bin/systemd-run';
const WRITABLE_BY_OTHERS = 0o022;

/** Tries it first: where the session manager refuses, the command goes on without limits of its own, and says so. */
const SCRIPT = `run=$1; shift
"$run" --user --scope --quiet -p Delegate=yes -- true 2>/dev/null && exec "$run" --user --scope --quiet -p Delegate=yes -- "$@"
exec "$@"`;

/**
 * Arguments of `/bin/sh` by which an ordinary user's command runs in a scope of its own, in which it may limit sandboxes. Nothing where
 * that is not needed or cannot be had: for root, on version 1 of control groups, below the user's own session manager already, where
 * the group at hand can be written, and without systemd.
 *
 * @param {object} at
 * @param {readonly string[]} at.args words of the command line
 * @param {readonly string[]} at.program what runs them
 * @param {number | undefined} at.uid
 * @param {Readonly<Record<string, string | undefined>>} at.env
 * @param {string} [at.root] where the files of the machine are; tests have some of their own
 * @param {number} [at.owner] whose `systemd-run` is trusted
 * @returns {readonly string[] | undefined}
 */
function scopeArguments({ args, program, uid, env, root = '', owner = 0 }) {
  if (uid === undefined || uid === 0 || env.LITTERBOX_SCOPE !== undefined) return undefined;
  if (!args.some((word) => VERBS.has(word))) return undefined; // one word too many costs a scope, and nothing else
  if (!existsSync(`${root}/sys/fs/cgroup/cgroup.controllers`)) return undefined;
  if (!existsSync(`${root}/run/user/${uid}/systemd/private`)) return undefined; // nobody to ask
  try {
    const [, own = '/'] = /^0::(.*)$/m.exec(readFileSync(`${root}/proc/self/cgroup`, 'utf8')) ?? [];
    if (own.includes(`/user@${uid}.service/`) || isWritable(`${root}/sys/fs/cgroup${own}/cgroup.procs`))
      return undefined;
    const found = statSync(root + SYSTEMD_RUN);
    if (found.uid !== owner || (found.mode & WRITABLE_BY_OTHERS) !== 0) return undefined;
  } catch {
    return undefined;
  }
  return ['sh', '-c', SCRIPT, 'sh', root + SYSTEMD_RUN, ...program, ...args];
}

function isWritable(path) {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Becomes the same command in a scope of its own, where that is of use; comes back where it is not. */
function enterOwnScope(file) {
  const words = scopeArguments({
    args: process.argv.slice(2),
    program: [process.execPath, ...process.execArgv, file],
    uid: process.getuid?.(),
    env: process.env,
  });
  if (words === undefined || process.execve === undefined) return;
  process.emitWarning = () => {}; // Node calls `execve` experimental, to whoever ran the command
  process.execve('/bin/sh', [...words], { ...process.env, LITTERBOX_SCOPE: 'own' });
}

module.exports = { enterOwnScope, scopeArguments };
