import { writeFileSync } from 'node:fs';

/** @param {readonly import('./projects.mjs').Project[]} projects @param {Record<string, any>} rows @param {string} path */
export function writePage(projects, rows, path) {
  const ended = ({ code, passed, failed }) =>
    code === 0 && failed === 0 ? `${passed} passed` : `exit ${code}; ${passed} passed, ${failed} failed`;
  const lines = projects.map(({ name, what, explained }) => {
    const row = rows[name];
    if (!row) return `| ${name} | ${what} | never ran | | | | | | |`;
    const { outside, inside, rounds, date, commit } = row;
    const ratio = (inside.seconds / outside.seconds).toFixed(2);
    const difference = ended(outside) === ended(inside) ? '' : (explained ?? 'not explained');
    return `| ${name} | ${what} | ${ended(outside)}; ${outside.seconds} s | ${ended(inside)}; ${inside.seconds} s | ${ratio} | ${rounds} | ${date} | ${commit} | ${difference} |`;
  });
  const text = [
    '# Projects by others',
    '',
    'Programs that others wrote, built and tested outside and in a sandbox (overlayfs, started by root). `npm run test:projects` writes this page; `npm run test:deep` has it in parts. Outside is a fresh copy of the commit, with the same files, PATH and times of files; inside is one `litterbox run`, its start included and `create` left out. Times are medians of the rounds, on a machine that does other work: gaps below a factor of two mean nothing.',
    '',
    '| project | what runs | outside | inside | ratio | rounds | date | commit | difference |',
    '|---|---|---|---|---|---|---|---|---|',
    ...lines,
    '',
  ].join('\n');
  writeFileSync(path, text);
}
