# SPDX-License-Identifier: GPL-2.0-or-later
# Completion of svf for bash: svf knows its own words (complete.c).
_svf()
{
	local line
	COMPREPLY=()
	while IFS= read -r line; do
		case $line in
		:files) compopt -o default 2>/dev/null ;;
		:nospace) compopt -o nospace 2>/dev/null ;;
		*) COMPREPLY+=("$line") ;;
		esac
	done < <("${COMP_WORDS[0]}" --complete "$COMP_CWORD" \
		"${COMP_WORDS[@]}" 2>/dev/null)
}
complete -F _svf svf
