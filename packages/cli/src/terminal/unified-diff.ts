import { FILE_HEADERS_ONLY, createTwoFilesPatch } from 'diff';
import { visible } from '@litterbox/core';
import { diffLine } from './diff-line.ts';
import type { Talk } from './talk.ts';

/** What changes in a file, as `diff -u` says it; without a text there is no file. */
export function unifiedDiff(path: string, before: string | undefined, after: string | undefined): string {
  return createTwoFilesPatch(
    before === undefined ? '/dev/null' : path,
    after === undefined ? '/dev/null' : path,
    before ?? '',
    after ?? '',
    undefined,
    undefined,
    { context: 3, headerOptions: FILE_HEADERS_ONLY },
  );
}

export function showDiff(talk: Talk, diff: string): void {
  for (const line of diff.trimEnd().split(/\r?\n/)) talk.result(diffLine(talk, visible(line)));
}
