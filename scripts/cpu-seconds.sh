#!/bin/sh
# Runs a test for ctest, NAME and its command. Where LEAT_COSTS names a folder (scripts/check), the
# file NAME there has, afterwards, the processor time of the test and of all that it waited for, as
# `times` prints it.
name=$1
shift
[ -n "$LEAT_COSTS" ] || exec "$@"
"$@"
status=$?
times >>"$LEAT_COSTS/$name"
exit $status
