#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { createProvider } from './create-provider.ts';
import { UsageError } from './usage-error.ts';

const HELP = `Usage: npm create litterbox-provider NAME [--template runc|api]

Makes the directory NAME with a Litterbox provider that works, and the conformance kit that proves it.

  --template runc   sandboxes by a runtime of this machine; what you get without the option
  --template api    a machine for each sandbox, of a service with an HTTP API; a fake one comes along
`;

async function main(): Promise<void> {
  const { positionals, values } = wordsOf(process.argv.slice(2));
  const { npm_config_template: keptByNpm } = process.env;
  // npm keeps an option that stands before `--` to itself. Some versions take its value too, others give that on as a word.
  const template = values.template ?? (keptByNpm === 'true' ? positionals.splice(1, 1)[0] : keptByNpm);
  const [name, ...others] = positionals;
  if (values.help) return void process.stdout.write(HELP);
  if (name === undefined || others.length > 0)
    throw new UsageError(
      `One name is wanted, and ${name === undefined ? 'none' : positionals.length} came.`,
      'Run npm create litterbox-provider my-sandboxes.',
    );
  const { directory, files } = await createProvider(name, process.cwd(), template);
  process.stdout.write(`Made ${directory}:\n${files.map((file) => `  ${file}\n`).join('')}
Next, as root on a Linux machine${template === 'api' ? '' : ' with runc'}:
  cd ${name}
  npm install
  npm test
`);
}

function wordsOf(args: string[]) {
  const options = { help: { type: 'boolean', short: 'h' }, template: { type: 'string' } } as const;
  try {
    return parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    throw new UsageError((error as Error).message, 'Run npm create litterbox-provider -- --help.');
  }
}

try {
  await main();
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`error: ${error.message}\n→ ${error.hint}\n`);
  process.exitCode = 2;
}
