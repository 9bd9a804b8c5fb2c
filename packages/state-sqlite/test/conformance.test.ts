import { describe, it } from '@jest/globals';
import { describeAuditLog, describeStateStore } from '@litterbox/conformance';
import { StateFixture } from './state-fixture.ts';

const options = { name: 'SQLite', runner: { describe, it }, fixture: () => new StateFixture() };

describeStateStore(options);
describeAuditLog(options);
