import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AuditLog, type StateStore } from '@litterbox/core/provider';
import { sqliteState } from '../src/index.ts';

/** A state of its own for one test, and more stores over the same directory when asked. */
export class StateFixture implements AsyncDisposable {
  readonly parent = mkdtempSync(join(realpathSync(tmpdir()), 'litterbox-state-'));
  readonly directory = join(this.parent, 'state');
  readonly #stores: StateStore[] = [];

  open(directory = this.directory): { readonly state: StateStore; readonly audit: AuditLog } {
    const opened = sqliteState({ directory });
    this.#stores.push(opened.state);
    return opened;
  }

  async close(): Promise<void> {
    for (const store of this.#stores.splice(0)) await store[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
    rmSync(this.parent, { recursive: true, force: true });
  }
}
