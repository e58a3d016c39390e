# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# check.sh's quick: for a change in one module, its unit tests, the checks of the tree
# that answer in seconds, and two files of system tests; quick.table, beside this, says
# which. A test that was changed itself runs too.
#
# Rules: it says what it ran; where no changed file has a test, that only the tree was
# checked.
# shellcheck disable=SC2154,SC2034 # the caller's

quick_lint=(structure words documents messages spelling house_rules)

# What differs from --from, or from the last commit; if nothing does, from the one before.
quick_changed() {
	local from=${upgrade_from:-HEAD}
	[ -e "$VS_TOP/.git" ] || die "quick asks git what has changed: $VS_TOP is no clone"
	if [ "$from" = HEAD ] && [ -z "$(git -C "$VS_TOP" status --porcelain)" ]; then
		from=HEAD~1
	fi
	git -C "$VS_TOP" diff --name-only "$from" -- || die "quick: git knows no commit $from"
	git -C "$VS_TOP" ls-files --others --exclude-standard
}

# The row of a file below src: patterns of unit programs, a colon, names of system tests.
quick_row() { # FILE
	awk -F ': *' -v file="$1" '!/^#/ && NF == 3 && index(file, $1 "/") == 1 &&
		length($1) > length(best) { best = $1; row = $2 ": " $3 }
		END { print row }' "$VS_TOP/testsuite/check/quick.table"
}

quick_programs() { # PATTERN...: the programs of these names
	local p name
	while IFS= read -r name; do
		name=${name##*/}
		for p in "$@"; do
			# shellcheck disable=SC2254 # a pattern
			case ${name#test_} in $p) say "$name"; break ;; esac
		done
	done < <(make -s -C "$VS_BUILD" list-tests)
}

# Sets patterns, files and more of what the changed files ask for.
quick_sort() {
	local f row part
	while IFS= read -r f; do
		case $f in
		src/*)
			row=$(quick_row "$f")
			read -ra part <<<"${row%%:*}"
			patterns+=("${part[@]}")
			read -ra part <<<"${row#*:}"
			for f in "${part[@]}"; do files+=("test_$f.py"); done ;;
		testsuite/unit/test_*.c) f=${f##*/test_}; patterns+=("${f%.c}") ;;
		testsuite/system/test_*.py) changed+=("${f##*/}") ;;
		testsuite/contribs/test_*.py | testsuite/guest/test_*.py)
			f=${f#testsuite/}; others+=("${f%%/*} ${f##*/}") ;;
		contribs/guest/slurm-vsphere-*) others+=("guest test_guest.py") ;;
		esac
	done
}

part_quick() {
	local patterns=() files=() changed=() others=() list programs only began=$SECONDS f c
	say "== quick"
	need_packages "${VS_PACKAGES_BUILD[@]}" "${VS_PACKAGES_RUN[@]}" "${VS_PACKAGES_LINT[@]}"
	list=$(quick_changed) || exit 1
	quick_sort < <(sort -u <<<"$list")
	need_slurm_source
	build main
	programs=$(quick_programs "${patterns[@]}" | sort -u | tr '\n' ' ')
	# Two rows name the most frequent first; a third module's files are left out.
	mapfile -t files < <(printf '%s\n' "${files[@]}" | awk 'NF { n[$0]++ } END {
		for (f in n) print n[f], f }' | sort -rn | awk 'NR <= 2 { print $2 }')
	mapfile -t files < <(printf '%s\n' "${changed[@]}" "${files[@]}" | awk 'NF && !seen[$0]++')
	mapfile -t others < <(printf '%s\n' "${others[@]}" | awk 'NF && !seen[$0]++')
	say "quick: $(wc -w <<<"$programs") unit programs; system: ${files[*]:-none}${others[*]:+; $(printf '%s, ' "${others[@]}")}"
	ones=0
	for c in "${quick_lint[@]}"; do
		case $c in
		house_rules) lint_house_rules ;;
		*) one "${lint_says[$c]}" "lint_$c" ;;
		esac
	done
	ran "quick lint" checks "${#quick_lint[@]}" "$((ones + 1))"
	only=${programs% }
	[ -z "$only" ] || run_unit_programs "$VS_BUILD" "" "quick unit"
	[ ${#files[@]} = 0 ] || { need_packages "${VS_PACKAGES_SYSTEM[@]}"; need_cluster; readable_root; }
	[ ${#files[@]} = 0 ] || run_pytest system "${files[@]}"
	for f in "${others[@]}"; do only=${f#* }; run_pytest "${f% *}"; done
	[ -n "$programs${files[*]}${others[*]}" ] ||
		say "quick: only the tree was checked: no changed file belongs to a test"
	say "quick: took $((SECONDS - began)) s"
}
