import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '@litterbox/conformance';
import * as fc from 'fast-check';
import { stringify } from 'smol-toml';
import type { AgentClient, Places, Scope } from '../src/agents/agent-client.ts';
import { CLIENT_IDS } from '../src/agents/client-ids.ts';
import { CLIENTS } from '../src/agents/clients.ts';
import { type ConfigTable, isSameDocument, valueAt, withTable } from '../src/agents/config-editor.ts';
import { jsonEditor, jsonExclude, jsonInclude } from '../src/agents/edit-json.ts';
import { tomlEditor } from '../src/agents/edit-toml.ts';
import {
  type InstallOptions,
  planEntry,
  planEntryRemoval,
  planExclusive,
  planExclusiveRemoval,
} from '../src/agents/installation.ts';
import { Receipts, undoOf, undone } from '../src/agents/receipts.ts';
import { CliFixture, NODE } from './cli-fixture.ts';

const START = { command: 'litterbox', args: ['mcp'] };
const ENTRY: ConfigTable = { command: 'litterbox', args: ['mcp', '--sandbox', 'a b'], enabled: true };

/** A home, a repository and a state directory of their own. */
function machine(): Places & { readonly root: string; readonly receipts: Receipts } & Disposable {
  const directory = mkdtempSync(join(tmpdir(), 'litterbox-agent-'));
  const [home, root, state] = ['home', 'root', 'state'].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  for (const path of [home, root, state]) mkdirSync(path);
  return {
    home,
    configHome: join(home, '.config'),
    root,
    environment: {},
    receipts: new Receipts(state),
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}

const optionsFor = (at: ReturnType<typeof machine>, client: AgentClient, scope: Scope): InstallOptions => ({
  client,
  scope,
  name: 'litterbox',
  places: at,
  receipts: at.receipts,
});

/** Every file and directory below, with contents and modes. */
function tree(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => {
      const path = join(directory, name);
      const { mode } = lstatSync(path);
      const content = statSync(path).isFile() ? readFileSync(path).toString('hex') : '';
      return `${name} ${mode.toString(8)} ${content}`;
    })
    .sort();
}

/** Whether one text is what another one is without some of its characters: whether something was only put in. */
function isInOrder(few: string, many: string): boolean {
  let found = 0;
  for (const character of many) if (character === few[found]) found += 1;
  return found === few.length;
}

const JSON_TEXTS: Readonly<Record<string, string>> = {
  'an empty file': '',
  'a blank file': ' \n\n',
  'an empty object': '{}',
  'an empty object on two lines': '{\n}\n',
  'comments only': '// mine\n',
  'an empty table of servers': '{\n  "mcpServers": {},\n  "servers": {},\n  "mcp": {}\n}\n',
  'comments everywhere':
    '// top\n{\n  // before\n  "a": 1, // after\n  /* held */ "mcpServers": {\n    // none yet\n  },\n  "z": [1, 2] // last\n}\n// end\n',
  'a server with a comment after it':
    '{\n  "mcpServers": {\n    "other": { "command": "x" } // mine\n    // end of list\n  },\n  "servers": { "other": {} },\n  "mcp": {\n    "other": { "type": "local", "command": ["x"] } /* mine */\n  }\n}',
  'trailing commas': '{\n  "a": 1,\n  "mcpServers": {\n    "other": {"command": "x",},\n  },\n}\n',
  'tabs and CRLF': '{\r\n\t"a": {\r\n\t\t"b": 1\r\n\t}\r\n}\r\n',
  'a byte order mark': '\uFEFF{\n    "a": 1\n}\n',
  'one line': '{"a":1,"mcpServers":{"other":{"command":"x"}}}',
  'one line with spaces': '{ "a": 1, "mcpServers": { "other": { "command": "x" } } }\n',
  'a key that objects have anyway': '{\n  "__proto__": {"a": 1},\n  "constructor": 1\n}\n',
  'big numbers and escapes': '{ "n": 12345678901234567890, "t": "\\u00e9\\n\\ud83d\\ude00" }',
};

