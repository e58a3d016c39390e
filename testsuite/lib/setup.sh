# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The set-up of demo.sh, check.sh, bench.sh and slurm-source.sh: packages, Slurm's
# source, Go, the build. Sourced, never run.
#
# Rules: everything that is made lies in one cache directory ($VS_CACHE) and in
# private directories below /tmp; the system's services and configuration stay
# as they are; what is there already is not made again; a failure is one clear
# line and a non-zero exit.

set -euo pipefail

VS_TOP=$(CDPATH='' cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

# What the caller's surroundings may say to bash, git, make, Python or pytest is
# not meant for us; messages that are looked at are in English.
unset CDPATH GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE MAKEFLAGS MFLAGS \
	PYTHONPATH PYTHONHOME PYTEST_ADDOPTS
export LC_ALL=C.UTF-8
# What we start listens on loopback, which no proxy of the machine's reaches; and
# its sockets' paths must be short, in a directory where other users may look.
export no_proxy="${no_proxy:+$no_proxy,}127.0.0.1,localhost"
export NO_PROXY=$no_proxy TMPDIR=/tmp
# Some are started with no standard input at all.
{ : <&0; } 2>/dev/null || exec </dev/null

# No HOME, or one that can't be written, as in containers and services: what
# looks for it (Go does) finds one below /var/tmp, of this user alone.
vs_home() {
	local d=${HOME:-} f
	if [ -z "$d" ]; then
		d=$(getent passwd "$(id -u)" | cut -d: -f6) || d=
	fi
	if [ -n "$d" ] && f=$(mktemp "$d/.slurm-vsphere-XXXXXX" 2>/dev/null); then
		rm -f "$f"
	else
		d=/var/tmp/slurm-vsphere-$(id -u)
		if ! { (umask 077 && mkdir -p "$d") && [ -O "$d" ] && [ ! -L "$d" ]; } 2>/dev/null; then
			printf '%s\n' "${0##*/}: no home directory can be written, nor $d: set HOME" >&2
			exit 1
		fi
	fi
	export HOME=$d
}
vs_home
VS_CACHE=${VS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/slurm-vsphere}
case $VS_CACHE in /*) ;; *) VS_CACHE=$PWD/$VS_CACHE ;; esac

# autoconf, libtool and make take no blank, quote or "#" in a path. So a cache with
# such a name is made elsewhere, and the tree is reached through a link.
path_is_safe() { case $1 in *[!A-Za-z0-9/._+,@=~-]*) return 1 ;; esac; }
path_hash() { printf '%s' "$1" | cksum | cut -d ' ' -f 1; }

# This user's own directory below /var/tmp, which no other user can have made.
vs_own_tmp() {
	local d
	d=/var/tmp/slurm-vsphere-$(id -u)
	if ! { (umask 077 && mkdir -p "$d") && [ -O "$d" ] && [ ! -L "$d" ]; } 2>/dev/null; then
		printf '%s\n' "${0##*/}: $d can't be made, or is not yours: remove it, or set VS_CACHE" >&2
		exit 1
	fi
	printf '%s\n' "$d"
}

vs_safe_paths() {
	local link
	if ! path_is_safe "$VS_CACHE"; then
		link=$(vs_own_tmp)/cache-$(path_hash "$VS_CACHE") || exit 1
		printf '%s\n' "${0##*/}: make can't build below \"$VS_CACHE\" (a blank or a special character): building in $link" >&2
		VS_CACHE=$link
	fi
	path_is_safe "$VS_TOP" && return 0
	link=$VS_CACHE/top-$(path_hash "$VS_TOP")
	{ mkdir -p "$VS_CACHE" && ln -sfn "$VS_TOP" "$link"; } 2>/dev/null || return 0
	VS_TOP=$link
}
vs_safe_paths
# Other users of a kept demo read what is built here.
umask 022
export PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin

VS_PACKAGES_BUILD=(gcc make autoconf automake libtool pkg-config dpkg-dev
	libcurl4-openssl-dev libjson-c-dev libmunge-dev libncurses-dev uthash-dev
	libibverbs-dev libcmocka-dev ca-certificates)
VS_PACKAGES_RUN=(munge python3 python3-pytest util-linux zsh)
# A Slurm that was built from source and installed in a directory is no package.
[ -n "${VS_SLURM_TREE:-}" ] || VS_PACKAGES_RUN+=(slurmctld slurmd slurm-client)
# The tests of limits (this -core is no service), of MPI, of the metrics, of svf --json and top,
# of what the health tests' job reads, of a guest whose clock is behind
# shellcheck disable=SC2034 # check.sh's
VS_PACKAGES_SYSTEM=(libopenmpi-dev openmpi-bin prometheus python3-prometheus-client
	python3-jsonschema python3-pyte librsvg2-bin perftest mariadb-server-core libfaketime)
