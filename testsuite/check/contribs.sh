# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# check.sh's contribs: the scripts of contribs and of this folder, by testsuite/contribs.

part_contribs() {
	say "== the scripts of contribs"
	need_packages "${VS_PACKAGES_BUILD[@]}" "${VS_PACKAGES_RUN[@]}" mandoc
	need_slurm_source
	build main
	export VS_BUILD VS_SLURM_SRC
	run_pytest contribs
}
