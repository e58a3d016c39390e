#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""messages.py [--list] [--top DIR]

The texts in src that people read: log lines, errors, pending reasons, help. A text is
a string of C that has three words or more; strings that stand side by side are one.

  (no option)  prints the texts that break a rule of testing.md; exits with 1 if any does
  --list       prints all of them, as FILE:LINE: TEXT, for reading

Rules: no sentence has more than 25 words, and none has a word that words.py refuses.
"""

import argparse
import pathlib
import re
import sys

from files import tracked
from words import PROSE

HERE = pathlib.Path(__file__).resolve().parent
LONGEST = 25

# A comment, a character, an include, or strings side by side. A name between two
# strings is a macro: PRIu64 and its like, or one that holds a text.
TOKEN = re.compile(
    r"""(?P<skip>/\*.*?\*/|//[^\n]*|'(?:\\.|[^'\\\n])*'|^\s*\#\s*include[^\n]*)"""
    r"""|(?P<text>"(?:\\.|[^"\\\n])*"(?:(?:\s|\\\n|/\*.*?\*/|\b[A-Z][A-Za-z0-9_]*\b(?=(?:\s|/\*.*?\*/)*"))*"(?:\\.|[^"\\\n])*")*)""",
    re.S | re.M)
PART = re.compile(r'"((?:\\.|[^"\\\n])*)"|\b([A-Z][A-Za-z0-9_]*)\b', re.S)
# These separate what is found, what is expected and what repairs it (checks_i.h).
SEPARATORS = {"SHOULD", "FIX", "VS_CHECK_PART"}
COMMAND = re.compile(r"^\s*(govc|esxcli|scontrol|svf) .*$", re.M)
ESCAPES = {"\\n": "\n", "\\t": "\t", '\\"': '"', "\\\\": "\\"}
WORD = re.compile(r"[A-Za-z][A-Za-z'’-]*")
# A sentence ends with its mark before a blank, with a line that is empty, and at a
# semicolon or colon: what follows them can be understood by itself.
SENTENCE = re.compile(r"(?<=[.!?;:])\s+|\n\s*\n|\n(?=\s*[-*])|\n(?=  )")
# What a shell, a web server or Prometheus reads is no prose; nor is a text of
# KEY=VALUE alone. A sentence that begins with two of them is prose.
NO_PROSE = re.compile(r"^\s*(#|<|\{|\[|HTTP/|[a-z_]+\{|(\w+=\S*\s*)+$)")


def joined(literal):
    """The text of strings side by side; a macro between them counts as a word."""
    out = ""
    for m in PART.finditer(literal):
        out += "\n\n" if m[2] in SEPARATORS else "N" if m[1] is None else re.sub(
            r'\\[nt"\\]', lambda e: ESCAPES[e[0]], m[1])
    return out


def texts(source):
    """(line, text) of each text of a source file."""
    for m in TOKEN.finditer(source):
        if m["text"]:
            text = joined(m["text"])
            if len(WORD.findall(re.sub(r"%[-+ #0]*[\d.*]*[hljztL]*[a-zA-Z]", " ", text))) >= 3 \
                    and not NO_PROSE.match(text):
                yield source.count("\n", 0, m.start()) + 1, text


def sentences(text):
    """Without the lines that are commands."""
    return [s for s in SENTENCE.split(COMMAND.sub("\n", text)) if s and s.strip()]


def length(sentence):
    """How many words a reader reads: what printf puts in is one."""
    return len(sentence.split())


def judged(text):
    """What is wrong with a text, a line for each rule it breaks."""
    for s in sentences(text):
        if length(s) > LONGEST:
            yield f"{length(s)} words in a sentence, {LONGEST} at most: {' '.join(s.split())}"
    for word, pattern in PROSE.items():
        m = pattern.search(text)
        if m:
            yield f"\"{' '.join(m[0].split())}\" is refused: {' '.join(text.split())[:120]}"


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--list", action="store_true")
    p.add_argument("--top", type=pathlib.Path, default=HERE.parents[1])
    a = p.parse_args()
    seen = bad = 0
    for name in tracked(a.top):
        if not (name.startswith("src/") and name.endswith((".c", ".h"))):
            continue
        for line, text in texts((a.top / name).read_text()):
            seen += 1
            if a.list:
                print(f"{name}:{line}: {' '.join(text.split())}")
                continue
            for what in judged(text):
                bad += 1
                print(f"{name}:{line}: {what}")
    if not seen:
        sys.exit(f"{a.top} has no texts: nothing was looked at")
    print(f"messages: {seen} texts, {bad} faults" if not a.list else f"{seen} texts",
          file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
