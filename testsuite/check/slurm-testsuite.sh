# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# check.sh's slurm-testsuite: Slurm's own tests, from the source tree that
# slurm-source.sh brought, with stock select/cons_tres and with cons_tres_vsphere.
# --release uses the chroots of testsuite/matrix.
#
# Rules: none of Slurm's tests is in this tree; testsuite/slurm has names alone.
# What passes three times in a row with stock counts, and nothing else.
# shellcheck disable=SC2154 # the caller's

VS_PACKAGES_SUITE=(expect gcc perl python3-pexpect
	python3-requests)

# In the chroot that `matrix` made for a release, or makes now.
suite_in_chroot() { # RELEASE
	local suite slurm_tree dir log=$results/slurm-testsuite-$1.txt
	read -r _ suite _ < <(release_rows) || die "testsuite/matrix/releases has no $1"
	slurm_tree=$(tree_for "$1")
	build_vcsim
	dir=$(chroot_dir "$1" "$suite" "$slurm_tree")
	chroot_ready "$suite" "$dir"
	check_in_chroot "$dir" slurm-testsuite "${suite_options[@]}" | tee "$log" || true
	suite_counted "$log"
}

# Adds the counts of the log's last line to this run's.
suite_counted() { # LOG
	local counts
	counts=$(counts_of "$1")
	if [ -z "$counts" ]; then
		bad "Slurm's own tests came to no end: $(tail -n 1 "$1")"
		return 0
	fi
	[ "$counts" != "0 0" ] || bad "none of Slurm's own tests passed with select/cons_tres"
	passed=$((passed + ${counts% *}))
	failed=$((failed + ${counts#* }))
}

part_slurm-testsuite() {
	local log=$results/slurm-testsuite.txt
	if [ -n "$only_release" ]; then
		say "== Slurm $only_release's own tests"
		suite_in_chroot "$only_release"
		return
	fi
	say "== Slurm's own tests"
	need_packages "${VS_PACKAGES_SUITE[@]}"
	need_cluster
	(exec 9>&- && exec /usr/bin/python3 "$VS_TOP/testsuite/slurm/judge.py" \
		--source "$VS_SLURM_SRC" --logs "$results/slurm-testsuite" \
		"${suite_options[@]}") 2>&1 </dev/null | tee "$log" || true
	suite_counted "$log"
}
