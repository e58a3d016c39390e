#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# check.sh [unit|guest|contribs|vcsim|replay|system|crash|chaos|fuzz|lint|
#          sanitize|matrix|packages|slurm-testsuite|coverage|mutation|requests|all]...
#          [--seconds N] [--seed S] [--with address|thread] [--whole]
#          [--release R] [--slurm-source DIR] [--recordings DIR]
#
# The tests. Does its own set-up: packages, the source of the installed Slurm,
# Go, the build (out of tree, in $VS_CACHE). Several parts go on side by side.
# `all`, the default, is unit, guest (the guest's script), contribs (these
# scripts), vcsim (the simulator), replay, system, crash (a sample; --whole: all of
# it, an hour), chaos and lint; `sanitize` runs the unit tests with ASan and UBSan, and
# with TSan; `fuzz` every fuzz target for --seconds N (60; the normal run replays
# what they found). chaos takes --seconds (120), --seed and --with, a sanitizer.
# `replay` has recordings of vCenters read by the product and by another reader, and
# compares: made-up ones, and with --recordings DIR those that are DIR or below it, of
# `govc object.save` or `svf-probe --record`.
# `matrix` is unit, system and chaos against the daemons of each Slurm release in
# contribs/releases, in chroots (an hour and a half; --release 24.11: that one alone;
# --slurm-source DIR: for DIR's release not the distribution's, but one built from it).
# `packages` is make distcheck, the RPMs' spec, and the Debian packages for each of
# these, built and installed in chroots (half an hour).
# `slurm-testsuite` is Slurm's own tests, of its source: which of those that pass
# three times in a row with select/cons_tres don't with ours (selected ones, 15
# minutes; --whole: all, hours; --release R: in that release's chroot).
# `coverage` says how many lines of src the unit tests run, `mutation` which changes of
# one operator or statement they would not notice (an hour).
# `requests` compares what some system tests ask of vCenter with what is kept (5 minutes).
# Each part says how many of its tests ran, of those that exist, and fails if any
# did not run. The last line is `N passed, N failed`; `chaos` and `matrix` alone end with their
# own sum. A system test that failed beside others and passed twice alone counts
# as passed and is named above it, as UNSTEADY; with VS_STRICT=1 it is a failure.
# shellcheck source=contribs/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=contribs/lanes.sh
. "$VS_TOP/contribs/lanes.sh"
# shellcheck source=contribs/matrix.sh
. "$VS_TOP/contribs/matrix.sh"
# shellcheck source=contribs/lint.sh
. "$VS_TOP/contribs/lint.sh"
# shellcheck source=contribs/noticed.sh
. "$VS_TOP/contribs/noticed.sh"
# shellcheck source=contribs/packages.sh
. "$VS_TOP/contribs/packages.sh"
# shellcheck source=contribs/replay.sh
. "$VS_TOP/contribs/replay.sh"
# shellcheck source=contribs/slurm-testsuite.sh
. "$VS_TOP/contribs/slurm-testsuite.sh"

# A warning ends the build of a developer alone.
# shellcheck disable=SC2034 # lib.sh's
vs_configure=(--enable-werror)
passed=0
failed=0
ones=0
copy=
results=$VS_CACHE/results

ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); say "FAILED: $*"; }

# tally LOG PREFIX: count a TAP log, name what failed.
tally() {
	local line n=0
	while IFS= read -r line; do
		case $line in
		"ok "*"# SKIP"*) n=$((n + 1)); say "skipped: $2: ${line#ok * - }" ;;
		# so says cmocka 1.1
		"not ok "*"# SKIP "*) n=$((n + 1)); say "skipped: $2: ${line#*# SKIP }" ;;
		"ok "*) n=$((n + 1)); ok ;;
		"not ok "*) n=$((n + 1)); bad "$2: ${line#not ok * - }" ;;
		"# "*) [ $n = 0 ] || [ "${show_diag:-}" != 1 ] || say "    $line" ;;
		esac
	done <"$1"
	[ $n -gt 0 ] || bad "$2: it gave no result"
}

# one NAME COMMAND...: a check that is one pass or fail.
one() {
	local name=$1 log
	ones=$((ones + 1))
	log=$results/$(printf '%s' "$1" | tr -c 'a-zA-Z0-9\n' _).log
	shift
	if "$@" >"$log" 2>&1 </dev/null; then
		ok
	else
		bad "$name"
		tail -n "${show_lines:-25}" "$log" | sed 's/^/    /'
	fi
}

