import { describe, it } from '@jest/globals';
import { describeSourceControl } from '@litterbox/conformance';
import { kitBackend } from './kit-backend.ts';

describeSourceControl({ name: 'git', runner: { describe, it }, ...kitBackend });
