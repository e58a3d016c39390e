# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# check.sh's upgrade: this tree takes over from earlier commits while jobs run, and
# they from it. The commits stand in testsuite/upgrade/commits; --from COMMIT: that
# one alone.
#
# Rules: an earlier commit is taken from git, built for the same Slurm, and installed
# in a root of its own in the cache. One that can't be built fails the part.
# shellcheck disable=SC2154,SC2030,SC2031 # the caller's; a subshell's own are meant

# A full id for each row, or for --from.
upgrade_commits() {
	local row
	if [ -n "${upgrade_from:-}" ]; then
		printf '%s\n' "$upgrade_from"
	else
		sed -n 's/^\([^#[:space:]]\{1,\}\).*/\1/p' "$VS_TOP/testsuite/upgrade/commits"
	fi | while IFS= read -r row; do
		git -c safe.directory='*' -C "$VS_TOP" rev-parse --verify --quiet "$row^{commit}" ||
			die "git has no commit $row: a whole clone is needed, not a release or a shallow one"
	done
}

# Prints the root in which the commit is installed. Its warnings, with a compiler of
# today, do not count.
earlier_built() { # COMMIT
	local dir=$VS_CACHE/earlier/$1
	(
		# shellcheck disable=SC2034 # what build() reads
		VS_TOP=$dir vs_builds='' vs_made=() vs_configure=(--enable-debug)
		if [ ! -e "$dir/.vs-whole" ]; then
			rm -rf "$dir" && mkdir -p "$dir"
			git -c safe.directory='*' -C "$2" archive "$1" | tar -x -C "$dir" &&
				: >"$dir/.vs-whole"
		fi
		build earlier >&2
		printf '%s\n' "$VS_ROOT"
	)
}

part_upgrade() {
	local commit root commits
	say "== upgrade"
	need_packages git
	need_cluster
	commits=$(upgrade_commits) || exit 1
	VS_EARLIER=
	for commit in $commits; do
		root=$(earlier_built "$commit" "$VS_TOP") || exit 1
		VS_EARLIER+="$commit $VS_CACHE/earlier/$commit $root"$'\n'
	done
	export VS_EARLIER
	run_pytest upgrade
}
