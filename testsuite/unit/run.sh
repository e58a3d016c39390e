#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# run.sh PROGRAM: how `make check` runs a test in contribs/check.sh. Its results,
# as TAP, and what it says besides go to different files: two writers of one file
# tear lines apart. (Niced and with TSan, beside all the others, those of the
# engine compute for ten minutes.) VS_LAUNCH is put before the program.
# shellcheck disable=SC2086 # words of their own
exec timeout 1800 ${VS_LAUNCH:-} "$1" 2>"$1.err"
