# SPDX-License-Identifier: GPL-2.0-or-later
# Verbs, options, exit codes and what svf check finds, of svf(1), from `svf --tables` on standard
# input (usage.c says its shape), put into the page given as the second file.
function roff(s) {
	gsub(/\\/, "\\e", s)
	gsub(/-/, "\\-", s)
	return s
}
function fields_end() {
	if (again)
		verbs = verbs ".TP 14\n.B ...\nand as above: " again "\n"
	verbs = verbs ".RE\n"
	listed = 0
	again = ""
}
function verb(s) {
	if (plain)
		verbs = verbs ".fi\n"
	plain = 0
	verbs = verbs s
}
FNR == NR {
	n = split($0, f, /\t/)
	if (f[1] != "field" && listed)
		fields_end()
	if (f[1] == "verb") {
		split("", seen)
		verb(".TP\n.B svf " roff(f[2]) (f[3] ? " [" roff(f[3]) "]" : "") \
		     (f[4] ? " " roff(f[4]) : "") "\n" roff(f[5]) ".\n")
		fresh = 1
	} else if (f[1] == "flag" || f[1] == "word") {
		verb(".RS\n.TP\n.B " roff(f[2]) (n > 3 ? " " roff(f[3]) : "") \
		     "\n" roff(f[n]) ".\n.RE\n")
		fresh = 1
	} else if (f[1] == "text" && f[2] ~ /^ /) {
		if (!plain)
			verbs = verbs ".IP\n.nf\n"
		plain = 1
		verbs = verbs "\\&" roff(f[2]) "\n"
	} else if (f[1] == "text") {
		if (plain || fresh)
			verb(".IP\n")
		fresh = 0
		if (f[2] == "")
			fresh = 1
		else
			verbs = verbs (f[2] ~ /^[.']/ ? "\\&" : "") roff(f[2]) "\n"
	} else if (f[1] == "list") {
		verb(".IP\n" (f[2] ? "Fields with " roff(f[2]) ":\n" : \
			"Fields (of \\fB\\-O\\fR alone where marked with +):\n") ".RS\n")
		listed = 1
	} else if (f[1] == "same") {
		verb(".IP\nFields: as those of\n.BR \"svf " f[2] "\" .\n")
	} else if (f[1] == "field" && seen[f[2], f[4]]) {
		again = again (again ? ", " : "") f[2]
	} else if (f[1] == "field") {
		seen[f[2], f[4]] = 1
		verbs = verbs ".TP 14\n.B " roff(f[2]) (f[3] ? "" : " +") "\n" \
			roff(f[4]) "\n"
	} else if (f[1] == "option") {
		arg = f[4] ~ /^=/ ? "[" f[4] "]" : f[4] ? "=" f[4] : ""
		options = options ".TP\n.B " (f[2] ? roff(f[2]) ", " : "") \
			roff(f[3]) roff(arg) "\n" roff(f[5]) ".\n"
	} else if (f[1] == "exit") {
		exits = exits ".TP\n.B " f[2] "\n" roff(f[3]) "\n"
	} else if (f[1] == "code") {
		codes = codes ".TP\n\\fB" roff(f[2]) "\\fR (" f[3] ", of a " roff(f[4]) ")\n" \
			toupper(substr(f[5], 1, 1)) roff(substr(f[5], 2)) ".\n" \
			roff(f[6]) "\n"
	}
	next
}
$0 == "@VERBS@" { verb(""); printf "%s", verbs; next }
$0 == "@OPTIONS@" { printf "%s", options; next }
$0 == "@CODES@" { printf "%s", codes; next }
$0 == "@EXITS@" { printf "%s", exits; next }
{ print }
