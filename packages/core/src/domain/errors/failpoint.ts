const HOOK: unique symbol = Symbol.for('litterbox.failpoint');

/**
 * Names a step after which a kill, a freeze or a failure leaves something to mend. Does nothing: only a test that put a function
 * under `Symbol.for('litterbox.failpoint')` hears of it.
 */
export function failpoint(point: string): void {
  (globalThis as { [HOOK]?: (point: string) => void })[HOOK]?.(point);
}
