import { describeEngineOverSsh } from './describe-engine-over-ssh.ts';

// The part kit-engine-over-ssh of npm run test:deep.
await describeEngineOverSsh('docker');
