#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# cmocka_next.sh BUILD CACHE: the tests that BUILD configured compile, without a
# warning, against the cmocka of Debian testing. Its header is fetched with apt,
# from the archives that this system uses, and kept in CACHE.
set -euo pipefail

build=${1:?usage: cmocka_next.sh BUILD CACHE}
keep=${2:?usage: cmocka_next.sh BUILD CACHE}/cmocka-next
top=$(sed -n "s/^top_srcdir = //p" "$build/Makefile")

fetch_header() (
	local deb codename f
	# shellcheck source=testsuite/lib/setup.sh
	. "$top/testsuite/lib/setup.sh"
	rm -rf "$keep"
	private_apt "$keep/apt" deb
	# Other suites of the system's own archives; the security archive has none.
	for f in "$keep"/apt/parts/*.sources; do
		[ ! -f "$f" ] || awk 'BEGIN { RS = ""; ORS = "\n\n" }
			/-security/ { next }
			{ sub(/Suites:[^\n]*/, "Suites: testing"); print }' "$f" >"$f.t"
		[ ! -f "$f.t" ] || mv "$f.t" "$f"
	done
	# shellcheck disable=SC1091
	codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
	for f in "$keep"/apt/parts/*.list; do
		[ ! -f "$f" ] || sed -i "/-security/d;s/ ${codename}[a-z-]* / testing /" "$f"
	done
	export APT_CONFIG=$keep/apt/apt.conf
	apt-get -q update
	(cd "$keep" && apt-get -q download libcmocka-dev)
	deb=$(find "$keep" -maxdepth 1 -name '*.deb')
	dpkg-deb -x "$deb" "$keep/new"
	rm -rf "$keep/apt"
	mv "$keep/new" "$keep/tree"
)

[ -f "$keep/tree/usr/include/cmocka.h" ] || fetch_header
grep -m 1 -h '^Version' "$keep"/tree/usr/lib/*/pkgconfig/cmocka.pc

# make says how it would compile each file if all had changed. A file that it
# compiles for several programs is looked at once.
mapfile -t files < <(find "$top/testsuite/unit" "$top/testsuite/fuzz" -name '*.c')
plan=$(make -s -n -k V=1 -C "$build" "${files[@]/#/-W}" check-programs)
declare -A command=()
while IFS= read -r line; do
	[[ $line =~ cc\ .*\ -c\ -o\ .*(testsuite/(unit|fuzz)/[a-z_0-9]+\.c) ]] || continue
	src=${BASH_REMATCH[1]}
	line=${line#*--mode=compile }
	command[$src]=${line%% -MT *}
done <<<"$plan"
rc=0
ran=0
for f in "${files[@]}"; do
	src=${f#"$top/"}
	if [ -z "${command[$src]:-}" ]; then
		echo "$src: make check compiles it for no program"
		rc=1
		continue
	fi
	ran=$((ran + 1))
	(cd "$build" && eval "${command[$src]}" -fsyntax-only -Werror \
		-Werror=deprecated-declarations '-I"$keep/tree/usr/include" "$f"') || rc=1
done
echo "$ran of ${#files[@]} files were given to the compiler"
exit $rc
