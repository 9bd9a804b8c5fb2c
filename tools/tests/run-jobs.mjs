/**
 * @typedef {object} Job
 * @property {string} name
 * @property {readonly string[]} [uses] what only one job at a time may use, such as an engine
 * @property {readonly string[]} [after] jobs that have to have ended before
 * @property {boolean} [isAlone] nothing else runs beside it
 * @property {boolean} [isIdle] it only waits for something, and takes no lane
 * @property {() => Promise<void>} run
 */

/**
 * Runs jobs, some at a time: always the first in the list that may start now. A job that fails stops nothing; what it throws is
 * thrown at the end.
 *
 * @param {readonly Job[]} jobs
 * @param {number} lanes how many at a time
 */
export async function runJobs(jobs, lanes) {
  const waiting = [...jobs];
  const running = new Map();
  const ended = new Set();
  const errors = [];
  const mayStart = ({ uses = [], after = [], isAlone = false, isIdle = false }) => {
    if (isIdle) return true;
    const others = [...running.keys()].filter((job) => !job.isIdle);
    if (others.length >= lanes || (isAlone && others.length > 0) || others.some((job) => job.isAlone)) return false;
    if (after.some((name) => !ended.has(name))) return false;
    return !others.some((job) => job.uses?.some((used) => uses.includes(used)));
  };
  while (waiting.length > 0 || running.size > 0) {
    for (let index = waiting.findIndex(mayStart); index >= 0; index = waiting.findIndex(mayStart)) {
      const [job] = waiting.splice(index, 1);
      running.set(
        job,
        job
          .run()
          .catch((error) => void errors.push(error))
          .finally(() => {
            running.delete(job);
            ended.add(job.name);
          }),
      );
    }
    if (running.size === 0) throw new Error(`Nothing can start: ${waiting.map(({ name }) => name).join(', ')}`);
    await Promise.race(running.values());
  }
  if (errors.length > 0) throw new AggregateError(errors, errors.map(String).join('\n'));
}