# ---- unit --------------------------------------------------------------------

# unit_result LOG NAME: one program's TAP, which may have ended anywhere. Sets
# unit_tests to how many tests it has.
unit_result() {
	local log=$1 name=$2 plan got code
	plan=$(sed -n 's/^1\.\.\([0-9]*\)$/\1/p' "$log" | tail -n 1)
	got=$(grep -cE '^(not )?ok ' "$log" || true)
	code=$(sed -n "s/^[A-Z]* .* (exit status: \([0-9]*\))$/\1/p" "$log" | tail -n 1)
	unit_tests=${plan:-$got}
	if [ "${code:-1}" != 0 ] && ! grep '^not ok ' "$log" | grep -qv '# SKIP '; then
		[ "$got" = 0 ] || tally "$log" "$name"
		bad "$name ended with ${code:-nothing}"
		tail -n 20 "${log%.log}.err" 2>/dev/null | sed 's/^/    /'
	else
		tally "$log" "$name"
		if [ "$got" -lt "${plan:-0}" ]; then
			bad "$name: $got of $plan tests gave a result"
		fi
	fi
}

# The programs of make's own list below testsuite/ROOM, by `make check`.
run_unit_programs() {
	local dir=$1 label=$2 part=$3 rooms=${4:-unit fuzz} t log programs=() began=0 tests=0 unit_tests
	run_logged "$VS_CACHE/log/make-tests.log" "building the unit tests" \
		make -C "$dir" -j "$(vs_jobs)" check-programs
	while IFS= read -r t; do
		case " $rooms " in *" $(basename "$(dirname "$t")") "*) programs+=("$t") ;; esac
	done < <(make -s -C "$dir" list-tests)
	# A log of an earlier run is no result of this one.
	(cd "$dir" && rm -f "${programs[@]/%/.log}" "${programs[@]/%/.trs}" "${programs[@]/%/.err}")
	VS_LAUNCH=${launch[*]:-} make -C "$dir" -k check TESTS="${programs[*]}" \
		LOG_COMPILER="$VS_TOP/testsuite/unit/run.sh" \
		>"$results/make-check.txt" 2>&1 </dev/null || true
	for t in "${programs[@]}"; do
		log=$dir/$t.log
		[ -f "$log" ] || continue
		began=$((began + 1))
		unit_result "$log" "$label${t##*/}"
		tests=$((tests + unit_tests))
	done
	[ "$began" = "${#programs[@]}" ] ||
		say "make check: $(reason "$results/make-check.txt") (the whole log is $results/make-check.txt)"
	ran "$part" "programs with $tests tests" "${#programs[@]}" "$began"
}

part_unit() {
	say "== unit"
	need_packages "${VS_PACKAGES_BUILD[@]}" "${VS_PACKAGES_RUN[@]}"
	need_slurm_source
	build main
	run_unit_programs "$VS_BUILD" "" unit
}

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

part_contribs() {
	say "== the scripts of contribs"
	need_packages "${VS_PACKAGES_BUILD[@]}" "${VS_PACKAGES_RUN[@]}"
	need_slurm_source
	build main
	export VS_BUILD VS_SLURM_SRC
	run_pytest contribs
}

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
	(cd "$VS_TOP/testsuite/vcsim" && "$VS_GO" test -v -timeout 300s ./...) >"$log" 2>&1 </dev/null || true
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

# With -O2 the compiler takes twice as long; what it warns of is judged there.
sanitize_options=(--enable-sanitizers CFLAGS="-g -O1 -Wno-error")
tsan_options=(--enable-sanitizers=thread CFLAGS="-g -O1 -Wno-error")

# A sanitizer's shadow lies at fixed addresses: on kernels that randomise by more
# bits than it knows of (vm.mmap_rnd_bits=32) some programs don't start.
part_sanitize() {
	local launch=()
	if setarch -R true 2>/dev/null; then launch=(setarch -R); fi
	say "== unit tests with ASan and UBSan"
	need_packages "${VS_PACKAGES_BUILD[@]}" "${VS_PACKAGES_RUN[@]}"
	need_slurm_source
	configured sanitize "${sanitize_options[@]}"
	ASAN_OPTIONS=detect_leaks=1:abort_on_error=0 UBSAN_OPTIONS=print_stacktrace=1 \
		run_unit_programs "$VS_BUILD" "sanitize: " sanitize
	say "== unit tests with TSan"
	configured tsan "${tsan_options[@]}"
	# What json-c, libmunge and cmocka do is not seen; the fuzz targets have
	# one thread, and the engine's model has: few of its worlds will do.
	VS_WORLDS=60 TSAN_OPTIONS=exitcode=66:ignore_noninstrumented_modules=1 \
		run_unit_programs "$VS_BUILD" "tsan: " "sanitize with TSan" unit
}

