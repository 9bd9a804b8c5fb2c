/** Looks at a parsed value; `undefined` when it fits, else what does not, such as `limits.cpus is not a number`. */
export type Shape = (value: unknown, place: string) => string | undefined;

const ofType =
  (type: 'string' | 'number' | 'boolean', article: string): Shape =>
  (value, place) =>
    typeof value === type ? undefined : `${place} is not ${article}`;

export const text = ofType('string', 'a text');
export const number = ofType('number', 'a number');
export const flag = ofType('boolean', 'true or false');

export const oneOf =
  (...values: readonly unknown[]): Shape =>
  (value, place) =>
    values.includes(value) ? undefined : `${place} is not one of ${values.join(', ')}`;

export const optional =
  (shape: Shape): Shape =>
  (value, place) =>
    value === undefined ? undefined : shape(value, place);

export const list =
  (shape: Shape): Shape =>
  (value, place) =>
    Array.isArray(value)
      ? firstOf(value.map((item, index) => shape(item, `${place}[${index}]`)))
      : `${place} is not a list`;

export const dictionary =
  (shape: Shape): Shape =>
  (value, place) =>
    isObject(value)
      ? firstOf(Object.entries(value).map(([key, item]) => shape(item, `${place}.${key}`)))
      : `${place} is not an object`;

/** A shape that stands for a type of ours. Whoever declares one says that it checks all that the type promises. */
export type ShapeOf<Value> = Shape & { readonly stands?: Value };

/** Takes a type of ours to have a shape for each of its members. Further ones are let through: a later release of the same schema version may have added them. */
export const object =
  <Value = Record<string, unknown>>(members: { readonly [Key in keyof NoInfer<Value>]-?: Shape }): ShapeOf<Value> =>
  (value, place) =>
    isObject(value)
      ? firstOf(
          Object.entries<Shape>(members).map(([key, shape]) =>
            shape(value[key], place === '' ? key : `${place}.${key}`),
          ),
        )
      : `${place === '' ? 'it' : place} is not an object`;

export const anything: Shape = () => undefined;

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function firstOf(findings: readonly (string | undefined)[]): string | undefined {
  return findings.find((finding) => finding !== undefined);
}
