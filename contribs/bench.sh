#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# bench.sh start      how fast jobs start
# bench.sh locks      how long slurmctld's threads and locks are kept by us
#
# Each line: name value unit bar pass|fail. On a machine that has other work the
# figures are that work's. Does its own set-up as demo.sh does. Exit 0 only if every bar was met.
# shellcheck source=contribs/lib.sh
. "$(dirname "$0")/lib.sh"

case ${1:-} in
start | locks) ;;
-h | --help) sed -n '4,9s/^# \{0,1\}//p' "$0"; exit 0 ;;
*) die "what is to be measured? 'start' or 'locks' is expected" ;;
esac
lock_cache
need_cluster >&2
[ "$1" = start ] || make -C "$VS_BUILD" V=0 testsuite/bench/locks >&2
unlock_cache
[ "$1" = locks ] || exec "$VS_PYTHON" "$VS_TOP/contribs/bench.py"
rc=0
"$VS_BUILD/testsuite/bench/locks" 2>/dev/null || rc=1
"$VS_PYTHON" "$VS_TOP/contribs/bench_locks.py" || rc=1
exit $rc
