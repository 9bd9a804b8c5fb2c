import { isMet, type Row, type Run, type Runs } from './findings.ts';

const MODES = { full: 'The whole bench', quick: 'The quick one, which `npm run bench:check` repeats' } as const;

/** docs/benchmarks.md. */
export function reportOf(runs: Runs): string {
  return `# Benchmarks

Made by \`npm run bench -- --keep\` and \`npm run bench -- --quick --keep\`; do not edit. Times move between machines and hours, so a
target is a ratio against a floor or a peer that was measured in turn with it (A B A B), or, where it says so, a limit of the value
itself. Medians after a warm-up. Under 1.5 × is noise. R1 has 500 files and 5 MiB, R2 10,000 and 150 MiB, R3 80,000 and 1 GiB; in
the quick run r2 has 1,000 and 15 MiB, r3 8,000 and 100 MiB.
${(['full', 'quick'] as const).map((mode) => sectionOf(mode, runs[mode])).join('')}`;
}

function sectionOf(mode: Run['mode'], run: Run | undefined): string {
  if (!run) return '';
  const { machine, floors, rows, absent } = run;
  return `
## ${MODES[mode]}

${Object.entries(machine)
  .map(([name, value]) => `${name} ${value}`)
  .join(' · ')}

| target | what | median | p95 | n | against | its median | ratio | limit | |
|---|---|---|---|---|---|---|---|---|---|
${rows.map(lineOf).join('\n')}
${absent.map(({ target, what, reason }) => `| ${target} | ${what} | | | | | | | | absent: ${reason} |\n`).join('')}
| floor | median | p95 | n |
|---|---|---|---|
${floors.map(({ what, measured: { median, p95, n } }) => `| ${what} | ${median} ms | ${p95} ms | ${n} |`).join('\n')}
`;
}

function lineOf(row: Row): string {
  const { target, what, unit, measured, against, floor, ratio } = row;
  const cells = [
    target,
    what,
    `${measured.median} ${unit}`,
    `${measured.p95} ${unit}`,
    measured.n,
    against,
    `${floor.median} ${unit}`,
    `${ratio} ×`,
    limitOf(row),
    verdictOf(row),
  ];
  return `| ${cells.join(' | ')} |`;
}

function limitOf({ limit, unit }: Row): string {
  if (!limit) return 'none';
  if (limit.of === 'value') return `${limit.atMost} ${unit}`;
  return limit.atMost < 1 ? `1/${Math.round(1 / limit.atMost)} ×` : `${limit.atMost} ×`;
}

export function verdictOf(row: Row): string {
  const met = isMet(row);
  return met === undefined ? '' : met ? 'met' : '**missed**';
}