[ -n "${VS_SLURM_TREE:-}" ] || VS_PACKAGES_SYSTEM+=(slurmdbd)
# The recipe of the template: the role is played on a root that mmdebstrap makes.
# shellcheck disable=SC2034 # check.sh's
VS_PACKAGES_CONTRIBS=(mandoc ansible-core ansible-lint mmdebstrap openssh-client
	rpm createrepo-c)
# shellcheck disable=SC2034 # check.sh's
VS_PACKAGES_LINT=(git shellcheck codespell cppcheck binutils mandoc)

vs_sim_given=${VS_SIM:-}

# What has been made in this run, and is not made again: parts that run side by
# side would build over each other.
declare -A vs_made=()

say() { printf '%s\n' "$*"; }
note() { printf '%s\n' "$*" >&2; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }
# The script's own comment, from its fourth line to the first that is for others.
say_help() {
	awk 'NR > 3 { if (!/^#/ || /^# shellcheck/) exit; sub(/^# ?/, ""); print }' "$0"
}

# Run a command as root.
as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		die "needs root for: $* (run it as root, or install sudo)"
	fi
}

# Leave, with one line, unless this user is root or may be. sudo asks for its
# password where there is a terminal to ask on.
need_root() {
	[ "$(id -u)" != 0 ] || return 0
	command -v sudo >/dev/null ||
		die "$1 needs root: run as root, or install sudo"
	if sudo -n true 2>/dev/null; then return 0; fi
	{ { : </dev/tty; } 2>/dev/null && sudo -v; } ||
		die "$1 needs root, and sudo gives $(id -un) no privilege: run it once as root or with sudo"
}

# The line of a log that says best why the command failed.
reason() {
	local like
	for like in \
		'no space left|read-only file system|permission denied|could not get lock|temporary failure|could not (resolve|connect)|no such host|network is unreachable|connection refused|i/o timeout' \
		'error: |^E: |fatal: |undefined reference|no rule to make'; do
		if grep -m 1 -iE "$like" "$1" 2>/dev/null; then return 0; fi
	done | sed 's/^[[:space:]]*//' | grep . && return 0
	tail -n 1 "$1" 2>/dev/null || true
}

# run_logged LOG WHAT COMMAND...: if it fails, one line that says why.
run_logged() {
	local log=$1 what=$2
	shift 2
	{ mkdir -p "$(dirname "$log")" && : >"$log"; } 2>/dev/null ||
		die "can't write $log"
	if ! "$@" >"$log" 2>&1 </dev/null; then
		die "$what failed: $(reason "$log") (the whole log is $log)"
	fi
}

# One set-up at a time: two that run together would build over each other.
# The descriptor is closed in the children that outlive us (see 9>&-).
lock_cache() {
	{ mkdir -p "$VS_CACHE" && : >>"$VS_CACHE/lock"; } 2>/dev/null ||
		die "can't write in $VS_CACHE (VS_CACHE=DIR names another place)"
	exec 9>>"$VS_CACHE/lock"
	flock -n 9 || {
		note "another demo, check or bench is setting up in $VS_CACHE, waiting for it"
		flock -w 1800 9 || die "the other one has held $VS_CACHE/lock for 30 minutes"
	}
}
unlock_cache() { exec 9>&-; }

# ---- apt ---------------------------------------------------------------------

# Entries of one-line and of deb822 sources for this release, with another
# type and perhaps one more suite; keyrings and options of the entries stay.
apt_oneline() {		# FILE TYPE CODENAME EXTRA
	awk -v t="$2" -v c="$3" -v x="$4" '
	$1 == "deb" {
		s = 3
		if ($2 ~ /^\[/) { for (s = 2; $s !~ /\]$/; s++); s += 2 }
		if (index($s, c) != 1) next
		$1 = t
		print
		if (x != "" && $s == c) { $s = c x; print }
	}' "$1"
}

apt_deb822() {		# FILE TYPE CODENAME EXTRA
	grep -v '^#' "$1" | awk -v t="$2" -v c="$3" -v x="$4" '
	BEGIN { RS = ""; FS = "\n"; ORS = "\n\n" }
	/(^|\n)Enabled:[ \t]*no/ { next }
	{
		hit = 0
		for (i = 1; i <= NF; i++) {
			if ($i ~ /^Types:/) {
				if ($i !~ /deb([ \t]|$)/) next
				$i = "Types: " t
			}
			if ($i !~ /^Suites:/) continue
			m = split($i, s, /[ \t]+/)
			$i = "Suites:"
			for (j = 2; j <= m; j++) {
				if (index(s[j], c) != 1) continue
				hit = 1
				$i = $i " " s[j]
				if (x != "" && s[j] == c) $i = $i " " c x
			}
		}
		if (!hit) next
		out = $1
		for (i = 2; i <= NF; i++) out = out "\n" $i
		print out
	}'
}

