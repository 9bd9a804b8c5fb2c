import {
  AttachProcess,
  ChangeRunState,
  ChooseProvider,
  DecidePolicy,
  DeleteSandbox,
  FindSandbox,
  IntegrateChanges,
  OpenRepository,
  OpenSandboxes,
  ReachKeeper,
  ReadAudit,
  Reconcile,
  RecordRevision,
  RestoreRecords,
  RestoreRevision,
  SettleSandbox,
  SetUpSandbox,
  TrustConfig,
} from '@litterbox/core';
import { AGENT_USE_CASES } from './agent-use-cases.ts';
import { Port, type UseCaseList } from './port-tokens.ts';

/** Everything that a person or a program may ask for. */
export const ALL_USE_CASES: UseCaseList = [
  ...AGENT_USE_CASES,
  [AttachProcess, [FindSandbox, OpenSandboxes, Port.State, Port.Audit, RecordRevision, Port.Actor]],
  [
    DeleteSandbox,
    [FindSandbox, OpenRepository, Port.State, Port.Audit, OpenSandboxes, SettleSandbox, ReachKeeper, Port.Actor],
  ],
  [
    IntegrateChanges,
    [FindSandbox, OpenRepository, Port.State, Port.Audit, Port.Approver, DeleteSandbox, SettleSandbox, Port.Actor],
  ],
  [ChangeRunState, [FindSandbox, Port.State, Port.Audit, OpenSandboxes, ReachKeeper, Port.Actor]],
  [
    RestoreRevision,
    [
      FindSandbox,
      OpenRepository,
      Port.State,
      Port.Audit,
      OpenSandboxes,
      RecordRevision,
      SetUpSandbox,
      ReachKeeper,
      Port.Heap,
      Port.Actor,
    ],
  ],
  [TrustConfig, [OpenRepository, DecidePolicy, Port.State, Port.Audit, Port.Actor]],
  [ReadAudit, [FindSandbox, OpenRepository, Port.Audit]],
  [RestoreRecords, [Port.State, Port.Providers, DecidePolicy, ChooseProvider, Port.Clock]],
  [Reconcile, [OpenRepository, Port.State, OpenSandboxes, DeleteSandbox, RestoreRevision, RestoreRecords]],
];
