# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# check.sh's fuzz: every target of testsuite/fuzz by libFuzzer.
# shellcheck disable=SC2154 # the caller's

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
