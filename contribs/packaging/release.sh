#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# release.sh [--tarball] DIR      what `make release` calls: the release of the commit
#                                 that is checked out, in the new directory DIR
#
# Makes the tarball, the Debian source and binary packages for the installed Slurm, the
# RPMs' spec, the first section of NEWS.md, and SHA256SUMS of them all. --tarball: the
# tarball alone. The tarball has the same bytes whenever and wherever it is made with the
# same autotools. Refused are changes that are not committed, a NEWS.md without a date,
# and a version or date that differs between NEWS.md, configure.ac, debian and the spec.
# shellcheck disable=SC2154 # setup.sh's
# shellcheck source=testsuite/lib/setup.sh
. "$(dirname "$0")/../../testsuite/lib/setup.sh"
# shellcheck source=testsuite/lib/tree.sh
. "$VS_TOP/testsuite/lib/tree.sh"
# shellcheck source=testsuite/lib/release.sh
. "$VS_TOP/testsuite/lib/release.sh"

in_git() { git -c safe.directory='*' -C "$VS_TOP" "$@"; }

# What was committed, without what lies about in the directory.
exported() { # DIRECTORY
	mkdir -p "$1" && in_git archive HEAD | tar -x -C "$1"
}

# Order, times, owners and rights come from the commit; automake's own tar command
# would take them from this machine. With several threads xz writes other bytes.
tarball() {
	local tree=$work/tree
	exported "$tree" || return 1
	(cd "$tree" && autoreconf -fi) || return 1
	mkdir -p "$work/build"
	(cd "$work/build" &&
		"$tree/configure" --with-slurm-source="$VS_SLURM_SRC" --prefix=/usr &&
		make dist XZ_OPT='-e -T1' am__tar="tar --format=gnu --sort=name --mtime=@$SOURCE_DATE_EPOCH --owner=0 --group=0 --numeric-owner --mode=u+rw,go=rX -chf - \"\$\$tardir\"") ||
		return 1
	cp "$work/build/$name.tar.xz" "$dir/"
}

debian_packages() {
	local tree=$work/debian/$name
	exported "$tree" || return 1
	(cd "$tree" && SLURM_SOURCE=$VS_SLURM_SRC dpkg-buildpackage -us -uc) || return 1
	(cd "$work/debian" && lintian --allow-root --fail-on error,warning ./*.changes) || return 1
	find "$work/debian" -maxdepth 1 -type f ! -name '*-dbgsym_*' -exec cp -t "$dir" {} +
}

step() { # WHAT COMMAND...
	local log=$VS_CACHE/log/release-$2.log
	say "$1"
	run_logged "$log" "$1" "${@:2}"
}

only_tarball=
if [ "${1:-}" = --tarball ]; then
	only_tarball=yes
	shift
fi
[ $# = 1 ] || die "usage: release.sh [--tarball] DIR"
case $1 in /*) dir=$1 ;; *) dir=$PWD/$1 ;; esac
[ ! -e "$dir" ] || die "$dir is there: name a new directory"
in_git rev-parse --quiet --verify HEAD >/dev/null ||
	die "a release is made of a git commit, and $VS_TOP is no clone"
[ -z "$(in_git status --porcelain)" ] ||
	die "there are changes that are not committed, or files that git does not know"

need_packages git "${VS_PACKAGES_BUILD[@]}" xz-utils
[ -n "$only_tarball" ] ||
	need_packages "${VS_PACKAGES_RUN[@]}" debhelper lintian "${VS_PACKAGES_RPM[@]}"
step "the version is the same everywhere" one_version
step "NEWS.md and the packages have one date" one_date
SOURCE_DATE_EPOCH=$(in_git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
need_slurm_source
name=slurm-vsphere-$(release_version)
work=$(mktemp -d /tmp/vs-release.XXXXXX) || die "can't write in /tmp"
trap 'rm -rf "$work"' EXIT
mkdir -p "$dir"
step "the tarball" tarball
if [ -z "$only_tarball" ]; then
	step "rpmlint and the RPMs' dependencies" spec_is_right
	cp "$VS_TOP/slurm-vsphere.spec" "$dir/"
	step "the Debian packages, with the unit tests and lintian" debian_packages
fi
news_of_release >"$dir/NEWS"
(cd "$dir" && LC_ALL=C sha256sum -- * >"$work/sums" && mv "$work/sums" SHA256SUMS)
say "$dir holds the release $name of $(in_git log -1 --format=%h):"
cat "$dir/SHA256SUMS"
