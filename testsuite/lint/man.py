#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""man.py [--top DIR] PAGES

Reads the manual pages that `make` wrote into the folder PAGES (man/ of the build
directory), and prints PAGE: RULE: what is wrong. Exits with 1 if anything is.

  page     a page is missing, or a page has no source in man/
  mandoc   what `mandoc -Tlint` says
  lines    a page is longer than it may be, at 80 columns
  order    a section is missing, or is not where Slurm's pages have it
  long     a sentence of more than 30 words
  word     an expression that words.py refuses
  table    a key, verb, option, field, exit status or finding of the code's tables,
           or a variable of the environment that svf reads, is not in its page
  unknown  a section ("see METRICS") that the page does not have
  name     a key, variable, metric or path that the sources do not have; in bold, in
           a tag or in an example also a verb, an option, a field or a code of svf (names.py)

PAGES/tables holds what svf prints of its tables.
"""

import argparse
import ast
import pathlib
import re
import subprocess
import sys

from docs import SENTENCE_WORDS, WORD, sentences
from names import unknown
from words import PROSE

TOP = pathlib.Path(__file__).resolve().parents[2]
COLUMNS = 80
# Lines of a page at most.
LINES = {"svf.1": 400, "svf-check-codes.7": 500, "vsphere.conf.5": 500}
LINES_OTHER = 250
NAMES = {"slurm-vsphere.7", "slurm-vsphere-guest.8", "slurm-vsphere-health.8", "svf.1",
         "svf-check-codes.7", "svf-probe.1", "vsphere.conf.5", "vsphere-health.conf.5"}

# Slurm's order; a page's own sections stand between OPTIONS and EXIT STATUS.
FIRST = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS"]
LAST = ["EXIT STATUS", "ENVIRONMENT", "EXAMPLE", "EXAMPLES", "NOTES", "FILES", "SEE ALSO"]
EVERY = {"NAME", "DESCRIPTION", "SEE ALSO"}
NEEDED = {"1": EVERY | {"SYNOPSIS", "OPTIONS", "EXIT STATUS", "EXAMPLES"},
          "5": EVERY | {"EXAMPLE", "FILES"}, "7": EVERY,
          "8": EVERY | {"SYNOPSIS", "EXIT STATUS", "FILES"}}

ESCAPE = re.compile(r"\\(?:f(?:\(..|.)|&|\((\w\w)|(.))")
PARAGRAPH = ("SH", "SS", "PP", "P", "LP", "TP", "IP", "RS", "RE", "nf", "fi", "br")


def plain(text):
    """Without escapes: \\fB is nothing, \\- and \\e are signs."""
    return ESCAPE.sub(lambda m: {"e": "\\"}.get(m[2], m[2] or ("-" if m[1] else "")), text)


def arguments(text):
    return [a or b for a, b in re.findall(r'"([^"]*)"|(\S+)', text)]


class Page:
    """sections: titles in order; tags: heads of .TP and of .SS; prose: (line, text)
    of each paragraph; blocks: {section: lines between .nf and .fi}."""

    def __init__(self, path):
        self.path, self.name = path, path.name
        self.sections, self.tags, self.prose, self.blocks = [], [], [], {}
        self.part, self.begun = [], 0
        tag = block = False
        for n, line in enumerate(path.read_text().splitlines(), 1):
            m = re.match(r"\.\s*(\w+)\s*(.*)", line)
            if line.startswith('.\\"'):
                continue
            if m and m[1] in PARAGRAPH:
                self.end()
                tag, block = m[1] == "TP", m[1] == "nf" or (block and m[1] != "fi")
                self.title(m[1], m[2])
            elif block:
                self.blocks.setdefault(self.sections[-1], []).append(plain(line))
            else:
                words = self.text(m, line)
                if tag:
                    self.tags.append(words)
                elif words:
                    self.begun = self.begun or n
                    self.part.append(words)
                tag = False
        self.end()

    def title(self, macro, text):
        title = plain(" ".join(arguments(text)))
        if macro == "SH":
            self.sections.append(title)
        elif macro == "SS":
            self.tags.append(title)

    def text(self, macro, line):
        if not macro:
            return plain(line)
        if macro[1] == "TH":
            return ""
        words = [plain(a) for a in arguments(macro[2])]
        return ("" if len(macro[1]) == 2 else " ").join(words)

    def end(self):
        if self.part:
            self.prose.append((self.begun, " ".join(self.part)))
        self.part, self.begun = [], 0

    def words(self):
        return " ".join(t for _, t in self.prose)


class Tables:
    """What svf prints: records of `svf --tables`, then the keys."""

    def __init__(self, path):
        self.records, self.keys = [], []
        lines = path.read_text().splitlines()
        at = lines.index("keys")
        self.records = [line.split("\t") for line in lines[:at]]
        head = lines[at + 1]
        begin = head.index("KEY ")
        for line in lines[at + 2:]:
            self.keys.append(line[begin:].split()[0])

    def of(self, kind, column=1):
        return [r[column] for r in self.records if r[0] == kind]


# ---- what a page must name ------------------------------------------------------

def is_tag(page, word):
    """A tag that has the word, alone or with others."""
    pattern = re.compile(rf"(?<![\w-]){re.escape(word)}(?![\w-])")
    return any(pattern.search(t) for t in page.tags)


def of_svf(tables, top):
    for f in sorted((top / "src/svf").rglob("*.c")):
        yield from set(re.findall(r'getenv\("(\w+)"\)', f.read_text())) - {"TERM"}
    for verb in tables.of("verb"):
        yield f"svf {verb}"
    for word in tables.of("word"):
        yield f"svf {word}"
    for flag in [*tables.of("flag"), *tables.of("option", 2)]:
        yield re.match(r"[\w, -]*?(--[\w-]+)", flag)[1]
    yield from tables.of("exit")


def of_keys(tables, _):
    return tables.keys


def of_codes(tables, _):
    return tables.of("code")


def literal(tree, name):
    """The words of an assignment's dict or tuple."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and node.targets[0].id == name:
            return [n.value for n in getattr(node.value, "keys", None) or node.value.elts]
    return []


