# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The files of the tree: those that git knows, or all of a release that was
# unpacked. Sourced after setup.sh.

# What a release has and git doesn't: made by autoreconf.
made_by_autoreconf='^(configure|aclocal[.]m4|vs_config[.]h[.]in|Makefile[.]in)~?$|^(auxdir|m4|autom4te[.]cache)/|/__pycache__/'

tracked() { # GLOB...
	local f g
	if [ -e "$VS_TOP/.git" ]; then
		git -c safe.directory='*' -C "$VS_TOP" ls-files --cached --others --exclude-standard -- "$@"
	else
		(cd "$VS_TOP" && find . -type f | sed 's,^[.]/,,' | sort) |
			grep -vE "$made_by_autoreconf" | while IFS= read -r f; do
			for g in "${@:-*}"; do
				# shellcheck disable=SC2254 # a pattern
				case $f in $g | "${g%/}"/*) printf '%s\n' "$f"; break ;; esac
				[ "$g" != . ] || { printf '%s\n' "$f"; break; }
			done
		done
	fi | while IFS= read -r f; do
		if [ -f "$VS_TOP/$f" ]; then printf '%s\n' "$f"; fi
	done
}
