# SPDX-License-Identifier: GPL-2.0-or-later
"""The documents as data: their blocks, and which of them a shell here can run.

A block's first line says what it is: `sh run` (typed on the controller), `sh run
user` (by a user on a login node), `sh run vcenter` (govc), `sh run probe` (svf-probe),
`sh` alone (on a host, in a template, or what changes this machine: not run), `conf
NAME` (a configuration file's lines), `text` (what is printed, or lines of files)."""

import pathlib
import re

from daemons import TOP

DOC = TOP / "doc"
# By their paths without the suffix, below doc or else below the top.
PAGES = sorted([*(str(p.relative_to(DOC))[:-3] for p in DOC.rglob("*.md")
                  if p.parent.name != "dev"),
                *(f"../{p.relative_to(TOP)}"[:-3] for p in (
                    *TOP.glob("*.md"), *(TOP / "contribs").rglob("*.md")))])
BLOCK = re.compile(r"^```([^\n`]*)\n(.*?)^```$", re.M | re.S)
# What a command of these begins with can be run here, so it must be; the
# simulator has no directory of users.
RUNNABLE = re.compile(r"^\s*(?:\w+=\$\()?(svf|svf-probe|govc|sbatch|srun|salloc|"
                      r"squeue|sinfo|scontrol|scancel|sacct)\b(?! sso\.)")


def text(page):
    return pathlib.Path(DOC, page + ".md").read_text()


def blocks(page, kind=None):
    """[(kind, text)] in order; only those of that kind."""
    found = BLOCK.findall(text(page))
    return [b for b in found if kind is None or b[0] == kind]


def conf(page, name):
    (only,) = blocks(page, "conf " + name)
    return only[1]


def block_with(page, words):
    """The text of the only block in which these words stand."""
    (only,) = [body for _, body in blocks(page) if words in body]
    return only


def script(page, *kinds):
    """All blocks of these kinds as one shell's work. An error names the block,
    and the command."""
    lines = ["exec 2>&1; set -eEuo pipefail",
             "trap 'echo \"block $block failed: $BASH_COMMAND\"' ERR"]
    for n, (kind, body) in enumerate(blocks(page)):
        if kind in kinds:
            lines += [f"block={n}", f"echo '== block {n}'", body]
    return "\n".join(lines)


def not_run(page):
    """Commands that could run here and stand in a block that isn't run."""
    return [line for kind, body in blocks(page) if kind == "sh"
            for line in body.splitlines() if RUNNABLE.match(line)]


def inline(page, command):
    """What follows the command in running text and tables: `svf ...`."""
    text_only = BLOCK.sub("", text(page))
    return re.findall(rf"`{command} ([^`]+)`", text_only)


# ---- keys of vsphere.conf ----------------------------------------------------

def keys():
    """Each key, with its default ("" if it has none)."""
    return dict(re.findall(r'VS_SCOPE_\w+, VS_CONF_\w+, "(\w+)",\s+(?:NULL|"([^"]*)")', (
        TOP / "src/plugins/conf/keys.c").read_text()))


def snippets(page):
    """Blocks of lines of vsphere.conf."""
    return [b for _, b in blocks(page, "text")
            if re.match(r"(AdapterName|PartitionName|VSphereCluster)=", b)]


def keys_of_before():
    """Those that are refused, with what to write."""
    return set(re.findall(r'^\t\{ "(\w+)", "', (
        TOP / "src/plugins/conf/keys.c").read_text(), re.M))


# ---- what the pages quote of our messages ------------------------------------

STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
CHAIN = re.compile(r'"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*')
COMMENT = re.compile(r"/\*.*?\*/", re.S)


def our_words():
    """Everything that the sources can say, one string a line."""
    words = []
    for f in sorted([*(TOP / "src").rglob("*.c"),
                     *(TOP / "contribs").rglob("*.c")]):
        for chain in CHAIN.findall(COMMENT.sub("", f.read_text())):
            words.append("".join(STRING.findall(chain)).replace('\\"', '"'))
    for f in (TOP / "contribs/guest").iterdir():
        if f.is_file() and f.suffix != ".md":
            words.append(f.read_text(errors="replace"))
    return "\n".join(words)


def pieces(quote):
    """The fixed parts of a quoted message: what stands between names in
    capitals, numbers and times."""
    parts = re.split(r"\b(?:[A-Z][A-Z0-9_]*\b|\d[\d:.]*\w*)|…|<[^>]*>", quote)
    return [p.strip(" .,;:()\"'") for p in parts
            if len(p.strip(" .,;:()\"'")) >= 6]
