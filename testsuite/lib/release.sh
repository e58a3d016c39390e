# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Checks of a release that `lint` and `packages` share: the tarball, the version,
# the RPMs' spec, `make install`. Sourced after setup.sh and tree.sh.
#
# Rules: nothing of it is installed on this machine.
# shellcheck disable=SC2154,SC2034 # the caller's

VS_PACKAGES_RPM=(rpm rpmlint)

# All of git's files but those that are for git and its hosts.
dist_is_whole() {
	local dir rc=0
	dir=$(mktemp -d) || return 1
	make -s -C "$VS_BUILD" distdir "distdir=$dir/release" >/dev/null || rc=1
	(cd "$dir/release" && find . ! -type d | sed 's,^[.]/,,') |
		grep -vE "$made_by_autoreconf" | sort >"$dir/has"
	tracked | grep -vE '^[.]ci/|(^|/)[.]git(ignore|keep)$' | sort >"$dir/wants"
	diff "$dir/wants" "$dir/has" || rc=1
	rm -rf "$dir"
	return $rc
}

release_version() {
	sed -n 's/^AC_INIT(\[slurm-vsphere\], \[\([^]]*\)\].*/\1/p' "$VS_TOP/configure.ac"
}

# A version is said in four places.
one_version() {
	local v f rc=0
	v=$(release_version)
	[ -n "$v" ] || { echo "configure.ac says no version"; return 1; }
	for f in \
		"NEWS.md:$(sed -n 's/^## \([^ ]*\).*/\1/p' "$VS_TOP/NEWS.md" | head -n 1)" \
		"debian/changelog:$(dpkg-parsechangelog -l "$VS_TOP/debian/changelog" -S Version)" \
		"slurm-vsphere.spec:$(sed -n 's/^Version: *//p' "$VS_TOP/slurm-vsphere.spec")" \
		"slurm-vsphere.spec's changelog:$(sed -n '/^%changelog/,$s/^\* .* - \([^-]*\)-[0-9]*$/\1/p' "$VS_TOP/slurm-vsphere.spec" | head -n 1)"; do
		[ "${f#*:}" = "$v" ] || { echo "${f%%:*} says ${f#*:}, configure.ac $v"; rc=1; }
	done
	return $rc
}

# The first section of NEWS.md, without its heading.
news_of_release() {
	awk '/^## / { n++; next } n == 1' "$VS_TOP/NEWS.md"
}

# The heading of a release is "## VERSION (YYYY-MM-DD)"; the packages' changelogs have
# the same day.
one_date() {
	local head date f rc=0
	head=$(grep -m 1 '^## ' "$VS_TOP/NEWS.md") || head=
	date=$(sed -n 's/^## [^ ]* (\([0-9]\{4\}-[0-9][0-9]-[0-9][0-9]\))$/\1/p' <<<"$head")
	if [ -z "$date" ] || [ "$(date -ud "$date" +%F 2>/dev/null)" != "$date" ]; then
		echo "error: NEWS.md begins with \"$head\": a release needs its date, \"## $(release_version) (YYYY-MM-DD)\""
		return 1
	fi
	for f in \
		"debian/changelog:$(dpkg-parsechangelog -l "$VS_TOP/debian/changelog" -S Date)" \
		"slurm-vsphere.spec's changelog:$(sed -n '/^%changelog/,$s/^\* \(... ... [0-9]* [0-9]\{4\}\) .*/\1/p' "$VS_TOP/slurm-vsphere.spec" | head -n 1)"; do
		[ "$(date -ud "${f#*:}" +%F 2>/dev/null)" = "$date" ] ||
			{ echo "error: ${f%%:*} has the date ${f#*:}, NEWS.md $date"; rc=1; }
	done
	return $rc
}

# Into a root with a Slurm of RELEASE, or of no release. Says what make said.
installed_beside() { # RELEASE ROOT
	local at
	at=$2$(sed -n 's/^slurmplugindir = //p' "$VS_BUILD/Makefile" | tail -n 1)
	mkdir -p "$at"
	printf 'x\0%s\0x' "$1" >"$at/libslurmfull.so"
	make -s -C "$VS_BUILD" install "DESTDIR=$2" 2>&1
}

install_refuses() {
	local dir said is n rc=0
	dir=$(mktemp -d) || return 1
	is=$(sed -n 's/^SLURM_RELEASE = //p' "$VS_BUILD/Makefile")
	for n in "${is%.*}.99" "nothing"; do
		said=$(installed_beside "$n" "$dir/$n") && { echo "it went beside $n"; rc=1; }
		[ "$(find "$dir/$n" -type f | wc -l)" = 1 ] || { echo "files were copied beside $n"; rc=1; }
		grep -q "^make install: the Slurm in .* was built for $is: nothing is installed; configure again" \
			<<<"$said" || { echo "said: $said"; rc=1; }
	done
	if ! said=$(installed_beside "$is" "$dir/same") ||
	   ! find "$dir/same" -name prep_vsphere.so | grep -q .; then
		echo "beside $is: $said"
		rc=1
	fi
	rm -rf "$dir"
	return $rc
}

spec_is_right() {
	local spec=$VS_TOP/slurm-vsphere.spec r
	rpmlint "$spec" || return 1
	r=$(rpmspec -q --qf '%{NAME}: [%{REQUIRES} ]\n' --define 'slurm_evr 24.11.5-1.el9' "$spec") || return 1
	grep -q '^slurm-vsphere-prep: .*slurm-vsphere-select' <<<"$r" ||
		{ echo "slurmd 24.11 needs the select plugin: $r"; return 1; }
	r=$(rpmspec -q --qf '%{NAME}: [%{REQUIRES} ]\n' --define 'slurm_evr 25.05.1-1.el9' "$spec") || return 1
	! grep '^slurm-vsphere-prep: .*slurm-vsphere-select' <<<"$r"
}
