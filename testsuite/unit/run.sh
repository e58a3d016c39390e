#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# run.sh PROGRAM: how `make check` runs a test in contribs/check.sh. Its results,
# as TAP, and what it says besides go to different files: two writers of one file
# tear lines apart. (Niced and with TSan, beside all the others, those of the
# engine compute for ten minutes.) VS_LAUNCH is put before the program.
# Files go below a TMPDIR of the program's own. What is left there is a failure.
# shellcheck disable=SC2086 # words of their own
TMPDIR=$(mktemp -d /tmp/vs-unit.XXXXXX) || exit 99
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
trap 'exit 143' TERM INT HUP
chmod 755 "$TMPDIR"	# some programs act as other users
timeout 1800 ${VS_LAUNCH:-} "$1" 2>"$1.err"
rc=$?
left=$(ls -A "$TMPDIR")
[ -z "$left" ] || { echo "not ok - $1 leaves in TMPDIR:" $left; rc=1; }
exit $rc
