const BY_ENDING: Readonly<Record<string, string>> = {
  bash: 'bash sh zsh fish',
  c: 'c h',
  cpp: 'cc cpp cxx hpp hh ino',
  csharp: 'cs',
  css: 'css',
  dockerfile: 'dockerfile',
  go: 'go',
  ini: 'toml ini cfg conf properties',
  java: 'java',
  javascript: 'js mjs cjs jsx',
  json: 'json jsonc json5',
  kotlin: 'kt kts',
  lua: 'lua',
  makefile: 'mk',
  markdown: 'md mdx markdown',
  perl: 'pl pm',
  php: 'php',
  python: 'py pyi',
  ruby: 'rb rake gemspec',
  rust: 'rs',
  scss: 'scss sass less',
  sql: 'sql',
  swift: 'swift',
  typescript: 'ts tsx mts cts',
  xml: 'html htm xml svg vue svelte xhtml plist',
  yaml: 'yml yaml',
};
const BY_NAME: Readonly<Record<string, string>> = {
  dockerfile: 'dockerfile',
  containerfile: 'dockerfile',
  makefile: 'makefile',
  gemfile: 'ruby',
  rakefile: 'ruby',
};
const LANGUAGES = new Map(
  Object.entries(BY_ENDING).flatMap(([name, all]) => all.split(' ').map((ending) => [ending, name])),
);

/** The language of a file by its name alone. Undefined: it is shown without colours. */
export function languageOf(path: string): string | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  return BY_NAME[name] ?? LANGUAGES.get(name.slice(name.lastIndexOf('.') + 1));
}
