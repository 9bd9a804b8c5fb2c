import {
  type CallOptions,
  decodeRaw,
  encodeRaw,
  type Host,
  type ImageStore,
  LitterboxError,
  type ProgressOptions,
  type SandboxId,
} from '@litterbox/core/provider';
import { SETUP_KEY } from '@litterbox/sandbox-kit';
import type { Containers } from '../container/containers.ts';
import { type Engine, WORK_MS } from '../engine/engine.ts';
import { answerOf } from '../engine/engine-error.ts';
import { LABELS } from '../engine/labels.ts';
import type { ImageFacts } from '../engine/image-facts.ts';
import type { Images } from '../engine/images.ts';
import { noAnswer } from '../engine/invalid-answer.ts';
import type { ContainerDirectories } from '../engine/container-directories.ts';

/** Under it stands what was installed, with key and image as the tag: `litterbox-installed:<key>-<image>`. */
const REPOSITORY = 'litterbox-installed';
/** A tag has at most 128 characters. */
const KEY_CHARACTERS = 64;
const IMAGE_CHARACTERS = 24;

/** Where it is written down which images are ours: a file each, called by the digest, that holds the name. */
export interface ImageNotes {
  readonly host: Host;
  readonly directory: string;
}

/**
 * Images of an engine into which something was installed: commits of the containers that it was installed in. Whoever builds or loads an
 * image chooses its name and labels, so the id of each commit is written down in the state directory, and only that image is one of ours.
 */
export class InstalledImages implements ImageStore {
  readonly #engine: Engine;
  readonly #images: Images;
  readonly #containers: Containers;
  readonly #directories: ContainerDirectories;
  readonly #notes: ImageNotes;

  constructor(input: {
    readonly engine: Engine;
    readonly images: Images;
    readonly containers: Containers;
    readonly directories: ContainerDirectories;
    readonly notes: ImageNotes;
  }) {
    this.#engine = input.engine;
    this.#images = input.images;
    this.#containers = input.containers;
    this.#directories = input.directories;
    this.#notes = input.notes;
  }

  async has(reference: string, key: string, options?: CallOptions): Promise<boolean> {
    return (await this.idOf(reference, key, options)) !== undefined;
  }

  /** The engine's id of the image with what is kept under the key; undefined where either is not there. */
  async idOf(reference: string, key: string, options?: CallOptions): Promise<string | undefined> {
    const base = await this.#images.idOf(reference, options);
    return base === undefined ? undefined : await this.#kept(nameOf(base, key), options);
  }

  /** @throws LitterboxError `NOT_FOUND` when it is not there. */
  async get({ id: base }: ImageFacts, key: string, options?: ProgressOptions): Promise<string> {
    const id = await this.#kept(nameOf(base, key), options);
    if (id !== undefined) return id;
    throw new LitterboxError(
      'NOT_FOUND',
      `${this.#engine.title} has no image any more with what was installed (${nameOf(base, key)}).`,
      {
        operation: 'provider.create',
        provider: this.#engine.provider,
        hint: 'Create the sandbox again: Litterbox installs it again.',
      },
    );
  }

  async keep(id: SandboxId, key: string, options?: CallOptions): Promise<void> {
    const operation = 'image.keep';
    const words = { operation, provider: this.#engine.provider };
    if (!SETUP_KEY.test(key))
      throw new LitterboxError('INVALID_ARGUMENT', 'The key of an image is a hexadecimal digest.', {
        ...words,
        hint: 'Take the digest of what the image depends on.',
      });
    const meta = await this.#directories.read(id, options);
    const found = await this.#containers.find(id, options);
    if (!meta.isInstaller || !found)
      throw new LitterboxError('INVALID_ARGUMENT', `Nothing can be kept of the system of the sandbox ${meta.slug}.`, {
        ...words,
        hint: 'Make one with isInstaller, and keep it before it is removed.',
      });
    await this.#containers.ends.kill(id, options); // what is kept is at rest
    const name = nameOf(meta.imageId, key);
    // One that was there before loses its name alone: sandboxes whose container is not there at the moment may be made of it.
    const work = { ...options, limitMs: WORK_MS };
    const [repo, tag] = name.split(':');
    const made: unknown = await this.#engine.ask(
      operation,
      async (docker, signal) =>
        docker.getContainer(found.id).commit({
          repo,
          tag,
          pause: false,
          comment: 'what Litterbox installed',
          // What the container is found by is not for those that are made of the image.
          changes: [...Object.values(LABELS).map((label) => `${label}=`), `${INSTALLED_LABEL}=${key}`]
            .map((label) => `LABEL ${label}`)
            .join('\n'),
          abortSignal: signal,
        }),
      work,
    );
    const digest = digestOf((made as { readonly Id?: unknown } | undefined)?.Id);
    if (digest === undefined) throw noAnswer(this.#engine, operation, `the image ${name}`);
    const { host, directory } = this.#notes;
    await host.files.makeDirectory(directory, { ...options, mode: 0o700 });
    await host.files.write(`${directory}/${digest}`, encodeRaw(name), { ...options, mode: 0o600 });
  }

  async remove(reference: string, key: string, options?: CallOptions): Promise<void> {
    const base = await this.#images.idOf(reference, options);
    if (base === undefined) return;
    const digest = digestOf(await this.#kept(nameOf(base, key), options));
    if (await this.#removed(nameOf(base, key), 'image.remove', options)) {
      if (digest !== undefined) await this.#notes.host.files.remove(`${this.#notes.directory}/${digest}`, options);
      return;
    }
    throw new LitterboxError('CONFLICT', `Sandboxes are made of the image ${nameOf(base, key)}.`, {
      operation: 'image.remove',
      provider: this.#engine.provider,
      hint: 'Delete them first.',
    });
  }

  /** The id of the image that has the name, if it is the one that was kept under it. */
  async #kept(name: string, options?: CallOptions): Promise<string | undefined> {
    const id = await this.#images.idOf(name, options);
    const digest = digestOf(id);
    if (digest === undefined) return undefined;
    const note = await this.#notes.host.files.read(`${this.#notes.directory}/${digest}`, options);
    return note !== undefined && decodeRaw(note) === name ? id : undefined;
  }

  /** @returns false while it is in use */
  async #removed(image: string, operation: string, options?: CallOptions): Promise<boolean> {
    return (
      (await this.#engine.askIfThere(
        operation,
        async (docker) => {
          try {
            await docker.getImage(image).remove();
            return true;
          } catch (error) {
            if (answerOf(error).statusCode !== 409) throw error;
            return false;
          }
        },
        { ...options, limitMs: WORK_MS },
      )) ?? true
    );
  }
}

/** Of images alone: by it a person finds what was installed, to remove it. */
const INSTALLED_LABEL = 'dev.litterbox.installed';

/** Of an image's id, which engines write with and without the name of its algorithm. */
const digestOf = (id: unknown) => (typeof id === 'string' ? /^(?:sha256:)?([0-9a-f]{64})$/.exec(id)?.[1] : undefined);

function nameOf(imageId: string, key: string): string {
  const image = imageId.replace(/^sha256:/, '').slice(0, IMAGE_CHARACTERS);
  return `${REPOSITORY}:${key.slice(0, KEY_CHARACTERS)}-${image}`;
}
