# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# check.sh's matrix: unit, system and chaos against the real daemons of each release in
# contribs/releases. Sourced after lib.sh by who has part_system and part_chaos.
#
# Rules: a chroot is made once, in the cache, and sees nothing of the machine but
# /dev, /proc, /sys and its names; the simulator is built outside, once; what did
# not run is never counted as passed.
# shellcheck disable=SC2154,SC2034 # the caller's

VS_IN_CHROOT=/slurm-vsphere		# the tree, in each of them
# This machine's MariaDB, as its package mariadb-server-core has it (since 11: in
# share/mariadb).
VS_MARIADB=/usr/sbin/mariadbd
VS_MARIADB_SHARE="/usr/share/mysql /usr/share/mariadb"

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
		[ -e "$1/usr/local/lib/slurm/accounting_storage_mysql.so" ]; then
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
				libmariadb-dev python3
			cd /usr/local/src/slurm
			[ ! -e Makefile ] || make -s distclean
			./configure --prefix=/usr/local --sysconfdir=/etc/slurm \
				--enable-multiple-slurmd --disable-debug
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
	as_root cp "$VS_SIM" "${VS_SIM%/*}/govc" "${VS_SIM%/*}/bare" \
		"$2/var/cache/slurm-vsphere/"
}

# This machine's MariaDB for the accounting tests of a chroot, with the libraries
# and tables that belong to it: slurmdbd 24.11 refuses that of its own Debian 13
# ("_check_mysql_concat_is_sane") whenever a first connection to it has failed.
database_into() { # DIR
	local to=$1/usr/local/lib/slurm-vsphere-mariadb libs share
	need_packages mariadb-server-core
	libs=$(ldd "$VS_MARIADB" | grep -o '/[^ ]*')
	as_root rm -rf "$to" "$1/usr/local/share/mysql"
	as_root mkdir -p "$to" "$1/usr/local/sbin" "$1/usr/local/share/mysql"
	for share in $VS_MARIADB_SHARE; do
		[ ! -d "$share" ] || as_root cp -rL "$share/." "$1/usr/local/share/mysql/"
	done
	# shellcheck disable=SC2086 # paths of libraries
	as_root cp -L "$VS_MARIADB" $libs "$to/"
	as_root tee "$1/usr/local/sbin/mariadbd" >/dev/null <<-'EOT'
	#!/bin/sh
	# Made by contribs/matrix.sh: the MariaDB of the machine outside.
	here=${0%/sbin/*}
	lib=$here/lib/slurm-vsphere-mariadb
	for loader in "$lib"/ld-*.so*; do
		exec "$loader" --library-path "$lib" "$lib/mariadbd" "$@" \
			--lc-messages-dir="$here/share/mysql" \
			--character-sets-dir="$here/share/mysql/charsets"
	done
	EOT
	as_root chmod 755 "$1/usr/local/sbin/mariadbd"
}

check_in_chroot() { # DIR PARTS AND OPTIONS...
	local dir=$1
	shift
	in_chroot "$dir" VS_CACHE=/var/cache/slurm-vsphere \
		VS_SIM=/var/cache/slurm-vsphere/vcsim \
		VS_SLURM_TREE=${slurm_tree:+/usr/local/src/slurm} \
		bash "$VS_IN_CHROOT/contribs/check.sh" "$@" 2>&1 </dev/null
}

# The rows of contribs/releases, or the one of --release.
release_rows() {
	awk -v only="${only_release:-}" '!/^#/ && NF && (only == "" || $1 == only)' \
		"$VS_TOP/contribs/releases"
}

# The source given with --slurm-source, if it is of this release.
tree_for() { # RELEASE
	[ -n "${slurm_given:-}" ] || return 0
	case $(sed -n 's/^ *Version:[[:space:]]*//p' "$slurm_given/META" 2>/dev/null) in
	"$1".*) say "$slurm_given" ;;
	esac
}

# A source that stands for no row would be left out without a word.
source_has_a_row() {
	local release
	[ -n "${slurm_given:-}" ] || return 0
	while read -r release _; do
		[ -z "$(tree_for "$release")" ] || return 0
	done < <(release_rows)
	die "$slurm_given is the source of no release${only_release:+ $only_release} of contribs/releases"
}

# "N M" of a check's last line; nothing if it came to no end.
counts_of() { # LOG
	sed -n '$s/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$1"
}

# Passed and failed of one row are added; what ran is said in the last line.
matrix_row() { # RELEASE SUITE KIND
	local slurm_tree dir log=$results/matrix-$1.txt was="$passed $failed" says counts
	slurm_tree=$(tree_for "$1")
	dir=$VS_CACHE/chroot/$2${slurm_tree:+-built}
	if [ -n "$slurm_tree" ]; then
		say "== Slurm $1 built from $slurm_tree, in $2"
	else
		say "== Slurm $1 of $2"
	fi
	if [ "$2" = "$(codename)" ] && [ -z "$slurm_tree" ]; then
		part_unit
		part_guest
		part_contribs
		part_vcsim
		part_system
		part_chaos
		says=$(slurmctld -V)
		counts="$((passed - ${was% *})) $((failed - ${was#* }))"
	else
		chroot_ready "$2" "$dir"
		database_into "$dir"
		check_in_chroot "$dir" unit guest contribs system chaos | tee "$log" || true
		if [ "$3" = try ] && grep -q '^slurm-source.sh: the archive has no source' "$log"; then
			say "matrix: Slurm $1 was not run: the archive of $2 has no source of it"
			matrix_left+=("$1")
			return 0
		fi
		says=$(in_chroot "$dir" slurmctld -V) || says="slurm ?"
		counts=$(counts_of "$log")
		if [ -z "$counts" ] || [ "${counts% *}" = 0 ]; then
			bad "the run against Slurm $1 came to no end, see $log"
			return 0
		fi
		passed=$((passed + ${counts% *}))
		failed=$((failed + ${counts#* }))
	fi
	says=${says##* }
	case $says in
	"$1".*) matrix_ran+=("Slurm $says${slurm_tree:+ built from source} (${counts% *} passed, ${counts#* } failed)") ;;
	*) bad "the daemons of $2 are of Slurm $says, not $1" ;;
	esac
}

part_matrix() {
	local release suite kind exist=0 matrix_ran=() matrix_left=()
	need_cluster
	while read -r release suite kind; do
		exist=$((exist + 1))
		matrix_row "$release" "$suite" "$kind" </dev/null
	done < <(release_rows)
	# What may be left out is left out of all of them, not when it is asked for.
	if [ -n "${only_release:-}" ] || [ ${#matrix_ran[@]} = 0 ]; then
		ran matrix releases "$exist" "${#matrix_ran[@]}"
	else
		ran matrix releases "$exist" "${#matrix_ran[@]}" "${#matrix_left[@]}"
	fi
	say "matrix: ran: ${matrix_ran[*]:-none}${matrix_left[*]:+; not run: ${matrix_left[*]}}" \
		>"$results/matrix.sum"
}
