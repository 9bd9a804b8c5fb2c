import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { RepositoryFixture } from './repository-fixture.ts';
import type { SshLogin, SshMachine } from './ssh-machine.ts';
import { SshServer, type SshServerOptions } from './ssh-server.ts';

/** What makes such a fixture different from a plain one. */
export interface RemoteFixtureOptions {
  /** Of the repository, by path. */
  readonly files?: Readonly<Record<string, string>>;
  /** Whose the directory on the machine is. @defaultValue who runs the test */
  readonly user?: string;
}

/** Of the options of `ssh`, those that name a machine and a place there. */
export interface RemoteLogin extends SshLogin {
  readonly name: string;
  readonly directory: string;
}

/** What a program of the fixture is made of; the functions are those that are tested. */
interface Program<Provider, Library> {
  readonly openProvider: (login: RemoteLogin) => Promise<Provider>;
  readonly openLibrary: (options: {
    readonly repo: string;
    readonly stateDirectory: string;
    readonly providers: readonly [Provider];
  }) => Library;
}

/** A repository here, and a machine that is reached over SSH, whose files are those of this one. */
export class RemoteFixture extends RepositoryFixture {
  /** A directory on the machine that is its user's, and open to all: what closes anything in it is ours. */
  readonly home: string;
  /** Where sandboxes are on the machine. */
  readonly there: string;
  readonly #machine: SshMachine;

  constructor(machine: SshMachine, { files, user = userInfo().username }: RemoteFixtureOptions = {}) {
    super(files);
    this.#machine = machine;
    this.home = join(this.directory, 'home');
    this.there = join(this.home, 'state');
    mkdirSync(this.home);
    for (const path of [this.directory, this.home]) chmodSync(path, 0o755);
    execFileSync('chown', [user, this.home]);
  }

  /** The machine is a server of the test's own, in a network of its own. */
  static async apart(options: RemoteFixtureOptions & Omit<SshServerOptions, 'network'> = {}): Promise<RemoteFixture> {
    const server = await SshServer.startApart(options);
    const fixture = new RemoteFixture(server, options);
    fixture.use(server);
    return fixture;
  }

  /** One more program that works on the machine. The library ends with the test, and then its provider. */
  async program<Provider extends AsyncDisposable, Library extends AsyncDisposable>({
    openProvider,
    openLibrary,
  }: Program<Provider, Library>): Promise<Library> {
    const provider = this.use(await openProvider({ ...this.#machine.login, name: 'box', directory: this.there }));
    const { repository: repo, stateDirectory } = this;
    return this.use(openLibrary({ repo, stateDirectory, providers: [provider] }));
  }
}
