// npm run pack:command [-- DIRECTORY]: one tarball with the whole command line in it, server for agents and the clients of engines and SSH included.
// `npm install --global` of it asks no registry and runs no script of anybody. Needs a build with bundles.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { outsidePath } from './outside-path.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const target = resolve(process.argv[2] ?? join(root, 'packed'));
const staging = mkdtempSync(join(tmpdir(), 'litterbox-command-'));
const at = (...path) => join(staging, ...path);
const manifestOf = (folder) => JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));

/** A package of ours that lies in the tarball and needs nothing. */
function bundled(name, manifest) {
  mkdirSync(at('node_modules', name), { recursive: true });
  writeFileSync(at('node_modules', name, 'package.json'), JSON.stringify({ name, ...manifest }, undefined, 2));
}

try {
  const { name, version, description, license, engines, bin } = manifestOf('packages/cli');
  for (const part of ['bin', 'bundle', 'LICENSE', 'README.md'])
    cpSync(join(root, 'packages/cli', part), at(part), { recursive: true });

  const server = manifestOf('packages/mcp');
  bundled(server.name, { version, license, exports: { './start': './bundle/start.cjs' } });
  cpSync(join(root, 'packages/mcp/bundle'), at('node_modules', server.name, 'bundle'), {
    recursive: true,
    filter: (path) => !/\.d\.cts$|modules\.json$/.test(path),
  });

  const page = manifestOf('packages/review'); // its server is in the bundle of the command
  bundled(page.name, { version, license, exports: { './package.json': './package.json' } });
  cpSync(join(root, 'packages/review/bundle'), at('node_modules', page.name, 'bundle'), { recursive: true });

  const program = manifestOf('packages/session-linux-x64');
  bundled(program.name, { version, license, exports: program.exports });
  cpSync(join(root, 'packages/session-linux-x64/dist'), at('node_modules', program.name, 'dist'), { recursive: true });

  const dependencies = { [server.name]: version, [page.name]: version, [program.name]: version };
  writeFileSync(
    at('package.json'),
    JSON.stringify(
      {
        name,
        version,
        description,
        license,
        engines,
        bin,
        dependencies,
        bundleDependencies: Object.keys(dependencies),
      },
      undefined,
      2,
    ),
  );
  mkdirSync(target, { recursive: true });
  const packed = execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', target], {
    cwd: staging,
    encoding: 'utf8',
    env: { ...process.env, PATH: outsidePath() },
  });
  const [{ filename }] = Object.values(JSON.parse(packed));
  const file = join(target, filename);
  process.stderr.write(`${Math.round(statSync(file).size / 1024)} KiB; npm install --global ${file}\n`);
  process.stdout.write(`${file}\n`);
} finally {
  rmSync(staging, { recursive: true, force: true });
}
