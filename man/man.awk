# SPDX-License-Identifier: GPL-2.0-or-later
# A manual page from its source, man/PAGE.in. The first file holds what
# `svf --tables` prints, the line "keys", and what `svf conf --keys` prints.
# A line of the source that is @NAME@ alone becomes the text of that name.

function roff(s) {
	gsub(/\\/, "\\e", s)
	gsub(/-/, "\\-", s)
	return s
}

function bold(s) { return "\\fB" roff(s) "\\fR" }

# Lines of at most 76 bytes, each sentence on its own.
function para(s,	n, w, i, line, out) {
	sub(/^ +/, "", s)
	n = split(roff(s), w, / +/)
	for (i = 1; i <= n; i++) {
		if (line != "" && length(line " " w[i]) > 76) {
			out = out line "\n"
			line = ""
		}
		if (line == "" && w[i] ~ /^[.']/)
			w[i] = "\\&" w[i]
		line = line (line == "" ? "" : " ") w[i]
		if (w[i] ~ /\.$/ && length(line) > 40) {
			out = out line "\n"
			line = ""
		}
	}
	return out (line == "" ? "" : line "\n")
}

# A phrase of a table as a sentence. A name such as slurm.conf stays as it is.
function sentence(s) {
	if (s ~ /^[a-z-]+[,:;]?( |$)/)
		s = toupper(substr(s, 1, 1)) substr(s, 2)
	return s ~ /[.!?]$/ ? s : s "."
}

# Words that the caller replaces are in upper case.
function usage(s,	w, out) {
	while (match(s, /[A-Za-z0-9_-]+/)) {
		w = substr(s, RSTART, RLENGTH)
		out = out substr(s, 1, RSTART - 1) \
			(w ~ /^[A-Z0-9_]+$/ ? "\\fI" : "\\fB") roff(w) "\\fR"
		s = substr(s, RSTART + RLENGTH)
	}
	out = out s
	gsub(/ +/, " ", out)
	sub(/ $/, "", out)
	return out
}

# The first form of "-n, --name=VALUE": "-n VALUE".
function brief(s,	value) {
	sub(/^ +/, "", s)
	if (s ~ /^-., /) {
		value = match(s, /=/) ? " " substr(s, RSTART + 1) : ""
		s = substr(s, 1, 2) value
	}
	return s
}

# ---- svf's verbs -----------------------------------------------------------------

function synopsis(s) { page["SYNOPSIS"] = page["SYNOPSIS"] s }

function verbs(s) { page["VERBS"] = page["VERBS"] s }

function verb_line(rest) { synopsis(usage("svf " rest) "\n.br\n") }

# A verb's text, then its options, which have no empty lines between them.
function body_end() {
	if (body == "")
		return
	verbs(para(body))
	if (options != "")
		verbs(".PP\n.PD 0\n" options ".PD\n")
	body = options = ""
}

function fields_end() {
	if (fields != "")
		verbs((lists++ ? ".br\n" : ".PP\n") fields_head "\n" para(fields "."))
	fields = ""
}

# The synopsis of the last verb, when its options are known.
function verb_end() {
	body_end()
	fields_end()
	if (verb && !words)
		verb_line(verb " " (nflags > 3 ? "[OPTION...] " : flags) args)
	flags = ""
	nflags = words = lists = 0
}

function record_verb() {
	verb_end()
	verb = f[2]
	rest = 0
	args = f[4]
	verbs(".SS svf " roff(verb) "\n")
	body = sentence(f[5])
}

function record_flag() {
	sub(/^ +/, "", f[2])
	options = options ".TP 24\n" usage(f[2]) "\n" para(sentence(f[3]))
	flags = flags "[" brief(f[2]) "] "
	nflags++
}

function record_word() {
	words++
	verb_line(f[2] " " f[3])
	options = options ".TP 7\n" usage("svf " f[2] " " f[3]) "\n" para(sentence(f[4]))
}

# The first paragraph of the help; `svf VERB --help` has the rest.
function record_text() {
	if (f[2] == "" || f[2] ~ /^ /)
		rest = 1
	if (!rest)
		body = body " " f[2]
}

function record_list() {
	body_end()
	fields_end()
	fields_head = f[2] == "" ? "Fields:" : "Fields with " bold(f[2]) ":"
}

function record_same() {
	body_end()
	verbs(".PP\nFields: those of\n.BR \"svf " roff(f[2]) "\" .\n")
}

function record_option(	arg) {
	arg = f[4] ~ /^=/ ? "[=\\fI" roff(substr(f[4], 2)) "\\fR]" : \
		f[4] ? "=\\fI" roff(f[4]) "\\fR" : ""
	page["OPTIONS"] = page["OPTIONS"] ".TP\n" (f[2] ? bold(f[2]) ", " : "") \
		bold(f[3]) arg "\n" para(sentence(f[5]))
}

# ---- findings, keys --------------------------------------------------------------

# Findings of one kind of object stand together.
function record_code() {
	if (!(f[4] in codes))
		kinds[++nkinds] = f[4]
	codes[f[4]] = codes[f[4]] ".TP\n" bold(f[2]) " (" f[3] ")\n" \
		para(sentence(f[5])) para(f[6])
}

function codes_end(	i, k) {
	for (i = 1; i <= nkinds; i++) {
		k = kinds[i]
		page["CODES"] = page["CODES"] ".SS " \
			roff(k in heading ? heading[k] : k) "\n" codes[k]
	}
}

# The columns of `svf conf --keys` begin where the names in its first line do.
function keys_head(	s, at) {
	at = 1
	for (s = $0; match(s, /[^ ]+ */); s = substr(s, RLENGTH + 1)) {
		column[++columns] = substr(s, 1, RLENGTH)
		sub(/ +$/, "", column[columns])
		has_level = has_level || column[columns] == "LEVEL"
		from[columns] = at
		at += RLENGTH
	}
}

function keys_row(	i, v) {
	for (i = 1; i <= columns; i++) {
		v = i < columns ? substr($0, from[i], from[i + 1] - from[i]) : \
			substr($0, from[i])
		sub(/ +$/, "", v)
		row[column[i]] = v
	}
	if (!has_level)
		row["LEVEL"] = row["DEFAULT"] == "(required)" ? "required" : "common"
	keys_add(row["LEVEL"], row["LINE"])
}

# "full: a copy; linked: it shares disks. One of full|linked.": each value that is
# explained has a line of its own, and the list goes if all of them are.
function values(m,	choices, n, v, i, k, part, out, list, found) {
	choices = "yes|no|full|dhcp|0"
	if (match(m, / One of [^ ]+\.$/)) {
		list = substr(m, RSTART + 1)
		choices = substr(list, 8, length(list) - 8)
		m = substr(m, 1, RSTART - 1)
	}
	n = split(choices, v, "|")
	for (i = 1; i <= n; i++) {
		if (index(m, v[i] ": ") == 1)
			m = "\001" m
		else if (match(m, "[.;:] " v[i] ": "))
			m = substr(m, 1, RSTART - 1) \
				(substr(m, RSTART, 1) == ":" ? ":" : ".") "\001" \
				substr(m, RSTART + 2)
		else
			continue
		found++
	}
	n = split(m, part, "\001")
	out = para(part[1] (found && list && found < split(choices, v, "|") ? \
		" " list : ""))
	for (i = 2; i <= n; i++) {
		k = roff(substr(part[i], 1, index(part[i], ":") - 1))
		out = out (out == "" ? "" : ".br\n") "\\fB" k "\\fR" \
			substr(para(part[i]), length(k) + 1)
	}
	return out (list && !found ? list "\n" : "")
}

function keys_add(level, line,	s) {
	if (line != last[level])
		s = ".SS " (line == "-" ? "Global keys" : roff(line) " lines") "\n"
	last[level] = line
	s = s ".TP\n" bold(row["KEY"]) "\n" values(row["MEANING"])
	if (row["DEFAULT"] !~ /^(-|\(required\)|\(see text\))$/)
		s = s (s ~ /\n\.br\n/ ? ".br\n" : "") "The default is " bold(row["DEFAULT"]) ".\n"
	key[level] = key[level] s
}

BEGIN {
	FS = "\t"
	heading["host"] = "ESXi hosts"
	heading["PF"] = "Physical functions"
	heading["device"] = "PCI devices"
	heading["template"] = "Templates"
	heading["datastore"] = "Datastores"
	heading["pool"] = "Resource pools"
	heading["cluster"] = "vSphere clusters"
	heading["node"] = "Nodes"
	heading["adapter"] = "Adapters"
	heading["folder"] = "Folders"
	heading["Slurm cluster"] = "Other Slurm clusters"
	heading["limit"] = "Limits"
	heading["vCenter"] = "vCenter"
	heading["object"] = "Privileges"
	heading["account"] = "The account"
}

FNR == NR && $1 == "keys" { in_keys = 1; next }
FNR == NR && in_keys == 1 { keys_head(); in_keys = 2; next }
FNR == NR && in_keys { keys_row(); next }
FNR == NR {
	split("", f)
	split($0, f, FS)
	if ($1 == "verb") record_verb()
	else if ($1 == "flag") record_flag()
	else if ($1 == "word") record_word()
	else if ($1 == "text") record_text()
	else if ($1 == "list") record_list()
	else if ($1 == "same") record_same()
	else if ($1 == "field") fields = fields (fields == "" ? "" : ", ") f[2]
	else if ($1 == "option") record_option()
	else if ($1 == "exit")
		page["EXITS"] = page["EXITS"] ".TP\n" bold(f[2]) "\n" para(sentence(f[3]))
	else if ($1 == "code") record_code()
	next
}

FNR == 1 {
	verb_end()
	codes_end()
	sub(/\.br\n$/, "", page["SYNOPSIS"])
	for (i = split("required common advanced", level, " "); i; i--)
		if (key[level[i]] != "")
			page["KEYS"] = ".SH " toupper(level[i]) " KEYS\n" key[level[i]] page["KEYS"]
}
/^@[A-Z]+@$/ {
	name = substr($0, 2, length($0) - 2)
	if (!(name in page)) {
		print FILENAME ": " $0 " is not known" >"/dev/stderr"
		exit 1
	}
	printf "%s", page[name]
	next
}
# Names are not hyphenated, and lines not justified.
/^\.TH / { gsub(/@VERSION@/, version); $0 = $0 "\n.nh\n.ad l" }
{ print }
