#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""words.py [--print | --lower] [--find KIND WORD FOLDER] [--top DIR]

Counts words that this project does not use, because Slurm, vSphere or Kubernetes
have a word of their own, or because the sentence does not name its subject. Compares
the counts with words.txt. A count may only fall: one that rose is a failure, and
one that fell is a failure until words.txt says so.

  (no option)  prints what differs; exits with 1 if anything does
  --print      prints each count, and the kept one
  --lower      writes what fell into words.txt; raises nothing
  --find       prints where the words of a count are, as FILE:LINE: TEXT

Kinds of text:
  name     identifiers of C, and names of files in src
  comment  comments of C, Go, Python and shell, doc strings of Python
  text     what people read: strings in code, documents, manual pages
  key      keys of svf --json (the schema files), and names and labels of the metrics:
           private, a word of the program; lower_state, a state in lower case
"""

import argparse
import ast
import collections
import io
import json
import os
import pathlib
import re
import sys
import tokenize

from files import tracked

HERE = pathlib.Path(__file__).resolve().parent

# Identifiers and names of files.
NAMES = {
    "private": r"vs_(tell|deed|door|kept|bar|find|send|when|expect|calm|brake|beside|took"
               r"|got|lost|slot|asks?|orders?|hints?)(_|\b)",
    "giveup": r"\w*giveup",
    "pair_of": r"(wanted|seen)_of\b",
    "card": r"(?:\w*_)?n?cards?(?:_\w*)?$",
}
# Two public functions may not differ in such an end alone.
END = re.compile(r"_(of|for|here|now|anew)$")
PROSE = {
    "mend": r"\bmend(s|ed|ing)?\b",
    "anew": r"\banew\b",
    "nobody": r"\b(no|some|any)body\b",
    "ours": r"\bours\b",
    "whoever": r"\bwhoever\b",
    "in_vain": r"\bin vain\b",
    "go_on": r"\bgo(es)? on\b",
    "begin_anew": r"\bbegins? anew\b",
    "to_be_told": r"\b(is|are|be) to be (told|mended|looked)\b",
    "not_in_sight": r"\bnot in sight\b",
    "the_brake": r"\bthe brake\b",
    "deed": r"\bdeeds?\b",
    "wish": r"\bwish(es|ed)?\b",
    "told_of": r"\btold of\b",
    "for_it_is": r"\bfor it (is|has|was)\b",
    "what_it_lacks": r"\bwhat (it|they) lacks?\b",
    # A NIC, a VF or a device. A key in quotes and a file are the simulator's input.
    "card": r"\b(?!(?<=[\"'])cards?[\"'])cards?\b(?!\.json)",
}
# What programs read: keys of JSON, metrics and their labels. A part of a name counts.
KEY = re.compile(
    r"(?:^|_)(ours|held|suspects?|did|do|will|is|should|parents?|brake|wish|cards?|was|making"
    r"|ahead|stays|waits|what|of|why|who|order|kind|wanted|seen|children|crowded|avoid(?:ed)?"
    r"|barred|pace|lacks|kept|given|giveup|told|took|got|asked|deeds?|mended|sick|others)(?:_|$)")
KEYS = ("private", "lower_state")
SCHEMA = re.compile(r"src/svf/schema/[^/]+\.json$")
METRICS = "src/common/engine/metrics/format.c"
NAMES = {k: re.compile(v, re.I) for k, v in NAMES.items()}
# A line's break and the margin of a comment count as a blank.
PROSE = {k: re.compile(v.replace(" ", r"(?:\s|^[\s*#/]+)+"), re.I | re.M)
         for k, v in PROSE.items()}
WORDS = [("name", w) for w in [*NAMES, "pair", "private_header"]] + \
    [(kind, w) for kind in ("comment", "text") for w in PROSE] + [("key", w) for w in KEYS]

LAYER = re.compile(r"src/common/[^/]+(?=/)|src/(?:plugins|svf)(?=/)|(?:contribs|testsuite|doc)(?=/)")
# The list itself, and what others wrote.
LEFT_OUT = re.compile(
    r"testsuite/lint/words\.|testsuite/contribs/test_(?:words|docs|messages)\.py|.*/corpus/|testsuite/golden/.*\.txt"
    r"|debian/copyright|COPYING|.*go\.sum$|src/common/util/(uthash|utlist)")
C_TOKEN = re.compile(
    r"""(?P<comment>/\*.*?\*/|//[^\n]*)|(?P<text>"(?:\\.|[^"\\\n])*"|`[^`]*`)"""
    r"""|'(?:\\.|[^'\\\n])*'|(?P<include>^\s*\#\s*include\s*"[^"]*")|(?P<name>\b[A-Za-z_]\w*)""",
    re.S | re.M)
