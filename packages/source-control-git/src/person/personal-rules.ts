import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { UserRepository } from './user-repository.ts';

/** What the person ignores outside the tree: `core.excludesFile` and `info/exclude`, read from their own configuration. */
export class PersonalRules {
  readonly #user: UserRepository;
  readonly #home: Readonly<Record<string, string>>;
  #settings: Promise<{ readonly paths: readonly string[]; readonly ignoresCase: boolean }> | undefined;
  #ignoresCase = false;
  #version: string | undefined;
  #text: Buffer = Buffer.alloc(0);

  constructor(user: UserRepository, environment: Readonly<Record<string, string>>) {
    this.#user = user;
    this.#home = environment;
  }

  /** `core.ignoreCase`; known after the first {@link PersonalRules.read}. */
  get ignoresCase(): boolean {
    return this.#ignoresCase;
  }

  /** The rules, empty when no line of them says anything, and what changes whenever the files do. */
  async read(): Promise<{ readonly version: string; readonly text: Buffer }> {
    this.#settings ??= this.#readSettings();
    const { paths, ignoresCase } = await this.#settings;
    this.#ignoresCase = ignoresCase;
    const stamps = await Promise.all(
      paths.map(async (path) => {
        const found = await stat(path, { bigint: true }).catch(() => undefined);
        return found ? `${found.ino} ${found.size} ${found.mtimeNs} ${found.ctimeNs}` : 'none';
      }),
    );
    const version = stamps.join('\n');
    if (version !== this.#version) {
      // One file for both: within one, the last match decides, and info/exclude is the stronger of the two.
      const texts = await Promise.all(paths.map((path) => readFile(path).catch(() => Buffer.alloc(0))));
      const parts = texts.map(withoutByteOrderMark).flatMap((text) => [text, Buffer.from('\n')]);
      const text = Buffer.concat(parts);
      this.#text = /^(?!#)[^\n\r]/m.test(text.toString('latin1')) ? text : Buffer.alloc(0);
      this.#version = version;
    }
    return { version, text: this.#text };
  }

  async #readSettings() {
    const get = async (...args: string[]) => {
      const { code, stdout } = await this.#user.plumbing.run(['config', '-z', ...args], { setting: 'user' });
      return code === 0 ? stdout.toString().replace(/\0$/, '') : undefined;
    };
    const [configured, ignoreCase] = await Promise.all([
      get('--path', '--get', 'core.excludesFile'),
      get('--type=bool', '--get', 'core.ignoreCase'),
    ]);
    const configHome = this.#home['XDG_CONFIG_HOME'] || join(this.#home['HOME'] ?? '/nonexistent', '.config');
    const excludes = configured ?? join(configHome, 'git', 'ignore');
    return {
      paths: [excludes, join(this.#user.commonDirectory, 'info', 'exclude')],
      ignoresCase: ignoreCase === 'true',
    };
  }
}

function withoutByteOrderMark(text: Buffer): Buffer {
  return text.subarray(0, 3).equals(Buffer.from([0xef, 0xbb, 0xbf])) ? text.subarray(3) : text;
}
