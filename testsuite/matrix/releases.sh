# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The rows of the file releases, beside this one. Sourced after setup.sh by who has
# only_release and slurm_given, what --release and --slurm-source said, or nothing.

# The rows of testsuite/matrix/releases, or the one of --release.
release_rows() {
	awk -v only="${only_release:-}" '!/^#/ && NF && (only == "" || $1 == only)' \
		"$VS_TOP/testsuite/matrix/releases"
}

# The source given with --slurm-source, if it is of this release.
tree_for() { # RELEASE
	[ -n "${slurm_given:-}" ] || return 0
	case $(sed -n 's/^ *Version:[[:space:]]*//p' "$slurm_given/META" 2>/dev/null) in
	"$1".*) say "$slurm_given" ;;
	esac
}

# A source that stands for no row would be left out without a word.
source_has_a_row() {
	local release
	[ -n "${slurm_given:-}" ] || return 0
	while read -r release _; do
		[ -z "$(tree_for "$release")" ] || return 0
	done < <(release_rows)
	die "$slurm_given is the source of no release${only_release:+ $only_release} of testsuite/matrix/releases"
}
