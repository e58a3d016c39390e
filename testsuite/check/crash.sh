# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# check.sh's crash: slurmctld killed at each step, and calls that fail.
# shellcheck disable=SC2154 # the caller's

# slurmctld killed before and after every step, and every call to vCenter failed
# once in every way: a sample, all of it with --whole. A build of its own.
part_crash() {
	local log=$results/crash.txt
	say "== crash"
	need_cluster
	# Its daemons wait for timers: to compile it with -O2 takes three times as long.
	build crash --enable-crash-points CFLAGS="-g1 -O0 -Wno-error"
	export VS_ROOT VS_BUILD
	say_and_count "$log" /usr/bin/python3 "$VS_TOP/testsuite/crash/matrix.py" "${crash_options[@]}"
	# both matrices say how many cells they have
	ran crash cells "$(sed -nE 's/^(crash|calls): .*cells=([0-9]+).*/\2/p' "$log" | awk '{ n += $1 } END { print n + 0 }')" \
		"$(grep -E '^(ok|FAILED) ' "$log" | grep -cvE '^(ok|FAILED) undisturbed ' || true)"
	if [ "$(grep -cE '^(crash|calls): .*cells=[1-9]' "$log")" != 2 ]; then
		bad "crash: the matrices came to no end, see $log"
	fi
}
