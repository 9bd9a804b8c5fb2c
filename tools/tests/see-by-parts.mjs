import { spawnSync } from 'node:child_process';

/**
 * Runs parts of the gate in a copy of the checkout, for faults that one of them has to see.
 *
 * @param {string} copy
 */
export function seeByParts(copy) {
  const environment = { ...process.env };
  delete environment.LITTERBOX_TEST_BUILT;

  /** What the part says of its first failure; nothing when it is green. @returns {string | undefined} */
  const failureOf = (name) => {
    const command = ['tools/tests/one.mjs', name];
    const { status, stdout } = spawnSync(process.execPath, command, { cwd: copy, env: environment, encoding: 'utf8' });
    return status === 0 ? undefined : (/^FAILED .*$/m.exec(stdout)?.[0] ?? stdout.slice(-500));
  };
  /** @type {Map<string, string | undefined>} */
  const failuresAsItIs = new Map();
  return {
    /** A part that is red without a fault would see every one. */
    redWithout: (faults) =>
      [...new Set(faults.flatMap(({ parts }) => parts))].flatMap((name) => {
        if (!failuresAsItIs.has(name)) failuresAsItIs.set(name, failureOf(name));
        const failure = failuresAsItIs.get(name);
        return failure === undefined ? [] : [`${name} is red without any fault: ${failure}`];
      }),
    see({ parts }) {
      for (const name of parts) {
        const failure = failureOf(name);
        if (failure !== undefined) return { isSeen: true, how: failure };
      }
      return { isSeen: false, how: `green: ${parts.join(', ')}` };
    },
  };
}
