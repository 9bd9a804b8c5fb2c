export type { OfferedTool, ToolAnswer } from '@litterbox/core/agent';
export type { Performer } from 'litterbox/agent';
