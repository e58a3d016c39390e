# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# How several parts of check.sh run what they run: the programs of `make check`,
# pytest, builds with sanitizers. Sourced after setup.sh and count.sh; the caller
# has results, and copy, which it removes at its end.
# shellcheck disable=SC2154,SC2034 # the caller's

# With -O2 the compiler takes twice as long; what it warns of is judged there.
# -g1 has the lines that a sanitizer names, and takes less of the compiler's time than -g.
sanitize_options=(--enable-sanitizers CFLAGS="-g1 -O1 -Wno-error")
tsan_options=(--enable-sanitizers=thread CFLAGS="-g1 -O1 -Wno-error")

# The programs that compute longest: what begins last must not run alone at the end.
unit_first=(unit/test_engine_model unit/test_vc_states unit/test_engine_calls
	fuzz/test_fuzz_states fuzz/test_fuzz_plan)

# The lines of stdin; first those of unit_first, in its order.
longest_first() {
	awk -v first="${unit_first[*]}" '
		BEGIN { n = split(first, f, " "); for (i = 1; i <= n; i++) at["testsuite/" f[i]] = i }
		$0 in at { early[at[$0]] = $0; next }
		{ late[++m] = $0 }
		END { for (i = 1; i <= n; i++) if (i in early) print early[i]
			for (i = 1; i <= m; i++) print late[i] }'
}

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

# The programs of make's own list below testsuite/ROOM, by `make check`; with --only
# the one of that name.
run_unit_programs() {
	local dir=$1 label=$2 part=$3 rooms=${4:-unit fuzz} t log programs=() began=0 tests=0 unit_tests
	local build=(check-programs) these=()
	while IFS= read -r t; do
		[ -z "${only:-}" ] || [[ " $only " == *" ${t##*/} "* ]] || continue
		case " $rooms " in *" $(basename "$(dirname "$t")") "*) programs+=("$t") ;; esac
	done < <(make -s -C "$dir" list-tests | longest_first)
	[ ${#programs[@]} -gt 0 ] || [ -z "${only:-}" ] || die "--only $only: $part has no program of that name"
	# make check builds all of check_PROGRAMS, whatever TESTS are.
	if [ -n "${only:-}" ]; then
		build=("${programs[@]}")
		these=("check_PROGRAMS=${programs[*]}")
	fi
	run_logged "$VS_CACHE/log/make-tests.log" "building the unit tests" \
		make -C "$dir" -j "$(vs_jobs)" "${build[@]}"
	# A log of an earlier run is no result of this one.
	(cd "$dir" && rm -f "${programs[@]/%/.log}" "${programs[@]/%/.trs}" "${programs[@]/%/.err}")
	VS_LAUNCH=${launch[*]:-} make -C "$dir" -j "$(vs_jobs)" -k check "${these[@]}" TESTS="${programs[*]}" \
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

# run_pytest NAME [FILE...]: the tests of testsuite/NAME, or of these files of it; with
# --only those of that file, or FILE::TEST.
# pytest_with is a command that runs pytest, pytest_options are options besides.
pytest_with=()
pytest_options=()
run_pytest() {
	local xml=$results/$1.xml log=$results/$1.txt rc=0 counts exist these=("${@:2}")
	[ ${#these[@]} -gt 0 ] || these=("${only:-.}")
	rm -f "$xml"
	exist=$({ cd "$VS_TOP/testsuite/$1" && exec 9>&- &&
		VS_TOP=$VS_TOP PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -m pytest \
			-p no:cacheprovider -q "${pytest_options[@]}" --collect-only "${these[@]}" 2>/dev/null; } | grep -c '::') || true
	# The descriptor of the lock must not live on in daemons.
	(cd "$VS_TOP/testsuite/$1" && exec 9>&- &&
		VS_TOP=$VS_TOP PYTHONDONTWRITEBYTECODE=1 "${pytest_with[@]}" /usr/bin/python3 -m pytest \
			-p no:cacheprovider -q "${pytest_options[@]}" --junitxml="$xml" "${these[@]}") 2>&1 |
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
