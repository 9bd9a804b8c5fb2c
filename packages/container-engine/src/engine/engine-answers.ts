import { answerOf } from './engine-error.ts';

// An engine has no status of its own for most states of a container: its words tell. Each function names the words that were seen, of
// Docker 20.10.24 and Podman 4.3.1, with the status before them.

/**
 * A pause or its end that was refused because the container is in another state already.
 *
 * - Docker: `409 Container <id> is already paused`, `409 Container <id> is not running`, `500 Container <id> is not paused`
 * - Podman: `500 "<id>" is already paused: container state improper`, `500 "exited" is not running, can't pause: container state improper`,
 *   `500 "<id>" is not paused, can't unpause: container state improper`
 * - not seen with these: runc's own `cannot pause a container that …` and `cannot resume a container that …`, which an engine may hand on
 */
export function isInOtherState(error: unknown): boolean {
  return /already paused|not running|not paused|improper|cannot (pause|resume) a/i.test(answerOf(error).said);
}

/**
 * A kill, or a wait, of a container that has ended already.
 *
 * - Docker: `409 Cannot kill container: <id>: Container <id> is not running`
 * - Podman: `500 can only kill running containers. <id> is in state exited: container state improper`
 */
export function hasEndedAlready(error: unknown): boolean {
  const { statusCode, said } = answerOf(error);
  return [304, 409].includes(statusCode ?? 0) || /not running|not paused|improper/i.test(said);
}

/**
 * A program that was not started because its container is paused.
 *
 * - Docker: `409 Container <id> is paused, unpause the container before exec`
 * - Podman: `409 cannot create exec session as container <id> is paused`
 */
export function isPausedNow(error: unknown): boolean {
  return /is paused/i.test(answerOf(error).said);
}

/**
 * A program that was not started because its container is just ending. The engine may still say that it runs.
 *
 * - Docker, in the program's own output, as runc says it: `cannot exec in a stopped state: unknown`
 * - Docker: `409 Container <id> is not running`
 */
export function isEndingNow(error: unknown): boolean {
  return /stopped state|is not running/i.test(answerOf(error).said);
}

/** A start of what runs already: `304 (HTTP code 304) container already started`, of both. */
export function hasStartedAlready(error: unknown): boolean {
  return answerOf(error).statusCode === 304;
}

/** A removal beside another one. Docker: `409 removal of container <id> is already in progress`. Podman waits, and says 404. */
export function isBeingRemoved(error: unknown): boolean {
  const { statusCode, said } = answerOf(error);
  return statusCode === 409 && /removal .*in progress/i.test(said);
}

/**
 * A start whose program is not in the image, with runc in both: `exec: "/bin/sh": stat /bin/sh: no such file or directory`; with status 400
 * from Docker, and 500 from Podman. A place of a mount that is not there is no such file either.
 */
export function lacksShell(error: unknown): boolean {
  return /\/bin\/sh|executable file not found/i.test(answerOf(error).said);
}

/**
 * A name that another container has.
 *
 * - Docker: `409 Conflict. The container name "/<name>" is already in use by container "<id>"`
 * - Podman: `500 container create: creating container storage: the container name "<name>" is already in use by <id>`
 */
export function isNameTaken(error: unknown): boolean {
  const { statusCode, said } = answerOf(error);
  return statusCode === 409 || /already (in use|exists)/i.test(said);
}

/** A container that is gone, or going: 404, or Docker's `409 container is marked for removal and cannot be started`. */
export function isGoneOrGoing(error: unknown): boolean {
  const { statusCode, said } = answerOf(error);
  return statusCode === 404 || (statusCode === 409 && /remov/i.test(said));
}

/**
 * A directory that the engine was to show in a container, and does not see.
 *
 * - Docker: `400 invalid mount config for type "bind": bind source path does not exist: <path>`
 * - Podman makes the directory and starts the container
 * - not seen here: Docker Desktop's `… is not shared from the host`, and `no such file or directory` of other engines
 */
export function isSourceUnseen(error: unknown): boolean {
  const { statusCode, said } = answerOf(error);
  return statusCode !== undefined && /bind source path does not exist|no such file|not shared/i.test(said);
}
