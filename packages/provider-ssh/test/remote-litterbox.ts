import { overlayfs } from '@litterbox/provider-overlayfs';
import { ssh } from '@litterbox/provider-ssh';
import type { RemoteFixture } from '@litterbox/testing';
import { createLitterbox, type Litterbox, type LitterboxOptions } from 'litterbox';

/** One more program with sandboxes on the machine of a fixture. */
export const remoteLitterbox = (fixture: RemoteFixture, options: Partial<LitterboxOptions> = {}): Promise<Litterbox> =>
  fixture.program({
    openProvider: (login) => ssh({ ...login, provider: overlayfs, kind: 'overlayfs' }),
    openLibrary: (own) => createLitterbox({ ...own, ...options }),
  });
