# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Several parts of check.sh side by side.
# Clusters wait for timers and compilers compute: on two cores the one runs beside
# the other. Sourced after setup.sh and count.sh by who has parts, part_NAME for each,
# results and copy.
#
# Rules: a part counts in a shell of its own and leaves its figures whatever ends
# it; what it says is said at its end, in one piece; who is told to end tells all
# lanes and waits until they have cleaned up.
# shellcheck disable=SC2154,SC2034,SC2030,SC2031 # the caller's; a part's own are meant

# ---- side by side ----------------------------------------------------------------

# The processor's time of this shell and of its ended children, and these seconds, for
# say_times. By redirection: in a pipe a shell of its own would know only its own children.
keep_times() { # NAME SECONDS
	{ times; echo "$2"; } >"$results/$1.times"
}

part_ended() {
	local rc=$?
	trap - EXIT
	[ -z "$copy" ] || rm -rf "$copy"
	[ $rc = 0 ] || bad "$1 ended with $rc"
	echo "$passed $failed" >"$results/$1.counts"
	keep_times "$1" $((SECONDS - part_began))
}

# A part in a shell of its own, which leaves what it counted.
apart() {
	local p=$1
	(
		set -e
		trap 'part_ended "$p"' EXIT
		trap 'exit 130' INT
		trap 'exit 143' TERM HUP
		passed=0
		failed=0
		ran_before="0 0"
		part_began=$SECONDS
		"part_$p"
	) >"$results/$p.out" 2>&1 </dev/null
	# One write, whatever the others say meanwhile.
	printf '%s\n' "$(cat "$results/$p.out")"
}

# A row of the table, of what keep_times kept.
time_row() { # NAME
	awk -v p="$1" '
		function s(t) { split(t, a, /[ms]/); return a[1] * 60 + a[2] }
		NR < 3 { cpu += s($1) + s($2) }
		NR == 3 { printf "time: %-12s %6d s %10.0f s\n", p, $1, cpu }' "$results/$1.times"
}

# Where the time went: of each part its seconds, and its processes' seconds of processor
# (without those of daemons for which no process waited), the longest first. `prepare` is
# the build before all parts, `whole` the run. $results/times keeps the table.
say_times() {
	local p rows
	keep_times whole "$SECONDS"
	rows=$(for p in prepare "${parts[@]}"; do
		[ -e "$results/$p.times" ] || continue
		time_row "$p"
	done | sort -k 3 -n -r)
	[ -n "$rows" ] || return 0
	{
		printf 'time: %-12s %8s %12s\n%s\n' part wall processor "$rows"
		time_row whole
	} | tee "$results/times"
}

# The parts that compute run at low priority, so that they delay no test's timers.
# contribs mostly waits for programs of one thread, so it has a lane of its own.
side_by_side() {
	local p a b lane lanes=() pids=() clusters=() computes=() last=()
	for p in "${parts[@]}"; do
		case $p in
		system | contribs) lanes+=("$p") ;;
		guests) last=("$p") ;;
		replay | crash | chaos) clusters+=("$p") ;;
		*) computes+=("$p") ;;
		esac
	done
	lanes+=("${clusters[*]}" "${computes[*]}")
	set -m		# a signal reaches all of a lane
	for lane in "${lanes[@]}"; do
		[ -n "$lane" ] || continue
		say "== side by side: $lane"
		(
			set +em
			trap 'exit 143' TERM
			case $lane in
			"${computes[*]}" | contribs) renice -n 10 -p $BASHPID >/dev/null ;;
			esac
			for p in $lane; do apart "$p"; done
		) </dev/null &
		pids+=($!)
	done
	trap 'end_lanes; exit 130' INT
	trap 'end_lanes; exit 143' TERM HUP
	wait
	# QEMU without KVM needs the whole machine.
	for p in "${last[@]}"; do
		(set +em; apart "$p") </dev/null &
		pids=($!)
		wait
	done
	set +m
	for p in "${parts[@]}"; do
		if ! read -r a b <"$results/$p.counts" 2>/dev/null; then
			bad "$p came to no end"
			continue
		fi
		passed=$((passed + a))
		failed=$((failed + b))
	done
}

# Each test ends its own daemons when it is told to end.
end_lanes() {
	local pid
	for pid in "${pids[@]}"; do
		kill -TERM -- "-$pid" 2>/dev/null || true
	done
	wait
}

# A process that outlives its test keeps its locks and ports, and the output of
# this run open for who waits for its end. Found by the mark in its environment.
nothing_left() {
	local end=$((SECONDS + 5)) left f pid
	while left=$(env -u VS_RUN grep -lzx -- "VS_RUN=$VS_RUN" \
		/proc/[0-9]*/environ 2>/dev/null); [ -n "$left" ]; do
		[ $SECONDS -lt $end ] || break
		sleep 0.2
	done
	for f in $left; do
		pid=${f//[!0-9]/}
		bad "left over: process $pid: $(tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null)"
		kill -9 "$pid" 2>/dev/null || true
	done
}

# The tests that passed at the second look alone (testsuite/system/second_look.py),
# here or in a chroot: the middle of a passed run's output is easily overlooked.
say_unsteady() {
	{ grep -hs '^UNSTEADY: ' "$results/system.txt" "$results"/matrix-*.txt || true; } |
		sort -u
}
