import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Host } from '@litterbox/core/provider';
import { localHost } from '@litterbox/host';

/** Programs of a test's own, in place of those of this computer. */
export class FakePrograms {
  readonly directory: string;

  /** @param directory absolute path that is the test's own */
  constructor(directory: string) {
    this.directory = directory;
    mkdirSync(directory, { recursive: true });
  }

  /** This computer, with these programs before its own. */
  get host(): Host {
    return localHost({ programs: [this.directory, '/usr/sbin', '/usr/bin', '/sbin', '/bin'] });
  }

  /** This computer, as if it ran another system. */
  hostOn(platform: string): Host {
    const { host } = this;
    return {
      ...host,
      facts: async (options) => ({ ...(await host.facts(options)), platform }),
      spawn: async (spec, options) => {
        const [program, ...args] = spec.argv;
        const own = program.replace(/^C:\\Windows\\System32\\/, `${this.directory}/`);
        const env = own === program ? spec.env : { ...spec.env, PATH: '/usr/bin:/bin' };
        return await host.spawn({ ...spec, argv: [own, ...args], ...(env && { env }) }, options);
      },
    };
  }

  /** @param script shell text */
  add(name: string, script: string): void {
    const file = join(this.directory, name);
    writeFileSync(file, `#!/bin/sh\n${script}\n`);
    chmodSync(file, 0o755);
  }

  /** A file of a test, beside the programs. */
  file(name: string, content: string | Uint8Array): string {
    const file = join(this.directory, name);
    writeFileSync(file, content);
    return file;
  }
}
