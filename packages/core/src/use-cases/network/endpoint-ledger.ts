import { LitterboxError } from '../../domain/errors/errors.ts';
import type { EndpointPolicy } from '../../domain/secrets/endpoint-policy.ts';
import type { AuditLog } from '../../ports/state/audit-log.ts';
import type { Clock } from '../../ports/common/clock.ts';
import type { EndpointBooks, EndpointRequest, EndRequest } from '../../ports/network/endpoint-gate.ts';
import { addTokens, type EndpointUsage, newUsage, usageOf } from './endpoint-usage.ts';
import { MIN_SECRET_CHARACTERS, type SecretSource } from '../../ports/person/secret-source.ts';
import type { SandboxRecord } from '../../ports/state/state-store.ts';

/** A value that was changed outside is used after this long, and after a refusal at once. */
const SECRET_MS = 5 * 60_000;
/** At one endpoint; an agent at work makes some dozens. */
const MAX_REQUESTS = 600;
const MINUTE_MS = 60_000;
/** Tokens of subscriptions, which its vendor lets its own program alone use. */
const SUBSCRIPTION = /^sk-ant-oat/;

function isSpent({ budget = {} }: EndpointPolicy, { requests, tokens }: EndpointUsage): boolean {
  const { requests: most = Infinity, tokens: mostTokens = Infinity } = budget;
  return requests >= most || tokens.input + tokens.output >= mostTokens;
}

interface Needs {
  readonly audit: AuditLog;
  readonly secretSource: SecretSource;
  readonly clock: Clock;
}

/** Writes requests of one endpoint of one sandbox into the audit log, and gets its secret. */
export class EndpointLedger implements EndpointBooks {
  readonly #record: Pick<SandboxRecord, 'id' | 'repositoryId'>;
  readonly #endpoint: EndpointPolicy;
  readonly #needs: Needs;
  #secret: { readonly value: Promise<string>; readonly untilMs: number } | undefined;
  #minute = { sinceMs: -Infinity, count: 0 };
  #leftOut = 0;
  #spent: Promise<EndpointUsage> | undefined;

  constructor(record: Pick<SandboxRecord, 'id' | 'repositoryId'>, endpoint: EndpointPolicy, needs: Needs) {
    this.#record = record;
    this.#endpoint = endpoint;
    this.#needs = needs;
  }

  async readSecret(): Promise<string> {
    const nowMs = this.#needs.clock.monotonicMs();
    if (this.#secret && nowMs < this.#secret.untilMs) return await this.#secret.value;
    const value = this.#needs.secretSource.read(this.#endpoint.secret.origin).then((secret) => this.#checked(secret));
    const known = { value, untilMs: nowMs + SECRET_MS };
    this.#secret = known;
    value.catch(() => {
      if (this.#secret === known) this.#secret = undefined;
    });
    return await value;
  }

  forgetSecret(): void {
    this.#secret = undefined;
  }

  async begin({ method, path }: EndpointRequest): Promise<EndRequest | 'often' | 'spent'> {
    const spent = await this.#spending();
    if (spent && isSpent(this.#endpoint, spent)) return 'spent';
    const nowMs = this.#needs.clock.monotonicMs();
    if (nowMs - this.#minute.sinceMs >= MINUTE_MS) this.#minute = { sinceMs: nowMs, count: 0 };
    if (this.#minute.count >= MAX_REQUESTS) {
      this.#leftOut += 1;
      return 'often';
    }
    this.#minute.count += 1;
    const { id: sandbox, repositoryId } = this.#record;
    const leftOut = this.#leftOut;
    const finish = await this.#needs.audit.start({
      operation: 'endpoint-request',
      actor: 'sandbox',
      repositoryId,
      sandbox,
      input: { endpoint: this.#endpoint.name, method, path, ...(leftOut > 0 && { leftOut }) },
      isRead: true, // nothing of it is lost but in a power cut
    });
    this.#leftOut -= leftOut;
    if (spent) spent.requests += 1;
    return async (outcome) => {
      if (spent) addTokens(spent, outcome.tokens);
      await finish(outcome.reason === undefined ? 'ok' : 'error', { ...outcome }).catch(() => {}); // the log says itself that it did not end
    };
  }

  /** Nothing without a budget. All of the sandbox's life counts, which the audit log has. */
  async #spending(): Promise<EndpointUsage | undefined> {
    if (!this.#endpoint.budget) return undefined;
    const { id: sandbox, repositoryId } = this.#record;
    const known =
      this.#spent ??
      usageOf(this.#needs.audit, { sandbox, repositoryId }).then((all) => all.get(this.#endpoint.name) ?? newUsage());
    this.#spent = known;
    known.catch(() => (this.#spent = undefined));
    return await known;
  }

  #checked(secret: string): string {
    const { name, secret: kept } = this.#endpoint;
    const refuse = (what: string, hint: string) =>
      new LitterboxError('UNSUPPORTED', `The secret ${kept.name} of the endpoint ${name} ${what}.`, {
        operation: 'endpoint.open',
        hint,
      });
    if (SUBSCRIPTION.test(secret))
      throw refuse(
        'is the login of a subscription, which only its own program may use',
        'Use an API key, or let the agent stay outside with its hands in the sandbox.',
      );
    if (secret.length < MIN_SECRET_CHARACTERS || !/^[\u0021-\u007e]+$/.test(secret))
      throw refuse(
        `is shorter than ${MIN_SECRET_CHARACTERS} characters, or holds one that a header cannot`,
        'Keep one token there, on one line.',
      );
    return secret;
  }
}