# private_apt DIR deb-src|deb [EXTRA_SUITE_SUFFIX]: a configuration of apt's
# that knows the system's own archives and writes below DIR alone.
private_apt() {
	local dir=$1 type=$2 extra=${3:-} codename f n=0
	# shellcheck disable=SC1091
	codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
	[ -n "$codename" ] || die "no VERSION_CODENAME in /etc/os-release: not a Debian release"
	mkdir -p "$dir/parts" "$dir/lists/partial"
	rm -f "$dir"/parts/*
	for f in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
		n=$((n + 1))
		[ ! -f "$f" ] || apt_oneline "$f" "$type" "$codename" "$extra" \
			>"$dir/parts/$n.list"
	done
	for f in /etc/apt/sources.list.d/*.sources; do
		n=$((n + 1))
		[ ! -f "$f" ] || apt_deb822 "$f" "$type" "$codename" "$extra" \
			>"$dir/parts/$n.sources"
	done
	find "$dir/parts" -type f -empty -delete
	ls "$dir"/parts/* >/dev/null 2>&1 ||
		die "apt's sources name no $codename archive: can't tell where packages come from"
	cat >"$dir/apt.conf" <<-EOT
	Dir::Etc::sourcelist "/dev/null";
	Dir::Etc::sourceparts "$dir/parts";
	Dir::State::lists "$dir/lists";
	Dir::Cache::pkgcache "";
	Dir::Cache::srcpkgcache "";
	APT::Update::Error-Mode "any";
	APT::Sandbox::User "root";
	#clear APT::Update::Pre-Invoke;
	#clear APT::Update::Post-Invoke;
	#clear APT::Update::Post-Invoke-Success;
	EOT
}

package_installed() {
	[ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# Install the packages that are missing. No service of theirs is started, now
# or at the next boot.
need_packages() {
	local p missing=()
	command -v dpkg-query >/dev/null ||
		die "this is no Debian (no dpkg-query): build as README.md's \"On a real vCenter\" says"
	for p in "$@"; do
		package_installed "$p" || missing+=("$p")
	done
	[ ${#missing[@]} -gt 0 ] || return 0
	say "installing ${#missing[@]} packages: ${missing[*]}"
	apt_install "${missing[@]}" || exit $?
}

VS_POLICY=/usr/sbin/policy-rc.d

# Forbid that packages start services, unless the machine has a policy of its
# own. One that a killed run of this script left behind is used and removed.
forbid_services() {
	if [ -L "$VS_POLICY" ] ||
	   { [ -e "$VS_POLICY" ] && ! grep -q 'slurm-vsphere' "$VS_POLICY"; }; then
		return 0
	fi
	ours=yes
	{ printf '#!/bin/sh\n# Made by slurm-vsphere, for as long as it installs packages.\nexit 101\n' |
		as_root tee "$VS_POLICY" >/dev/null &&
		as_root chmod 755 "$VS_POLICY"; } || die "can't write $VS_POLICY"
}

# Whatever came of it: packages enable their services for the next boot, those
# that we brought don't start then either; the policy goes.
settle_services() {
	local p
	for p in "${wanted[@]}"; do
		case $p in
		munge | slurmctld | slurmd | slurmdbd | prometheus)
			package_installed "$p" || continue
			as_root update-rc.d "$p" disable >>"$log" 2>&1 || true
			note "the service $p is installed, but not started and not enabled" ;;
		esac
	done
	[ -z "$ours" ] || as_root rm -f "$VS_POLICY"
}

# Wait for another apt (a new machine runs one by itself) as dpkg's own lock is
# waited for.
apt_update() {
	local log=$VS_CACHE/log/apt-update.log i
	for i in $(seq 60); do
		if "$@" update >"$log" 2>&1 </dev/null; then return 0; fi
		if ! grep -q 'Could not get lock' "$log"; then break; fi
		[ "$i" != 1 ] || note "another apt is running, waiting for it"
		sleep 5
	done
	die "reading the package lists failed: $(reason "$log") (the whole log is $log)"
}

# In a subshell of its own so that its trap can't replace the caller's.
apt_install() (
	log=$VS_CACHE/log/packages.log
	wanted=("$@")
	ours=
	mkdir -p "$VS_CACHE/log"
	need_root "installing packages"
	trap settle_services EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	forbid_services
	aptget=(as_root env DEBIAN_FRONTEND=noninteractive
		${VS_APT_CONFIG:+"APT_CONFIG=$VS_APT_CONFIG"} apt-get -y -q
		-o "DPkg::Lock::Timeout=300" --no-install-recommends
		-o "Dpkg::Options::=--force-confdef"	# a file that is there
		-o "Dpkg::Options::=--force-confold")	# stays as it is
	# Lists that are there may do; if not, fetch them and try once more.
	if ! "${aptget[@]}" install "$@" >"$log" 2>&1 </dev/null; then
		apt_update "${aptget[@]}" -o APT::Update::Error-Mode=any
		run_logged "$log" "installing packages" "${aptget[@]}" install "$@"
	fi
)

# ---- Go ----------------------------------------------------------------------

# A Go that can fetch the toolchain go.mod asks for (1.21 and newer).
go_usable() {
	local v
	v=$("$1" env GOVERSION 2>/dev/null) || return 1
	v=${v#go1.}
	[ "${v%%[!0-9]*}" -ge 21 ] 2>/dev/null
}

# Go's behaviour is the same on any machine: the toolchain that go.mod asks for,
# go.sum as it is, no stamp of the VCS (git refuses to answer in a clone of another
# user), no workspace in a folder above.
go_for_us() {
	VS_GO=$1
	export VS_GO GOTOOLCHAIN=auto GOFLAGS="-mod=readonly -buildvcs=false" GOWORK=off
	vs_made[go]=1
}

# Sets VS_GO, and Go's environment.
need_go() {
	local g
	[ -z "${vs_made[go]:-}" ] || return 0
	for g in "$(command -v go || true)" /usr/local/go/bin/go /usr/lib/go/bin/go; do
		if [ -n "$g" ] && [ -x "$g" ] && go_usable "$g"; then
			go_for_us "$g"
			return 0
		fi
	done
	say "installing Go from the distribution's backports"
	private_apt "$VS_CACHE/apt-backports" deb -backports
	need_root "installing Go"
	apt_update as_root env "APT_CONFIG=$VS_CACHE/apt-backports/apt.conf" apt-get -q
	# shellcheck disable=SC1091
	(VS_APT_CONFIG=$VS_CACHE/apt-backports/apt.conf \
		apt_install -t "$(. /etc/os-release && echo "$VERSION_CODENAME")-backports" golang-go) || exit 1
	hash -r
	g=$(command -v go || true)
	if [ -z "$g" ] || ! go_usable "$g"; then
		die "no Go of 1.21 or newer could be had: install one and put it on PATH"
	fi
	go_for_us "$g"
}

# ---- the parts ---------------------------------------------------------------

# Sets VS_SLURM_SRC.
need_slurm_source() {
	VS_SLURM_SRC=$("$VS_TOP/contribs/packaging/slurm-source.sh" \
		${VS_SLURM_TREE:+--from "$VS_SLURM_TREE"}) || exit 1
}

# Where this tree is built: another clone that builds in the same cache has a
# place of its own. What was built of trees that are gone goes.
vs_places() {
	local key f
	key=$(path_hash "$(cd "$VS_TOP" && pwd -P)")
	vs_builds=$VS_CACHE/build/$key
	vs_roots=$VS_CACHE/root/$key
	for f in "$VS_CACHE"/build/*/.vs-tree; do
		if [ -f "$f" ] && [ ! -d "$(cat "$f")" ]; then
			rm -rf "${f%/.vs-tree}" "$VS_CACHE/root/$(basename "${f%/.vs-tree}")"
		fi
	done
	mkdir -p "$vs_builds"
	(cd "$VS_TOP" && pwd -P) >"$vs_builds/.vs-tree"
}

