import { formatExecResponse, imageOutputFromBytes } from '@openai/agents-core/sandbox/internal';
import type { Sandbox } from 'litterbox';
import { assertHonourable, uploadEntries } from './manifest-files.ts';
import { assertNoRunAs } from './refused.ts';
import { runCommand } from './run-command.ts';
import { sandboxEditor } from './sandbox-editor.ts';
import type { LitterboxSession, LitterboxSessionState } from './session-state.ts';

/** A sandbox as a session of the SDK. Closing it closes what this program opened; the sandbox stays, unless it is ephemeral. */
export function sandboxSession(sandbox: Sandbox, state: LitterboxSessionState): LitterboxSession {
  const { files } = sandbox;
  return {
    state,
    sandbox,
    running: async () => (await sandbox.refresh()).record.state === 'ready',
    exec: async (args) => await runCommand(sandbox, args),
    execCommand: async (args) => formatExecResponse(await runCommand(sandbox, args)),

    createEditor(runAs) {
      assertNoRunAs(runAs);
      return sandboxEditor(files);
    },

    async viewImage({ path, runAs }) {
      assertNoRunAs(runAs);
      return imageOutputFromBytes(path, await files.read(path));
    },

    async readFile({ path, runAs, maxBytes }) {
      assertNoRunAs(runAs);
      return (await files.read(path)).subarray(0, maxBytes);
    },

    async listDir({ path, runAs }) {
      assertNoRunAs(runAs);
      return (await files.list(path)).map(({ path: name, type }) => ({
        name,
        path: `${path.replace(/\/$/, '')}/${name}`,
        type: type === 'directory' ? 'dir' : type === 'file' ? 'file' : 'other',
      }));
    },

    async pathExists(path, runAs) {
      assertNoRunAs(runAs);
      return await files.exists(path);
    },

    async directoryExists(path, runAs) {
      assertNoRunAs(runAs);
      return (await files.exists(path)) && (await files.stat(path)).type === 'directory';
    },

    async materializeEntry({ path, entry, runAs }) {
      assertNoRunAs(runAs);
      await uploadEntries(files, { [path]: entry });
    },

    async applyManifest(manifest, runAs) {
      assertNoRunAs(runAs);
      assertHonourable(manifest);
      await uploadEntries(files, manifest.entries);
    },

    close: async () => await sandbox[Symbol.asyncDispose](),
  };
}
