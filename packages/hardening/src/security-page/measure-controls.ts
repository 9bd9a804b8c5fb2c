import type { Control } from '@litterbox/core';
import { overlayfs } from '@litterbox/provider-overlayfs';
import { createLitterbox } from 'litterbox';
import { RepositoryFixture } from '@litterbox/testing';

/** Makes a sandbox on this machine and reads what is in force in it. */
export async function measureControls(): Promise<readonly Control[]> {
  await using scratch = new RepositoryFixture();
  const { repository, stateDirectory } = scratch;
  await using litterbox = createLitterbox({ repo: repository, providers: [overlayfs], stateDirectory });
  const { record } = (await litterbox.create({ name: 'measured' })).created;
  await litterbox.delete('measured', { force: true });
  return record.assurance?.controls ?? [];
}
