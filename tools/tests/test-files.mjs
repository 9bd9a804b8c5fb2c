import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Every test file of the checkout, relative to its top. */
export const TEST_FILES = ['packages', 'bench']
  .flatMap((top) =>
    globSync(`${top}/**/{src,test}/**/*.test.ts`, {
      cwd: ROOT,
      exclude: (name) => /^(node_modules|dist)$/.test(name.name ?? name),
    }),
  )
  .filter((file) => !/\/(node_modules|dist)\//.test(file))
  .sort();

/**
 * The test files of a part: `files` are regular expressions over paths, and so is `except`.
 *
 * @param {{ files?: readonly string[], except?: readonly string[] }} part
 * @returns {string[]}
 */
export function filesOf({ files = [], except = [] }) {
  const matches = (patterns, file) => patterns.some((pattern) => new RegExp(pattern).test(file));
  return TEST_FILES.filter((file) => matches(files, file) && !matches(except, file));
}

/** The jest projects that files belong to; jest looks for tests in no others. @param {readonly string[]} files */
export const projectsOf = (files) => [...new Set(files.map((file) => file.replace(/^packages\//, '').split('/')[0]))];
