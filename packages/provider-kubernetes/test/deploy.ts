import { readdir, readFile } from 'node:fs/promises';

/** An object of the cluster, as a file describes it. */
export interface Described {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly [field: string]: unknown;
}
export type Values = { readonly [name: string]: string | Values };

const DEPLOY = new URL('../deploy/', import.meta.url);
const textOf = async (path: string) => await readFile(new URL(path, DEPLOY), 'utf8');

async function parsed(text: string): Promise<readonly Described[]> {
  const { loadYaml } = await import('@kubernetes/client-node');
  // One level deeper: the client gives fields of kinds that it knows names of its own.
  return text
    .split(/^---$/m)
    .map((one) => loadYaml<{ readonly object: Described }>(`object:\n${one.replace(/^/gm, '  ')}`).object);
}

/** The objects of one file. @param file below `deploy` */
export async function objectsOf(file: string): Promise<readonly Described[]> {
  return await parsed(await textOf(file));
}

/** The objects that the kustomization of the base names, in its order. */
export async function baseObjects(): Promise<readonly Described[]> {
  const [kustomization] = await objectsOf('base/kustomization.yaml');
  const files = kustomization?.['resources'] as readonly string[];
  return (await Promise.all(files.map((file) => objectsOf(`base/${file}`)))).flat();
}

/** The values that the chart comes with. */
export async function chartValues(): Promise<Values> {
  const { loadYaml } = await import('@kubernetes/client-node');
  return loadYaml<Values>(await textOf('chart/values.yaml'));
}

const valueAt = (values: Values, path: string) =>
  path
    .split('.')
    .reduce<Values | string | undefined>((at, name) => (typeof at === 'object' ? at[name] : undefined), values);

/**
 * The objects of the chart. Debian has no Helm, so this renders what the chart is kept to: `{{ .Values.NAME }}` and nothing else.
 *
 * @param used takes the path of each value that a template asks for
 */
export async function chartObjects(values: Values, used = new Set<string>()): Promise<readonly Described[]> {
  const files = (await readdir(new URL('chart/templates/', DEPLOY))).sort();
  const objects = files.map(async (file) => {
    const text = (await textOf(`chart/templates/${file}`)).replace(/\{\{.*?\}\}/g, (action) => {
      const path = /^\{\{ \.Values\.([A-Za-z.]+) \}\}$/.exec(action)?.[1] ?? '';
      const value = valueAt(values, path);
      if (typeof value !== 'string') throw new Error(`${file}: nobody here renders ${action}`);
      used.add(path);
      return value;
    });
    return await parsed(text);
  });
  return (await Promise.all(objects)).flat();
}
