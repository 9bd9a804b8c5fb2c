const HOOK: unique symbol = Symbol.for('litterbox.failpoint');

/**
 * Does something when core reaches a step that it names, once; what it throws comes out of that step. Disposing takes it away.
 *
 * @throws Error when it is disposed and the step was never reached: then the test tested nothing
 */
export function atFailpoint(point: string, act: () => void): Disposable {
  const place = globalThis as { [HOOK]?: ((reached: string) => void) | undefined };
  let isReached = false;
  place[HOOK] = (reached) => {
    if (reached !== point || isReached) return;
    isReached = true;
    act();
  };
  return {
    [Symbol.dispose]() {
      delete place[HOOK];
      if (!isReached) throw new Error(`${point} was never reached.`);
    },
  };
}
