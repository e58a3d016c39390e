# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# check.sh's system: real daemons and the simulator, by testsuite/system.
# shellcheck disable=SC2154 # the caller's

part_system() {
	say "== system"
	need_packages "${VS_PACKAGES_SYSTEM[@]}"
	need_cluster
	readable_root
	run_pytest system
}
