# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# check.sh's replay: recordings of vCenters go through the decoder, the inventory, the
# account's rights and the specs of clones. An independent reader says what must come
# out. A recording is a directory that `govc object.save` or `svf-probe --record` wrote.
# slurmctld runs at each site that govc recorded; svf-probe does not record whole sites.
# The tree has a generator of two made-up recordings (testsuite/replay/sample.py), and
# test_probe_recording.py has svf-probe record the simulator. --recordings DIR adds real
# ones, which are no part of the tree.
#
# Rules: a recording that was asked for is replayed or fails the part; nothing is
# fetched.
# shellcheck disable=SC2154 # the caller's

VS_PACKAGES_REPLAY=(python3-pyvmomi)

# recordings DIR: DIR itself, or those below it that hold a recording, a line each.
recordings() {
	local d
	for d in "$1" "$1"/*/; do
		if is_served "${d%/}" || [ -f "${d%/}/index.jsonl" ]; then
			printf '%s\n' "${d%/}"
		fi
	done
}

# Can the simulator serve it? A recording of govc holds all objects, one of svf-probe
# only the answers to what the client asked.
is_served() { # DIRECTORY
	compgen -G "$1/[0-9]*-ServiceInstance-*.xml" >/dev/null
}

# Those of the directories that the simulator can serve, a line each.
served() { # DIRECTORY...
	local d
	for d; do
		if is_served "$d"; then printf '%s\n' "$d"; fi
	done
}

# By the decoder and the inventory alone, against testsuite/replay/reading.py.
replay_decoded() { # DIRECTORY...
	local log=$results/replay.tap
	run_logged "$VS_CACHE/log/make-tests.log" "building the replay" \
		make -C "$VS_BUILD" -j "$(vs_jobs)" testsuite/replay/replay
	# Debian 12's pyvmomi is older than its Python, which warns.
	/usr/bin/python3 -B -W ignore "$VS_TOP/testsuite/replay/replay.py" \
		"$VS_BUILD/testsuite/replay/replay" "$@" >"$log" 2>"$results/replay.err" </dev/null || true
	sed -n 's/^ok [0-9]* - /compared: /p' "$log"
	show_diag=1 tally "$log" replay
	tail -n 1 "$results/replay.err"
	ran replay recordings $# "$(grep -cE '^(not )?ok ' "$log" || true)"
}

part_replay() {
	local samples=$results/replay-samples given=() list=()
	say "== replay${recordings_given:+ of $recordings_given}"
	need_packages "${VS_PACKAGES_REPLAY[@]}"
	need_cluster
	rm -rf "$samples"
	run_logged "$VS_CACHE/log/samples.log" "making the samples" \
		/usr/bin/python3 -B "$VS_TOP/testsuite/replay/sample.py" "$samples"
	mapfile -t list < <(recordings "$samples")
	[ -z "$recordings_given" ] || mapfile -t given < <(recordings "$recordings_given")
	list+=("${given[@]}")
	replay_decoded "${list[@]}"
	# With slurmctld, against a simulator that has loaded the recording.
	VS_RECORDINGS=$(served "${list[@]}")
	export VS_RECORDINGS
	readable_root
	run_pytest replay
}