const TOML_TEXTS: Readonly<Record<string, string>> = {
  'an empty file': '',
  'a blank file': '\n \n',
  'comments only': '# mine\n',
  'no line end': 'model = "x"',
  'blank lines at the end': 'model = "x"\n\n\n',
  'another server': '[mcp_servers.other] # mine\ncommand = "x"\n\n# about profiles\n[profiles.a]\nmodel = "y"\n',
  'dotted keys': 'mcp_servers.other.command = "x"\nmcp_servers.other.args = ["[mcp_servers.litterbox]"]\n',
  'a header that is empty': '[mcp_servers]\n\n[tui]\ntheme = "dark"\n',
  'headers inside a text': 'a = """\n[mcp_servers.litterbox]\n"""\n[b]\nc = [\n  ["x"],\n]\n',
  CRLF: '# mine\r\n[a]\r\nb = 1\r\n',
  'a byte order mark': '\uFEFFa = 1\n',
  'dates and big numbers': 'when = 2026-01-01T00:00:00Z\nn = 9223372036854775807\nf = nan\n',
};

describe('the files of the clients', () => {
  it('has the names that help and completion show', () => {
    expect(CLIENTS.map(({ id }) => id)).toEqual([...CLIENT_IDS]);
  });

  for (const client of CLIENTS) {
    for (const scope of ['user', 'project'] as const) {
      it(`${client.id}, ${scope}: puts its entry into every kind of file, once, and takes it out again to the byte`, async () => {
        const texts = client.format === 'json' ? JSON_TEXTS : TOML_TEXTS;
        for (const [kind, text] of [...Object.entries(texts), ['no file', undefined] as const]) {
          using fixture = machine();
          const options = optionsFor(fixture, client, scope);
          const [path = ''] = client.files(scope, fixture);
          if (text !== undefined) {
            mkdirSync(dirname(path), { recursive: true });
            writeFileSync(path, text);
            chmodSync(path, 0o640);
          }
          const before = [tree(fixture.home), tree(fixture.root)];
          const editor = client.format === 'json' ? jsonEditor : tomlEditor;
          const read = (bytes: string) => editor.read(bytes.replace(/^\uFEFF/, ''));
          const document = text === undefined ? {} : read(text);

          const plan = await planEntry(options, START);
          expect([kind, plan.isChanged, tree(fixture.home), tree(fixture.root)]).toEqual([kind, true, ...before]);
          await plan.carryOut();
          const after = readFileSync(path, 'utf8');
          const keyPath = client.keyPath('litterbox', document);
          const wanted = withTable(document, keyPath, client.entry(START, document));
          expect({ kind, isSameDocument: isSameDocument(read(after), wanted) }).toEqual({ kind, isSameDocument: true });
          if (text !== undefined) {
            expect({ kind, mode: statSync(path).mode & 0o777 }).toEqual({ kind, mode: 0o640 });
            expect({ kind, afterStartsWith: after.startsWith('\uFEFF') }).toEqual({
              kind,
              afterStartsWith: text.startsWith('\uFEFF'),
            });
            if (text.includes('\r'))
              expect({ kind, afterMatches: /(?<!\r)\n/.test(after) }).toEqual({ kind, afterMatches: false });
            expect({ kind, isInOrder: isInOrder(text.replace(/\s/g, ''), after) }).toEqual({ kind, isInOrder: true });
          } else if (scope === 'user') expect(statSync(path).mode & 0o777).toBe(0o600);

          expect({ kind, isChanged: (await planEntry(options, START)).isChanged }).toEqual({ kind, isChanged: false });
          const other = await planEntry(options, { command: 'litterbox', args: ['mcp', '--sandbox', 'x'] });
          await other.carryOut();
          expect({ kind, contentIncludes: readFileSync(path, 'utf8').includes('--sandbox') }).toEqual({
            kind,
            contentIncludes: true,
          });

          const removal = await planEntryRemoval(options);
          await removal?.carryOut();
          expect([kind, tree(fixture.home), tree(fixture.root)]).toEqual([kind, ...before]);
          expect(await planEntryRemoval(options)).toBeUndefined();
        }
      });
    }
  }

  it('takes the entry out of a file that somebody else has changed since, and leaves what they did', async () => {
    for (const client of CLIENTS) {
      const texts = client.format === 'json' ? JSON_TEXTS : TOML_TEXTS;
      for (const [kind, text] of Object.entries(texts)) {
        using fixture = machine();
        const options = optionsFor(fixture, client, 'user');
        const [path = ''] = client.files('user', fixture);
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, text);
        await (await planEntry(options, START)).carryOut();
        const editor = client.format === 'json' ? jsonEditor : tomlEditor;
        const others = (bytes: string) => {
          const mark = /^\uFEFF?/.exec(bytes)?.[0] ?? '';
          return mark + editor.set(bytes.slice(mark.length), ['others'], { b: true });
        };
        writeFileSync(path, others(readFileSync(path, 'utf8')));
        await (await planEntryRemoval(options))?.carryOut();
        const left = editor.read(readFileSync(path, 'utf8').replace(/^\uFEFF/, ''));
        const wanted = editor.read(others(text).replace(/^\uFEFF/, ''));
        expect({ id: client.id, kind, isSameDocument: isSameDocument(left, wanted) }).toEqual({
          id: client.id,
          kind,
          isSameDocument: true,
        });
      }
    }
  });

  it('takes only our entry out without a receipt, and the file stays', async () => {
    for (const client of CLIENTS) {
      using fixture = machine();
      const options = optionsFor(fixture, client, 'project');
      await (await planEntry(options, START)).carryOut();
      const [path = ''] = client.files('project', fixture);
      const forgetful = { ...options, receipts: new Receipts(join(fixture.home, 'elsewhere')) };
      await (await planEntryRemoval(forgetful))?.carryOut();
      const left = readFileSync(path, 'utf8');
      expect({ id: client.id, leftIncludes: left.includes('litterbox') }).toEqual({
        id: client.id,
        leftIncludes: false,
      });
    }
  });

  it('keeps what a person added to the entry', async () => {
    using fixture = machine();
    for (const client of CLIENTS) {
      const options = optionsFor(fixture, client, 'user');
      await (await planEntry(options, START)).carryOut();
      const [path = ''] = client.files('user', fixture);
      const editor = client.format === 'json' ? jsonEditor : tomlEditor;
      const keyPath = client.keyPath('litterbox', {});
      writeFileSync(path, editor.set(readFileSync(path, 'utf8'), keyPath, { extra: 'mine' }));
      expect({ id: client.id, isChanged: (await planEntry(options, START)).isChanged }).toEqual({
        id: client.id,
        isChanged: false,
      });
      await (await planEntry(options, { command: 'litterbox', args: ['mcp', '--tools', 'roadmap'] })).carryOut();
      const document = editor.read(readFileSync(path, 'utf8'));
      expect(valueAt(document, [...keyPath, 'extra'])).toBe('mine');
      expect(Object.values(valueAt(document, keyPath) as object).flat()).toContain('roadmap');
      await (await planEntryRemoval(options))?.carryOut();
      expect({ id: client.id, exists: existsSync(path) }).toEqual({
        id: client.id,
        exists: client.format === 'toml' && existsSync(path),
      });
    }
  });

  it('FC-05: tells clients that give up early to wait longer than a command may take', async () => {
    using fixture = machine();
    for (const [id, file, line] of [
      ['codex', '.codex/config.toml', 'tool_timeout_sec = 3660\n'],
      ['gemini', '.gemini/settings.json', '"timeout": 3660000\n'],
    ] as const) {
      const client = CLIENTS.find((one) => one.id === id);
      if (!client) throw new Error('no client');
      const options = optionsFor(fixture, client, 'user');
      await (await planEntry(options, START)).carryOut();
      expect(readFileSync(join(fixture.home, file), 'utf8')).toContain(line);
      expect(await planEntry(options, START)).toMatchObject({ isChanged: false });
    }
  });

  it('gives back the entry that a person had under that name', async () => {
    using fixture = machine();
    const [claude] = CLIENTS;
    if (!claude) throw new Error('no client');
    const text = '{ "mcpServers": { "litterbox": { "command": "mine", "args": ["x"], "env": { "A": "b" } } } }';
    writeFileSync(join(fixture.home, '.claude.json'), text);
    const options = optionsFor(fixture, claude, 'user');
    await (await planEntry(options, START)).carryOut();
    expect(JSON.parse(readFileSync(join(fixture.home, '.claude.json'), 'utf8'))).toEqual({
      mcpServers: { litterbox: { command: 'litterbox', args: ['mcp'], env: { A: 'b' }, type: 'stdio' } },
    });
    await (await planEntryRemoval(options))?.carryOut();
    expect(readFileSync(join(fixture.home, '.claude.json'), 'utf8')).toBe(text);
  });

  it("takes the client's own tools away with --exclusive, and gives them back", async () => {
    const [claude] = CLIENTS;
    if (!claude) throw new Error('no client');
    const texts = [
      undefined,
      '{}',
      '{"permissions":{"deny":["WebFetch"]}}',
      '{\n  "permissions": {\n    "deny": [\n      "Bash", // mine\n      "Read(.env)"\n    ],\n    "allow": []\n  }\n}\n',
      '{\n  "permissions": {\n    "deny": []\n  }\n}\n',
    ];
    for (const text of texts) {
      using fixture = machine();
      const path = join(fixture.home, '.claude', 'settings.json');
      if (text !== undefined) {
        mkdirSync(dirname(path));
        writeFileSync(path, text);
      }
      const before = tree(fixture.home);
      const options = optionsFor(fixture, claude, 'user');
      await (await planExclusive(options)).carryOut();
      const document = jsonEditor.read(readFileSync(path, 'utf8'));
      expect(valueAt(document, ['permissions', 'deny'])).toEqual(
        expect.arrayContaining(['Bash', 'Edit', 'Write', 'NotebookEdit']),
      );
      expect((await planExclusive(options)).isChanged).toBe(false);
      const changed = jsonEditor.set(readFileSync(path, 'utf8'), ['others'], { b: true });
      writeFileSync(path, changed);
      await (await planExclusiveRemoval(options))?.carryOut();
      const left = jsonEditor.read(readFileSync(path, 'utf8'));
      expect(isSameDocument(left, jsonEditor.read(jsonEditor.set(text ?? '', ['others'], { b: true })))).toBe(true);
      writeFileSync(path, text ?? '');
      if (text === undefined) rmSync(path);
      await (await planExclusive(options)).carryOut();
      await (await planExclusiveRemoval(options))?.carryOut();
      if (text !== undefined) expect(tree(fixture.home)).toEqual(before);
      else expect(existsSync(path)).toBe(false);
    }
  });

  it('refuses what it cannot edit safely, with the text to paste, and touches nothing', async () => {
    const cases: readonly (readonly [id: string, text: string, code: string, says: string])[] = [
      ['claude', '{"mcpServers": []}', 'CONFIG_TYPE', 'cannot be edited safely'],
      ['claude', '{"mcpServers": null}', 'CONFIG_TYPE', 'cannot be edited safely'],
      ['claude', '[]', 'CONFIG_TYPE', 'cannot be edited safely'],
      ['claude', '{"mcpServers": {"litterbox": 1}}', 'CONFIG_TYPE', 'cannot be edited safely'],
      ['claude', '{\n  "a": 1\n  "b": 2\n}', 'CONFIG_SYNTAX', '.claude.json:3:3 comma expected'],
      ['claude', '{"a": ', 'CONFIG_SYNTAX', '.claude.json:1:'],
      ['codex', 'mcp_servers = { other = { command = "x" } }\n', 'CONFIG_TYPE', 'cannot be edited safely'],
      ['codex', 'mcp_servers.litterbox = { command = "x" }\n', 'CONFIG_TYPE', 'cannot be edited safely'],
      ['codex', '[[mcp_servers]]\na = 1\n', 'CONFIG_TYPE', 'cannot be edited safely'],
      ['codex', '[mcp_servers.litterbox]\ncommand = """\nx"""\n', 'CONFIG_TYPE', 'cannot be edited safely'],
      ['codex', 'a = 1\nb = = 2\n', 'CONFIG_SYNTAX', 'config.toml:2:'],
    ];
    for (const [id, text, code, says] of cases) {
      using fixture = machine();
      const client = CLIENTS.find((one) => one.id === id);
      if (!client) throw new Error(`no client ${id}`);
      const [path = ''] = client.files('user', fixture);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
      await expect(planEntry(optionsFor(fixture, client, 'user'), START)).rejects.toMatchObject({
        code,
        message: expect.stringContaining(says) as unknown,
      });
      expect(readFileSync(path, 'utf8')).toBe(text);
    }
    using fixture = machine();
    const [claude] = CLIENTS;
    if (!claude) throw new Error('no client');
    writeFileSync(join(fixture.home, '.claude.json'), Buffer.from([0x7b, 0xff, 0x7d]));
    await expect(planEntry(optionsFor(fixture, claude, 'user'), START)).rejects.toMatchObject({
      code: 'CONFIG_ENCODING',
    });
    rmSync(join(fixture.home, '.claude.json'));
    mkdirSync(join(fixture.home, '.claude.json'));
    await expect(planEntry(optionsFor(fixture, claude, 'user'), START)).rejects.toMatchObject({
      code: 'NOT_A_REGULAR_FILE',
    });
  });

  it('follows a link to the file, and no link out of the repository', async () => {
    using fixture = machine();
    const [claude] = CLIENTS;
    if (!claude) throw new Error('no client');
    const dotfiles = join(fixture.home, 'dotfiles');
    mkdirSync(dotfiles);
    symlinkSync('dotfiles/claude.json', join(fixture.home, '.claude.json')); // to a file that is not there yet
    await (await planEntry(optionsFor(fixture, claude, 'user'), START)).carryOut();
    expect(lstatSync(join(fixture.home, '.claude.json')).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(dotfiles, 'claude.json'), 'utf8')).toContain('litterbox');
    await (await planEntryRemoval(optionsFor(fixture, claude, 'user')))?.carryOut();
    expect({
      names: readdirSync(dotfiles),
      isSymbolicLink: lstatSync(join(fixture.home, '.claude.json')).isSymbolicLink(),
    }).toEqual({ names: [], isSymbolicLink: true });

    writeFileSync(join(fixture.home, 'precious.json'), '{}');
    symlinkSync(join(fixture.home, 'precious.json'), join(fixture.root, '.mcp.json'));
    await expect(planEntry(optionsFor(fixture, claude, 'project'), START)).rejects.toMatchObject({
      code: 'PATH_OUTSIDE_WORKDIR',
    });
    rmSync(join(fixture.root, '.mcp.json'));
    symlinkSync('.mcp.json', join(fixture.root, '.mcp.json'));
    await expect(planEntry(optionsFor(fixture, claude, 'project'), START)).rejects.toMatchObject({
      code: 'NOT_A_REGULAR_FILE',
    });
  });

  it('writes nothing when the file changes between the plan and the writing', async () => {
    using fixture = machine();
    const [claude] = CLIENTS;
    if (!claude) throw new Error('no client');
    const path = join(fixture.home, '.claude.json');
    writeFileSync(path, '{}');
    const plan = await planEntry(optionsFor(fixture, claude, 'user'), START);
    writeFileSync(path, '{"new": 1}');
    await expect(plan.carryOut()).rejects.toMatchObject({ code: 'CONFLICT' });
    expect({ content: readFileSync(path, 'utf8'), names: readdirSync(fixture.home) }).toEqual({
      content: '{"new": 1}',
      names: ['.claude.json'],
    });
  });

  it('takes opencode.jsonc where that is the file, and the form of version 2 where a file has it', async () => {
    using fixture = machine();
    const client = CLIENTS.find(({ id }) => id === 'opencode');
    if (!client) throw new Error('no client');
    const path = join(fixture.root, 'opencode.jsonc');
    writeFileSync(path, '{ "mcp": { "servers": { "a": { "type": "local", "command": ["x"] } } } }');
    await (await planEntry(optionsFor(fixture, client, 'project'), START)).carryOut();
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({
      mcp: {
        servers: {
          a: { type: 'local', command: ['x'] },
          litterbox: { type: 'local', command: ['litterbox', 'mcp'] },
        },
      },
    });
    expect(existsSync(join(fixture.root, 'opencode.json'))).toBe(false);
  });
});