# What configure is told besides, by who sources this: --enable-werror and
# --enable-debug of check.sh.
vs_configure=()

# configured NAME [configure options]: a tree to build in. Sets VS_BUILD.
configured() {
	local name=$1 dir want had
	shift
	[ -n "${vs_builds:-}" ] || vs_places
	dir=$vs_builds/$name
	VS_BUILD=$dir
	[ -z "${vs_made[tree $name]:-}" ] || return 0
	if [ ! -x "$VS_TOP/configure" ] ||
	   [ -n "$(find "$VS_TOP/configure.ac" "$VS_TOP/Makefile.am" "$VS_TOP/src" "$VS_TOP/testsuite" \
		\( -name configure.ac -o -name Makefile.am -o -name local.mk \) \
		-newer "$VS_TOP/configure" -print -quit)" ]; then
		run_logged "$VS_CACHE/log/autoreconf.log" "autoreconf" \
			autoreconf -fi "$VS_TOP"
		touch "$VS_TOP/configure"
	fi
	mkdir -p "$dir"
	want="$VS_TOP $VS_SLURM_SRC $(cat "$VS_SLURM_SRC/.vs-version" 2>/dev/null || true) $*"
	had=$(cat "$dir/.vs-configured" 2>/dev/null || true)
	# Objects stay good whether warnings are errors or not. What asserts the
	# lock is never measured: vs_config.h changes, and make does the rest.
	if [ ! -f "$dir/Makefile" ] || [ "$VS_TOP/configure" -nt "$dir/Makefile" ] ||
	   [ "${had% with *}" != "$want" ]; then
		rm -rf "$dir" "${vs_roots:?}/$name"
		mkdir -p "$dir"
		note "building the plugins and svf ($name)"
		had=
	fi
	if [ -z "$had" ] || [[ "$had ${vs_configure[*]}" == *--enable-debug* &&
	     "$had" != "$want with ${vs_configure[*]}" ]]; then
		(cd "$dir" && run_logged "$VS_CACHE/log/configure-$name.log" "configure" \
			"$VS_TOP/configure" --with-slurm-source="$VS_SLURM_SRC" \
			--prefix=/usr "$@" "${vs_configure[@]}") || exit 1
		printf '%s' "$want with ${vs_configure[*]}" >"$dir/.vs-configured"
	fi
	vs_made[tree $name]=1
}

