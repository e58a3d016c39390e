# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# check.sh's lint: what can be said of the tree without running it. Sourced after
# lib.sh by who has one(), tally(), results and packages.sh's checks.
#
# Rules: a check changes nothing in the tree; it looks at what git knows, or at
# all of a release that was unpacked.
# shellcheck disable=SC2154 # the caller's

# What a release has and git doesn't: made by autoreconf.
made_by_autoreconf='^(configure|aclocal[.]m4|vs_config[.]h[.]in|Makefile[.]in)~?$|^(auxdir|m4|autom4te[.]cache)/|/__pycache__/'

tracked() { # GLOB...
	local f g
	if [ -e "$VS_TOP/.git" ]; then
		git -c safe.directory='*' -C "$VS_TOP" ls-files --cached --others --exclude-standard -- "$@"
	else
		(cd "$VS_TOP" && find . -type f | sed 's,^[.]/,,' | sort) |
			grep -vE "$made_by_autoreconf" | while IFS= read -r f; do
			for g in "${@:-*}"; do
				# shellcheck disable=SC2254 # a pattern
				case $f in $g | "${g%/}"/*) printf '%s\n' "$f"; break ;; esac
				[ "$g" != . ] || { printf '%s\n' "$f"; break; }
			done
		done
	fi | while IFS= read -r f; do
		if [ -f "$VS_TOP/$f" ]; then printf '%s\n' "$f"; fi
	done
}

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
	said=$(cd "$dir" && "$VS_TOP/configure" --with-slurm-source="$1" 2>&1)
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
	local src=$1 f rc=0
	while IFS= read -r f; do
		gcc -std=gnu11 -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers \
			-Wno-sign-compare -Werror -fsyntax-only -DHAVE_CONFIG_H -D_GNU_SOURCE \
			-I "$VS_TOP/src/common" -I "$VS_TOP/src/plugins" \
			-isystem "$src" -I "$VS_BUILD" "$VS_TOP/$f" || rc=1
	done < <(tracked 'src/plugins/*.c')
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

part_lint() {
	local src tree
	say "== lint"
	need_packages "${VS_PACKAGES_BUILD[@]}" "${VS_PACKAGES_RUN[@]}" "${VS_PACKAGES_LINT[@]}" \
		"${VS_PACKAGES_RPM[@]}"
	need_go
	need_slurm_source
	build main
	/usr/bin/python3 "$VS_TOP/testsuite/lint/tree.py" >"$results/tree.tap" 2>&1 || true
	show_diag=1 tally "$results/tree.tap" "house rules"
	tree=$(sed -n 's/^1\.\.\([0-9]*\)$/\1/p' "$results/tree.tap")
	ones=0
	one "plan's objects import nothing impure" \
		bash "$VS_TOP/testsuite/lint/plan_symbols.sh" "$VS_BUILD"
	one "the measurements build" make -C "$VS_BUILD" V=0 benches
	one "a release has no crash points" \
		bash "$VS_TOP/testsuite/lint/no_crash_points.sh" "$VS_BUILD"
	[ -n "$(tracked contribs)" ] || die "git names no file of $VS_TOP: nothing can be checked"
	one "shellcheck" lint_shell
	one "codespell" lint_spelling
	one "cppcheck" lint_cppcheck
	one "gofmt" lint_gofmt
	one "go vet" lint_govet
	src=$("$VS_TOP/contribs/slurm-source.sh" 24.11.5) || exit 1
	one "the plugins compile against Slurm 24.11.5" lint_compile "$src"
	one "configure refuses the source of another release" lint_refuses "$src"
	one "the tests compile with the cmocka of Debian testing" \
		bash "$VS_TOP/testsuite/lint/cmocka_next.sh" "$VS_BUILD" "$VS_CACHE"
	one "a release holds what git has" dist_is_whole
	one "a version is said alike everywhere" one_version
	one "rpmlint and what the RPMs require" spec_is_right
	one "make install refuses another Slurm" install_refuses
	ran lint checks "$((${tree:-0} + $(declare -f part_lint | grep -c '^ *one "')))" \
		"$(($(grep -cE '^(not )?ok ' "$results/tree.tap" || true) + ones))"
}
