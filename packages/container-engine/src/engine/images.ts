import { type CallOptions, LitterboxError, type ProgressOptions, shown, visibleName } from '@litterbox/core/provider';
import type { Engine } from './engine.ts';
import { answerOf } from './engine-error.ts';
import type { EngineFacts } from './engine-facts.ts';
import { type ImageFacts, imageFacts } from './image-facts.ts';
import { noAnswer } from './invalid-answer.ts';

/** Go's names for what `uname -m` says. @see https://go.dev/doc/install/source#environment */
const GO_ARCHITECTURES: Readonly<Record<string, string>> = {
  x86_64: 'amd64',
  amd64: 'amd64',
  aarch64: 'arm64',
  arm64: 'arm64',
};
/** The longest that a pull may take in all. */
const PULL_MS = 3_600_000;
/** A registry that does not answer is given up after this time without any progress. */
const PULL_IDLE_MS = 60_000;

/** What an engine says of a pull, a line each. */
interface PullLine {
  readonly status?: string;
  readonly id?: string;
  readonly progress?: string;
  readonly error?: unknown;
}

/** Registries say what they missed at the end of a long line. */
const MAX_REASON_CHARACTERS = 400;

/** What an engine says in one line, without what its client puts before it. */
function reasonOf(said: string): string {
  return visibleName(said.replace(/\s+/g, ' ').replace(/^\(HTTP code \d+\) [\w ]+ - /, ''), MAX_REASON_CHARACTERS);
}

/** Images of an engine, pulled when they are not there. */
export class Images {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** @throws LitterboxError `NOT_FOUND` when nobody has it; `UNSUPPORTED` for another architecture. */
  async get(reference: string, facts: EngineFacts, options?: ProgressOptions): Promise<ImageFacts> {
    const image = (await this.#inspect(reference, options)) ?? (await this.#pull(reference, options));
    if (image.isOfContainer)
      options?.onProgress?.({
        step: 'image',
        message: `The image ${reference} was made from the container of a sandbox, and has what was in it`,
      });
    const wanted = GO_ARCHITECTURES[facts.architecture] ?? facts.architecture;
    if (image.architecture !== '' && image.architecture !== wanted)
      throw new LitterboxError(
        'UNSUPPORTED',
        `The image ${shown(reference)} is for ${shown(image.architecture)}, but this machine is ${wanted}.`,
        {
          operation: 'provider.create',
          provider: this.#engine.provider,
          hint: `Set container.base-image to an image for ${wanted}.`,
        },
      );
    return image;
  }

  /** What the reference means to the engine now; undefined when it has none of that name. Pulls nothing. */
  async idOf(reference: string, options?: CallOptions): Promise<string | undefined> {
    return (await this.#inspect(reference, options))?.id;
  }

  async #inspect(reference: string, options?: ProgressOptions): Promise<ImageFacts | undefined> {
    const found = await this.#engine.askIfThere(
      'provider.create',
      async (docker) => await docker.getImage(reference).inspect(),
      options,
    );
    if (!found) return undefined;
    const facts = imageFacts(found);
    if (!facts) throw noAnswer(this.#engine, 'provider.create', `the image ${shown(reference)}`);
    return facts;
  }

  async #pull(reference: string, options?: ProgressOptions): Promise<ImageFacts> {
    const { title, provider, kind } = this.#engine;
    const say = (message: string) => options?.onProgress?.({ step: 'image', message });
    say(`Pulling the image ${reference}`);
    const missing = (reason: string, cause?: unknown) =>
      new LitterboxError(
        'NOT_FOUND',
        `${title} has no image ${shown(reference)}, and could not pull it: ${reasonOf(reason)}.`,
        {
          operation: 'provider.create',
          provider,
          hint: `Build or import it, check container.base-image, or pull it by hand: ${kind} pull ${reference}`,
        },
        { cause },
      );
    // A reference without tag or digest would pull every tag.
    const full = /[:@][^/]*$/.test(reference) ? reference : `${reference}:latest`;
    let refusal: unknown;
    try {
      await this.#engine.ask(
        'provider.pull',
        async (docker) => {
          const stream = await docker.pull(full);
          await new Promise<void>((resolve, reject) => {
            const idle = setTimeout(
              () => reject(new Error(`no progress for ${PULL_IDLE_MS / 1000} seconds`)),
              PULL_IDLE_MS,
            );
            docker.modem.followProgress(
              stream,
              (error: Error | null) => {
                clearTimeout(idle);
                if (error) reject(error);
                else resolve();
              },
              ({ status, id, progress, error }: PullLine) => {
                idle.refresh();
                if (error !== undefined && error !== '')
                  refusal = error; // Podman ends the answer well after it
                else say(visibleName([id, status, progress].filter(Boolean).join(' ')));
              },
            );
          });
        },
        { ...options, limitMs: PULL_MS },
      );
    } catch (error) {
      options?.signal?.throwIfAborted();
      const { said } = answerOf((error as LitterboxError).cause ?? error);
      throw missing(said, error);
    }
    const pulled = await this.#inspect(full, options);
    if (!pulled) throw missing(typeof refusal === 'string' ? refusal : 'it is still not there');
    return pulled;
  }
}
