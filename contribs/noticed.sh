# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Two parts of check.sh that tell what the unit tests would not notice: which lines
# of src no test runs, and which changed operators, conditions or statements pass.
# Sourced after lib.sh and lanes.sh by who has run_unit_programs(), results and bad().
#
# Rules: neither belongs to `all`; what is printed are figures, and the list of what
# went unnoticed, for people to judge (testsuite/mutation/accepted.txt). Failed is a
# run that was not whole, or tests that fail with no change in force.
# shellcheck disable=SC2154 # the caller's

# The sources that the build did not compile: their lines would be left out of the
# sum. Crash points are in no release and in no build but the crash matrix's.
not_compiled() {
	local f
	while IFS= read -r f; do
		[ "$f" != src/common/util/crash.c ] || continue
		find "$VS_BUILD/${f%/*}" -regex ".*[/-]$(basename "${f%.c}")[.]gcno" 2>/dev/null |
			grep -q . || printf '%s\n' "$f"
	done < <(cd "$VS_TOP" && find src -name '*.c' | sort)
}

# Lines of src that the unit tests run, by folder, with gcov.
part_coverage() {
	local csv=$results/coverage.csv f
	say "== lines that the unit tests run"
	need_packages "${VS_PACKAGES_BUILD[@]}" "${VS_PACKAGES_RUN[@]}" gcovr
	need_slurm_source
	configured coverage --enable-coverage
	find "$VS_BUILD" -name '*.gcda' -delete
	run_unit_programs "$VS_BUILD" "coverage: " coverage unit
	if ! gcovr --root "$VS_TOP" --filter "$(cd "$VS_TOP" && pwd -P)/src/" \
		--exclude-unreachable-branches --csv "$csv" "$VS_BUILD" \
		>"$results/gcovr.txt" 2>&1; then
		bad "coverage: gcovr: $(reason "$results/gcovr.txt")"
		return 0
	fi
	awk -F, 'NR > 1 { d = $1; sub(/\/[^\/]*$/, "", d)
			all[d] += $2; run[d] += $3; n += $2; r += $3 }
		END { for (d in all) printf "%-28s %6d of %6d lines %5.1f %%\n", d, run[d], all[d], 100 * run[d] / all[d] | "sort"
			close("sort")
			if (n) printf "coverage: %d of %d lines of src %.1f %%\n", r, n, 100 * r / n }' \
		"$csv" | tee "$results/coverage.txt"
	if ! grep -q '^coverage: ' "$results/coverage.txt"; then
		bad "coverage: no line of src was counted"
	fi
	while IFS= read -r f; do
		bad "coverage: $f was not compiled, and its lines are not counted"
	done < <(not_compiled)
}

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
		. "$1/contribs/lib.sh"
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
