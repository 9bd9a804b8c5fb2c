/** Leaves loops or a function. */
export class Jump extends Error {
  readonly kind: 'break' | 'continue' | 'return';
  count: number;

  constructor(kind: Jump['kind'], count: number) {
    super(kind);
    this.kind = kind;
    this.count = count;
  }
}
