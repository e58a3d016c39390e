# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# check.sh's lint: what can be said of the tree without running it.
#
# Rules: a check changes nothing in the tree; it looks at what git knows, or at
# all of a release that was unpacked.
# shellcheck disable=SC2154 # the caller's

lint_shell() {
	local files
	mapfile -t files < <(cd "$VS_TOP" &&
		{ tracked '*.sh' .ci/run; tracked contribs debian | xargs -r grep -lE '^#!/bin/(ba)?sh' ; } | sort -u)
	(cd "$VS_TOP" && shellcheck -x "${files[@]}")
}

lint_spelling() {
	(cd "$VS_TOP" && tracked | grep -vE 'go\.sum$|\.golden$|/corpus/' |
		xargs -r codespell -L 'mor,ro,nd,te,ans,fo,inout,clos,crate,hda,noth,bu')
}

# The product's table, the manual page and doc/admin/vcenter.md name the same privileges.
lint_privileges() {
	/usr/bin/python3 "$VS_TOP/testsuite/lint/rights.py" "$VS_TOP"
}

# The numbers of src's structure only fall: --print shows them all.
lint_structure() {
	/usr/bin/python3 "$VS_TOP/testsuite/lint/structure.py"
}

# The counts of words that this project does not use only fall.
lint_words() {
	/usr/bin/python3 "$VS_TOP/testsuite/lint/words.py"
}

# The documents' sentences, links and lengths.
lint_documents() {
	/usr/bin/python3 "$VS_TOP/testsuite/lint/docs.py"
}

# No text that people read has a refused word or a long sentence.
lint_messages() {
	/usr/bin/python3 "$VS_TOP/testsuite/lint/messages.py"
}

# The manual pages as they are installed: form, length, sentences and tables.
lint_man() {
	/usr/bin/python3 "$VS_TOP/testsuite/lint/man.py" "$VS_BUILD/man"
}

lint_cppcheck() {
	(cd "$VS_TOP" && cppcheck --quiet --error-exitcode=1 --std=c11 \
		--enable=warning,portability --inline-suppr \
		--suppress=missingInclude --suppress=unknownMacro \
		--suppress=ctunullpointer \
		-D'LIST_HEAD(n,t)=struct{struct t *lh_first;}' \
		-D'TAILQ_HEAD(n,t)=struct{struct t *tqh_first;struct t **tqh_last;}' \
		-D'STAILQ_HEAD(n,t)=struct{struct t *stqh_first;struct t **stqh_last;}' \
		-I src/common src)
}

# Its source beside another Slurm's libraries must end configure.
lint_refuses() {
	local dir said
	dir=$(mktemp -d) || return 1
	said=$(cd "$dir" && "$VS_TOP/configure" --with-slurm-source="$lint_next" 2>&1)
	local rc=$?
	rm -rf "$dir"
	if [ $rc = 0 ] || ! grep -q "error: the Slurm in .* is not 24.11.5" <<<"$said"; then
		tail -3 <<<"$said"
		return 1
	fi
}

# The plugins' sources against the headers of a release that isn't installed:
# what differs must stay behind slurm_compat.
lint_compile() {
	local f rc=0
	while IFS= read -r f; do
		gcc -std=gnu11 -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers \
			-Wno-sign-compare -Werror -fsyntax-only -DHAVE_CONFIG_H -D_GNU_SOURCE \
			-I "$VS_TOP/src/common" -I "$VS_TOP/src" \
			-isystem "$lint_next" -I "$VS_BUILD" "$VS_TOP/$f" || rc=1
	done < <(tracked 'src/plugins/*.c' 'src/check/*.c')
	return $rc
}

lint_gofmt() {
	local out
	# The one of the toolchain that go.mod asks for, wherever that is.
	out=$(cd "$VS_TOP/testsuite/vcsim" && "$("$VS_GO" env GOROOT)/bin/gofmt" -l .)
	[ -z "$out" ] || { echo "gofmt differs: $out"; return 1; }
}

lint_govet() {
	(cd "$VS_TOP/testsuite/vcsim" && "$VS_GO" vet ./...)
}

lint_plan_symbols() { bash "$VS_TOP/testsuite/lint/plan_symbols.sh" "$VS_BUILD"; }
lint_benches() { make -C "$VS_BUILD" V=0 benches; }
lint_no_crash_points() { bash "$VS_TOP/testsuite/lint/no_crash_points.sh" "$VS_BUILD"; }
lint_cmocka() { bash "$VS_TOP/testsuite/lint/cmocka_next.sh" "$VS_BUILD" "$VS_CACHE"; }
lint_dist() { dist_is_whole; }
lint_version() { one_version; }
lint_spec() { spec_is_right; }
lint_install() { install_refuses; }

# What each check says. A check without a line here is called by its own name.
declare -A lint_says=(
	[plan_symbols]="plan's objects import nothing impure"
	[benches]="the measurements build"
	[no_crash_points]="a release has no crash points"
	[shell]=shellcheck
	[spelling]=codespell
	[gofmt]=gofmt
	[govet]="go vet"
	[compile]="the plugins compile against Slurm 24.11.5"
	[refuses]="configure refuses the source of another release"
	[structure]="the numbers of testsuite/lint/structure.txt hold"
	[documents]="documents are short, in plain words, and their links lead somewhere"
	[words]="the counts of testsuite/lint/words.txt hold"
	[man]="the manual pages have Slurm's form and name all of the tables"
	[messages]="texts for people follow the rules of testsuite/lint/messages.py"
	[cmocka]="the tests compile with the cmocka of Debian testing"
	[dist]="a release holds what git has"
	[version]="a version is said alike everywhere"
	[spec]="rpmlint and what the RPMs require"
	[install]="make install refuses another Slurm"
)

# tree.py prints how many rules it has before it looks at the first of them.
lint_house_rules() {
	local log=$results/tree.tap rc=0
	/usr/bin/python3 "$VS_TOP/testsuite/lint/tree.py" >"$log" 2>&1 || rc=$?
	show_diag=1 tally "$log" "house rules"
	rules=$(sed -n 's/^1\.\.\([0-9]*\)$/\1/p' "$log")
	[ -n "$rules" ] || bad "house rules: tree.py does not print how many it has"
	results_of_rules=$(grep -cE '^(not )?ok ' "$log" || true)
	if [ $rc != 0 ] && ! grep -q '^not ok ' "$log"; then
		bad "house rules: tree.py ended with $rc: $(tail -n 1 "$log")"
	fi
}

# Every check is a function lint_NAME, and every such function is run: bash's own
# list of them says how many checks exist.
part_lint() {
	local c checks rules=0 results_of_rules=0
	say "== lint"
	need_packages "${VS_PACKAGES_BUILD[@]}" "${VS_PACKAGES_RUN[@]}" "${VS_PACKAGES_LINT[@]}" \
		"${VS_PACKAGES_RPM[@]}"
	need_go
	need_slurm_source
	build main
	lint_next=$("$VS_TOP/contribs/packaging/slurm-source.sh" 24.11.5) || exit 1
	[ -n "$(tracked contribs)" ] || die "git names no file of $VS_TOP: nothing can be checked"
	mapfile -t checks < <(compgen -A function lint_)
	ones=0
	for c in "${checks[@]}"; do
		case $c in
		lint_house_rules) lint_house_rules ;;
		*) one "${lint_says[${c#lint_}]:-${c#lint_}}" "$c" ;;
		esac
	done
	ran lint "checks, $rules of them house rules" "$((${rules:-0} + ${#checks[@]} - 1))" \
		"$((results_of_rules + ones))"
}
