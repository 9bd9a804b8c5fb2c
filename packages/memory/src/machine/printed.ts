const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  '\\': '\\',
  a: '\u0007',
  b: '\b',
  f: '\f',
  v: '\v',
};

/** What `printf` prints: the format again and again while there are values, as text of `raw-text.ts`. */
export function printed(format: string, values: readonly string[]): string {
  let text = '';
  let rest = [...values];
  do {
    const before = rest.length;
    text += format.replace(
      /\\([0-7]{1,3}|.)|%(%|[-0]*\d*[sdbc])/g,
      (_all, escape: string | undefined, field: string | undefined) => {
        if (escape !== undefined)
          return /^[0-7]/.test(escape) ? byte(Number.parseInt(escape, 8)) : (ESCAPES[escape] ?? `\\${escape}`);
        if (field === undefined || field === '%') return '%';
        const [value = ''] = rest;
        rest = rest.slice(1);
        if (field.endsWith('d'))
          return String(Number(value) || 0).padStart(
            Number(field.slice(0, -1)) || 0,
            field.startsWith('0') ? '0' : ' ',
          );
        return field.endsWith('b') ? printed(value.replaceAll('%', '%%'), []) : value;
      },
    );
    if (rest.length === before) break;
  } while (rest.length > 0);
  return text;
}

/** As `raw-text.ts` has a byte that is no character of its own. */
const byte = (value: number) => String.fromCharCode(value < 0x80 ? value : 0xdc00 + value);
