# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# check.sh's unit: the programs of testsuite/unit and testsuite/fuzz.
# shellcheck disable=SC2154 # the caller's

part_unit() {
	say "== unit"
	need_packages "${VS_PACKAGES_BUILD[@]}" "${VS_PACKAGES_RUN[@]}"
	need_slurm_source
	build main
	run_unit_programs "$VS_BUILD" "" unit
}
