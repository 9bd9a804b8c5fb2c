#!/bin/sh
# For `claude self-hosted-runner --exec-path`: each session of the runner works in a sandbox of its own. The runner names its program in
# CLAUDE_RUNNER_CLAUDE_BIN and listens to descriptor 3; both go on to Claude.
exec litterbox with claude -- "$@"
