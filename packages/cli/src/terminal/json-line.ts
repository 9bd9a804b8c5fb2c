import { jsonEscape, UNSEEN } from '@litterbox/core';

/** A JSON document on one line, harmless on a terminal and the same to every parser. What JSON lets through unseen is escaped. */
export function jsonLine(value: unknown): string {
  return `${JSON.stringify(value).replace(UNSEEN, jsonEscape)}\n`;
}
