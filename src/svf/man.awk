# SPDX-License-Identifier: GPL-2.0-or-later
# The keys' part of vsphere.conf(5), from `svf --noheader conf --keys` on
# standard input, put into the page given as the second file.
function section(line) {
	if (line == "-")
		return "THE WHOLE CLUSTER"
	return toupper(line) " LINES"
}
function roff(s) {
	gsub(/\\/, "\\e", s)
	gsub(/-/, "\\-", s)
	return s
}
FNR == NR {
	split($0, f, /  +/)
	if (f[1] != last)
		keys = keys ".SH " section(f[1]) "\n"
	last = f[1]
	keys = keys ".TP\n.B " f[2] "\n" roff(f[4]) "\n"
	if (f[3] == "(required)")
		keys = keys "Must be given.\n"
	else if (f[3] != "-")
		keys = keys "Default: \\fB" roff(f[3]) "\\fR.\n"
	next
}
$0 == "@KEYS@" { printf "%s", keys; next }
{ print }
