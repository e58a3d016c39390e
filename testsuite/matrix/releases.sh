# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The rows of the file releases, beside this one. Sourced after setup.sh by who has
# only_release and slurm_given, what --release and --slurm-source said, or nothing.

# The rows of testsuite/matrix/releases, or the one of --release: release, suite and kind.
# The suite is that of the fourth column where a source of the release is given.
release_rows() {
	local release suite kind built_in
	while read -r release suite kind built_in; do
		[ -z "$built_in" ] || [ -z "$(tree_for "$release")" ] || suite=$built_in
		say "$release $suite $kind"
	done < <(awk -v only="${only_release:-}" '!/^#/ && NF && (only == "" || $1 == only)' \
		"$VS_TOP/testsuite/matrix/releases")
}

# The source given with --slurm-source that is of this release; slurm_given has one in
# a line.
tree_for() { # RELEASE
	local dir
	while IFS= read -r dir; do
		case $(sed -n 's/^ *Version:[[:space:]]*//p' "$dir/META" 2>/dev/null) in
		"$1".*) say "$dir"; return 0 ;;
		esac
	done <<<"${slurm_given:-}"
}

# A source that stands for no row would be left out without a word.
source_has_a_row() {
	local release dir used
	used=$(while read -r release _; do tree_for "$release"; done < <(release_rows))
	while IFS= read -r dir; do
		[ -z "$dir" ] || grep -qxF -- "$dir" <<<"$used" ||
			die "$dir is the source of no release${only_release:+ $only_release} of testsuite/matrix/releases, or of one that another --slurm-source is of"
	done <<<"${slurm_given:-}"
}

# Where the chroot of a row is: one for each Slurm that was built from a source.
chroot_dir() { # RELEASE SUITE TREE
	say "$VS_CACHE/chroot/$2${3:+-$1}"
}