/** Any document, written by somebody with habits of their own. `comments` are in the text. */
const jsonText: fc.Arbitrary<{ readonly text: string; readonly comments: readonly string[] }> = fc
  .record({
    value: fc.dictionary(
      fc.oneof(fc.constantFrom('mcpServers', 'a', 'litterbox', '__proto__', '}', '// x'), fc.string({ maxLength: 5 })),
      fc.oneof(
        fc.jsonValue({ maxDepth: 2 }),
        fc.dictionary(
          fc.constantFrom('litterbox', 'other', '"'),
          fc.dictionary(fc.constantFrom('command', 'args', 'x'), fc.jsonValue({ maxDepth: 1 })),
        ),
      ),
      { maxKeys: 4 },
    ),
    habits: fc.array(fc.nat({ max: 11 }), { minLength: 1, maxLength: 40 }),
    eol: fc.constantFrom('\n', '\r\n'),
    unit: fc.constantFrom('', ' ', '  ', '\t'),
    ends: fc.constantFrom('', '\n', ' \n\n'),
  })
  .map(({ value, habits, eol, unit, ends }) => {
    const comments: string[] = [];
    let turn = 0;
    const space = (indent: string): string => {
      const habit = habits[(turn += 1) % habits.length] ?? 0;
      const comment = habit === 9 ? `// c${turn} "},{` : habit === 10 ? `/* c${turn}, */` : undefined;
      if (comment !== undefined) comments.push(comment);
      if (habit < 4) return '';
      if (habit < 6) return ' ';
      return comment?.startsWith('//') ? ` ${comment}${eol}${indent}` : `${comment ?? ''}${eol}${indent}`;
    };
    const render = (item: unknown, indent: string): string => {
      const isList = Array.isArray(item);
      if (!isList && (typeof item !== 'object' || item === null)) return JSON.stringify(item);
      const deeper = indent + unit;
      const members = isList
        ? item.map((one) => render(one, deeper))
        : Object.entries(item).map(
            ([key, one]) => `${JSON.stringify(key)}${space(deeper)}:${space(deeper)}${render(one, deeper)}`,
          );
      const comma = members.length > 0 && (habits[turn % habits.length] ?? 0) === 11 ? ',' : '';
      const inside = members.map((one) => space(deeper) + one + space(deeper)).join(',') + comma + space(indent);
      return isList ? `[${inside}]` : `{${inside}}`;
    };
    return { text: space('') + render(value, '') + ends, comments };
  });

