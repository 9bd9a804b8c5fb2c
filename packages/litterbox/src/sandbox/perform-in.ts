import type { Operation, OperationOptions } from '@litterbox/core';

/** Carries out an operation in the sandbox of whoever was given it: all of the input but `sandbox`. */
export type PerformIn = <Input extends Operation['input'], Result>(
  operation: Operation<Input, Result>,
  input: Omit<Input['_zod']['input'], 'sandbox'>,
  options?: OperationOptions,
) => Promise<Result>;
