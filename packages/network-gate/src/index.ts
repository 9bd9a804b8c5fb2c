export { networkGate, type NetworkGateOptions } from './network-gate.ts';
