import { describe, it } from '@jest/globals';
import { describeAuditLog, describeStateStore } from '@litterbox/conformance';
import { MemoryFixture } from './memory-fixture.ts';

const options = { name: 'memory', runner: { describe, it }, fixture: () => new MemoryFixture() };

describeStateStore(options);
describeAuditLog(options);
