# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# check.sh's messages: all texts of src that people read, for reading.
# shellcheck disable=SC2154 # the caller's

# Prints each text, and judges it as lint does.
part_messages() {
	local log=$results/messages.txt faults=$results/messages.faults
	say "== messages"
	/usr/bin/python3 "$VS_TOP/testsuite/lint/messages.py" --list >"$log" 2>"$results/messages.listed" ||
		die "messages: $(tail -n 1 "$results/messages.listed")"
	cat "$log"
	one "messages: no text breaks a rule" messages_faults "$faults"
	ran messages texts "$(sed -nE 's/^messages: ([0-9]+) texts.*/\1/p' "$faults")" \
		"$(wc -l <"$log")"
}

messages_faults() { # FILE
	/usr/bin/python3 "$VS_TOP/testsuite/lint/messages.py" 2>&1 | tee "$1"
}
