import { quoted } from '../../../channel/shell-text.ts';

/** Before the last line of what {@link inBackground} prints, when the command goes on. */
const MARK = 'litterbox-background';
const LAST_LINE = new RegExp(`\\n${MARK} (-?\\d+) (\\S+)\\n$`);

/**
 * Shell text that starts a command and lets it go on. What ends within a second is answered as any command is; of what goes on the
 * beginning is told. In bash, and where there is setsid, it has a process group of its own, so that one signal ends all of it.
 */
export function inBackground(command: string): string {
  const name = `background-${crypto.randomUUID().slice(0, 8)}.log`;
  return `lb_file="$LITTERBOX_PLAYGROUND/${name}"
lb_command=${quoted(command)}
lb_group=-
if [ -n "\${BASH_VERSION-}" ]; then
  set -m
  eval "$lb_command" >"$lb_file" 2>&1 </dev/null &
  set +m
elif command -v setsid >/dev/null; then
  setsid sh -c "$lb_command" >"$lb_file" 2>&1 </dev/null &
else
  lb_group=
  eval "$lb_command" >"$lb_file" 2>&1 </dev/null &
fi
lb_process=$!
sleep 1
if ! kill -0 "$lb_process" 2>/dev/null; then
  wait "$lb_process"
  lb_status=$?
  cat "$lb_file"
  rm -f "$lb_file"
  exit "$lb_status"
fi
head -c 4000 "$lb_file"
printf '\\n${MARK} %s%s %s\\n' "$lb_group" "$lb_process" "$lb_file"`;
}

/** A command that goes on. */
export interface Background {
  /** The beginning of its output. */
  readonly stdout: string;
  /** How it is ended, and where all of its output is: a sentence. */
  readonly line: string;
}

/** Nothing where it has ended, or could not be started. @param stdout what the text of {@link inBackground} printed */
export function backgroundOf(stdout: string): Background | undefined {
  const [whole = '', target = '', file = ''] = LAST_LINE.exec(stdout) ?? [];
  if (whole === '') return undefined;
  return {
    stdout: stdout.slice(0, -whole.length),
    line: `[goes on in the background; its output is in ${file}; end it with kill ${target.startsWith('-') ? `-- ${target}` : target}]`,
  };
}
