import type { ObjectId, RevisionMessage } from '@litterbox/core/provider';
import { messageText, serializeCommit } from '../objects/commit-object.ts';
import type { ObjectSink } from '../objects/object-sink.ts';

/** Writes the commit of a revision. Its time never runs backwards along the history. */
export function putCommit(
  sink: ObjectSink,
  { tree, parent, atSeconds, number }: { tree: ObjectId; parent: ObjectId; atSeconds: number; number: number },
  message: RevisionMessage,
): ObjectId {
  return sink.put(
    'commit',
    serializeCommit({
      tree,
      parents: [parent],
      atSeconds: Math.max(Math.floor(Date.now() / 1000), atSeconds),
      message: messageText(message),
      revision: { number, trailers: message.trailers.length },
    }),
  );
}