# build NAME [configure options]: out of tree, and installed; sets VS_BUILD and
# VS_ROOT. make decides what is to be done again.
build() {
	local name=$1
	configured "$@"
	VS_ROOT=$vs_roots/$name
	[ -z "${vs_made[$name]:-}" ] || return 0
	run_logged "$VS_CACHE/log/make-$name.log" "the build" \
		make -C "$VS_BUILD" -j "$(vs_jobs)"
	run_logged "$VS_CACHE/log/install-$name.log" "make install" \
		make -C "$VS_BUILD" install "DESTDIR=$VS_ROOT"
	vs_made[$name]=1
}

vs_jobs() { local n; n=$(nproc); echo $((n > 8 ? 8 : n)); }

# A toolchain and modules come through a network, which may fail for a moment.
go_modules() {
	local log=$VS_CACHE/log/go-modules.log i
	mkdir -p "$VS_CACHE/log"
	for i in 1 2 3; do
		if (cd "$1" && "$VS_GO" mod download) >"$log" 2>&1 </dev/null; then
			return 0
		fi
		[ "$i" = 3 ] || sleep $((i * 5))
	done
	die "fetching Go's modules failed: $(reason "$log") (the whole log is $log)"
}

# The simulator, unless the caller's environment names one that is built, and beside it
# govc, a bare vCenter for the documents' commands, and the bench's program on govmomi.
# Sets VS_SIM, VS_GOVC and VS_PEER.
build_vcsim() {
	VS_GOVC=${vs_sim_given%/*}/govc
	VS_PEER=${vs_sim_given%/*}/peer
	[ -z "$vs_sim_given" ] || return 0
	need_go
	[ -n "${vs_builds:-}" ] || vs_places
	VS_SIM=$vs_builds/bin/vcsim
	VS_GOVC=$vs_builds/bin/govc
	VS_PEER=$vs_builds/bin/peer
	[ -z "${vs_made[vcsim]:-}" ] || return 0
	mkdir -p "$vs_builds/bin"
	[ -x "$VS_SIM" ] || note "building the simulator, with Go and its modules"
	go_modules "$VS_TOP/testsuite/vcsim"
	(cd "$VS_TOP/testsuite/vcsim" && run_logged "$VS_CACHE/log/vcsim.log" \
		"building the simulator" "$VS_GO" build -o "$vs_builds/bin/" \
		. ./govc ./bare ./peer) || exit 1
	vs_made[vcsim]=1
}

# Everything a cluster needs: Slurm, our plugins, the simulator. Sets the
# variables that testsuite/system/cluster.py reads.
need_cluster() {
	need_packages "${VS_PACKAGES_BUILD[@]}" "${VS_PACKAGES_RUN[@]}"
	need_slurm_source
	build main
	build_vcsim
	export VS_ROOT VS_SIM VS_GOVC VS_PEER VS_TOP VS_BUILD VS_SLURM_SRC
	export VS_PYTHON=/usr/bin/python3
	export PYTHONDONTWRITEBYTECODE=1
}
