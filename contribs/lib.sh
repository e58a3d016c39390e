# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What demo.sh, check.sh, bench.sh and slurm-source.sh share: packages, Slurm's
# source, Go, the build. Sourced, never run.
#
# Rules: everything that is made lies in one cache directory ($VS_CACHE) and in
# private directories below /tmp; the system's services and configuration stay
# as they are; what is there already is not made again; a failure is one clear
# line and a non-zero exit.

set -euo pipefail

VS_TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
VS_CACHE=${VS_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/slurm-vsphere}
export PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin

VS_PACKAGES_BUILD=(gcc make autoconf automake libtool pkg-config dpkg-dev
	libcurl4-openssl-dev libjson-c-dev libmunge-dev uthash-dev
	libcmocka-dev ca-certificates)
VS_PACKAGES_RUN=(slurmctld slurmd slurm-client munge python3 python3-pytest
	util-linux)
# shellcheck disable=SC2034 # check.sh's
VS_PACKAGES_LINT=(git shellcheck codespell cppcheck binutils)

say() { printf '%s\n' "$*"; }
note() { printf '%s\n' "$*" >&2; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

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

# run_logged LOG WHAT COMMAND...: one line if it fails, the log's end with it.
run_logged() {
	local log=$1 what=$2
	shift 2
	mkdir -p "$(dirname "$log")"
	if ! "$@" >"$log" 2>&1 </dev/null; then
		note "--- the end of $log:"
		tail -n 15 "$log" >&2
		die "$what failed; the whole log is $log"
	fi
}

# One set-up at a time: two that run together would build over each other.
# The descriptor is closed in the children that outlive us (see 9>&-).
lock_cache() {
	mkdir -p "$VS_CACHE" || die "can't make $VS_CACHE (set VS_CACHE to a directory of yours)"
	exec 9>"$VS_CACHE/lock"
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

# Install the packages that are missing. No service of theirs is started: a
# policy-rc.d forbids it meanwhile, unless the machine has its own.
need_packages() {
	local p missing=() rc=0
	command -v dpkg-query >/dev/null ||
		die "this is no Debian (no dpkg-query): install by README.md's manual steps"
	for p in "$@"; do
		package_installed "$p" || missing+=("$p")
	done
	[ ${#missing[@]} -gt 0 ] || return 0
	say "installing ${#missing[@]} packages: ${missing[*]}"
	apt_install "${missing[@]}" || rc=$?
	[ $rc = 0 ] || exit $rc
}

# In a subshell of its own so that its trap can't replace the caller's.
apt_install() (
	policy=/usr/sbin/policy-rc.d
	log=$VS_CACHE/log/packages.log
	mkdir -p "$VS_CACHE/log"
	as_root true || die "no privilege to install packages: run as root or with sudo"
	if [ ! -e "$policy" ] && [ ! -L "$policy" ]; then
		trap 'as_root rm -f "$policy"' EXIT
		trap 'exit 130' INT TERM HUP
		printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" >/dev/null
		as_root chmod 755 "$policy"
	fi
	aptget=(env DEBIAN_FRONTEND=noninteractive apt-get -y -q
		-o "DPkg::Lock::Timeout=300" --no-install-recommends)
	[ -z "${VS_APT_CONFIG:-}" ] ||
		aptget=(env DEBIAN_FRONTEND=noninteractive "APT_CONFIG=$VS_APT_CONFIG" "${aptget[@]:2}")
	# Lists that are there may do; if not, fetch them and try once more.
	if ! as_root "${aptget[@]}" install "$@" >"$log" 2>&1 </dev/null; then
		run_logged "$VS_CACHE/log/apt-update.log" \
			"apt-get update (no network?)" \
			as_root "${aptget[@]}" -o APT::Update::Error-Mode=any update
		run_logged "$log" "installing packages" \
			as_root "${aptget[@]}" install "$@"
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

# Sets VS_GO.
need_go() {
	local g
	for g in "$(command -v go || true)" /usr/local/go/bin/go /usr/lib/go/bin/go; do
		if [ -n "$g" ] && [ -x "$g" ] && go_usable "$g"; then
			VS_GO=$g
			return 0
		fi
	done
	say "installing Go from the distribution's backports"
	private_apt "$VS_CACHE/apt-backports" deb -backports
	run_logged "$VS_CACHE/log/apt-update.log" "reading the backports archive (no network?)" \
		as_root env "APT_CONFIG=$VS_CACHE/apt-backports/apt.conf" apt-get -q update
	# shellcheck disable=SC1091
	(VS_APT_CONFIG=$VS_CACHE/apt-backports/apt.conf \
		apt_install -t "$(. /etc/os-release && echo "$VERSION_CODENAME")-backports" golang-go) || exit 1
	hash -r
	VS_GO=$(command -v go || true)
	if [ -z "$VS_GO" ] || ! go_usable "$VS_GO"; then
		die "no Go of 1.21 or newer could be had: install one and put it on PATH"
	fi
}

# ---- the parts ---------------------------------------------------------------

# Sets VS_SLURM_SRC.
need_slurm_source() {
	VS_SLURM_SRC=$("$VS_TOP/contribs/slurm-source.sh") || exit 1
}

# build NAME [configure options]: out of tree in $VS_CACHE/build/NAME, installed
# into $VS_CACHE/root/NAME. make decides what is to be done again.
build() {
	local name=$1 dir=$VS_CACHE/build/$1
	shift
	if [ ! -x "$VS_TOP/configure" ] ||
	   [ -n "$(find "$VS_TOP/configure.ac" "$VS_TOP/Makefile.am" "$VS_TOP/src" "$VS_TOP/testsuite" \
		\( -name configure.ac -o -name Makefile.am -o -name local.mk \) \
		-newer "$VS_TOP/configure" -print -quit)" ]; then
		run_logged "$VS_CACHE/log/autoreconf.log" "autoreconf" \
			autoreconf -fi "$VS_TOP"
		touch "$VS_TOP/configure"
	fi
	mkdir -p "$dir"
	local want
	want="$VS_TOP $VS_SLURM_SRC $(cat "$VS_SLURM_SRC/.vs-version") $*"
	if [ ! -f "$dir/Makefile" ] || [ "$VS_TOP/configure" -nt "$dir/Makefile" ] ||
	   [ "$(cat "$dir/.vs-configured" 2>/dev/null)" != "$want" ]; then
		rm -rf "$dir" "$VS_CACHE/root/$name"
		mkdir -p "$dir"
		(cd "$dir" && run_logged "$VS_CACHE/log/configure-$name.log" "configure" \
			"$VS_TOP/configure" --with-slurm-source="$VS_SLURM_SRC" \
			--prefix=/usr "$@") || exit 1
		printf '%s' "$want" >"$dir/.vs-configured"
	fi
	run_logged "$VS_CACHE/log/make-$name.log" "the build" \
		make -C "$dir" -j "$(vs_jobs)"
	run_logged "$VS_CACHE/log/install-$name.log" "make install" \
		make -C "$dir" install "DESTDIR=$VS_CACHE/root/$name"
	VS_ROOT=$VS_CACHE/root/$name
	VS_BUILD=$dir
}

vs_jobs() { local n; n=$(nproc); echo $((n > 8 ? 8 : n)); }

# The simulator. Sets VS_SIM.
build_vcsim() {
	VS_SIM=$VS_CACHE/bin/vcsim
	mkdir -p "$VS_CACHE/bin"
	(cd "$VS_TOP/testsuite/vcsim" &&
		GOTOOLCHAIN=auto GOFLAGS=-mod=readonly run_logged "$VS_CACHE/log/vcsim.log" \
			"building the simulator (its modules come from Go's proxy: no network?)" \
			"$VS_GO" build -o "$VS_SIM" .) || exit 1
}

# Everything a cluster needs: Slurm, our plugins, the simulator. Sets the
# variables that testsuite/system/cluster.py reads.
need_cluster() {
	need_packages "${VS_PACKAGES_BUILD[@]}" "${VS_PACKAGES_RUN[@]}"
	need_go
	need_slurm_source
	build main
	build_vcsim
	export VS_ROOT VS_SIM VS_TOP VS_BUILD VS_SLURM_SRC
	export VS_PYTHON=/usr/bin/python3
	export PYTHONDONTWRITEBYTECODE=1
}
