import { SECRET_FILE_NAMES } from './secret-files.ts';

/** Names of files that hold a private key or something harmless, such as a certificate: their content tells. */
export const KEY_NAMES: readonly string[] = ['*.pem', '*.key', '*.ppk', '*.p8'];

/** Names of files and directories that hold secrets of a person. In names, `*` stands for any characters of one name. */
export const SECRET_NAMES: readonly string[] = [
  '.npmrc',
  '.aws',
  '.azure',
  '.gnupg',
  '.kube',
  '.ssh',
  ...SECRET_FILE_NAMES.filter((name) => !KEY_NAMES.includes(name)),
];

const PATTERN = new RegExp(
  `^(?:${[...SECRET_NAMES, ...KEY_NAMES].map((name) => name.replaceAll('.', '\\.').replaceAll('*', '.*')).join('|')})$`,
);

/**
 * The components of a path that have the name of a secret, each as the path that ends with it: of `a/.aws/config`, `a/.aws`. Empty where
 * nothing looks like one.
 */
export function secretPaths(path: string): readonly string[] {
  const names = path.split('/');
  return names.flatMap((name, index) => (PATTERN.test(name) ? [names.slice(0, index + 1).join('/')] : []));
}