# ---- system ------------------------------------------------------------------

part_system() {
	say "== system"
	need_packages "${VS_PACKAGES_SYSTEM[@]}"
	need_cluster
	readable_root
	run_pytest system
}

# Some tests act as other users, who can't look into the cache of root: a copy
# of the plugins where they can. It goes at the end.
readable_root() {
	[ "$VS_ROOT" != "$copy/root" ] || return 0
	[ -n "$copy" ] || copy=$(mktemp -d /tmp/vs-plugins.XXXXXX) ||
		die "can't write in /tmp"
	chmod 755 "$copy"
	rm -rf "$copy/root"
	mkdir -m 755 "$copy/root"
	cp -r "$VS_ROOT/." "$copy/root/" || die "can't copy the plugins to $copy"
	export VS_ROOT=$copy/root
}

# ---- crash -------------------------------------------------------------------

# Print what a command says, and count its lines `ok ...` and `FAILED ...`.
say_and_count() { # LOG COMMAND...
	local log=$1
	shift
	(exec 9>&- && "$@") 2>&1 </dev/null | tee "$log" || true
	passed=$((passed + $(grep -c '^ok ' "$log" || true)))
	failed=$((failed + $(grep -c '^FAILED ' "$log" || true)))
}

# slurmctld killed before and after every step, and every call to vCenter failed
# once in every way: a sample, all of it with --whole. A build of its own.
part_crash() {
	local log=$results/crash.txt
	say "== crash"
	need_cluster
	build crash --enable-crash-points
	export VS_ROOT VS_BUILD
	say_and_count "$log" /usr/bin/python3 "$VS_TOP/testsuite/crash/matrix.py" "${crash_options[@]}"
	# both matrices say how many cells they have
	ran crash cells "$(sed -nE 's/^(crash|calls): .*cells=([0-9]+).*/\2/p' "$log" | awk '{ n += $1 } END { print n + 0 }')" \
		"$(grep -E '^(ok|FAILED) ' "$log" | grep -cvE '^(ok|FAILED) undisturbed ' || true)"
	if [ "$(grep -cE '^(crash|calls): .*cells=[1-9]' "$log")" != 2 ]; then
		bad "crash: the matrices came to no end, see $log"
	fi
}

# ---- chaos -------------------------------------------------------------------

# A sanitizer's library, as it is to be loaded first.
runtime() { readlink -f "$(gcc -print-file-name="$1.so")"; }

# What goes wrong, when, is drawn from a seed; see testsuite/system/chaos.py.
part_chaos() {
	local log=$results/chaos.txt
	say "== chaos${chaos_with:+ with $chaos_with}"
	need_cluster
	case $chaos_with in
	address)
		build sanitize "${sanitize_options[@]}"
		VS_PRELOAD="$(runtime libasan) $(runtime libubsan)"
		export VS_ROOT VS_PRELOAD ;;
	thread)
		(build tsan "${tsan_options[@]}") || exit 1
		export VS_TSAN=$vs_roots/tsan ;;
	esac
	readable_root
	if (exec 9>&- && /usr/bin/python3 "$VS_TOP/testsuite/system/chaos.py" \
		"${chaos_options[@]}") 2>&1 </dev/null | tee "$log"; then
		ok
	else
		bad "chaos: $(tail -n 1 "$log")"
	fi
	# a world in which no job began has shown nothing
	ran chaos runs 1 "$(grep -cE '^chaos: seed=.* jobs=[1-9].* violations: ' "$log" || true)"
}

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

