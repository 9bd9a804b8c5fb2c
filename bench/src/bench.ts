import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { overlayfs } from '@litterbox/provider-overlayfs';
import { createLitterbox, type Litterbox, type LitterboxOptions } from 'litterbox';
import type { Findings, Row } from './findings.ts';
import type { RepositorySize } from './repository.ts';

/** How much a run does. */
export interface Scale {
  readonly sizes: Readonly<Record<'small' | 'middle' | 'large', RepositorySize>>;
  /** Rounds of something that takes a tenth of a second, a hundredth, or some seconds. */
  readonly rounds: { readonly common: number; readonly fast: number; readonly slow: number };
  readonly manyFiles: number;
  readonly sandboxes: number;
  readonly listed: number;
  /** How often a fork is forked again. */
  readonly generations: number;
  readonly calls: { readonly early: number; readonly late: number };
  readonly residentBytes: number;
  /** Whether the large repository is as large as the targets that compare with git are meant for. */
  readonly isWhole: boolean;
}

/** A limit against git, whose cost grows with the repository: on a small stand-in nothing is asked. */
export const againstGit = ({ isWhole }: Scale, atMost: number): Pick<Row, 'limit'> =>
  isWhole ? { limit: { of: 'ratio', atMost } } : {};

const MEBIBYTE = 2 ** 20;

export const SCALES: Readonly<Record<'quick' | 'full', Scale>> = {
  full: {
    sizes: {
      small: { name: 'R1', files: 500, bytes: 5 * MEBIBYTE },
      middle: { name: 'R2', files: 10_000, bytes: 150 * MEBIBYTE },
      large: { name: 'R3', files: 80_000, bytes: 1024 * MEBIBYTE },
    },
    rounds: { common: 20, fast: 300, slow: 3 },
    manyFiles: 30_000,
    sandboxes: 100,
    listed: 50,
    generations: 100,
    calls: { early: 1000, late: 10_000 },
    residentBytes: 1024 * MEBIBYTE,
    isWhole: true,
  },
  quick: {
    sizes: {
      small: { name: 'R1', files: 500, bytes: 5 * MEBIBYTE },
      middle: { name: 'r2', files: 1000, bytes: 15 * MEBIBYTE },
      large: { name: 'r3', files: 8000, bytes: 100 * MEBIBYTE },
    },
    rounds: { common: 10, fast: 100, slow: 3 },
    manyFiles: 3000,
    sandboxes: 24,
    listed: 12,
    generations: 12,
    calls: { early: 200, late: 1000 },
    residentBytes: 256 * MEBIBYTE,
    isWhole: false,
  },
};

/** What every scenario gets. */
export interface Bench {
  readonly scale: Scale;
  readonly findings: Findings;
  /** The measured file system. */
  readonly ground: string;
  /** Directory of a repository, by its size. */
  readonly repositories: Readonly<Record<'small' | 'middle' | 'large', string>>;
  /** A directory of its own on the measured file system; it is not made. */
  place(kind: 'bare' | 'tmp'): string;
  /** Litterbox on a repository, with the state directory that its scenarios share. */
  litterbox(size: 'small' | 'middle' | 'large', options?: Pick<LitterboxOptions, 'launchKeeper'>): Litterbox;
  stateDirectory(size: 'small' | 'middle' | 'large'): string;
}

export type Scenario = (bench: Bench) => Promise<void>;

export function benchOn(ground: string, scale: Scale, findings: Findings, repositories: Bench['repositories']): Bench {
  let places = 0;
  const stateDirectory = (size: string) => join(ground, 'states', size);
  return {
    scale,
    findings,
    ground,
    repositories,
    place: (kind) => join(ground, kind, String(++places)),
    stateDirectory,
    litterbox(size, options) {
      mkdirSync(stateDirectory(size), { recursive: true, mode: 0o700 });
      return createLitterbox({
        repo: repositories[size],
        providers: [overlayfs],
        stateDirectory: stateDirectory(size),
        ...options,
      });
    },
  };
}
