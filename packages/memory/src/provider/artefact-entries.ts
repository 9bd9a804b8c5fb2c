import { type Artefacts, type CallOptions, decodeRaw } from '@litterbox/core/provider';
import type { TarEntry } from '../tools/read-tar.ts';

/**
 * What comes along from a machine in memory, whose `read` of a link gives where it leads: links are links, and nothing special is there to
 * stay behind.
 */
export async function artefactEntries(
  { source: { host, path: top }, paths }: Artefacts,
  options?: CallOptions,
): Promise<readonly TarEntry[]> {
  const entries: TarEntry[] = [];
  const waiting = [...paths];
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    const at = `${top}/${path}`;
    const stat = await host.files.stat(at, options);
    if (stat?.type === 'directory') {
      entries.push({ path, type: 'directory', isExecutable: true, content: new Uint8Array(), target: '' });
      for (const { name } of (await host.files.list(at, options)) ?? []) waiting.push(`${path}/${name}`);
    } else if (stat?.type === 'file' || stat?.type === 'symlink') {
      const content = (await host.files.read(at, options)) ?? new Uint8Array();
      const target = stat.type === 'symlink' ? decodeRaw(content) : '';
      entries.push({ path, type: stat.type, isExecutable: (stat.mode & 0o100) !== 0, content, target });
    }
  }
  return entries;
}
