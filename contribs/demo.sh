#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# demo.sh [--keep]    runs one four-node job on a private cluster, and prints each step
# demo.sh --stop      ends a cluster that --keep left up
# demo.sh --guests qemu  boots two VMs in QEMU, and runs RDMA between them by sbatch
#
# Does all of its own set-up (packages, the source of the installed Slurm, Go,
# the build), in $VS_CACHE and below /tmp; the system's own Slurm, munge and
# configuration are left alone. Exit 0 only if all that is told was seen.
# shellcheck source=testsuite/lib/setup.sh
. "$(dirname "$0")/../testsuite/lib/setup.sh"

guests=
case ${1:-} in
"" | --keep) ;;
--guests)
	[ "${2:-}" = qemu ] || die "--guests qemu is expected"
	guests=yes
	shift ;;
--stop)
	[ -d "$VS_CACHE/demos" ] || { say "no demo is kept up"; exit 0; }
	exec env VS_TOP="$VS_TOP" PYTHONDONTWRITEBYTECODE=1 \
		/usr/bin/python3 "$VS_TOP/testsuite/demo/demo.py" --stop "$VS_CACHE" ;;
-h | --help) say_help; exit 0 ;;
*) die "unknown option '$1': --keep, --stop or --guests qemu is expected" ;;
esac
[ $# -le 1 ] || die "one option at most is expected"

lock_cache
began=$(date +%s)
if [ -n "$guests" ]; then
	# shellcheck source=testsuite/guests/image.sh
	. "$VS_TOP/testsuite/guests/image.sh"
	need_packages "${VS_PACKAGES_GUESTS[@]}"
	why=$(guests_missing)
	[ -z "$why" ] || die "guests can't be run here: $why"
	need_guests plain
fi
need_cluster
say "set-up took $(($(date +%s) - began)) s"
unlock_cache
[ -z "$guests" ] ||
	exec bash "$VS_TOP/testsuite/guests/space.sh" "$VS_PYTHON" "$VS_TOP/testsuite/demo/guests.py" "$VS_CACHE"
exec "$VS_PYTHON" "$VS_TOP/testsuite/demo/demo.py" "$@" "$VS_CACHE"
