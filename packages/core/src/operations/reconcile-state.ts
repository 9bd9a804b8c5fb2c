import * as z from 'zod';
import { Reconcile } from '../use-cases/go-back/reconcile.ts';
import { operation } from './declare/operation.ts';

/** `state-reconcile`: finish or undo what killed programs left half-done, one sentence for each thing done. */
export const reconcileState = operation({
  name: 'state-reconcile',
  summary: 'Finish or undo what killed programs left half-done, one sentence for each thing done',
  effect: 'host',
  input: z.strictObject({}),
  document: (done: readonly string[]) => done,
  execute: async (useCases, _input, options) => await useCases.get(Reconcile).reconcile(options),
});
