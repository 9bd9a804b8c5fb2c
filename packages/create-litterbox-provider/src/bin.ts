#!/usr/bin/env node
import { createProvider } from './create-provider.ts';
import { UsageError } from './usage-error.ts';

const HELP = `Usage: npm create litterbox-provider NAME

Makes the directory NAME with a Litterbox provider that works, and the conformance kit that proves it.
`;

async function main(): Promise<void> {
  const words = process.argv.slice(2);
  const [name, ...others] = words;
  if (words.includes('--help') || words.includes('-h')) return void process.stdout.write(HELP);
  if (name === undefined || others.length > 0)
    throw new UsageError(
      `One name is wanted, and ${words.length === 0 ? 'none' : words.length} came.`,
      'Run npm create litterbox-provider my-sandboxes.',
    );
  const { directory, files } = await createProvider(name, process.cwd());
  process.stdout.write(`Made ${directory}:\n${files.map((file) => `  ${file}\n`).join('')}
Next, as root on a Linux machine with runc:
  cd ${name}
  npm install
  npm test
`);
}

try {
  await main();
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`error: ${error.message}\n→ ${error.hint}\n`);
  process.exitCode = 2;
}
