# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# check.sh's coverage: the lines of src that no unit test runs.
#
# Rules: it does not belong to `all`; it prints figures, for people to judge. A run
# that was not whole is a failure.
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
