/** A part of a shell text that a shell runs by itself, and what stands behind it: `&&`, `;` … */
interface Step {
  readonly text: string;
  readonly end: string;
}

/** Words before a command that leave it what it is: variables, and programs that start another one. */
const BEFORE =
  /^(?:[A-Za-z_]\w*=(?:'[^']*'|"[^"]*"|[^\s'"])*\s+|(?:time|exec|command|nohup|env|sudo|npx|bunx|xvfb-run|uvx)\s+(?:-\S+\s+)*|(?:timeout|nice|stdbuf)\s+(?:-\S+\s+)*(?:\d+\w?\s+)?|(?:pnpm|yarn|npm)\s+(?:exec|dlx)\s+(?:--\s+)?|(?:poetry|pipenv|uv|pdm|hatch|rye|pixi)\s+run\s+|bundle\s+exec\s+|python[\d.]*\s+(?:-[A-Za-z]\s+)*?-m\s+|coverage\s+run\s+-m\s+|(?:\S*\/)?(?:ba|da|z|k)?sh\s+-[a-z]*c\s+(?!['"]))/;

/** Names of runners and of what build tools call a test, from the manuals of those programs. */
const RUNS_TESTS: readonly RegExp[] = [
  /^(?:npm|pnpm|yarn|bun)(?:\s+(?:-\S+|run|run-script|(?:workspace|--prefix|-C|--filter|-F|-w)\s+\S+))*\s+(?:t|tst|test|check)(?:[:.-]\S*)?(?:\s|$)/,
  /^(?:\S*\/)?(?:jest|vitest|mocha|ava|tap|tape|karma|jasmine|qunit|uvu|pytest|py\.test|nose2?|unittest|tox|nox|rspec|phpunit|pest|ctest|gotestsum|bats|prove|busted|minitest|behave|testem)(?:\s|$)/,
  /^(?:\S*\/)?(?:playwright|cargo|go|deno|dotnet|mix|stack|cabal|sbt|lein|swift|flutter|dart|bazel|bazelisk|meson|rails|crystal|nimble|elm|forge|hardhat|truffle|ng|turbo|nx|moon|just|task|rake|invoke|mage|vite|zig\s+build)(?:\s+[-+@]\S+|\s+(?:run|nextest|affected|r))*\s+(?:test|tests|check|spec|eunit)(?:[:.-]\S*)?(?:\s|$)/,
  /^(?:\S*\/)?cargo(?:\s+[-+]\S+)*\s+nextest\s/,
  /^(?:\S*\/)?(?:gradle|gradlew|mvn|mvnw|make|gmake|ninja|ant)(?:\s+\S+)*\s+(?:\S*:)?(?:test|tests|check|verify|spec)(?:[:.-]\S*)?(?:\s|$)/,
  /^(?:\S*\/)?cypress\s+run(?:\s|$)/,
  /^(?:\S*\/)?node\s+(?:\S+\s+)*--test(?:[\s=]|$)/,
  /^(?:(?:\S*\/)?(?:node|bun|deno\s+run|tsx|ts-node|python[\d.]*|ruby|perl|php|lua|sh|bash|zsh)\s+(?:-\S+\s+)*)(?!-)\S*(?:\b|_)(?:test|tests|spec)(?:\b|_)\S*/,
  /^(?:\S*\/)?(?:run[-_]?)?tests?(?:[-_]\w+)*\.(?:sh|bash|py|rb|pl|js|mjs)(?:\s|$)/,
  /^\.\/\S*?(?:run[-_]?)?tests?(?:\s|$)/,
];

/** Shells within shells that are looked into: an agent may write thousands. */
const MAX_SHELLS = 3;
const FOR_A_SHELL = /^(?:\S*\/)?(?:ba|da|z|k)?sh\s+-[a-z]*c\s+(['"])([\s\S]*)\1$/;

/**
 * The test that a command runs, by the names of the programs that it starts. A text that only holds such a name, as `echo npm test` does, is
 * none. It is a guess about words: whether that program tests anything, nobody knows from here.
 *
 * @param shells how many it stands within
 * @returns `isOwnExit`: the exit status of the command is that of the test. Undefined: nothing in it looks like a test.
 */
export function testIn(command: string, shells = 0): { readonly isOwnExit: boolean } | undefined {
  const steps = stepsOf(command);
  const last = steps.findLastIndex(({ text }) => isTest(bare(text), shells));
  if (last === -1) return undefined;
  // A step behind `&&` runs when the test passed, and a failure of either is one of the whole.
  return {
    isOwnExit:
      steps.slice(last).every(({ end }, index, rest) => end === '&&' || index === rest.length - 1) &&
      steps.at(-1)?.end === '',
  };
}

/** Whether a step is a test, or a text for another shell that is one to its end. */
function isTest(step: string, shells: number): boolean {
  const [, , text] = FOR_A_SHELL.exec(step) ?? [];
  if (text !== undefined) return shells < MAX_SHELLS && testIn(text, shells + 1)?.isOwnExit === true;
  return RUNS_TESTS.some((runs) => runs.test(step));
}

function bare(step: string): string {
  let text = step.trim().replace(/^[({!]\s*/, '');
  for (let next = text.replace(BEFORE, ''); next !== text; next = text.replace(BEFORE, '')) text = next;
  return text;
}

/** The steps of a shell text, as far as they can be told without running it. A document that stands in it (`<<`) is not looked into. */
function stepsOf(command: string): readonly Step[] {
  const steps: Step[] = [];
  let text = '';
  let last = ''; // the end of the text: to look at that itself would put it together each time
  let quote = '';
  const add = (more: string) => {
    text += more;
    last = more.at(-1) ?? last;
  };
  for (let at = 0; at < command.length; at += 1) {
    const one = command[at] ?? '';
    if (one === '\\' && quote !== "'") {
      add(command.slice(at, at + 2));
      at += 1;
    } else if (quote !== '') {
      add(one);
      if (one === quote) quote = '';
    } else if (one === '<' && command[at + 1] === '<' && command[at + 2] !== '<') {
      return [...steps, { text, end: '<<' }];
    } else if (one === '#' && /^\s?$/.test(last)) {
      const end = command.indexOf('\n', at);
      at = end === -1 ? command.length : end - 1;
    } else if (`'"\``.includes(one)) {
      quote = one;
      add(one);
    } else if (/[;\n|&]/.test(one) && !/[<>]/.test(last) && !(one === '&' && command[at + 1] === '>')) {
      const end = command[at + 1] === one ? one + one : one;
      at += end.length - 1;
      if (text.trim() !== '') steps.push({ text, end });
      text = last = '';
    } else add(one);
  }
  if (text.trim() !== '') return [...steps, { text, end: '' }];
  const before = steps.at(-1);
  // A line that ends, or a `;` at the end, is nothing more.
  return before && /^[;\n]$/.test(before.end) ? [...steps.slice(0, -1), { ...before, end: '' }] : steps;
}
