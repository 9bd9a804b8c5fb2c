import type { RepositoryId, SandboxId } from '../../domain/sandbox/ids.ts';
import type { ModelTokens } from '../../ports/network/endpoint-gate.ts';
import type { AuditLog } from '../../ports/state/audit-log.ts';

/** Sums of one endpoint of one sandbox. */
export interface EndpointUsage {
  requests: number;
  /** Those that no server answered, refused ones among them. */
  unanswered: number;
  /** Those that a server answered with 200 and that no tokens are known of. */
  uncounted: number;
  /** Those whose tokens are computed from their length. */
  estimated: number;
  sentBytes: number;
  receivedBytes: number;
  tokens: { input: number; output: number };
}

/** The log gives fewer by itself. */
const ALL = 1_000_000;

export const newUsage = (): EndpointUsage => ({
  requests: 0,
  unanswered: 0,
  uncounted: 0,
  estimated: 0,
  sentBytes: 0,
  receivedBytes: 0,
  tokens: { input: 0, output: 0 },
});

export function addTokens(usage: EndpointUsage, tokens: ModelTokens | undefined): void {
  usage.tokens.input += tokens?.input ?? 0;
  usage.tokens.output += tokens?.output ?? 0;
}

/** Adds up what the audit log has of endpoints of a sandbox, by their names. */
export async function usageOf(
  audit: AuditLog,
  { sandbox, repositoryId }: { readonly sandbox: SandboxId; readonly repositoryId: RepositoryId },
): Promise<ReadonlyMap<string, EndpointUsage>> {
  const sums = new Map<string, EndpointUsage>();
  for (const { operation, input, result } of await audit.entries({ repositoryId, sandbox, limit: ALL })) {
    if (operation !== 'endpoint-request') continue;
    const name = String(input['endpoint']);
    const usage = sums.get(name) ?? newUsage();
    sums.set(name, usage);
    const { status, tokens } = result as { readonly status?: number; readonly tokens?: ModelTokens };
    usage.requests += 1;
    if (status === undefined) usage.unanswered += 1;
    else if (status === 200 && !tokens) usage.uncounted += 1;
    if (tokens?.isEstimate) usage.estimated += 1;
    usage.sentBytes += Number(result['sentBytes'] ?? 0);
    usage.receivedBytes += Number(result['receivedBytes'] ?? 0);
    addTokens(usage, tokens);
  }
  return sums;
}