# The tests of testsuite/NAME.
run_pytest() {
	local xml=$results/$1.xml log=$results/$1.txt rc=0 counts exist
	rm -f "$xml"
	exist=$({ cd "$VS_TOP/testsuite/$1" && exec 9>&- &&
		VS_TOP=$VS_TOP PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -m pytest \
			-p no:cacheprovider -q --collect-only . 2>/dev/null; } | grep -c '::') || true
	# The descriptor of the lock must not live on in daemons.
	(cd "$VS_TOP/testsuite/$1" && exec 9>&- &&
		VS_TOP=$VS_TOP PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -m pytest \
			-p no:cacheprovider -q --junitxml="$xml" .) 2>&1 |
		tee "$log" || rc=$?
	if [ ! -f "$xml" ]; then
		bad "$1: pytest gave no result, see $log"
		return
	fi
	counts=$(/usr/bin/python3 - "$xml" <<-'EOT'
	import collections, sys, xml.etree.ElementTree as E

	def key(c):
	    return c.get("classname"), c.get("name")

	# A test that fails and whose end fails too has two entries.
	results = collections.defaultdict(set)
	root = E.parse(sys.argv[1])
	# One that ended pytest has an entry too, without a name and a result.
	cases = [c for c in root.iter("testcase") if c.get("name")]
	for c in cases:
	    results[key(c)] |= {e.tag for e in c}
	    if c.find("skipped") is not None:
	        print("skipped:", c.get("name"), c.find("skipped").get("message"),
	              file=sys.stderr)
	failed = [n for n, kinds in results.items() if kinds & {"failure", "error"}]
	skipped = [n for n, kinds in results.items()
	           if "skipped" in kinds and n not in failed]
	for n in failed:
	    print("FAILED:", n[1], file=sys.stderr)
	print(len(results) - len(failed) - len(skipped), len(failed), len(skipped))
	EOT
	)
	# shellcheck disable=SC2086 # three numbers
	set -- "$1" $counts
	passed=$((passed + $2))
	failed=$((failed + $3))
	if [ "$rc" != 0 ] && [ "$3" = 0 ]; then
		bad "$1: pytest ended with $rc"
	fi
	ran "$1" tests "$exist" "$(($2 + $3))" "$4"
}

# ---- fuzz --------------------------------------------------------------------

# Every target of testsuite/fuzz by libFuzzer, one after the other, --seconds
# (60) each. What is found stays in $VS_CACHE/fuzz; it belongs into the corpus.
part_fuzz() {
	local clang t name dir log seconds=${seconds:-60} options exist=0 began=0
	say "== fuzz, $seconds s for each target"
	need_packages "${VS_PACKAGES_BUILD[@]}" "${VS_PACKAGES_RUN[@]}"
	need_slurm_source
	clang=$(find_clang)
	if [ -z "$clang" ]; then
		need_packages clang
		clang=$(find_clang)
	fi
	# Debian's clang only recommends its sanitizers and libFuzzer.
	fuzzer_links "$clang" ||
		need_packages "libclang-rt-$("$clang" -dumpversion | cut -d . -f 1)-dev"
	# clang warns of more than gcc, which judges the warnings
	build fuzz --enable-fuzzing CC="$clang" CFLAGS="-g -O2 -Wno-error"
	run_logged "$VS_CACHE/log/make-fuzz.log" "building the fuzz targets" \
		make -C "$VS_BUILD" -j "$(vs_jobs)" fuzz-targets
	while IFS= read -r t; do
		t=$VS_BUILD/$t
		exist=$((exist + 1))
		[ -x "$t" ] || continue
		began=$((began + 1))
		name=${t##*/test_fuzz_}
		dir=$VS_CACHE/fuzz/$name
		log=$results/fuzz-$name.txt
		mkdir -p "$dir/corpus" "$dir/found"
		options=(-max_total_time="$seconds" -timeout=20 -rss_limit_mb=4000
			-max_len=65536 -artifact_prefix="$dir/found/")
		case $name in
		vc | client) options+=(-dict="$VS_TOP/testsuite/fuzz/vc.dict") ;;
		esac
		if "$t" "${options[@]}" "$dir/corpus" "$VS_TOP/testsuite/fuzz/corpus/$name" \
			>"$log" 2>&1 </dev/null; then
			ok
			say "$name: $(tail -n 1 "$log")"
		else
			bad "fuzz: $name: $(grep -m 1 -E 'runtime error|SUMMARY' "$log") (see $log)"
			grep 'Test unit written to' "$log" | sed 's/^/    /'
		fi
	done < <(make -s -C "$VS_BUILD" list-fuzz)
	ran fuzz targets "$exist" "$began"
}

fuzzer_links() { # CLANG
	echo 'int LLVMFuzzerTestOneInput(void); int LLVMFuzzerTestOneInput(void) { return 0; }' |
		"$1" -fsanitize=fuzzer,address,undefined -x c - -o /dev/null 2>/dev/null
}

