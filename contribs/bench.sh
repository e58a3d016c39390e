#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# bench.sh [--release R] [--seed S] [--vhpc-toolkit DIR] PART...
#                                                what is measured, how long it takes
#   start      how fast jobs start (1 min)
#   locks      how long slurmctld's threads and locks are kept by us (2 min)
#   place      how fast gangs are placed, and how well; --seed: others (1 min)
#   select     scheduling cycles at 10,000 nodes, beside stock cons_tres (20 min)
#   submit     what job_submit/vsphere adds to a submission at 10,000 nodes (4 min)
#   provision  64 VMs from nothing; 1,000 at once (5 min)
#   peers      64 and 256 VMs by slurm-vsphere, govc, govmomi, vHPC-toolkit (25 min)
#   clones     64 VMs by full, linked and instant clones (3 min)
#   prefetch   how much of VMs' making is over when their jobs start (5 min)
#   reconcile  calls while nothing is wanted, at 4,000 VMs; svf hosts (2 min)
#   all        all of them, one after the other
#
# Each line: name value unit bar pass|fail; lines with # tell how it came about, the first
# and the last of a part when it ran, of which commit, and beside which load.
# On a machine that has other work the figures are that work's. Does its own set-up as
# demo.sh does. Exit 0 only if every bar was met. --vhpc-toolkit: the directory of its
# source, without which peers leaves it out. --release: against the daemons of another
# row of testsuite/matrix/releases, in the chroot of check.sh's matrix.
# `bench.sh all | tee FILE; testsuite/bench/bench_table.py FILE` renews doc/performance.md.
# shellcheck source=testsuite/lib/setup.sh
. "$(dirname "$0")/../testsuite/lib/setup.sh"
# shellcheck source=testsuite/lib/tree.sh
. "$VS_TOP/testsuite/lib/tree.sh"
# shellcheck source=testsuite/matrix/chroot.sh
. "$VS_TOP/testsuite/matrix/chroot.sh"
# shellcheck source=testsuite/matrix/releases.sh
. "$VS_TOP/testsuite/matrix/releases.sh"

# Part, what it needs built, what is run: programs and scripts of testsuite/bench.
table="
start      -       bench_start.py
locks      locks   locks bench_locks.py
place      place   place
select     submit  bench_select.py
submit     submit  bench_submit.py
provision  -       bench_provision.py
peers      -       bench_peers.py
clones     -       bench_clones.py
prefetch   -       bench_prefetch.py
reconcile  -       bench_reconcile.py
"
known=$(awk 'NF { print $1 }' <<<"$table")

# row PART FIELD: 2 is what it needs; 3 what is run, to the line's end.
row() {
	awk -v p="$1" -v f="$2" '$1 == p { if (f == 2) { print $2; exit }
		$1 = $2 = ""; sub(/^ */, ""); print; exit }' <<<"$table"
}

is_part() { grep -qxF -e "$1" <<<"$known"; }

need() { # WHAT
	case $1 in
	-) ;;
	*) run_logged "$VS_CACHE/log/make-bench.log" "building $1" \
		make -C "$VS_BUILD" V=0 "testsuite/bench/$1" ;;
	esac
}

# The source of vHPC-toolkit comes from a path, and is no part of this tree. Its libraries
# come from PyPI, into the cache. Sets VS_VHPC_TOOLKIT and VS_VHPC_PYTHON.
need_vhpc_toolkit() { # DIR
	local env=$VS_CACHE/vhpc-toolkit
	need_packages python3-venv
	[ -x "$env/bin/pip" ] || python3 -m venv "$env"
	run_logged "$VS_CACHE/log/vhpc-toolkit.log" "pyvmomi and other libraries" \
		"$env/bin/pip" install --quiet pyvmomi PyYAML configparser hvac texttable textwrap3
	VS_VHPC_TOOLKIT=$(readlink -f "$1")
	export VS_VHPC_TOOLKIT VS_VHPC_PYTHON=$env/bin/python
}

# One part; whatever fails, the rest of it is measured too.
measure() { # PART
	local p rc=0
	# testsuite/bench/bench_table.py reads this line and that of the end.
	say "# $1: started $(date +%F), commit $commit, $(nproc) processors, load $(load), Slurm ${slurm_version#* }"
	for p in $(row "$1" 3); do
		case $p in
		place) "$VS_BUILD/testsuite/bench/place" ${seed:+"$seed"} || rc=1 ;;
		*.py) "$VS_PYTHON" "$VS_TOP/testsuite/bench/$p" || rc=1 ;;
		*) "$VS_BUILD/testsuite/bench/$p" 2>/dev/null || rc=1 ;;
		esac
	done
	say "# $1: ended, load $(load)"
	return $rc
}

load() { cut -d' ' -f1 /proc/loadavg; }

in_release() { # RELEASE PART...
	local release=$1 suite dir slurm_tree=
	shift
	suite=$(only_release=$release release_rows | awk '{ print $2 }')
	[ -n "$suite" ] || die "--release $release is no row of testsuite/matrix/releases"
	dir=$VS_CACHE/chroot/$suite
	build_vcsim >&2
	chroot_ready "$suite" "$dir" >&2
	unlock_cache
	in_chroot "$dir" VS_CACHE=/var/cache/slurm-vsphere \
		VS_SIM=/var/cache/slurm-vsphere/vcsim \
		bash "$VS_IN_CHROOT/contribs/bench.sh" "$@" </dev/null
}

release=
seed=
vhpc_toolkit=
parts=()
while [ $# -gt 0 ]; do
	case $1 in
	-h | --help) say_help; exit 0 ;;
	--release)
		release=${2:-}
		[ -n "$release" ] || die "--release needs one of testsuite/matrix/releases"
		shift ;;
	--seed)
		seed=${2:-}
		[ -n "$seed" ] || die "--seed needs a number"
		shift ;;
	--vhpc-toolkit)
		vhpc_toolkit=${2:-}
		[ -n "$vhpc_toolkit" ] || die "--vhpc-toolkit needs the directory of its source"
		[ -f "$vhpc_toolkit/vhpc_toolkit/command.py" ] ||
			die "--vhpc-toolkit $vhpc_toolkit: vhpc_toolkit/command.py is not there"
		shift ;;
	all) mapfile -t parts <<<"$known" ;;
	*)
		is_part "$1" || die "unknown part '$1': $(tr '\n' ' ' <<<"$known")or all is expected"
		parts+=("$1") ;;
	esac
	shift
done
[ ${#parts[@]} -gt 0 ] ||
	die "what is to be measured? $(tr '\n' ' ' <<<"$known")or all is expected"

lock_cache
if [ -n "$release" ]; then
	in_release "$release" "${parts[@]}"
	exit
fi
need_cluster >&2
for part in "${parts[@]}"; do
	need "$(row "$part" 2)" >&2
done
[ -z "$vhpc_toolkit" ] || need_vhpc_toolkit "$vhpc_toolkit" >&2
unlock_cache
slurm_version=$(slurmctld -V)
commit=$(git -C "$VS_TOP" describe --always --dirty --abbrev=8 --exclude='*' 2>/dev/null) || commit=unknown
failed=0
for part in "${parts[@]}"; do
	measure "$part" || failed=1
done
exit $failed
