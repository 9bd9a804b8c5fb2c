import * as z from 'zod';
import { ForecastMerges, type MergeForecast } from '../../use-cases/review/forecast-merges.ts';
import { operation } from '../declare/operation.ts';

/** `sandbox-forecast`, `litterbox forecast`: say which sandboxes will conflict with the branch and with each other. */
export const forecastMerges = operation({
  name: 'sandbox-forecast',
  summary: 'Say which sandboxes will conflict with the branch and with each other',
  effect: 'read',
  command: { verb: 'forecast', positional: [], examples: ['forecast', 'forecast --json'] },
  input: z.strictObject({}),
  document: (forecast: MergeForecast) => forecast,
  execute: async (useCases, _input, options) => await useCases.get(ForecastMerges).forecast(options),
});
