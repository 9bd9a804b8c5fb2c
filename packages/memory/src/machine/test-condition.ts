import type { MachineProcess } from './machine-process.ts';

/** What `[` tells of its arguments. */
export function testCondition(process: MachineProcess, args: readonly string[]): boolean {
  const [first = '', second = '', third = ''] = args;
  if (first === '!' && args.length > 1) return !testCondition(process, args.slice(1));
  if (args.length === 0) return false;
  if (args.length === 1) return first !== '';
  if (args.length === 2) return unary(process, first, second);
  return binary(process, first, second, third);
}

function unary(process: MachineProcess, operator: string, operand: string): boolean {
  const { files } = process.machine;
  const path = process.path(operand);
  const node = operand === '' ? undefined : files.look(path);
  const link = operand === '' ? undefined : files.look(path, false);
  const mode = node && 'mode' in node ? node.mode : 0o666;
  switch (operator) {
    case '-e':
      return node !== undefined;
    case '-f':
      return node?.type === 'file';
    case '-d':
      return node?.type === 'directory';
    case '-h':
    case '-L':
      return link?.type === 'symlink';
    case '-p':
      return node?.type === 'special' && node.kind === 'fifo';
    case '-s':
      return node?.type === 'file' && node.content.length > 0;
    case '-r':
      return node !== undefined && (mode & 0o400) !== 0;
    case '-w':
      return node !== undefined && (mode & 0o200) !== 0;
    case '-x':
      return node !== undefined && node.type !== 'special' && (mode & 0o100) !== 0;
    case '-z':
      return operand === '';
    case '-n':
      return operand !== '';
    default:
      return false;
  }
}

function binary(process: MachineProcess, left: string, operator: string, right: string): boolean {
  const [one, other] = [Number(left), Number(right)];
  const { files } = process.machine;
  switch (operator) {
    case '=':
      return left === right;
    case '!=':
      return left !== right;
    case '-eq':
      return one === other;
    case '-ne':
      return one !== other;
    case '-lt':
      return one < other;
    case '-le':
      return one <= other;
    case '-gt':
      return one > other;
    case '-ge':
      return one >= other;
    case '-ef': {
      const node = files.look(process.path(left));
      return node !== undefined && node === files.look(process.path(right));
    }
    default:
      return false;
  }
}
