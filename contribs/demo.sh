#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# demo.sh [--keep]    runs one four-node job on a private cluster, and prints each step
# demo.sh --stop      ends a cluster that --keep left up
#
# Does all of its own set-up (packages, the source of the installed Slurm, Go,
# the build), in $VS_CACHE and below /tmp; the system's own Slurm, munge and
# configuration are left alone. Exit 0 only if all that is told was seen.
# shellcheck source=testsuite/lib/setup.sh
. "$(dirname "$0")/../testsuite/lib/setup.sh"

case ${1:-} in
"" | --keep) ;;
--stop)
	[ -d "$VS_CACHE/demos" ] || { say "no demo is kept up"; exit 0; }
	exec env VS_TOP="$VS_TOP" PYTHONDONTWRITEBYTECODE=1 \
		/usr/bin/python3 "$VS_TOP/testsuite/demo/demo.py" --stop "$VS_CACHE" ;;
-h | --help) sed -n '4,9s/^# \{0,1\}//p' "$0"; exit 0 ;;
*) die "unknown option '$1': --keep or --stop is expected" ;;
esac
[ $# -le 1 ] || die "one option at most is expected"

lock_cache
began=$(date +%s)
need_cluster
say "set-up took $(($(date +%s) - began)) s"
unlock_cache
exec "$VS_PYTHON" "$VS_TOP/testsuite/demo/demo.py" "$@" "$VS_CACHE"
