import assert from 'node:assert/strict';
import { isLitterboxError, type SecretOrigin, type SecretSource } from '@litterbox/core/provider';
import type { TestRunner } from './runner.ts';

/** What {@link describeSecretSource} needs to know of a source. */
export interface SecretSourceOptions {
  readonly name: string;
  readonly runner: TestRunner;
  readonly open: () => Promise<SecretSource>;
  /** Where {@link value} is kept. */
  readonly there: SecretOrigin;
  readonly value: string;
  /** Where nothing is kept. */
  readonly nowhere: SecretOrigin;
}

/** The contract of `SecretSource`, executable. */
export function describeSecretSource({ name, runner, open, there, value, nowhere }: SecretSourceOptions): void {
  runner.describe(`SecretSource contract: ${name}`, () => {
    const check = (title: string, body: (source: SecretSource) => Promise<void>) =>
      runner.it(title, async () => await body(await open()));

    check('a secret is read as it is kept, each time that somebody asks', async (source) => {
      const values = [await source.read(there), await source.read(there)];
      // A difference spelled out would show the secret.
      assert.ok(
        values.every((each) => each === value),
        `${values.map((each) => each.length).join(' and ')} characters came, ${value.length} are kept, or they differ`,
      );
    });

    check('a secret that nobody kept is not found', async (source) => {
      await assert.rejects(source.read(nowhere), (error) => isLitterboxError(error, 'SECRET_NOT_FOUND'));
    });

    check('who gave up is told the own reason, and gets no secret', async (source) => {
      const reason = new Error('mine');
      await assert.rejects(source.read(there, { signal: AbortSignal.abort(reason) }), (error) => error === reason);
    });
  });
}
