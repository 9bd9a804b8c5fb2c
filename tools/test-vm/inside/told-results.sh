#!/bin/sh
# Runs inside the machine: told-results.sh COMMAND... whose results, a file outside, are told as lines of the output.
LITTERBOX_TEST_RESULTS=/var/tmp/results
LITTERBOX_JEST_CACHE=/var/tmp/jest
export LITTERBOX_TEST_RESULTS LITTERBOX_JEST_CACHE
"$@" --testTimeout=600000
code=$?
sed 's/^/results: /' $LITTERBOX_TEST_RESULTS
exit $code
