# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What passed and what failed in check.sh: counters, TAP logs, and how many of a
# part's tests ran. Sourced after setup.sh.
#
# Rules: a test that did not run is a failure; what failed is named.
# shellcheck disable=SC2154 # the caller's

passed=0
failed=0
ones=0

ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); say "FAILED: $*"; }

# tally LOG PREFIX: count a TAP log, name what failed.
tally() {
	local line n=0
	while IFS= read -r line; do
		case $line in
		"ok "*"# SKIP"*) n=$((n + 1)); say "skipped: $2: ${line#ok * - }" ;;
		# so says cmocka 1.1
		"not ok "*"# SKIP "*) n=$((n + 1)); say "skipped: $2: ${line#*# SKIP }" ;;
		"ok "*) n=$((n + 1)); ok ;;
		"not ok "*) n=$((n + 1)); bad "$2: ${line#not ok * - }" ;;
		"# "*) [ $n = 0 ] || [ "${show_diag:-}" != 1 ] || say "    $line" ;;
		esac
	done <"$1"
	[ $n -gt 0 ] || bad "$2: it gave no result"
}

# one NAME COMMAND...: a check that is one pass or fail.
one() {
	local name=$1 log
	ones=$((ones + 1))
	log=$results/$(printf '%s' "$1" | tr -c 'a-zA-Z0-9\n' _).log
	shift
	if "$@" >"$log" 2>&1 </dev/null; then
		ok
	else
		bad "$name"
		tail -n "${show_lines:-25}" "$log" | sed 's/^/    /'
	fi
}

# Print what a command says, and count its lines `ok ...` and `FAILED ...`.
say_and_count() { # LOG COMMAND...
	local log=$1
	shift
	(exec 9>&- && "$@") 2>&1 </dev/null | tee "$log" || true
	passed=$((passed + $(grep -c '^ok ' "$log" || true)))
	failed=$((failed + $(grep -c '^FAILED ' "$log" || true)))
}

# What passed and failed up to the last line that ran() printed.
ran_before="0 0"

# ran PART WHAT EXIST RAN [SKIPPED]: prints what passed and failed since the last
# call, and how many of the part's tests ran. EXIST is their number by the list of
# the program that builds or collects them. A skipped test has been named with its
# reason. A test that did not run is a failure.
ran() {
	local line
	line="$1: $((passed - ${ran_before% *})) passed, $((failed - ${ran_before#* })) failed, $4 of $3 ran"
	[ "${5:-0}" = 0 ] || line="$line, $5 skipped"
	say "$line ($2)"
	printf '%s\n' "$line ($2)" >>"$results/ran"
	if [ "${3:-0}" -lt 1 ] 2>/dev/null || [ -z "$3" ]; then
		bad "$1: no $2 exist"
	elif [ $(($4 + ${5:-0})) -lt "$3" ]; then
		bad "$1: $(($3 - $4 - ${5:-0})) of $3 did not run ($2)"
	fi
	ran_before="$passed $failed"
}
