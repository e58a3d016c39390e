#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""docs.py [--top DIR] [FILE...]

Reads the documents (README, NEWS, CONTRIBUTING, SECURITY, doc/ and contribs/) as a
reader does, and prints FILE:LINE and the rule that is broken. Exits with 1 if any is.

  word    an expression that words.py refuses
  long    a sentence of more than 30 words
  link    a relative link, or the name of a document, that leads to no file or heading
  name    a key, verb, option, field, code, metric, variable or path, in a block or in
          `code`, that the sources do not have (names.py)
  lines   README.md has more than 150 lines
  column  a line of README.md is longer than 100 columns, a table's than 140

Blocks of code and `code` are not prose. `code` counts as one word.
"""

import argparse
import functools
import os
import pathlib
import re
import sys

from files import tracked
from names import unknown, unknown_codes
from words import PROSE

TOP = pathlib.Path(__file__).resolve().parents[2]
PAGES = re.compile(r"(README|NEWS|CONTRIBUTING|SECURITY)\.md|(doc|contribs)/.*\.md")
SENTENCE_WORDS = 30
README_LINES = 150
README_COLUMNS = 100
README_TABLE = 140

FENCE = re.compile(r"^\s*(```+|~~~+)")
CODE = re.compile(r"(`+)(.+?)\1", re.S)
LINK = re.compile(r"!?\[([^\]]*)\]\(([^)\s]+)\)", re.S)
# What begins a text of its own: a heading, an item, a quotation.
START = re.compile(r"^\s*(#+\s|[-*+]\s|\d+[.)]\s|>\s?)")
ITEM = re.compile(r"^\s*(?:#+|[-*+]|\d+[.)]|>)\s*")
RULE = re.compile(r"^\s*\|?[\s:|-]+\|?\s*$")
# A full stop ends a sentence before a blank; not after "e.g".
END = re.compile(r"(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\betc)[.!?][)\"'*_]*(?=\s|$)")
WORD = re.compile(r"[^\s]*\w[^\s]*")
NAMED = re.compile(r"`((?:[\w.-]+/)*[\w.-]+\.md)`")


def lines_without_blocks(text):
    """(number, line), a line of a fenced or an indented block as an empty one."""
    fence, before = None, ""
    for n, line in enumerate(text.splitlines(), 1):
        m = FENCE.match(line)
        if fence:
            if m and m[1].startswith(fence):
                fence = None
            yield n, ""
        elif m:
            fence = m[1]
            yield n, ""
        elif re.match(r"(?:    |\t)", line) and not before.strip():
            yield n, ""
            continue
        else:
            yield n, line
        before = line


def texts(text):
    """(line, prose) of each paragraph, heading, item and cell of a table."""
    begun, part = 0, []
    for n, line in [*lines_without_blocks(text), (0, "")]:
        table = line.lstrip().startswith("|")
        if part and (not line.strip() or START.match(line) or table):
            yield begun, "\n".join(part)
            part = []
        if table:
            if not RULE.match(line):
                plain = CODE.sub(lambda m: m[0].replace("|", "!"), line.replace(r"\|", "!"))
                for cell in plain.strip().strip("|").split("|"):
                    yield n, cell
        elif line.strip():
            if not part:
                begun = n
            part.append(line)
            if line.startswith("#"):
                yield begun, line
                part = []


def prose(text):
    """Links as their words, code as one word."""
    text = CODE.sub(lambda m: "CODE" + "\n" * m[2].count("\n"), text)
    return LINK.sub(lambda m: m[1], ITEM.sub("", text))


def sentences(text):
    at = 0
    for m in [*END.finditer(text), None]:
        end = m.end() if m else len(text)
        yield text.count("\n", 0, at), text[at:end]
        at = end


@functools.cache
def headings(path):
    """The anchors of a document's headings, as forges make them."""
    found = set()
    for _, line in lines_without_blocks(path.read_text()):
        m = re.match(r"#+\s+(.*?)\s*$", line)
        if m:
            words = re.sub(r"[^\w\s-]", "", LINK.sub(lambda k: k[1], m[1]).lower())
            found.add(re.sub(r"\s", "-", words))
    return found


def links(top, name, text):
    plain = "\n".join(line for _, line in lines_without_blocks(text))
    for m in LINK.finditer(CODE.sub(lambda c: re.sub(r"[^\n]", "x", c[0]), plain)):
        where = m[2]
        if re.match(r"[a-z]+:", where):
            continue
        file, _, anchor = where.partition("#")
        to = pathlib.Path(os.path.normpath((top / name).parent / file)) if file else top / name
        line = plain.count("\n", 0, m.start()) + 1
        if not to.exists():
            yield line, f"({where}) leads to no file"
        elif anchor and to.suffix == ".md" and anchor not in headings(to):
            yield line, f"({where}) leads to no heading"
    for m in NAMED.finditer(plain):
        if not any((d / m[1]).is_file() for d in ((top / name).parent, top, top / "doc")):
            yield plain.count("\n", 0, m.start()) + 1, f"`{m[1]}` names no file"


def codes(text):
    """(line, text) of each line of a block, and of each `code`."""
    lines = dict(lines_without_blocks(text))
    for n, line in enumerate(text.splitlines(), 1):
        if lines[n] == line:
            for m in CODE.finditer(line):
                yield n, m[2].replace(r"\|", "|")
        elif not FENCE.match(line):
            yield n, line


def judged(top, name):
    """(line, rule, what) of each fault of a document."""
    text = (top / name).read_text()
    for at, part in texts(text):
        for begin, what in unknown_codes(top, part):
            yield at + part.count("\n", 0, begin), "name", what
        plain = prose(part)
        for word, pattern in PROSE.items():
            for m in pattern.finditer(plain):
                yield at + plain.count("\n", 0, m.start()), "word", f"{word}: {m[0]}"
        for line, sentence in sentences(plain):
            count = len(WORD.findall(sentence))
            if count > SENTENCE_WORDS:
                yield at + line, "long", f"{count} words: {' '.join(sentence.split())[:70]}..."
    for line, what in links(top, name, text):
        yield line, "link", what
    for line, code in codes(text):
        for _, what in unknown(top, code):
            yield line, "name", what
    if name == "README.md":
        rows = text.splitlines()
        if len(rows) > README_LINES:
            yield len(rows), "lines", f"{len(rows)}, at most {README_LINES} are allowed"
        for n, row in enumerate(rows, 1):
            most = README_TABLE if row.startswith("|") else README_COLUMNS
            if len(row) > most:
                yield n, "column", f"{len(row)}, at most {most} are allowed"


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--top", type=pathlib.Path, default=TOP)
    p.add_argument("files", nargs="*", metavar="FILE")
    a = p.parse_args()
    pages = a.files or sorted(f for f in tracked(a.top) if PAGES.fullmatch(f))
    if not pages:
        sys.exit(f"{a.top} has no documents")
    bad = [f"{name}:{line}: {rule}: {what}"
           for name in pages for line, rule, what in sorted(judged(a.top, name))]
    if bad:
        print(*bad, sep="\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
