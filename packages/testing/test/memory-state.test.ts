import { describe, it } from '@jest/globals';
import { describeAuditLog, describeSandboxPool, describeStateStore } from '@litterbox/conformance';
import { MemoryBench } from './memory-bench.ts';

const options = { name: 'memory', runner: { describe, it }, bench: () => new MemoryBench() };

describeStateStore(options);
describeAuditLog(options);
describeSandboxPool(options);
