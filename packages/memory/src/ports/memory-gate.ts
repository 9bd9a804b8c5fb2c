import { type GateLedger, type GatePolicy, type NetworkGate } from '@litterbox/core/provider';

/** A gate that is open. */
export interface MemoryGate extends GateLedger {
  readonly policy: GatePolicy;
  /** The machine from which it dials, where that is not the one that it runs on. */
  readonly from: string | undefined;
  /** How many connections came. */
  readonly served: number;
}

/** A way out that leads nowhere: a test says what happens at it. */
export function memoryGate(): NetworkGate & {
  readonly open: NetworkGate['open'];
  readonly gates: readonly MemoryGate[];
} {
  const gates: MemoryGate[] = [];
  return {
    gates,
    async open(policy, books, from) {
      const gate = { policy, from: from?.name, ...books, served: 0 };
      gates.push(gate);
      return {
        async serve(stream) {
          gate.served += 1;
          await stream[Symbol.asyncDispose]();
        },
        async [Symbol.asyncDispose]() {
          const at = gates.indexOf(gate);
          if (at !== -1) gates.splice(at, 1);
        },
      };
    },
  };
}
