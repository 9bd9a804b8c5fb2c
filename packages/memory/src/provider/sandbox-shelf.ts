import { type KeptSnapshot, type ProcessSpec, type SandboxId } from '@litterbox/core/provider';
import type { Directory } from '../machine/memory-files.ts';
import type { MemorySandbox } from './memory-sandbox.ts';

/** What a setup left in workspace and home, at rest. */
export interface KeptLayers {
  readonly base: string;
  readonly workspace: Directory;
  readonly home: Directory;
  readonly version: number;
}

/** A snapshot, with what the sandbox held. */
export interface MemorySnapshot {
  readonly kept: KeptSnapshot;
  readonly workspace: Directory;
  readonly home: Directory;
  readonly version: number;
}

/** All that a provider in memory keeps: over one shelf, any number of them see the same. */
export class SandboxShelf {
  readonly sandboxes = new Map<SandboxId, MemorySandbox>();
  /** By their keys. */
  readonly playgrounds = new Map<string, Directory>();
  /** Base trees, by their keys. */
  readonly trees = new Map<string, Directory>();
  readonly setups = new Map<string, KeptLayers>();
  /** By their names. */
  readonly snapshots = new Map<string, MemorySnapshot>();
  /** References of images with the keys of what was installed. */
  readonly images = new Set<string>();
  /** Every program that somebody outside started, for a test that asks what was done. */
  readonly spawned: ProcessSpec[] = [];
}