def of_health_conf(_, top):
    tree = ast.parse((top / "contribs/health/keep.py").read_text())
    tree.body = [n for n in tree.body if isinstance(n, ast.Assign)
                 and isinstance(n.targets[0], ast.Name)]
    return literal(tree, "KEYS") + literal(tree, "LIMITS")


def of_health(_, top):
    text = (top / "contribs/health/slurm-vsphere-health").read_text()
    text = text.split("def arguments(")[1].split("\ndef ")[0]
    limits = [f"--{key.replace('_', '-')}" for key in of_health_conf(None, top)
              if f'"{key}"' in re.search(r"^LIMITS = .*", (
                  top / "contribs/health/keep.py").read_text(), re.M)[0]]
    return ["run", "report", "judge", *limits,
            *re.findall(r'"(--\w[\w-]*)"', text)]


def of_probe(_, top):
    text = (top / "contribs/probe/options.c").read_text()
    return sorted(set(re.findall(r'"(--[a-z][a-z-]+)"', text)))


def of_guest(_, top):
    text = (top / "contribs/guest/slurm-vsphere-guest").read_text()
    return re.findall(r"^#   ([a-z]+)  ", text, re.M)


NAMED = {"svf.1": of_svf, "vsphere.conf.5": of_keys, "svf-check-codes.7": of_codes,
         "vsphere-health.conf.5": of_health_conf, "slurm-vsphere-health.8": of_health,
         "svf-probe.1": of_probe, "slurm-vsphere-guest.8": of_guest}


# ---- the rules ------------------------------------------------------------------

