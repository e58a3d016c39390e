# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# check.sh's matrix: unit, system and chaos against the real daemons of each release in
# testsuite/matrix/releases, by the scripts of that folder.
#
# Rules: what did not run is never counted as passed.
# shellcheck disable=SC2154,SC2034 # the caller's

# For testsuite/matrix/table.py, which puts the runs that are kept into the table of
# doc/compatibility.md.
matrix_record() { # VERSION RESULTS
	local commit
	commit=$(git -C "$VS_TOP" describe --always --dirty --abbrev=8 --exclude='*' 2>/dev/null) || commit='?'
	"$VS_TOP/testsuite/matrix/table.py" record "$1" "$commit" "$2" "$results/matrix.tsv" ||
		bad "the results of Slurm $1 can't be read: $2"
}

# Passed and failed of one row are added; what ran is said in the last line.
matrix_row() { # RELEASE SUITE KIND
	local slurm_tree dir log=$results/matrix-$1.txt was="$passed $failed" says counts
	local part a b left=$results
	slurm_tree=$(tree_for "$1")
	dir=$(chroot_dir "$1" "$2" "$slurm_tree")
	if [ "$3" = given ] && [ -z "$slurm_tree" ]; then
		say "matrix: Slurm $1 was not run: no distribution has it, and no --slurm-source is of it"
		matrix_left+=("$1")
		return 0
	fi
	if [ -n "$slurm_tree" ]; then
		say "== Slurm $1 built from $slurm_tree, in $2"
	else
		say "== Slurm $1 of $2"
	fi
	if [ "$2" = "$(codename)" ] && [ -z "$slurm_tree" ]; then
		for part in unit guest contribs vcsim system chaos; do
			(set +e; apart "$part")
			read -r a b <"$results/$part.counts"
			passed=$((passed + a)) failed=$((failed + b))
		done
		says=$(slurmctld -V)
		counts="$((passed - ${was% *})) $((failed - ${was#* }))"
	else
		chroot_ready "$2" "$dir"
		database_into "$dir"
		check_in_chroot "$dir" unit guest contribs system chaos "${chaos_options[@]}" | tee "$log" || true
		if [ "$3" = try ] && grep -q '^slurm-source.sh: the archive has no source' "$log"; then
			say "matrix: Slurm $1 was not run: the archive of $2 has no source of it"
			matrix_left+=("$1")
			return 0
		fi
		says=$(in_chroot "$dir" slurmctld -V) || says="slurm ?"
		counts=$(counts_of "$log")
		if [ -z "$counts" ] || [ "${counts% *}" = 0 ]; then
			bad "the run against Slurm $1 came to no end, see $log"
			return 0
		fi
		passed=$((passed + ${counts% *}))
		failed=$((failed + ${counts#* }))
		left=$dir/var/cache/slurm-vsphere/results
	fi
	says=${says##* }
	case $says in
	"$1".*) matrix_ran+=("Slurm $says${slurm_tree:+ built from source} (${counts% *} passed, ${counts#* } failed)")
		matrix_record "$says" "$left" ;;
	*) bad "the daemons of $2 are of Slurm $says, not $1" ;;
	esac
}

part_matrix() {
	local release suite kind exist=0 matrix_ran=() matrix_left=()
	need_cluster
	while read -r release suite kind; do
		exist=$((exist + 1))
		matrix_row "$release" "$suite" "$kind" </dev/null
	done < <(release_rows)
	# What may be left out is left out of all of them, not when it is asked for.
	if [ -n "${only_release:-}" ] || [ ${#matrix_ran[@]} = 0 ]; then
		ran matrix releases "$exist" "${#matrix_ran[@]}"
	else
		ran matrix releases "$exist" "${#matrix_ran[@]}" "${#matrix_left[@]}"
	fi
	say "matrix: ran: ${matrix_ran[*]:-none}${matrix_left[*]:+; not run: ${matrix_left[*]}}" \
		>"$results/matrix.sum"
}
