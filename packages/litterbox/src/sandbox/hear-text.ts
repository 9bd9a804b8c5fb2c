import type { OutputChunk } from '@litterbox/core';

/** Functions that hear what a command prints while it runs. A promise that one gives holds the command back; what one throws ends the call. */
export interface TextListeners {
  /** Its standard output as text. Bytes that are not UTF-8 are U+FFFD. */
  readonly onStdout?: (text: string) => unknown;
  /** The same of its standard error. */
  readonly onStderr?: (text: string) => unknown;
}

/** Tells chunks of output to functions that want text. A character that lies in two chunks comes whole, with the second one. */
export function hearText({ onStdout, onStderr }: TextListeners): {
  hear(chunk: OutputChunk): Promise<void>;
  /** Tells what is left of a character that never came to its end. */
  end(): Promise<void>;
} {
  const streams = {
    'stdout-data': { decoder: new TextDecoder('utf-8', { ignoreBOM: true }), listen: onStdout },
    'stderr-data': { decoder: new TextDecoder('utf-8', { ignoreBOM: true }), listen: onStderr },
  };
  return {
    async hear({ type, bytes }) {
      const { decoder, listen } = streams[type];
      const text = listen ? decoder.decode(bytes, { stream: true }) : '';
      if (text !== '') await listen?.(text);
    },
    async end() {
      for (const { decoder, listen } of Object.values(streams)) {
        const text = listen ? decoder.decode() : '';
        if (text !== '') await listen?.(text);
      }
    },
  };
}
