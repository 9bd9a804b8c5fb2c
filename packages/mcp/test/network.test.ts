import { describe, expect, it } from '@jest/globals';
import { mcpFixture } from './mcp-fixture.ts';

const files = {
  'src/a.txt': 'a\n',
  '.litterbox.toml': '[network]\nrun = "allow-list"\nallow = ["registry.example.org", "*.vendor.example.org"]\n',
};

/** Asks the proxy for what is not allowed, with whatever is there. */
const ASKING = `printf 'CONNECT other.example.org:443 HTTP/1.1\\r\\n\\r\\n' >/tmp/asked
if command -v perl >/dev/null; then
perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new("127.0.0.1:3128") or die "no way out: $!\\n"; open F, "/tmp/asked"; local $/; print $s <F>; print <$s>'
else nc 127.0.0.1 3128 </tmp/asked; fi
exit 1`;

describe.each(['modern', 'legacy'] as const)('a network by a list (%s)', (era) => {
  it('is told where it is in force, after a person agreed to it, and refusals reach the agent with what to do', async () => {
    await using fixture = await mcpFixture({ era, files });
    const bashOf = async (client = fixture.client) =>
      (await client.listTools()).tools.find(({ name }) => name === 'bash')?.description ?? '';
    expect(await bashOf()).toContain('isolated environment with no network access, so'); // nobody has agreed
    expect(await fixture.code('sandbox-create', { name: 'a' })).toBe('CONFIG_UNTRUSTED');
    await fixture.person.trust((await fixture.person.trustStatus()).contentHash);
    const client = await fixture.connect();
    const rules = 'registry.example.org, *.vendor.example.org';
    expect(await bashOf(client)).toContain(`no network access but to ${rules} (over HTTPS,`);
    expect(client.getInstructions()).toContain(`The network reaches nothing but ${rules}, over HTTPS`);
    const made = await fixture.call('sandbox-create', { name: 'a' });
    expect(made.facts).toMatchObject({
      network: 'allow-list',
      reachable: ['registry.example.org', '*.vendor.example.org'],
    });
    // The keeper is a program of its own, with the machine's own resolver: nothing here may be reached, so nothing is asked for.
    const refused = await fixture.text('bash', {
      sandbox: 'a',
      command: ASKING,
    });
    expect(refused).toContain('403 Forbidden (litterbox: other.example.org:443 is not on the list');
    expect(refused).toContain('allow = ["other.example.org"]');
    expect(refused).toContain(`[hint: this sandbox reaches nothing but ${rules}`);
    const status = await fixture.call('sandbox-status', { sandbox: 'a' });
    expect(status.facts).toMatchObject({ network: 'allow-list', reachable: expect.any(Array) });
  });
});
