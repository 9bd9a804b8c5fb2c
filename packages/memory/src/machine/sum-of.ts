/** What `$((…))` gives: whole numbers, and names of variables. */
export function sumOf(text: string, variable: (name: string) => string): number {
  const tokens = text.match(/\d+|[A-Za-z_]\w*|[<>=!]=|&&|\|\||[-+*/%()<>]/g) ?? [];
  let at = 0;
  const levels = [['||'], ['&&'], ['==', '!='], ['<', '>', '<=', '>='], ['+', '-'], ['*', '/', '%']];
  const value = (): number => {
    const token = tokens[at] ?? '0';
    at += 1;
    if (token === '-') return -value();
    if (token === '(') {
      const inner = level(0);
      at += 1;
      return inner;
    }
    return /^\d/.test(token) ? Number(token) : Number(variable(token)) || 0;
  };
  const level = (index: number): number => {
    const operators = levels[index];
    if (!operators) return value();
    let left = level(index + 1);
    for (let token = tokens[at] ?? ''; operators.includes(token); token = tokens[at] ?? '') {
      at += 1;
      left = applied(token, left, level(index + 1));
    }
    return left;
  };
  return level(0);
}

function applied(operator: string, left: number, right: number): number {
  const results: Readonly<Record<string, () => number | boolean>> = {
    '+': () => left + right,
    '-': () => left - right,
    '*': () => left * right,
    '/': () => Math.trunc(left / right),
    '%': () => left % right,
    '<': () => left < right,
    '>': () => left > right,
    '<=': () => left <= right,
    '>=': () => left >= right,
    '==': () => left === right,
    '!=': () => left !== right,
    '&&': () => left !== 0 && right !== 0,
    '||': () => left !== 0 || right !== 0,
  };
  return Number(results[operator]?.() ?? 0);
}
