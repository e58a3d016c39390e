#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# slurm-source.sh [DIR]           the source of exactly the installed Slurm
# slurm-source.sh --from DIR      a tree from which the installed Slurm was built
# slurm-source.sh VERSION [DIR]   an upstream release, for compile checks alone
#
# Prints the directory of a configured source tree. A plugin that is built from
# other headers reads wrong memory, so any difference of version, the
# distribution's revision included, is refused. Never touches /etc/apt: the
# source comes from the system's own archives through a private configuration.
# shellcheck source=testsuite/lib/setup.sh
. "$(dirname "$0")/../../testsuite/lib/setup.sh"

# Releases that the plugins are compiled against without being installed.
declare -A upstream_sha256=(
	[24.11.5]=e1a5547edd212c38b5e3230a284133f777b32746551f094aaa81cc4af375e332
)

configure_tree() {
	(cd "$1" && run_logged "$VS_CACHE/log/configure-slurm.log" "configuring Slurm's source" \
		./configure --disable-debug --sysconfdir=/etc/slurm) || exit 1
}

# The version a tree says it is.
tree_version() {
	sed -n 's/^#define SLURM_VERSION_STRING "\(.*\)"$/\1/p' "$1/config.h" 2>/dev/null
}

# What the installed Slurm says it is; nothing if there is none.
release_here() {
	local says
	says=$(slurmctld -V 2>/dev/null || slurmd -V 2>/dev/null || true)
	say "${says##* }"
}

