#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# check.sh [unit|guest|guests|contribs|vcsim|replay|system|crash|chaos|fuzz|lint|messages|
#          sanitize|matrix|oldest|packages|upgrade|slurm-testsuite|coverage|mutation|requests|
#          quick|all]...
#          [--seconds N] [--seed S] [--with address|thread] [--whole] [--from COMMIT]
#          [--release R] [--slurm-source DIR] [--libraries DIR] [--recordings DIR] [--only TEST]
#
# The tests. Does its own set-up: packages, the source of the installed Slurm,
# Go, the build (out of tree, in $VS_CACHE). Several parts run side by side.
# `all`, the default, is unit, guest (the guest's script), contribs (these
# scripts), vcsim (the simulator), replay, system, crash (a sample; --whole: all of
# it, an hour), chaos, lint and guests, which runs last and alone;
# `sanitize` runs the unit tests with ASan and UBSan, and with TSan; `fuzz` every fuzz target
# for --seconds N (60; the normal run replays what they found). chaos takes --seconds
# (120), --seed and --with, a sanitizer.
# `replay` has recordings of vCenters read by the product and by another reader, and
# compares: made-up ones, and with --recordings DIR those that are DIR or below it, of
# `govc object.save` or `svf-probe --record`.
# `matrix` is unit, system and chaos against the daemons of each Slurm release in
# testsuite/matrix/releases, in chroots (an hour and a half; --release 24.11: that one alone;
# --slurm-source DIR, once or more: for DIR's release one built from it). What is to be kept
# of $VS_CACHE/results/matrix.tsv: testsuite/matrix/table.py keep FILE.
# `oldest` is the unit tests with RHEL 9's gcc 11, json-c 0.14 and curl 7.76, the latter two
# built of their sources in --libraries DIR, as DIR/json-c and DIR/curl (ten minutes).
# `packages` is make distcheck, the RPMs' spec, and the Debian packages for each of
# these, built and installed in chroots (half an hour).
# `upgrade` has jobs run while slurm-vsphere of an earlier commit is replaced by this tree's,
# and back (testsuite/upgrade/commits, or --from COMMIT alone; five minutes, with its build).
# `guests` boots two VMs in QEMU and runs RDMA between them, by sbatch (4 minutes, 8 with
# the image; --whole: all that can happen to a VM, 45 minutes). Needs /dev/net/tun,
# and of an ordinary user ids in /etc/subuid and /etc/subgid.
# `slurm-testsuite` is Slurm's own tests, of its source: which of those that pass
# three times in a row with select/cons_tres fail with this plugin (selected ones, 15
# minutes; --whole: all, hours; --release R: in that release's chroot).
# `coverage` says how many lines of src the unit tests run, `mutation` which changes of
# one operator or statement they would not notice (an hour).
# `requests` compares what some system tests ask of vCenter with what is kept (5 minutes).
# `quick` is for a change in one module: what differs from the last commit, or from --from
# COMMIT, by that module's unit tests, the fast checks of lint and two files of system tests
# (three minutes).
# `messages` prints each text of src that people read, for reading.
# --only runs one program of unit, sanitize or oldest (test_conf), or one file or test of guest,
# guests, contribs or system (test_jobs.py, test_jobs.py::test_NAME); other parts take no --only.
# Each part says how many of its tests ran, of those that exist, and fails if any
# did not run. The last line is `N passed, N failed`; a part that runs alone ends with its
# own line, which has these numbers, and `chaos` and `matrix` alone with their sum. A system test that failed beside others and passed twice alone counts
# as passed and is named above it, as UNSTEADY; with VS_STRICT=1 it is a failure.
# Of several parts a table says where the time went; $VS_CACHE/results/times keeps it.
# shellcheck disable=SC2034 # what the parts read
# shellcheck source=testsuite/lib/setup.sh
. "$(dirname "$0")/../testsuite/lib/setup.sh"
# shellcheck source=testsuite/lib/count.sh
. "$VS_TOP/testsuite/lib/count.sh"
# shellcheck source=testsuite/lib/tree.sh
. "$VS_TOP/testsuite/lib/tree.sh"
# shellcheck source=testsuite/lib/release.sh
. "$VS_TOP/testsuite/lib/release.sh"
# shellcheck source=testsuite/lib/run.sh
. "$VS_TOP/testsuite/lib/run.sh"
# shellcheck source=testsuite/lib/lanes.sh
. "$VS_TOP/testsuite/lib/lanes.sh"
# shellcheck source=testsuite/matrix/chroot.sh
. "$VS_TOP/testsuite/matrix/chroot.sh"
# shellcheck source=testsuite/matrix/database.sh
. "$VS_TOP/testsuite/matrix/database.sh"
# shellcheck source=testsuite/matrix/releases.sh
. "$VS_TOP/testsuite/matrix/releases.sh"

# Each part is a function part_NAME in testsuite/check/NAME.sh. Where one is missing
# nothing runs: a part that can't be run must not be left out.
known=(unit guest guests contribs vcsim replay system crash chaos fuzz lint sanitize matrix
	oldest packages upgrade slurm-testsuite coverage mutation requests messages quick)
for p in "${known[@]}"; do
	[ -f "$VS_TOP/testsuite/check/$p.sh" ] ||
		die "testsuite/check/$p.sh is missing: nothing was run, take the whole tree"
	# shellcheck source=/dev/null
	. "$VS_TOP/testsuite/check/$p.sh"
	declare -F "part_$p" >/dev/null ||
		die "testsuite/check/$p.sh has no function part_$p: nothing was run"
done

