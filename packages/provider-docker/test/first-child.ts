import { Sandboxes } from './sandboxes.ts';

// A program of its own that makes the first sandbox of a directory and removes it again. Arguments: socket of the engine, directory.
const [socket, directory] = process.argv.slice(2);
{
  await using sandboxes = await Sandboxes.open(socket, directory);
  await sandboxes.create();
}
process.stdout.write('done\n');