const tomlText: fc.Arbitrary<string> = fc
  .record({
    value: fc.dictionary(
      fc.oneof(
        fc.constantFrom('mcp_servers', 'a', 'b c', '__proto__x'),
        fc.string({ maxLength: 4 }).filter((key) => key !== '__proto__'),
      ),
      fc.oneof(
        fc.string(),
        fc.boolean(),
        fc.integer(),
        fc.array(fc.string({ maxLength: 4 }), { maxLength: 3 }),
        fc.dictionary(
          fc.constantFrom('other', 'x y', 'z'),
          fc.dictionary(fc.constantFrom('command', 'args'), fc.string()),
        ),
      ),
      { maxKeys: 5 },
    ),
    eol: fc.constantFrom('\n', '\r\n'),
    comment: fc.constantFrom('', '# [mcp_servers.litterbox]', '  # "'),
    cut: fc.boolean(),
  })
  .map(({ value, eol, comment, cut }) => {
    const lines = stringify(value).split('\n');
    const text = lines
      .map((line) => (line.startsWith('[') && comment !== '' ? `${comment}${eol}${line}` : line))
      .join(eol);
    return cut ? text.trimEnd() : text;
  });

describe('the editors', () => {
  const path = ['mcpServers', 'litterbox'];

  it('JSON: whatever the document, only our entry changes, and taking it back gives the bytes', () => {
    fc.assert(
      fc.property(jsonText, ({ text, comments }) => {
        const before = jsonEditor.read(text);
        const after = jsonEditor.set(text, path, ENTRY);
        const wanted = withTable(before, path, ENTRY);
        fc.pre(wanted !== undefined); // something that is no table is in the way: the engine refuses
        expect(isSameDocument(jsonEditor.read(after), wanted)).toBe(true);
        expect(jsonEditor.set(after, path, ENTRY)).toBe(after);
        expect(undone(after, undoOf(text, after))).toBe(text);
        if (valueAt(before, path) !== undefined) return; // comments inside a value go with it
        for (const comment of comments) expect(after).toContain(comment);
        const levels = valueAt(before, path.slice(0, 1)) === undefined ? 1 : 0;
        const removed = jsonEditor.unset(after, path, levels);
        expect(isSameDocument(jsonEditor.read(removed), before)).toBe(true);
        for (const comment of comments) expect(removed).toContain(comment);
      }),
      { numRuns: 500 },
    );
  });

  it('JSON: lists grow and shrink by our words only', () => {
    fc.assert(
      fc.property(jsonText, fc.array(fc.constantFrom('Bash', 'Edit', 'x'), { maxLength: 3 }), ({ text }, mine) => {
        const start = jsonInclude(text, ['a', 'deny'], mine);
        fc.pre(Array.isArray(valueAt(jsonEditor.read(start), ['a', 'deny'])));
        const missing = ['Bash', 'Edit'].filter(
          (word) => !(valueAt(jsonEditor.read(start), ['a', 'deny']) as unknown[]).includes(word),
        );
        const after = jsonInclude(start, ['a', 'deny'], ['Bash', 'Edit']);
        const list = valueAt(jsonEditor.read(after), ['a', 'deny']);
        expect(list).toEqual(expect.arrayContaining(['Bash', 'Edit', ...mine]));
        const back = jsonExclude(after, ['a', 'deny'], missing, 0);
        expect(isSameDocument(jsonEditor.read(back), jsonEditor.read(start))).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it('TOML: whatever the document, only our table changes, and taking it back gives the bytes', () => {
    const place = ['mcp_servers', 'litterbox'];
    let edited = 0;
    fc.assert(
      fc.property(tomlText, (text) => {
        const before = tomlEditor.read(text);
        const wanted = withTable(before, place, ENTRY);
        fc.pre(wanted !== undefined);
        const after = tomlEditor.set(text, place, ENTRY);
        let document: unknown;
        try {
          document = tomlEditor.read(after);
        } catch {
          return; // a form to which no table can be added: the engine refuses
        }
        expect(isSameDocument(document, wanted)).toBe(true);
        expect(after.startsWith(text)).toBe(true);
        expect(tomlEditor.set(after, place, ENTRY)).toBe(after);
        expect(undone(after, undoOf(text, after))).toBe(text);
        const changed = tomlEditor.set(after, place, { command: 'other' });
        expect(valueAt(tomlEditor.read(changed), [...place, 'command'])).toBe('other');
        const removed = tomlEditor.unset(changed, place, 0);
        expect(removed.trimEnd()).toBe(text.trimEnd());
        edited += 1;
      }),
      { numRuns: 1000 },
    );
    expect(edited).toBeGreaterThan(500);
  });
});

describe('litterbox agent', () => {
  const home = (fixture: CliFixture) => fixture.environment['HOME'] ?? '';

  it('installs, tells it again, lists, uninstalls', async () => {
    await using fixture = new CliFixture();
    const before = fixture.digest();
    const shown = await fixture.run(['agent', 'install', 'claude', '--dry-run']);
    expect({ code: shown.code, stderr: shown.stderr }).toEqual({ code: 0, stderr: '' });
    expect(shown.stdout).toContain('+++ ~/.claude.json');
    expect({
      firstExists: existsSync(join(home(fixture), '.claude.json')),
      secondExists: existsSync(join(home(fixture), 'state')),
    }).toEqual({ firstExists: false, secondExists: false });

    const unasked = await fixture.run(['agent', 'install', 'claude']);
    expect(unasked.code).toBe(2);
    expect(unasked.stderr).toContain('→ Add --yes');
    expect(existsSync(join(home(fixture), '.claude.json'))).toBe(false);

    const installed = await fixture.run([
      'agent',
      'install',
      'claude',
      '--yes',
      '--sandbox',
      'Fix Login',
      '--exclusive',
    ]);
    expect({ code: installed.code, stderr: installed.stderr }).toEqual({
      code: 0,
      stderr: expect.stringContaining('off in all your projects'),
    });
    const { mcpServers } = JSON.parse(readFileSync(join(home(fixture), '.claude.json'), 'utf8')) as {
      readonly mcpServers: { readonly litterbox: { readonly command: string; readonly args: readonly string[] } };
    };
    const { command, args } = mcpServers.litterbox;
    expect({ command, args: args.slice(1) }).toEqual({
      command: process.execPath,
      args: ['mcp', '--sandbox', 'fix-login'],
    });
    expect(args[0]).toMatch(/^\/.*\/packages\/cli\/bin\/litterbox\.cjs$/);
    expect(readFileSync(join(home(fixture), '.claude', 'settings.json'), 'utf8')).toContain('"deny": ["Bash", "Edit"');

    const again = await fixture.run(['agent', 'install', 'claude', '--sandbox', 'fix-login', '--exclusive']);
    expect({ code: again.code, stdout: again.stdout }).toEqual({ code: 0, stdout: '' });
    expect(again.stderr).toContain('Already installed');
    expect((await fixture.run(['agent', 'list'])).stdout).toMatch(/^claude\tClaude Code\tyes\tinstalled\t-$/m);

    const gone = await fixture.run(['agent', 'uninstall', 'claude', '--yes']);
    expect({ code: gone.code, stderr: gone.stderr }).toEqual({
      code: 0,
      stderr: expect.stringContaining('Uninstalled'),
    });
    expect(readdirSync(home(fixture)).filter((name) => name.startsWith('.claude'))).toEqual([]);
    const nothing = await fixture.run(['agent', 'uninstall', 'claude']);
    expect({ code: nothing.code, stderr: nothing.stderr }).toEqual({
      code: 0,
      stderr: expect.stringContaining('Not installed'),
    });
    expect(fixture.digest()).toBe(before);
  });

  it('asks at a terminal, and no means no', async () => {
    await using fixture = new CliFixture();
    const answered = async (key: string): Promise<readonly [code: number, text: string]> => {
      const child = spawn(
        'script',
        ['-qec', `stty rows 33 cols 99; ${NODE.join(' ')} agent install gemini`, '/dev/null'],
        {
          cwd: fixture.repository,
          env: fixture.environment,
          stdio: ['pipe', 'pipe', 'pipe'],
        },
      );
      let text = '';
      child.stdout.on('data', (bytes: Buffer) => (text += bytes.toString()));
      await eventually(
        async () => text,
        (seen) => seen.includes('Write ~/.gemini/settings.json?'),
        20_000,
      );
      child.stdin.write(key);
      const [code] = (await once(child, 'close')) as [number];
      return [code, text];
    };
    expect(await answered('n')).toEqual([4, expect.stringContaining('Nothing was changed')]);
    expect(existsSync(join(home(fixture), '.gemini'))).toBe(false);
    expect(await answered('y')).toEqual([0, expect.stringContaining('Installed: Gemini CLI')]);
    expect(readFileSync(join(home(fixture), '.gemini', 'settings.json'), 'utf8')).toContain('"litterbox"');
  });

  it('starts litterbox by name where it is in PATH, and always in files that people share', async () => {
    await using fixture = new CliFixture();
    const bin = join(home(fixture), 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'litterbox'), '#!/bin/sh\n', { mode: 0o755 });
    const PATH = `${fixture.environment['PATH']}:${bin}`;
    await fixture.run(['agent', 'install', 'codex', '--yes'], undefined, {
      PATH,
      CODEX_HOME: join(home(fixture), 'cx'),
    });
    expect(readFileSync(join(home(fixture), 'cx', 'config.toml'), 'utf8')).toContain(
      'command = "litterbox"\nargs = ["mcp"]',
    );
    const shared = await fixture.run(['agent', 'install', 'vscode', '--yes', '--json']);
    expect(JSON.parse(shared.stdout)).toMatchObject({
      client: 'vscode',
      scope: 'project',
      path: join(fixture.repository, '.vscode', 'mcp.json'),
      changed: true,
      files: [{ action: 'created' }],
    });
    const text = readFileSync(join(fixture.repository, '.vscode', 'mcp.json'), 'utf8');
    expect(JSON.parse(text)).toEqual({
      // oxlint-disable-next-line no-template-curly-in-string
      servers: { litterbox: { type: 'stdio', command: 'litterbox', args: ['mcp', '--repo', '${workspaceFolder}'] } },
    });
    expect(text).not.toContain(home(fixture));
    expect((await fixture.run(['agent', 'install', 'cursor', '--yes'])).stderr).toContain(
      'put litterbox into your PATH',
    );
    expect(JSON.parse((await fixture.run(['agent', 'list', '--json'])).stdout).clients).toHaveLength(CLIENTS.length);
  });

  it('tells what is wrong', async () => {
    await using fixture = new CliFixture();
    writeFileSync(join(home(fixture), '.claude.json'), '{\n  "a": 1,\n  oops\n}\n');
    const broken = await fixture.run(['agent', 'install', 'claude', '--yes', '--json']);
    expect({ code: broken.code, stderr: JSON.parse(broken.stderr) }).toEqual({
      code: 2,
      stderr: { error: expect.objectContaining({ code: 'CONFIG_SYNTAX', facts: { line: 3, column: 3 } }) as unknown },
    });
    expect(readFileSync(join(home(fixture), '.claude.json'), 'utf8')).toBe('{\n  "a": 1,\n  oops\n}\n');
    expect((await fixture.run(['agent', 'list'])).stderr).toContain('.claude.json:3:3 ');
    const cases: readonly (readonly [args: readonly string[], code: number, says: string])[] = [
      [[], 2, 'Usage: litterbox agent'],
      [['install'], 2, "missing required argument 'client'"],
      [['install', 'emacs'], 2, 'Allowed choices are claude, codex'],
      [['install', 'codex', '--scope', 'world'], 2, 'Allowed choices are user, project'],
      [['install', 'codex', '--name', 'a b'], 2, 'not a name'],
      [['install', 'codex', '--sandbox', '###'], 2, 'has no letter'],
      [['install', 'codex', '--tool-prefix', '1'], 2, 'cannot begin'],
      [['install', 'codex', '--exclusive', '--yes'], 5, 'cannot switch off'],
      [['instal', 'codex'], 2, 'Did you mean install?'],
    ];
    for (const [args, code, says] of cases) {
      const ran = await fixture.run(['agent', ...args]);
      expect({ args: args.join(' '), code: ran.code, stderr: ran.stderr }).toEqual({
        args: args.join(' '),
        code,
        stderr: expect.stringContaining(says),
      });
    }
    const outside = await fixture.run(['-C', '/', 'agent', 'install', 'cursor', '--yes']);
    expect({ code: outside.code, stderr: outside.stderr }).toEqual({
      code: 3,
      stderr: expect.stringContaining('not in a git repository'),
    });
  });
});
