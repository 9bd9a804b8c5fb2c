export { endpointGate, type EndpointGateOptions } from './endpoint-gate.ts';
