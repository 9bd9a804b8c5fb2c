/**
 * A message in which no word of an agent's steers a service that reads commits: `[skip ci]` and the like would keep the person's own checks
 * from running on what they have just taken in. Forms in brackets: GitHub Actions (`[skip ci]`, `[ci skip]`, `[no ci]`, `[skip actions]`,
 * `[actions skip]`), GitLab (`[skip ci]`, `[ci skip]`), Travis, AppVeyor, Netlify and Azure (`[skip NAME]`, `[NAME skip]`); in asterisks:
 * Azure Pipelines (`***NO_CI***`). From the documentation of each.
 */
export const withoutDirectives = (message: string): string =>
  message
    .replace(/\[([^[\]\n]{0,80}\bskip\b[^[\]\n]{0,80}|\s*no[ _-]ci\s*)\]/gi, '"$1"')
    .replace(/\*{2,}\s*(no_ci|skip_ci)\s*\*{2,}/gi, '"$1"');