# 24.11.5 of 1:24.11.5-4
upstream_version() { local v=${1#*:}; say "${v%-*}"; }

make_space() {
	case $1 in /*/*) ;; *) die "$1: an absolute path below a directory is needed" ;; esac
	if [ -e "$1" ] && [ ! -e "$1/.vs-version" ] && [ -n "$(ls -A "$1")" ]; then
		die "$1 is there and was not made by this script: give another directory"
	fi
	rm -rf "$1" "$1.new"
	mkdir -p "$(dirname "$1")"
}

installed() {
	local dir src version upstream says
	says=$(release_here)
	[ -n "$says" ] || die "no Slurm here: install slurmctld first (slurmctld -V answers nothing)"
	local p
	for p in slurmctld slurmd slurm-client ""; do
		[ -n "$p" ] || die "the installed Slurm $says comes from no Debian package: configure with --with-slurm-source=DIR of the source it was built from"
		package_installed "$p" && break
	done
	src=$(dpkg-query -W -f='${source:Package}' "$p")
	version=$(dpkg-query -W -f='${source:Version}' "$p")
	upstream=$(upstream_version "$version")
	[ "$says" = "$upstream" ] ||
		die "slurmctld says it is $says, its package $p is $version: two Slurms are installed, keep one"
	dir=${1:-$VS_CACHE/slurm-$version}
	if [ "$(cat "$dir/.vs-version" 2>/dev/null)" != "$version" ]; then
		fetch_debian "$src" "$version" "$dir"
	fi
	[ "$(tree_version "$dir")" = "$says" ] ||
		die "$dir holds the source of Slurm $(tree_version "$dir"), installed is $says: remove $dir and run again"
	say "$dir"
}

# An archive that lacks the package's own part of the source still has upstream's
# tarball, with its checksum in the archive's signed index.
upstream_of() { # SOURCE VERSION DIR APT_CONFIG
	(cd "$3" && APT_CONFIG=$4 run_logged "$VS_CACHE/log/apt-source-tar.log" \
		"the archive has no source of $1 $2 (is an update of Slurm pending? install it first); fetching it" \
		apt-get -q source --only-source --tar-only "$1=$2") || exit 1
	note "the archive lacks the distribution's patches of $1 $2: upstream's headers alone are used"
	mkdir -p "$3/tree"
	run_logged "$VS_CACHE/log/unpack.log" "unpacking the source" \
		tar -xf "$3/${1}_$(upstream_version "$2").orig.tar.gz" -C "$3/tree" --strip-components=1
}

fetch_debian() {
	local src=$1 version=$2 dir=$3 apt=$VS_CACHE/apt-source top=$3.new/tree
	make_space "$dir"
	note "fetching the source of $src $version"
	private_apt "$apt" deb-src
	run_logged "$VS_CACHE/log/apt-source.log" "reading the archive's lists of sources" \
		env "APT_CONFIG=$apt/apt.conf" apt-get -q update
	mkdir -p "$dir.new"
	if (cd "$dir.new" && APT_CONFIG=$apt/apt.conf apt-get -q source --only-source \
		--download-only "$src=$version") >"$VS_CACHE/log/apt-source.log" 2>&1 </dev/null; then
		run_logged "$VS_CACHE/log/dpkg-source.log" "unpacking the source" \
			dpkg-source --no-check -x "$dir.new/${src}_${version#*:}.dsc" "$top"
		# What the package's own changelog says, revision included.
		[ "$(dpkg-parsechangelog -l "$top/debian/changelog" -S Version)" = "$version" ] ||
			die "the archive gave another version than $version"
	else
		upstream_of "$src" "$version" "$dir.new" "$apt/apt.conf"
	fi
	note "configuring it, once"
	configure_tree "$top"
	printf '%s\n' "$version" >"$top/.vs-version"
	mv "$top" "$dir"
	rm -rf "$dir.new"
}

upstream() {
	local version=$1 dir=${2:-$VS_CACHE/slurm-$1} tar site
	[ -n "${upstream_sha256[$version]:-}" ] ||
		die "no checksum of Slurm $version is known (there are: ${!upstream_sha256[*]})"
	if [ "$(cat "$dir/.vs-version" 2>/dev/null)" != "$version" ]; then
		make_space "$dir"
		note "fetching the source of Slurm $version"
		mkdir -p "$dir.new"
		tar=$dir.new/slurm.tar.gz
		# shellcheck disable=SC2016 # apt expands it
		for site in $(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' \
			'Component: main' | sort -u); do
			/usr/lib/apt/apt-helper download-file \
				"${site%/}/pool/main/s/slurm-wlm/slurm-wlm_$version.orig.tar.gz" \
				"$tar" "SHA256:${upstream_sha256[$version]}" \
				>"$VS_CACHE/log/upstream.log" 2>&1 && break
			rm -f "$tar"
		done
		[ -f "$tar" ] || die "none of apt's archives gave Slurm $version's source (no network?)"
		echo "${upstream_sha256[$version]}  $tar" | sha256sum -c --status ||
			die "the source of Slurm $version is not the one that is known (checksum)"
		mkdir "$dir.new/tree"
		tar -xzf "$tar" -C "$dir.new/tree" --strip-components=1
		configure_tree "$dir.new/tree"
		printf '%s\n' "$version" >"$dir.new/tree/.vs-version"
		mv "$dir.new/tree" "$dir"
		rm -rf "$dir.new"
	fi
	[ "$(tree_version "$dir")" = "$version" ] ||
		die "$dir holds the source of Slurm $(tree_version "$dir"), not $version: remove it and run again"
	say "$dir"
}

# Used where it lies; configured there unless it is.
from() {
	local dir says
	dir=$(cd "${1:-/nonexistent}" 2>/dev/null && pwd) || die "--from: no directory ${1:-is named}"
	[ -f "$dir/configure" ] && [ -f "$dir/slurm/slurm.h.in" ] || [ -f "$dir/slurm/slurm.h" ] ||
		die "$dir is no source tree of Slurm"
	[ -f "$dir/config.h" ] || configure_tree "$dir"
	says=$(release_here)
	[ -n "$says" ] || die "no Slurm here: build and install the one of $dir first"
	[ "$(tree_version "$dir")" = "$says" ] ||
		die "$dir is the source of Slurm $(tree_version "$dir"), installed is $says: give the source of exactly that one"
	say "$dir"
}

mkdir -p "$VS_CACHE/log"
case ${1:-} in
-h | --help)
	sed -n '4,6s/^# //p' "$0" ;;
--from)
	from "${2:-}" ;;
[0-9]*.[0-9]*.[0-9]*)
	upstream "$@" ;;
*)
	installed "$@" ;;
esac
