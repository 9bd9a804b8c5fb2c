import { describeEngineOverSsh } from './describe-engine-over-ssh.ts';

// The part kit-podman-over-ssh of npm run test:deep.
await describeEngineOverSsh('podman');
