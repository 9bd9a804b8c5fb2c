/** A length of text and what it is; plain text is `''`. */
export type Token = readonly [length: number, kind: string];

/** Takes what highlight.js finds as lengths and kinds, where its own makes HTML: then no text is ever written as markup. */
export class TokenEmitter {
  readonly tokens: Token[] = [];
  readonly #kinds: string[] = [];

  addText(text: string): void {
    if (text !== '') this.tokens.push([text.length, this.#kinds.at(-1) ?? '']);
  }

  startScope(kind: string): void {
    this.#kinds.push(kind.split('.')[0] ?? '');
  }

  endScope(): void {
    this.#kinds.pop();
  }

  openNode(kind: string): void {
    this.startScope(kind);
  }

  closeNode(): void {
    this.endScope();
  }

  __addSublanguage({ tokens }: TokenEmitter): void {
    this.tokens.push(...tokens);
  }

  closeAllNodes(): void {
    this.#kinds.length = 0;
  }

  finalize(): void {
    this.closeAllNodes();
  }

  toHTML(): string {
    return ''; // nobody takes it
  }
}