# A function that a header declares.
DECLARED = re.compile(r"^(?!static\b|typedef\b|#|\s)[\w \t*]*?\b(\w+)\s*\(", re.M)
SHELL_COMMENT = re.compile(r"(?:^|(?<=\s))#(?![!{]).*$", re.M)


def of_c(text):
    """(kind, offset, text) of each comment, string and name of C or Go."""
    for m in C_TOKEN.finditer(text):
        if m.lastgroup in ("comment", "text", "name"):
            yield m.lastgroup, m.start(), m[0]


def doc_strings(text):
    """The first lines of a Python file's doc strings."""
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr) and \
                isinstance(body[0].value, ast.Constant):
            yield body[0].value.lineno


def of_python(text):
    """(kind, offset, text) of each comment and string. Lines are counted from 1,
    columns from 0."""
    docs = set(doc_strings(text))
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    strings = {tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", -1)}
    for t in tokenize.generate_tokens(io.StringIO(text).readline):
        at = starts[t.start[0] - 1] + t.start[1]
        if t.type == tokenize.COMMENT:
            yield "comment", at, t.string
        elif t.type in strings:
            yield "comment" if t.start[0] in docs else "text", at, t.string


def of_shell(text):
    """(kind, offset, text): comments, and the rest as one text for each gap."""
    last = 0
    for m in SHELL_COMMENT.finditer(text):
        yield "text", last, text[last:m.start()]
        yield "comment", m.start(), m[0]
        last = m.end()
    yield "text", last, text[last:]


def schema_keys(node):
    """(word, key) of each key of a schema that is refused."""
    if isinstance(node, list):
        for n in node:
            yield from schema_keys(n)
    elif isinstance(node, dict):
        for key, of in node.get("properties", {}).items():
            if KEY.search(key):
                yield "private", key
            if key.endswith("state") and any(v != v.upper() for v in of.get("enum", ())):
                yield "lower_state", key
        for n in node.values():
            yield from schema_keys(n)


def metric_keys(text):
    """(word, name) of each name, label and label's value of the metrics that is refused."""
    for m in re.finditer(r'"((?:\\.|[^"\\\n])*)"', text):
        for name in re.findall(r'^[a-z]\w*$|\w+(?==\\")', m[1]):
            if KEY.search(name):
                yield "private", name
        if re.fullmatch(r"[a-z]+(-[a-z]+)+", m[1]):
            yield "private", m[1]       # a label's value has underscores


def pieces(name, text):
    if name.endswith((".c", ".h", ".go")):
        return of_c(text)
    first = text.split("\n", 1)[0]
    if name.endswith(".py") or re.match(r"#!.*python", first):
        return of_python(text)
    if name.endswith((".sh", ".mk", ".am", ".ac")) or re.match(r"#!.*sh\b", first):
        return of_shell(text)
    return [("text", 0, text)]


class Words:
    """Where each refused word is: (kind, word, layer) to FILE:LINE: TEXT."""

    def __init__(self, top):
        self.found = collections.defaultdict(list)
        self.public = {}
        files = tracked(top)
        for name in files:
            if not LEFT_OUT.match(name):
                try:
                    self.read(name, (top / name).read_text())
                except UnicodeDecodeError:
                    continue        # an image
        if not files:
            sys.exit(f"{top} has no files")
        self.pairs()

    def note(self, kind, word, name, line, text):
        layer = LAYER.match(name)
        self.found[kind, word, layer[0] if layer else "."].append(f"{name}:{line}: {text}")

    def read(self, name, text):
        c = name.endswith((".c", ".h"))
        if name.startswith("src/") and c:
            self.file_name(name)
            self.headers(name, text)
        if SCHEMA.match(name) or name == METRICS:
            self.keys(name, text)
        for kind, at, piece in pieces(name, text):
            if kind == "name":
                if c:
                    self.identifier(name, text, at, piece)
                continue
            for word, pattern in PROSE.items():
                for m in pattern.finditer(piece):
                    line = text.count("\n", 0, at + m.start()) + 1
                    self.note(kind, word, name, line, text.split("\n")[line - 1].strip())

    def keys(self, name, text):
        found = schema_keys(json.loads(text)) if SCHEMA.match(name) else metric_keys(text)
        for word, key in found:
            line = text.count("\n", 0, text.index(key)) + 1
            self.note("key", word, name, line, key)

    def file_name(self, name):
        base = pathlib.PurePath(name).stem
        for word, pattern in NAMES.items():
            if pattern.match(f"vs_{base}") or pattern.match(base):
                self.note("name", word, name, 1, "the file's name")

    def headers(self, name, text):
        for m in re.finditer(r'^\s*#\s*include\s*"([^"]*_i\.h)"', text, re.M):
            folder = os.path.dirname(m[1])
            if folder and not os.path.dirname(name).endswith(folder):
                self.note("name", "private_header", name, text.count("\n", 0, m.start()) + 1, m[1])
        if name.endswith(".h"):
            plain = re.sub(r"/\*.*?\*/", lambda c: "\n" * c[0].count("\n"), text, flags=re.S)
            for m in DECLARED.finditer(plain):
                line = plain.count("\n", 0, m.start()) + 1
                self.public.setdefault(m[1], (name, line))

    def identifier(self, name, text, at, piece):
        for word, pattern in NAMES.items():
            if pattern.match(piece):
                self.note("name", word, name, text.count("\n", 0, at) + 1, piece)

    def pairs(self):
        by = collections.defaultdict(set)
        for f in self.public:
            by[END.sub("", f)].add(f)
        for same in by.values():
            if len(same) > 1:
                for f in sorted(same):
                    if END.search(f):
                        name, line = self.public[f]
                        self.note("name", "pair", name, line, ", ".join(sorted(same)))

    def counts(self):
        return {key: len(where) for key, where in self.found.items()}


class Kept:
    """words.txt: KIND WORD FOLDER COUNT."""

    def __init__(self, path):
        self.path = path
        self.lines = path.read_text().splitlines() if path.exists() else []
        self.rows = {}
        for n, line in enumerate(self.lines):
            if not line.strip() or line.startswith("#"):
                continue
            word = line.split()
            if len(word) != 4 or tuple(word[:2]) not in WORDS or not word[3].isdigit():
                sys.exit(f"{path.name}:{n + 1}: `KIND WORD FOLDER COUNT` is expected")
            if tuple(word[:3]) in self.rows:
                sys.exit(f"{path.name}:{n + 1}: {' '.join(word[:3])} has two lines")
            self.rows[tuple(word[:3])] = n, int(word[3])

    def count(self, key):
        return self.rows.get(key, (0, 0))[1]

    def lower(self, counts):
        for key, (n, kept) in self.rows.items():
            now = min(counts.get(key, 0), kept)
            self.lines[n] = " ".join((*key, str(now))) if now else None
        self.path.write_text("".join(f"{x}\n" for x in self.lines if x is not None))


def judged(counts, kept):
    """What lint says, a line for each count that differs."""
    for key in sorted({*counts, *kept.rows}, key=lambda k: (WORDS.index(k[:2]), k[2])):
        now, held = counts.get(key, 0), kept.count(key)
        what = " ".join(key)
        if now > held:
            yield f"{what}: {now}, at most {held} is allowed; `words.py --find {what}` prints where"
        elif now < held:
            yield f"{what}: {now}, words.txt says {held}; `words.py --lower` writes the lower count"
        elif not now:
            yield f"{what}: a count of 0 needs no line; `words.py --lower` takes it out of words.txt"


def table(counts, kept):
    yield f"{'kind':<8} {'word':<16} {'folder':<20} {'now':>5} {'kept':>5}"
    for key in sorted({*counts, *kept.rows}, key=lambda k: (WORDS.index(k[:2]), k[2])):
        yield f"{key[0]:<8} {key[1]:<16} {key[2]:<20} {counts.get(key, 0):>5} {kept.count(key):>5}"


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--print", action="store_true", dest="all")
    p.add_argument("--lower", action="store_true")
    p.add_argument("--find", nargs=3, metavar=("KIND", "WORD", "FOLDER"))
    p.add_argument("--top", type=pathlib.Path, default=HERE.parents[1])
    a = p.parse_args()
    words = Words(a.top)
    if a.find:
        print("\n".join(words.found.get(tuple(a.find), [])))
        return 0
    counts = words.counts()
    kept = Kept(a.top / "testsuite/lint/words.txt")
    if a.lower:
        kept.lower(counts)
        kept = Kept(kept.path)
    bad = list(judged(counts, kept))
    for line in table(counts, kept) if a.all else bad:
        print(line)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