# A warning ends the build of a developer alone.
vs_configure=(--enable-werror --enable-debug)
copy=
only=
results=$VS_CACHE/results

# ---- main --------------------------------------------------------------------

# Makes everything that several parts need, before they run side by side. Slurm's
# configure has one thread, and Go's compiler begins with nothing: both at once.
prepare() {
	local p
	need_packages "${VS_PACKAGES_BUILD[@]}" "${VS_PACKAGES_RUN[@]}"
	for p in "${parts[@]}"; do
		[ "$p" != lint ] || need_packages "${VS_PACKAGES_LINT[@]}" "${VS_PACKAGES_RPM[@]}"
		[ "$p" != contribs ] || contribs_packages
		[ "$p" != system ] || need_packages "${VS_PACKAGES_SYSTEM[@]}"
		[ "$p" != replay ] || need_packages "${VS_PACKAGES_REPLAY[@]}"
	done
	[ -n "$vs_sim_given" ] || need_go
	# Its pid may be another process's before it is waited for: the build starts
	# more of them than a machine may have numbers.
	rm -f "$results/vcsim.built"
	(build_vcsim && : >"$results/vcsim.built") &
	need_slurm_source
	build main
	wait
	[ -e "$results/vcsim.built" ] || exit 1
	need_cluster
}

# The only part that ran has said these numbers in its own line.
said_already() {
	[ "$(sed 's/^[^:]*: \(.* failed\), .*/\1/' "$results/ran" 2>/dev/null)" = \
		"$passed passed, $failed failed" ]
}

finish() {
	local rc=$?
	trap - EXIT
	[ -z "$copy" ] || rm -rf "$copy"
	nothing_left
	say_times
	say_unsteady
	if [ "$(grep -c . "$results/ran" 2>/dev/null)" != 1 ]; then
		cat "$results/ran" 2>/dev/null || true
	fi
	if [ $rc != 0 ]; then
		failed=$((failed + 1))
	elif [ $failed -gt 0 ]; then
		rc=1
	fi
	if [ "${parts[*]}" = chaos ] && grep -q '^chaos: seed=.* violations: ' "$results/chaos.txt" 2>/dev/null; then
		tail -n 1 "$results/chaos.txt"
	else
		said_already || say "$passed passed, $failed failed"
		[ "${parts[*]}" != matrix ] || cat "$results/matrix.sum" 2>/dev/null || true
	fi
	exit $rc
}

parts=()
chaos_options=()
crash_options=()
suite_options=()
chaos_with=
only_release=
slurm_given=
libraries_given=
recordings_given=
upgrade_from=
words=()
while [ $# -gt 0 ]; do
	case $1 in
	--seconds | --seed)
		[ $# -ge 2 ] || die "$1 needs a number"
		chaos_options+=("$1" "$2")
		[ "$1" = --seed ] || seconds=$2
		shift ;;
	--with)
		chaos_with=${2:-}
		case $chaos_with in
		address | thread) shift ;;
		*) die "--with address or --with thread is expected" ;;
		esac ;;
	--release)
		only_release=${2:-}
		[ -n "$only_release" ] || die "--release needs one of testsuite/matrix/releases"
		shift ;;
	--slurm-source)
		[ -d "${2:-}" ] || die "--slurm-source needs the directory of a Slurm's source"
		slurm_given+=$(cd "$2" && pwd)$'\n'
		shift ;;
	--libraries)
		[ -d "${2:-}" ] || die "--libraries needs a directory with the sources of json-c and curl"
		libraries_given=$(cd "$2" && pwd)
		shift ;;
	--only)
		only=${2:-}
		[ -n "$only" ] || die "--only needs the name of a test"
		shift ;;
	--whole)
		crash_options+=("$1")
		suite_options+=("$1") ;;
	--from)
		upgrade_from=${2:-}
		[ -n "$upgrade_from" ] || die "--from needs a commit or a tag"
		shift ;;
	--recordings)
		[ -n "$(recordings "${2:-}")" ] || die "--recordings needs a directory with what govc object.save or svf-probe --record wrote"
		recordings_given=$(cd "$2" && pwd)
		shift ;;
	*) words+=("$1") ;;
	esac
	shift
done
is_known() { # WORD
	local part
	for part in "${known[@]}"; do
		[ "$part" != "$1" ] || return 0
	done
	return 1
}

# Where no guest can be booted, a run that names the part fails, and `all` says NOT RUN.
guests_named=
for a in "${words[@]:-all}"; do
	case $a in
	all) parts+=(unit guest contribs vcsim replay system crash chaos lint guests) ;;
	-h | --help) say_help; exit 0 ;;
	*)
		[ "$a" != guests ] || guests_named=1
		is_known "$a" ||
			die "unknown part '$a': $(printf '%s, ' "${known[@]}" | sed 's/, $//') or all is expected"
		parts+=("$a") ;;
	esac
done
if [ -n "$only" ]; then
	case ${parts[*]} in
	unit | sanitize | oldest | guest | guests | contribs | system) ;;
	*) die "--only $only: one part is expected: unit, sanitize, oldest, guest, guests, contribs or system" ;;
	esac
fi
export VS_RUN=$$.$EPOCHREALTIME
source_has_a_row
lock_cache
rm -rf "$results"
mkdir -p "$results" "$VS_CACHE/log"
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
if [ ${#parts[@]} -gt 1 ] && [ -z "$chaos_with" ]; then
	prepare
	keep_times prepare "$SECONDS"
	side_by_side
else
	for p in "${parts[@]}"; do
		"part_$p"
	done
fi
