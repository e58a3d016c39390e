# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A chroot of another Debian release: made, filled with the tree and a Slurm, and
# entered. For check.sh's matrix, packages and slurm-testsuite, and for bench.sh.
# Sourced after setup.sh and tree.sh.
#
# Rules: a chroot is made once, in the cache, and sees nothing of the machine but
# /dev, /proc, /sys and its names; the simulator is built outside, once.
# shellcheck disable=SC2154 # the caller's

VS_IN_CHROOT=/slurm-vsphere		# the tree, in each of them

codename() {
	# shellcheck disable=SC1091
	(. /etc/os-release && echo "${VERSION_CODENAME:-}")
}

# A chroot of SUITE in DIR, from the archives that the machine's own apt uses.
chroot_made() { # SUITE DIR
	local script=/usr/share/debootstrap/scripts/$1 mirror
	[ ! -e "$2/.vs-made" ] || return 0
	need_packages debootstrap
	[ -e "$script" ] || script=/usr/share/debootstrap/scripts/sid
	# shellcheck disable=SC2016 # apt expands it
	mirror=$(apt-get indextargets --format '$(SUITE) $(REPO_URI)' 'Created-By: Packages' \
		'Component: main' | awk -v c="$(codename)" '$1 == c || $1 == "stable" || $1 == "oldstable" { print $2; exit }')
	[ -n "$mirror" ] || die "apt's sources name no Debian archive: no chroot of $1 can be made"
	note "making a chroot of $1, once"
	as_root rm -rf "$2"
	run_logged "$VS_CACHE/log/debootstrap-$1.log" "making a chroot of $1" \
		as_root debootstrap --variant=minbase "$1" "$2" "$mirror" "$script"
	# A suite that moves may be fetched later than its index says it may be.
	echo 'Acquire::Check-Valid-Until "false";' |
		as_root tee "$2/etc/apt/apt.conf.d/90slurm-vsphere" >/dev/null
	as_root touch "$2/.vs-made"
}

# The tree as it is, with what is not committed, without what was built.
tree_into() { # DIR
	as_root mkdir -p "$1"
	as_root rm -rf "$1/src" "$1/testsuite" "$1/contribs"
	(cd "$VS_TOP" && tracked . | tar -cf - -T -) | as_root tar -xf - -C "$1" --no-same-owner
}

# Its mounts are its own and end with it; its root is one too, or nothing in it
# could make a space of its own, as clusters do for their guests.
in_chroot() { # DIR COMMAND...
	# shellcheck disable=SC2016 # the inner shell's
	as_root unshare --mount --propagation private bash -euc '
		dir=$1
		shift
		mount --bind "$dir" "$dir"
		mount --rbind /dev "$dir/dev"
		mount -t proc proc "$dir/proc"
		mount -t sysfs sys "$dir/sys" || mount --rbind /sys "$dir/sys"
		cat /etc/resolv.conf >"$dir/etc/resolv.conf"
		cat /etc/hosts >"$dir/etc/hosts"
		cd "$dir"
		exec chroot . env -u TMPDIR "$@"' in_chroot "$@" 9>&-
}

# A Slurm built from a directory, in /usr/local of a chroot: for releases whose
# source the archive lacks. As Debian builds it: with more than one slurmd a host.
slurm_built() { # DIR SOURCE
	local at=$1/usr/local/src/slurm
	if [ -x "$1/usr/local/sbin/slurmctld" ] && diff -q "$2/META" "$at/META" >/dev/null &&
		[ -e "$1/usr/local/lib/slurm/accounting_storage_mysql.so" ] &&
		[ -e "$1/usr/local/lib/slurm/mpi_pmix.so" ]; then
		return 0
	fi
	note "building the Slurm of $2, once"
	as_root rm -rf "$at"
	as_root mkdir -p "$at"
	if [ -e "$2/.git" ]; then
		git -c safe.directory='*' -C "$2" archive HEAD
	else
		tar -cf - -C "$2" .
	fi | as_root tar -xf - -C "$at" --no-same-owner
	# shellcheck disable=SC2016 # the chroot's
	run_logged "$VS_CACHE/log/build-slurm.log" "building that Slurm" \
		in_chroot "$1" bash -euc '
			apt-get -q update
			DEBIAN_FRONTEND=noninteractive apt-get -y -q --no-install-recommends install \
				gcc make pkg-config libc6-dev libmunge-dev libjson-c-dev libdbus-1-dev \
				libmariadb-dev libpmix-dev python3
			cd /usr/local/src/slurm
			[ ! -e Makefile ] || make -s distclean
			./configure --prefix=/usr/local --sysconfdir=/etc/slurm \
				--enable-multiple-slurmd --disable-debug --with-pmix="$(echo /usr/lib/*/pmix2)"
			make -s -j "$1"
			make -s install
			ldconfig' build "$(vs_jobs)"
}

# The chroot of a suite, with what check.sh needs in it, and with the Slurm of
# --slurm-source if one is given.
chroot_ready() { # SUITE DIR
	chroot_made "$1" "$2"
	[ -z "$slurm_tree" ] || slurm_built "$2" "$slurm_tree"
	tree_into "$2$VS_IN_CHROOT"
	as_root mkdir -p "$2/var/cache/slurm-vsphere"
	as_root cp "$VS_SIM" "${VS_SIM%/*}/govc" "${VS_SIM%/*}/bare" "${VS_SIM%/*}/peer" \
		"$2/var/cache/slurm-vsphere/"
}

check_in_chroot() { # DIR PARTS AND OPTIONS...
	local dir=$1
	shift
	in_chroot "$dir" VS_CACHE=/var/cache/slurm-vsphere \
		VS_SIM=/var/cache/slurm-vsphere/vcsim \
		VS_SLURM_TREE=${slurm_tree:+/usr/local/src/slurm} \
		bash "$VS_IN_CHROOT/contribs/check.sh" "$@" 2>&1 </dev/null
}

# "N M" of a check's last line; nothing if it came to no end.
counts_of() { # LOG
	sed -n '$s/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$1"
}
