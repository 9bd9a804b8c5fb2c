// Puts a client by others into the one file of ours that exports it, so that who installs Litterbox neither downloads what the client has and
// we do not use nor runs the scripts that it brings. The licences of what went in lie beside it.
// Usage: bundle-client.mjs FILE; FILE is below dist of a package and was just compiled.
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';

const file = resolve(process.argv[2]);

/** What the engine's client has for SSH, for BuildKit's sessions and for native code: Litterbox uses none of it. */
const UNUSED = ['@grpc/grpc-js', '@grpc/proto-loader', 'protobufjs', ...(file.includes('docker') ? ['ssh2'] : [])];
/** SSH goes without code for one machine: what it tries to load is not there, as where nobody built it. */
const NATIVE = /\.node$|^cpu-features$/;

const withoutUnused = {
  name: 'without-unused',
  resolveId: (id) => (UNUSED.includes(id) || NATIVE.test(id) ? `\0${id}` : undefined),
  load(id) {
    if (!id.startsWith('\0')) return undefined;
    if (UNUSED.includes(id.slice(1))) return 'module.exports = {};';
    return NATIVE.test(id.slice(1)) ? "throw new Error('not built');" : undefined;
  },
};

/**
 * Node warns of `url.parse` and `url.resolve` in files that are not below `node_modules`, as those of ours are in a checkout. The engine's client reads
 * these members.
 */
const withoutUrlParse = {
  name: 'without-url-parse',
  transform: (code, id) =>
    id.endsWith('/docker-modem/lib/modem.js')
      ? `${code.replaceAll('url.parse(', 'parsedUrl(').replaceAll('url.resolve(', 'resolvedUrl(')}
function resolvedUrl(base, path) {
  return new URL(path, base).href;
}
function parsedUrl(text) {
  if (!URL.canParse(text)) return {};
  const { protocol, hostname, port, pathname, search } = new URL(text);
  return { protocol, hostname, port, pathname, path: pathname + search };
}
`
      : undefined,
};

/** The clients are CommonJS, and the file is none: there these names are nothing. */
const define = { __dirname: 'import.meta.dirname', __filename: 'import.meta.filename' };

const built = await rolldown({
  input: file,
  platform: 'node',
  plugins: [withoutUnused, withoutUrlParse],
  transform: { define },
});
const { output } = await built.write({ file, format: 'esm', comments: { legal: true } });
await import(pathToFileURL(file).href); // one that cannot be loaded ends the build here

const packages = new Map();
for (const path of output.flatMap((chunk) => Object.keys(chunk.modules ?? {}))) {
  const [, directory, name] = /^(.*\/node_modules\/((?:@[^/]+\/)?[^/]+))\//.exec(path) ?? [];
  if (directory !== undefined) packages.set(directory, name);
}
// A second time the file holds everything already, and names no package any more.
if (packages.size > 0)
  writeFileSync(
    join(dirname(file), 'LICENSES'),
    [...packages]
      .map(([directory, name]) => `${name} ${manifestOf(directory).version}\n\n${licenceOf(directory)}`)
      .sort()
      .join('\n\n----\n\n'),
  );

function manifestOf(directory) {
  return JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
}

function licenceOf(directory) {
  const name = readdirSync(directory).find((one) => /^licen[cs]e/i.test(one));
  if (name !== undefined && existsSync(join(directory, name))) return readFileSync(join(directory, name), 'utf8').trim();
  const { license, author } = manifestOf(directory);
  return `${license}, ${typeof author === 'string' ? author : (author?.name ?? 'its authors')}`;
}
