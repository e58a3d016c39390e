#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# no_crash_points.sh BUILD: what a cluster loads knows no crash points: neither
# a symbol nor a word of util/crash.c is in what BUILD would install.
set -euo pipefail

build=${1:?usage: no_crash_points.sh BUILD}
found=0
mapfile -t made < <(find "$build/src" -path '*/.libs/*.so' -type f; find "$build/src/svf" -name svf -type f)
[ ${#made[@]} -ge 4 ] || { echo "$build is not built: ${made[*]}"; exit 1; }
for f in "${made[@]}"; do
	if LC_ALL=C grep -aqE 'VS_CRASH|vs_crash' "$f"; then
		echo "$f has crash points: it was built with --enable-crash-points"
		found=1
	fi
done
exit $found
