import type { ConflictFile, FilePart, NamedPath, SettledFile } from '../answers.ts';
import { openDialog } from '../dialog.ts';
import { element } from '../element.ts';
import { type Server, wordsOf } from '../server.ts';
import { openConflict } from './conflict-dialog.ts';
import type { Settled } from './settled.ts';

/** The plan in which a file conflicts. */
export interface ConflictPlan {
  readonly integration: 'apply' | 'merge';
  readonly paths: readonly string[];
  readonly parts: readonly FilePart[];
  /** The branch, as the page says it. */
  readonly into: string;
}

/** Conflicts of one sandbox, and what a person made of them. */
export class ConflictDialogs {
  readonly settled: Settled;
  readonly #server: Server;
  readonly #address: string;

  constructor(server: Server, address: string, settled: Settled) {
    this.#server = server;
    this.#address = address;
    this.settled = settled;
  }

  /** @param tip the state that the page shows: what is settled is of no other */
  async open({ path, name }: NamedPath, plan: ConflictPlan, tip: string, onSettled: () => void): Promise<void> {
    const { integration, paths, parts, into } = plan;
    try {
      const asked = { path, integration, paths, parts, tip };
      const file = await this.#server.post<ConflictFile>(`${this.#address}/conflict`, asked);
      openConflict(file, this.settled.textOf(file), into, (settled: SettledFile) => {
        this.settled.set(settled);
        onSettled();
      });
    } catch (error) {
      openDialog(`Settle ${name}`, element('p', { class: 'refusal', role: 'alert' }, wordsOf(error)));
    }
  }
}
