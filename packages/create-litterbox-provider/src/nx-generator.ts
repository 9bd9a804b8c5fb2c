import { providerFiles } from './provider-files.ts';
import { UsageError } from './usage-error.ts';

/** What of nx's virtual file system is needed: https://nx.dev/extending-nx/recipes/creating-files */
interface Tree {
  exists(path: string): boolean;
  write(path: string, text: string): void;
}

/** `nx g create-litterbox-provider:provider NAME`: the same package as `npm create litterbox-provider`, in `packages` of an nx workspace. */
export default async function generateProvider(
  tree: Tree,
  { name, template }: { readonly name: string; readonly template?: string },
): Promise<void> {
  const files = await providerFiles(name, template);
  const directory = `packages/${name}`;
  if (tree.exists(directory))
    throw new UsageError(`${directory} is there already.`, 'Take another name, or remove what is there.');
  for (const { path, text } of files) tree.write(`${directory}/${path}`, text);
}