find_clang() {
	local c
	for c in clang clang-{19..14}; do
		if command -v "$c" >/dev/null; then echo "$c"; return; fi
	done
}

# ---- main --------------------------------------------------------------------

# Everything that several parts make, before they go on side by side. Slurm's
# configure has one thread, and Go's compiler begins with nothing: both at once.
prepare() {
	local p
	need_packages "${VS_PACKAGES_BUILD[@]}" "${VS_PACKAGES_RUN[@]}"
	for p in "${parts[@]}"; do
		[ "$p" != lint ] || need_packages "${VS_PACKAGES_LINT[@]}" "${VS_PACKAGES_RPM[@]}"
		[ "$p" != system ] || need_packages "${VS_PACKAGES_SYSTEM[@]}"
		[ "$p" != replay ] || need_packages "${VS_PACKAGES_REPLAY[@]}"
	done
	[ -n "$vs_sim_given" ] || need_go
	# Its pid may be another process's before it is waited for: the build starts
	# more of them than a machine may have numbers.
	rm -f "$results/vcsim.built"
	(build_vcsim && : >"$results/vcsim.built") &
	need_slurm_source
	build main
	wait
	[ -e "$results/vcsim.built" ] || exit 1
	need_cluster
}

finish() {
	local rc=$?
	trap - EXIT
	[ -z "$copy" ] || rm -rf "$copy"
	nothing_left
	say_unsteady
	cat "$results/ran" 2>/dev/null || true
	if [ $rc != 0 ]; then
		failed=$((failed + 1))
	elif [ $failed -gt 0 ]; then
		rc=1
	fi
	if [ "${parts[*]}" = chaos ] && grep -q '^chaos: seed=.* violations: ' "$results/chaos.txt" 2>/dev/null; then
		tail -n 1 "$results/chaos.txt"
	else
		say "$passed passed, $failed failed"
		[ "${parts[*]}" != matrix ] || cat "$results/matrix.sum" 2>/dev/null || true
	fi
	exit $rc
}

parts=()
chaos_options=()
crash_options=()
suite_options=()
chaos_with=
only_release=
slurm_given=
recordings_given=
words=()
while [ $# -gt 0 ]; do
	case $1 in
	--seconds | --seed)
		[ $# -ge 2 ] || die "$1 needs a number"
		chaos_options+=("$1" "$2")
		[ "$1" = --seed ] || seconds=$2
		shift ;;
	--with)
		chaos_with=${2:-}
		case $chaos_with in
		address | thread) shift ;;
		*) die "--with address or --with thread is expected" ;;
		esac ;;
	--release)
		only_release=${2:-}
		[ -n "$only_release" ] || die "--release needs one of contribs/releases"
		shift ;;
	--slurm-source)
		[ -d "${2:-}" ] || die "--slurm-source needs the directory of a Slurm's source"
		slurm_given=$(cd "$2" && pwd)
		shift ;;
	--whole)
		crash_options+=("$1")
		suite_options+=("$1") ;;
	--recordings)
		[ -n "$(recordings "${2:-}")" ] || die "--recordings needs a directory with what govc object.save or svf-probe --record wrote"
		recordings_given=$(cd "$2" && pwd)
		shift ;;
	*) words+=("$1") ;;
	esac
	shift
done
for a in "${words[@]:-all}"; do
	case $a in
	all) parts+=(unit guest contribs vcsim replay system crash chaos lint) ;;
	unit | guest | contribs | vcsim | replay | system | crash | chaos | fuzz | lint | sanitize | matrix | packages | slurm-testsuite | coverage | mutation | requests) parts+=("$a") ;;
	-h | --help) sed -n '4,33s/^# \{0,1\}//p' "$0"; exit 0 ;;
	*) die "unknown part '$a': unit, guest, contribs, vcsim, replay, system, crash, chaos, fuzz, lint, sanitize, matrix, packages, slurm-testsuite, coverage, mutation, requests or all is expected" ;;
	esac
done
export VS_RUN=$$.$EPOCHREALTIME
source_has_a_row
lock_cache
rm -rf "$results"
mkdir -p "$results" "$VS_CACHE/log"
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
if [ ${#parts[@]} -gt 1 ] && [ -z "$chaos_with" ]; then
	prepare
	side_by_side
else
	for p in "${parts[@]}"; do
		"part_$p"
	done
fi
