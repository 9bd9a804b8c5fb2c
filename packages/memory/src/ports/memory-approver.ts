import { type ApprovalRequest, type Approver } from '@litterbox/core/provider';

/** A person who always answers the same, and remembers what was asked. */
export function memoryApprover(answer: boolean): Approver & { readonly asked: readonly ApprovalRequest[] } {
  const asked: ApprovalRequest[] = [];
  return {
    asked,
    async approve(request, options) {
      options?.signal?.throwIfAborted();
      asked.push(request);
      return answer;
    },
  };
}
