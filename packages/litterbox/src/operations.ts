import { jsonSchemaOf, type JsonSchema, type Operation, OPERATIONS } from '@litterbox/core';

/** An operation as a model or a form is offered it. */
export interface DescribedOperation {
  /** Noun-verb, such as `sandbox-run`. */
  readonly name: string;
  /** One sentence without a full stop. */
  readonly summary: string;
  /** `read` changes nothing, `write` changes a sandbox, `host` changes the person's repository or destroys work. */
  readonly effect: 'read' | 'write' | 'host';
  /** The input as JSON Schema. Bytes are text in it. */
  readonly schema: JsonSchema;
  /** To be given to `perform`, with input of that schema. */
  readonly operation: Operation;
}

/** Every operation that `perform` carries out. Nothing is refused by `effect`: whoever offers them to a model chooses. */
export function operations(): readonly DescribedOperation[] {
  return OPERATIONS.map((operation) => {
    const { name, summary, effect } = operation;
    return { name, summary, effect, schema: jsonSchemaOf(operation), operation };
  });
}
