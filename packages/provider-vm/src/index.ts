export { type FoundMachine, Machines } from './machines.ts';
export type { OpenedMachine, OpenMachineOptions, VirtualMachine, Way } from './way.ts';
