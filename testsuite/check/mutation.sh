# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# check.sh's mutation: changed operators, conditions or statements that the unit tests
# would not notice.
#
# Rules: it does not belong to `all`; it prints the list of what went unnoticed, for
# people to judge (testsuite/mutation/accepted.txt). Failed is a run that was not whole,
# or tests that fail with no change in force.
# shellcheck disable=SC2154 # the caller's

# The tests with one operator changed at a time, in a copy of the tree.
part_mutation() {
	local log=$results/mutation.txt tree=$VS_CACHE/mutation exist judged
	say "== what the unit tests notice"
	need_packages "${VS_PACKAGES_BUILD[@]}" "${VS_PACKAGES_RUN[@]}" python3-clang
	need_slurm_source
	rm -rf "$tree"
	mkdir -p "$tree"
	tar -C "$VS_TOP" --exclude=.git -cf - . | tar -C "$tree" -xf -
	# With ASan, or what reads too far or leaks would go unnoticed.
	# shellcheck disable=SC2016 # the inner shell's
	(exec 9>&- && VS_CACHE=$VS_CACHE bash -euc '
		. "$1/testsuite/lib/setup.sh"
		rm -f "$VS_TOP/configure"
		need_slurm_source
		configured mutation --enable-sanitizers CFLAGS="-g -O1 -Wno-error"
		exec /usr/bin/python3 "$VS_TOP/testsuite/mutation/mutate.py" \
			--tree "$VS_TOP" --build "$VS_BUILD"' mutated "$tree"
	) 2>&1 </dev/null | tee "$log" || true
	exist=$(sed -n 's/^\([0-9]*\) changes, [0-9]* reached by .*/\1/p' "$log")
	if grep -q '^mutation: ' "$log"; then ok; else bad "mutation: it came to no end"; fi
	judged=$(sed -n 's/^mutation: \([0-9]*\) changes judged.*/\1/p' "$log")
	ran mutation changes "${exist:-0}" "${judged:-0}"
	rm -rf "$tree"
}
