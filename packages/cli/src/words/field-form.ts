import { type FieldSchema, type Wording, wordings } from '@litterbox/core';

/** Whether a field takes several words: a list, or a command. */
export const isMany = (schema: FieldSchema): boolean => schema.def.type === 'array' || schema.def.type === 'union';

/** The schema without what makes it optional or read-only. */
export function unwrapped(schema: FieldSchema): { readonly schema: FieldSchema; readonly isOptional: boolean } {
  let isOptional = false;
  let inner = schema;
  while (inner.def.type === 'optional' || inner.def.type === 'readonly') {
    isOptional ||= inner.def.type === 'optional';
    inner = (inner as unknown as { unwrap(): FieldSchema }).unwrap();
  }
  return { schema: inner, isOptional };
}

export function wordingOf(schema: FieldSchema): Wording {
  return wordings.get(schema) ?? {};
}

/** `setupTimeoutMs` is `setup-timeout`: on a command line the value carries its unit. */
export const kebab = (key: string): string =>
  key.replace(/(Bytes|Ms)$/, '').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
