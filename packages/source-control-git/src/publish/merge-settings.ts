/** The person's settings that decide how trees merge. Drivers are programs: not those. */
export function mergeSettings(config: ReadonlyMap<string, string>): readonly string[] {
  const wanted =
    /^(merge\.(conflictstyle|renames|renamelimit|directoryrenames|renormalize)|diff\.(renames|renamelimit|algorithm))$/;
  return [...config].filter(([key]) => wanted.test(key)).map(([key, value]) => `${key}=${value}`);
}
