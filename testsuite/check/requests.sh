# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# check.sh's requests: what some system tests ask of vCenter.
# shellcheck disable=SC2154 # the caller's

# What some system tests ask of vCenter, compared with what is kept.
part_requests() {
	local log=$results/requests.txt
	say "== calls that system tests make"
	need_packages "${VS_PACKAGES_BUILD[@]}" "${VS_PACKAGES_RUN[@]}"
	need_cluster
	readable_root
	say_and_count "$log" /usr/bin/python3 "$VS_TOP/testsuite/golden/requests.py" check
	ran requests tests "$(sed -n 's/^requests: \([0-9]*\) tests$/\1/p' "$log")" \
		"$(grep -cE '^(ok|FAILED) ' "$log" || true)"
}
