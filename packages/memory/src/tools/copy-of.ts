/** A copy that shares nothing with the original, as what is written and read again: members that are undefined are gone. */
export function copyOf<Value>(value: Value): Value {
  return value === undefined ? value : (JSON.parse(JSON.stringify(value)) as Value);
}
