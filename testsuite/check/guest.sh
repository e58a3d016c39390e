# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# check.sh's guest: the guest's script and slurm-vsphere-port, by testsuite/guest.
# shellcheck disable=SC2154 # the caller's

part_guest() {
	say "== the guest's script"
	need_packages "${VS_PACKAGES_BUILD[@]}" "${VS_PACKAGES_RUN[@]}"
	need_slurm_source
	build main
	run_logged "$VS_CACHE/log/make-tests.log" "building the guest's tests" \
		make -C "$VS_BUILD" -j "$(vs_jobs)" check-programs
	export VS_BUILD
	run_pytest guest
}
