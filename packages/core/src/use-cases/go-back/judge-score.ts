/** The number that a judge gave, on the last line of its output that is not empty. Undefined when that line is anything else. */
export function judgeScore(output: string): number | undefined {
  const last = output.trimEnd().split('\n').at(-1)?.trim() ?? '';
  return /^[-+]?\d{1,15}(\.\d{1,15})?$/.test(last) ? Number(last) : undefined;
}