def rule_mandoc(page, _tables, _top):
    done = subprocess.run(["mandoc", "-Tlint", str(page.path)], text=True,
                          capture_output=True, check=False, timeout=60)
    for line in (done.stdout + done.stderr).splitlines():
        yield line.replace(f"mandoc: {page.path}:", "")
    if done.returncode and not done.stdout + done.stderr:
        yield f"mandoc ended with {done.returncode}"


def rule_lines(page, _tables, _top):
    done = subprocess.run(["mandoc", "-Tascii", "-O", f"width={COLUMNS}", str(page.path)],
                          text=True, capture_output=True, check=False, timeout=60)
    count, most = done.stdout.count("\n"), LINES.get(page.name, LINES_OTHER)
    if count > most:
        yield f"{count}, at most {most} are allowed"


def rule_order(page, _tables, _top):
    for title in sorted(NEEDED[page.name[-1]] - set(page.sections)):
        yield f"{title} is missing"
    ranks = [FIRST.index(s) if s in FIRST else len(FIRST) if s not in LAST else
             len(FIRST) + 1 + LAST.index(s) for s in page.sections]
    for i in range(1, len(ranks)):
        if ranks[i] < ranks[i - 1]:
            yield f"{page.sections[i]} is after {page.sections[i - 1]}"
    for title in page.sections:
        if page.sections.count(title) > 1 or title != title.upper():
            yield f"{title} occurs twice, or is not in upper case"


def rule_long(page, _tables, _top):
    for line, text in page.prose:
        for _, sentence in sentences(text):
            count = len(WORD.findall(sentence))
            if count > SENTENCE_WORDS:
                yield f"line {line}: {count} words: {' '.join(sentence.split())[:70]}..."


def rule_word(page, _tables, _top):
    everything = [*page.prose, *((0, t) for t in page.tags),
                  *((0, t) for b in page.blocks.values() for t in b)]
    for line, text in everything:
        for word, pattern in PROSE.items():
            for m in pattern.finditer(text):
                yield f"line {line}: {word}: {m[0]}"


def rule_table(page, tables, top):
    if page.name not in NAMED:
        return
    names = list(NAMED[page.name](tables, top))
    if not names:
        yield "its table is empty"
    for name in names:
        if not is_tag(page, name):
            yield f"{name} is not in the page"
    if page.name == "svf.1":
        words = page.words()
        for field in sorted({f for f in tables.of("field") if not re.search(
                rf"(?<![\w-]){re.escape(f)}(?![\w-])", words)}):
            yield f"the field {field} is not in the page"


def rule_unknown(page, _tables, _top):
    for _, text in page.prose:
        for title in re.findall(r"\b[Ss]ee ([A-Z]{4,}(?: [A-Z]+)*)\b", text):
            if title not in page.sections:
                yield f"the page has no section {title}"


def rule_name(page, _tables, top):
    text = page.path.read_text()
    bold = re.findall(r"\\fB(.*?)\\f[RPI]", text) + re.findall(r"^\.B (.*)", text, re.M)
    code = [plain(b) for b in bold] + page.tags + [t for b in page.blocks.values() for t in b]
    yield from sorted({what for t in code for _, what in unknown(top, t)} |
                      {what for _, t in page.prose for _, what in unknown(top, t, prose=True)})


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--top", type=pathlib.Path, default=TOP)
    p.add_argument("pages", type=pathlib.Path)
    a = p.parse_args()
    sources = {f.name[:-3] for f in (a.top / "man").glob("*.in")}
    bad = [f"{n}: page: has no source in man/, or is not one of man.py's"
           for n in sorted(sources ^ NAMES)]
    bad += [f"{n}: page: was not made" for n in sorted(NAMES)
            if not (a.pages / n).is_file()]
    if not bad:
        tables = Tables(a.pages / "tables")
        rules = {k[5:]: v for k, v in globals().items() if k.startswith("rule_")}
        for name in sorted(NAMES):
            page = Page(a.pages / name)
            bad += [f"{name}: {rule}: {what}" for rule, judge in rules.items()
                    for what in judge(page, tables, a.top)]
    if bad:
        print(*bad, sep="\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
