import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

/** How the tools of Litterbox for one sandbox are served over standard input and output, without the command line of Litterbox. */
export function toolsProgram({
  root,
  sandbox,
  agent,
  stateDirectory,
}: {
  readonly root: string;
  readonly sandbox: string;
  readonly agent: string;
  readonly stateDirectory: string;
}): readonly [string, ...string[]] {
  const start = pathToFileURL(createRequire(import.meta.url).resolve('@litterbox/mcp/start')).href;
  const script = `import(process.argv[1]).then((module) => (module.start ?? module.default.start)('mcp', process.argv.slice(2)))`;
  const conditions = process.execArgv.filter((one) => one.startsWith('--conditions=') || one === '--no-warnings');
  const node = [process.execPath, ...conditions, '--input-type=module', '--eval', script, start];
  // Its agent has the seat.
  return [
    'env',
    `LITTERBOX_HOME=${stateDirectory}`,
    ...node,
    '--repo',
    root,
    '--sandbox',
    sandbox,
    '--actor',
    agent,
    '--share',
  ];
}
