#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# plan is pure: its objects import libc's string, memory and formatting
# functions and vs_* alone. Arguments: object files of the folders of
# src/common/plan, or a build directory. Exits 1 and names what is imported beside.
set -eu

# realloc is not among them: memory comes from util/mem, which aborts.
allowed='abort|free|qsort|snprintf|vsnprintf|strcasecmp|strcmp|strncmp|strlen|strchr|strspn|strcspn|strstr|memchr|memcmp|memcpy|memmove|memset'
# What the compiler adds by itself: GOT, stack protector, _FORTIFY_SOURCE's
# checked twins of the above, sanitizers, gcov.
compiler="_GLOBAL_OFFSET_TABLE_|__stack_chk_fail|__($allowed)_chk|__(asan|ubsan|tsan|sanitizer)_.*|__gcov_.*"
# Of our own, only what plan and util's pure files define, but no chance.
pure_util='buf err hostlist mem name'
impure='vs_uuid_random'

if [ $# -eq 0 ]; then
	echo "usage: $0 OBJECT... | BUILD-DIRECTORY" >&2
	exit 2
fi
if [ -d "$1" ]; then
	dir=$1
	# libtool keeps the objects that will be shared in .libs
	set -- "$dir"/src/common/plan/*/.libs/*.o
	util=$dir/src/common/util/.libs
else
	util=$(dirname "$1")/../../../util/$(basename "$(dirname "$1")")
fi
for o; do
	if [ ! -f "$o" ]; then
		echo "$o: no such object, build first" >&2
		exit 2
	fi
done

# Prints nothing where there is no such object: then every use of it fails.
defined() {
	nm --defined-only "$@" | awk 'NF == 3 && $2 ~ /[TRDB]/ { print $3 }'
}
ours=$(defined "$@")
for u in $pure_util; do
	for o in "$util"/*"$u".o; do
		if [ -f "$o" ]; then
			ours="$ours
$(defined "$o")"
		fi
	done
done
rc=0
for o; do
	for s in $(nm -u "$o" | awk '{ print $2 }'); do
		if printf '%s\n' "$s" | grep -Eqx "$allowed|$compiler"; then
			continue
		fi
		if [ "$s" != "$impure" ] &&
			printf '%s\n' "$ours" | grep -qxF "$s"; then
			continue
		fi
		echo "${o##*/}: imports $s, which plan may not"
		rc=1
	done
done
exit $rc
