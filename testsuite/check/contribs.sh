# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# check.sh's contribs: the scripts of contribs and of this folder, by testsuite/contribs.

# Debian 13 has no Packer: the tests that run it fail there.
contribs_packages() {
	need_packages "${VS_PACKAGES_CONTRIBS[@]}"
	if apt-cache show packer >/dev/null 2>&1; then need_packages packer; fi
}

part_contribs() {
	say "== the scripts of contribs"
	need_packages "${VS_PACKAGES_BUILD[@]}" "${VS_PACKAGES_RUN[@]}"
	contribs_packages
	need_slurm_source
	build main
	build_vcsim
	export VS_BUILD VS_SLURM_SRC VS_GOVC VS_CACHE
	run_pytest contribs
}
