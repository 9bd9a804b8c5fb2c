import {
  type Artefacts,
  type CallOptions,
  type Host,
  LitterboxError,
  type ProgressOptions,
  quoted,
  sha256,
  shown,
  type WorkspaceSource,
  advice,
  step,
} from '@litterbox/core/provider';
import { cannotHonour } from '@litterbox/sandbox-kit';
import { ARTEFACT_PREFIX } from '../directory/artefact-prefix.ts';
import {
  ARTEFACT_EXITS,
  type ArtefactScript,
  assertDigest,
  CLEAN_ARTEFACTS,
  copyArtefacts,
  inWorkTree,
  surveyArtefacts,
} from './artefact-script.ts';
import { type BaseTreesInput, ensureBaseTree } from '../directory/base-trees.ts';
import { bringArtefacts } from './bring-artefacts.ts';
import { COPY_EXITS } from '../directory/copy-layers.ts';
import { runScript } from '../script/run-script.ts';
import { scriptError } from '../script/script-error.ts';

/** A layer of files that came along, for over a base: name of its directory, beside the base trees. */
export type ArtefactLayer = string;

/** Where the layer goes, and for whom it is made. */
export interface ArtefactLayerInput extends BaseTreesInput {
  /** The provider's name, for messages. */
  readonly provider: string;
}

const OPERATION = 'provider.artefacts';
/** How often files are copied that change meanwhile. */
const MAX_ATTEMPTS = 3;

/**
 * What has to lie over a base so that files of the person's working tree are there: a frozen copy of them, and with it the files of the
 * base that builds have to see as newer. The layer is made unless it is there; it is for the files as they are now, the base, and those times.
 *
 * @throws LitterboxError as `SandboxSpec.artefacts` says
 */
export async function ensureArtefactLayer(
  input: ArtefactLayerInput,
  base: WorkspaceSource,
  artefacts: Artefacts,
  options?: ProgressOptions,
): Promise<ArtefactLayer> {
  const { host, provider, owner } = input;
  const { source, paths, newerThan } = artefacts;
  const isHere = await isSameMachine(source.host, host, options);
  const { uid } = await source.host.facts(options);
  const script = { source: source.path, paths, isRoot: uid === 0 };
  for (let attempt = 1; ; attempt++) {
    const { digest, oldestSeconds } = await survey(source.host, provider, script, options);
    const newer = await newerThan(oldestSeconds, options);
    const name = `${ARTEFACT_PREFIX}${await sha256(new TextEncoder().encode(`${base.key} ${digest} ${newer.key} ${owner?.uid}`))}`;
    options?.onProgress?.({
      step: 'artefacts',
      message: `Bringing along ${paths.map((path) => shown(path)).join(', ')}`,
    });
    const fill: BaseTreesInput['fill'] = async (unfinished, call) => {
      const given = owner ? ` && chown -R -h ${owner.uid}:${owner.gid} .` : '';
      if (!isHere) await bringArtefacts({ host, bases: input.bases, unfinished, artefacts, script }, call);
      const brought = isHere ? copyArtefacts(script, digest) : CLEAN_ARTEFACTS;
      const text = `cd ${quoted(unfinished)} || exit 1\n${brought}${given}`;
      const { code, stderr } = await runScript(host, text, call);
      if (code !== 0) throw artefactError(provider, code, stderr);
      if (!isHere) await assertUnchanged(source.host, provider, script, digest, call);
    };
    try {
      const { kind: _ordinary, ...trees } = input;
      await ensureBaseTree(
        { ...trees, fill },
        { key: name, open: (call) => newer.open(call) },
        { signal: options?.signal },
      );
      return name;
    } catch (error) {
      if (!(error instanceof ChangedMeanwhile) || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

/** Each program has objects of its own for its machine. */
async function isSameMachine(one: Host, other: Host, options?: CallOptions): Promise<boolean> {
  if (one === other) return true;
  if (one.name !== other.name) return false;
  return (await one.facts(options)).bootId === (await other.facts(options)).bootId;
}

/** The files were others when they had been copied. */
class ChangedMeanwhile extends LitterboxError {}

/** @throws LitterboxError when the files changed while they were brought */
async function assertUnchanged(
  host: Host,
  provider: string,
  script: ArtefactScript,
  digest: string,
  options?: CallOptions,
): Promise<void> {
  const { code, stderr } = await runScript(host, inWorkTree(script, assertDigest(digest)), options);
  if (code !== 0) throw artefactError(provider, code, stderr);
}

async function survey(host: Host, provider: string, script: ArtefactScript, options?: ProgressOptions) {
  const { code, stdout, stderr } = await runScript(host, surveyArtefacts(script), { signal: options?.signal });
  const [, digest, seconds] = /^([0-9a-f]{64}) (\d{1,15})(?:\.\d+)?\n$/.exec(stdout) ?? [];
  if (code !== 0 || digest === undefined || seconds === undefined) throw artefactError(provider, code, stderr);
  return { digest, oldestSeconds: Number(seconds) };
}

function artefactError(provider: string, code: number, stderr: string): LitterboxError {
  const details = { operation: OPERATION, provider };
  const said = shown(stderr.trim().split('\n').slice(-1).join('').slice(0, 500));
  const path = shown(stderr.replace(/^\.\//, '').slice(0, 500));
  switch (code) {
    case ARTEFACT_EXITS.missing:
      return new LitterboxError('NOT_FOUND', `${path} is not in the working tree any more.`, {
        ...details,
        hint: 'Build or install it first, or leave it out of include.',
      });
    case ARTEFACT_EXITS.belowLink:
      return new LitterboxError(
        'PATH_OUTSIDE_WORKDIR',
        `${path} is a link, so the files behind it cannot be included.`,
        {
          ...details,
          hint: 'Name the place itself in include. Files outside of the working tree cannot be included.',
        },
      );
    case ARTEFACT_EXITS.mounted:
      return cannotHonour(
        provider,
        `files of include on a file system of their own, ${path}`,
        'Leave that path out of include.',
      );
    case ARTEFACT_EXITS.changed:
      return new ChangedMeanwhile('CONFLICT', 'Files of include changed again and again while they were copied.', {
        ...details,
        hint: 'Wait until the build there is done, then repeat.',
      });
    case COPY_EXITS.unconfined:
      return new LitterboxError('UNAVAILABLE', `The working tree cannot be read without following links: ${said}.`, {
        ...details,
        hint: advice`This needs Linux 5.10, util-linux 2.37, and no mount below the working tree: run ${step('machine-check')}.`,
      });
  }
  if (/Permission denied|Operation not permitted/.test(stderr))
    return new LitterboxError('PERMISSION_DENIED', `Files of include cannot be copied: ${said}.`, {
      ...details,
      hint: 'Make them readable for this user, or leave that path out of include.',
    });
  return scriptError(OPERATION, code, stderr);
}
