/** A page with the part between two markers replaced; the markers stay. */
export function withMarkedPart(page: string, name: string, part: string): string {
  const begin = `<!-- measured: npm run ${name} -->`;
  const end = `<!-- end of what npm run ${name} measured -->`;
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from === -1 || to < from) throw new Error(`The page has no place for what npm run ${name} measures.`);
  return `${page.slice(0, from)}${begin}\n\n${part}\n\n${page.slice(to)}`;
}

export function tableOf(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const line = (cells: readonly (string | number)[]) =>
    `| ${cells.map((cell) => String(cell).replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}
