/** Names and values of labels are short lines for people and programs. */
const [MAX_LABELS, MAX_VALUE_CHARACTERS] = [32, 256];
const NAME = /^[A-Za-z0-9][\w./-]{0,62}$/;
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

/** A sentence about what labels have to be, for whoever gave others. */
export const LABELS_WANTED = `at most ${MAX_LABELS} labels: names of up to 63 letters, digits and . _ / -, values of up to ${MAX_VALUE_CHARACTERS} characters that can be seen`;

/** Whether these can be the labels of a sandbox. */
export function areLabels(labels: Readonly<Record<string, string>>): boolean {
  const entries = Object.entries(labels);
  return (
    entries.length <= MAX_LABELS &&
    entries.every(([name, value]) => NAME.test(name) && value.length <= MAX_VALUE_CHARACTERS && !HIDDEN.test(value))
  );
}

/** Whether a sandbox has all labels that are wanted, with these values. */
export function hasLabels(
  labels: Readonly<Record<string, string>> | undefined,
  wanted: Readonly<Record<string, string>>,
): boolean {
  return Object.entries(wanted).every(
    ([name, value]) => labels !== undefined && Object.hasOwn(labels, name) && labels[name] === value,
  );
}
