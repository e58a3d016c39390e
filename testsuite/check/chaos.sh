# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# check.sh's chaos: jobs while all goes wrong, by testsuite/system/chaos.py.
# shellcheck disable=SC2154 # the caller's

# A sanitizer's library, as it is to be loaded first.
runtime() { readlink -f "$(gcc -print-file-name="$1.so")"; }

# What goes wrong, when, is drawn from a seed; see testsuite/system/chaos.py.
part_chaos() {
	local log=$results/chaos.txt
	say "== chaos${chaos_with:+ with $chaos_with}"
	need_cluster
	case $chaos_with in
	address)
		build sanitize "${sanitize_options[@]}"
		VS_PRELOAD="$(runtime libasan) $(runtime libubsan)"
		export VS_ROOT VS_PRELOAD ;;
	thread)
		(build tsan "${tsan_options[@]}") || exit 1
		export VS_TSAN=$vs_roots/tsan ;;
	esac
	readable_root
	if (exec 9>&- && /usr/bin/python3 "$VS_TOP/testsuite/system/chaos.py" \
		"${chaos_options[@]}") 2>&1 </dev/null | tee "$log"; then
		ok
	else
		bad "chaos: $(tail -n 1 "$log")"
	fi
	# a world in which no job began has shown nothing
	ran chaos runs 1 "$(grep -cE '^chaos: seed=.* jobs=[1-9].* violations: ' "$log" || true)"
}
