import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { forBackend } from '@litterbox/conformance';
import { RepositoryFixture } from '@litterbox/testing';
import { ERAS, serverArguments } from '@litterbox/hardening/agent';
import { clear } from './mcp-fixture.ts';
import { Inspector, inspectorAbsence, type ServerStart } from './inspector.ts';

const referee = await forBackend('inspector', { describe, it }, inspectorAbsence);

/** A server whose only tool takes something that not every model's API can be told. */
const UNPORTABLE = `
  const tool = { name: 'odd', inputSchema: { type: 'object', properties: { text: { type: ['string', 'null'] } } } };
  const answers = {
    initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'odd', version: '1' } }),
    'tools/list': () => ({ tools: [tool] }),
  };
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    if (answers[method]) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method](params) }));
  });
`;

let scratch: RepositoryFixture;
let inspector: Inspector;

const litterbox = (args: readonly string[] = []): ServerStart => ({
  command: process.execPath,
  args: serverArguments(['--repo', scratch.repository, ...args]),
  env: {
    PATH: process.env['PATH'] ?? '/usr/bin:/bin',
    HOME: scratch.directory,
    LITTERBOX_HOME: scratch.stateDirectory,
  },
});

referee.describe('the MCP Inspector', () => {
  beforeAll(() => {
    scratch = new RepositoryFixture({ 'src/a.txt': 'a\n' });
    inspector = new Inspector(scratch.directory, litterbox());
  });
  afterAll(async () => await clear(scratch));

  describe.each(ERAS)('%s', (era) => {
    const sandbox = `box-${era}`;
    const call = async (tool: string, input: object, ...more: readonly string[]) =>
      await inspector.ask(era, 'tools/call', '--tool-name', tool, '--tool-args-json', JSON.stringify(input), ...more);

    it('finds every schema fit for every API of a model', async () => {
      const { code, result, stderr } = await inspector.ask(era, 'tools/list', '--strict');
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(result['tools']).toHaveLength(14);
    });

    it('calls tools that answer in facts and in text', async () => {
      expect(await call('sandbox-create', { name: sandbox })).toMatchObject({
        code: 0,
        stderr: '',
        result: { structuredContent: { name: sandbox } },
      });
      const { code, result } = await call('bash', { sandbox, command: 'cat src/a.txt; exit 3' });
      expect(code).toBe(0);
      expect(result).toMatchObject({ content: [{ type: 'text', text: expect.stringMatching(/^a\n\[exit code 3, /) }] });
      expect(result).not.toHaveProperty('structuredContent');
    });

    it('is told what went wrong as an error of the tool', async () => {
      const { code, result } = await call('read', { sandbox, path: 'nothing' });
      expect(code).not.toBe(0);
      expect(result).toMatchObject({ isError: true });
    });

    it('lists resources and prompts', async () => {
      const [resources, prompts] = await Promise.all([
        inspector.ask(era, 'resources/list'),
        inspector.ask(era, 'prompts/list'),
      ]);
      expect({ code: resources.code, stderr: resources.stderr }).toEqual({ code: 0, stderr: '' });
      expect(JSON.stringify(resources.result)).toContain(`litterbox://${sandbox}/diff`);
      expect({ code: prompts.code, stderr: prompts.stderr }).toEqual({ code: 0, stderr: '' });
      expect(prompts.result['prompts']).toHaveLength(2);
    });

    it('has two hundred calls answered, twenty at a time', async () => {
      const load = ['--load', '--load-requests', '200', '--load-concurrency', '20'];
      const { code, result } = await call('read', { sandbox, path: 'src/a.txt' }, ...load);
      expect(code).toBe(0);
      expect(result).toMatchObject({ requests: 200, ok: 200, toolErrors: 0, errors: 0 });
    });
  });

  it.each([[['--tools', 'roadmap']], [['--sandbox', 'box-legacy']], [['--tool-prefix', 'x_']]])(
    'finds the schemas of %j fit, too',
    async (args) => {
      const { code, stderr } = await new Inspector(scratch.directory, litterbox(args)).ask(
        'modern',
        'tools/list',
        '--strict',
      );
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    },
  );

  it('would tell of a schema that is not', async () => {
    const server = { command: process.execPath, args: ['-e', UNPORTABLE], env: {} };
    const { code, stderr } = await new Inspector(scratch.directory, server).ask('legacy', 'tools/list', '--strict');
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('Path: inputSchema.properties.text') });
  });
});
