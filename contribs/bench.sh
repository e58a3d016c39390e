#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# bench.sh start      how fast jobs start; each line: name value unit bar pass|fail
#
# Does its own set-up as demo.sh does. Exit 0 only if every bar was met.
# shellcheck source=contribs/lib.sh
. "$(dirname "$0")/lib.sh"

case ${1:-} in
start) ;;
-h | --help) sed -n '4,6s/^# \{0,1\}//p' "$0"; exit 0 ;;
*) die "what is to be measured? 'start' is expected" ;;
esac
lock_cache
need_cluster >&2
unlock_cache
exec "$VS_PYTHON" "$VS_TOP/contribs/bench.py" "$@"
