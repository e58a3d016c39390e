# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# check.sh's vcsim: the simulator's own tests, and govmomi's judgement of what is sent.
# shellcheck disable=SC2154 # the caller's

part_vcsim() {
	say "== the simulator's own tests"
	need_packages "${VS_PACKAGES_BUILD[@]}" "${VS_PACKAGES_RUN[@]}"
	need_go
	need_slurm_source
	build main
	go_modules "$VS_TOP/testsuite/golden"
	run_logged "$VS_CACHE/log/make-tests.log" "building the request bodies" \
		make -C "$VS_BUILD" -j "$(vs_jobs)" check-programs
	one "govmomi understands every request body" \
		"$VS_TOP/testsuite/golden/run.sh" "$VS_BUILD/testsuite/unit/vc_bodies"
	one "the client understands a fault of each type that govmomi knows" \
		"$VS_TOP/testsuite/golden/faults.sh" "$VS_BUILD/testsuite/unit/vc_faults"
	go_modules "$VS_TOP/testsuite/vcsim"
	go_test 2
}

# The tests of the simulator's module; BEFORE others of the part ran before it.
go_test() {
	local before=$1 log=$results/vcsim.txt line exist n=0 skipped=0
	exist=$({ cd "$VS_TOP/testsuite/vcsim" && "$VS_GO" test -list . ./... 2>/dev/null; } |
		grep -c '^\(Test\|Example\|Fuzz\)') || true
	(cd "$VS_TOP/testsuite/vcsim" && "$VS_GO" test -v -timeout 600s ./...) >"$log" 2>&1 </dev/null || true
	while IFS= read -r line; do
		case $line in
		"--- PASS: "*) n=$((n + 1)); ok ;;
		"--- FAIL: "*) n=$((n + 1)); line=${line#--- FAIL: }; bad "vcsim: ${line%% *}" ;;
		"--- SKIP: "*) skipped=$((skipped + 1)); line=${line#--- SKIP: }; say "skipped: vcsim: ${line%% *}" ;;
		"panic: "* | "FAIL"*"[build failed]" | "FAIL"*"[setup failed]")
			bad "vcsim: $line (see $log)" ;;
		esac
	done <"$log"
	ran vcsim tests "$((exist ? exist + before : 0))" "$((n + before))" "$skipped"
}
