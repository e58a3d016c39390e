# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# check.sh's guests: VMs that boot, in QEMU, by testsuite/guests. --whole adds the
# modules test_whole_*, in at most 45 minutes.
# shellcheck disable=SC2154,SC2034 # the caller's

part_guests() {
	local why began=$SECONDS
	# shellcheck source=testsuite/guests/image.sh
	. "$VS_TOP/testsuite/guests/image.sh"
	say "== guests: machines that boot"
	need_packages "${VS_PACKAGES_GUESTS[@]}"
	why=$(guests_missing)
	if [ -n "$why" ]; then
		[ -z "$guests_named" ] || die "guests can't be run here: $why"
		say "guests: NOT RUN: $why" | tee -a "$results/ran"
		return
	fi
	need_cluster
	pytest_options=(-s)
	case " ${suite_options[*]} " in
	*" --whole "*)
		pytest_options+=(--whole)
		need_packages "${VS_PACKAGES_SYSTEM[@]}" dnsmasq-base
		need_guests whole
		need_other_slurmd
		case $only in '' | test_whole_recipe.py*) need_recipe ;; esac ;;
	*) need_guests plain ;;
	esac
	readable_root
	pytest_with=(bash "$VS_TOP/testsuite/guests/space.sh")
	run_pytest guests
	pytest_with=()
	pytest_options=()
	say "guests: the part took $((SECONDS - began)) s"
}
