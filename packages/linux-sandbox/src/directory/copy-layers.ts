import { quoted, LitterboxError, advice, step } from '@litterbox/core/provider';
import { asking } from '../script/run-script.ts';
import { scriptError } from '../script/script-error.ts';

/** How a copy is confined. */
export interface ConfinedCopy {
  /** Absolute directory, of one mount, that holds what is copied and where it goes: the provider's own. */
  readonly root: string;
  /** Whether programs on the host run as root there. An ordinary user's copy runs in a user namespace, where files without permissions can be read. */
  readonly isRoot: boolean;
  /** Shell text that copies; paths below `root` in it are absolute. */
  readonly copy: string;
}

/** Address space of a copy, in KiB: of all names that share a file `cp` keeps the path, and an agent makes as many as it likes. */
const COPY_KIB = 2 ** 20;

/**
 * Shell text: copies in a mount namespace of its own in which no link below the root is followed, whatever an agent puts where a
 * directory was. The layers are made of bytes of an agent's, and `cp` goes by paths.
 */
export function confinedCopy({ root, isRoot, copy }: ConfinedCopy): string {
  const script = `mount --bind "$0" "$0" && mount -o remount,bind,nosymfollow "$0" && cd "$0" || exit ${COPY_EXITS.unconfined}
ulimit -v ${COPY_KIB}
${copy}`;
  return `unshare ${isRoot ? '' : '-Ur '}-m --propagation private sh -c ${quoted(script)} ${quoted(root)}`;
}

/**
 * Shell text: copies a tree with everything that it is made of: modes, times, hard links, holes, and the overlay's marks, which are
 * extended attributes and devices without a number. Blocks are shared where the file system can.
 */
export function copyTree(from: string, to: string): string {
  return `cp -a --reflink=auto -T -- ${quoted(from)} ${quoted(to)}`;
}

/** What is copied while its sandbox stands still. */
export interface StillCopy {
  /** Absolute path of the sandbox's directory, as `placeFilesOf` has it. */
  readonly directory: string;
  /** Shell text that freezes all processes and waits until they stand still, and that thaws them; absent where it cannot be done. */
  readonly freezer?: {
    readonly freeze: string;
    readonly thaw: string;
    /** Succeeds where they stand still. */
    readonly isStill: string;
  };
  /** Shell text that copies. */
  readonly copy: string;
}

/**
 * Shell text, a list of commands that ends with a status: copies while nothing of the sandbox runs or everything stands still. No session starts meanwhile, and
 * none ends because its last client leaves: the copy is a client too. One that is ending is waited for: who ends it has the clients' lock alone, and has said so (`dying`) before that is let go. What
 * it froze it lets go when the copy has ended or was killed, by a program of another process group: it sees the end of a pipe that all who
 * copy hold. A sandbox that was paused before stays so.
 */
export function stillCopy({ directory, freezer, copy }: StillCopy): string {
  const freeze = freezer
    ? `[ -e paused ] || ( ${freezer.freeze} ) || exit ${COPY_EXITS.restless}; is=frozen`
    : `exit ${COPY_EXITS.noFreezer}`;
  const check = freezer ? `[ $is = free ] || ( ${freezer.isStill} ) || exit ${COPY_EXITS.letGo}` : ':';
  const copier = `exec 4<>clients.lock 6>>alive.lock
if flock -n 6; then is=free
elif { ! flock -n -s 4 || [ -e dying ]; } && flock -w 20 6; then is=free
else exec 6>&-; ${freeze}; fi
( ${copy} ) || exit
${check}`;
  const keeper = `code=$(cat); [ ! -e paused ] && { ${freezer ? `( ${freezer.thaw} )` : ':'}; } 2>/dev/null; exit \${code:-${COPY_EXITS.killed}}`;
  // The lock is the keeper's too: who copies next must not freeze what is let go a moment later.
  return `( cd ${quoted(directory)} || exit ${COPY_EXITS.gone}
exec 5>>start.lock && flock -w 60 5 || exit ${COPY_EXITS.busy}
{ if ( ${copier}
); then printf 0; else printf %s $?; fi; } | setsid -w sh -c ${quoted(keeper)} )`;
}

/**
 * Shell text for `runAsking`, where programs of a sandbox are frozen by somebody else than a shell: holds the sandbox's lock of copies, asks
 * with the word `locked`, and copies. Who has copied removes the file, so that the lock counts on the one that is there. Whoever finds the file `copying` while nobody holds its lock has to let the sandbox go.
 */
export function toldCopy(directory: string, copy: string): string {
  return `cd ${quoted(directory)} || exit ${COPY_EXITS.gone}
until exec 5>>${COPYING} && flock -w 60 5 || exit ${COPY_EXITS.busy}; [ ${COPYING} -ef /proc/self/fd/5 ]; do :; done
${asking('locked', COPY_EXITS.killed)}
( ${copy} )`;
}

/** In a sandbox's directory while {@link toldCopy} is at work on it. */
export const COPYING = 'copying';

/** Exit codes of these scripts, above those of programs and below those of signals. */
export const COPY_EXITS = {
  unconfined: 93,
  gone: 94,
  busy: 95,
  noFreezer: 96,
  restless: 97,
  letGo: 98,
  killed: 99,
} as const;

/** Shell text for `runAsking`, before a copy gets its name: only while somebody waits for it. */
export const ASK_BEFORE_NAME = asking('copied', COPY_EXITS.killed);

/** The error of a copy, from its exit code and what it printed. */
export function copyError(operation: string, provider: string, code: number, stderr: string): LitterboxError {
  const details = { operation, provider };
  switch (code) {
    case COPY_EXITS.unconfined:
      return new LitterboxError(
        'UNAVAILABLE',
        'Litterbox copies nothing unless it can switch off links, and here it cannot.',
        {
          ...details,
          hint: advice`This needs Linux 5.10 and util-linux 2.37 (mount -o nosymfollow): run ${step('machine-check')}.`,
        },
      );
    case COPY_EXITS.gone:
      return new LitterboxError('NOT_FOUND', 'The sandbox to copy is gone.', {
        ...details,
        hint: advice`List the sandboxes: ${step('sandbox-list')}.`,
      });
    case COPY_EXITS.busy:
      return new LitterboxError('BUSY', 'Another process has been starting or copying the sandbox for a minute.', {
        ...details,
        hint: 'Try again when that is done.',
      });
    case COPY_EXITS.noFreezer:
      return new LitterboxError(
        'UNSUPPORTED',
        'The sandbox runs, and its processes cannot be frozen here while it is copied.',
        {
          ...details,
          hint: advice`Stop it first: ${step('sandbox-stop')}. Or run ${step('machine-check')} for the command that hands control groups to this user.`,
        },
      );
    case COPY_EXITS.restless:
      return new LitterboxError(
        'UNAVAILABLE',
        `The processes of the sandbox could not be frozen while it is copied: ${stderr.trim()}.`,
        {
          ...details,
          hint: advice`Try again, or stop it first: ${step('sandbox-stop')}.`,
        },
      );
    case COPY_EXITS.letGo:
    case COPY_EXITS.killed:
      return new LitterboxError(
        'CONFLICT',
        'The sandbox did not stand still while it was copied: somebody resumed or stopped it.',
        {
          ...details,
          hint: 'Try again.',
        },
      );
    default:
      return scriptError(operation, code, stderr);
  }
}
