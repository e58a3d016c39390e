#compdef svf
# SPDX-License-Identifier: GPL-2.0-or-later
# Completion of svf for zsh: svf knows its own words (complete.c).
local -a found
local line space=' '
while IFS= read -r line; do
	case $line in
	:files) _files ;;
	:nospace) space='' ;;
	*) found+=("$line") ;;
	esac
done < <("${words[1]}" --complete "$((CURRENT - 1))" "${(@Q)words}" 2>/dev/null)
compadd -Q -S "$space" -a found
