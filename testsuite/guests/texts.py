# SPDX-License-Identifier: GPL-2.0-or-later
"""What a user and an administrator are told in a case: printed, and compared with the
quotes in the case's row of doc/operations/guest-trouble.md."""

import pathlib
import re

PAGE = pathlib.Path(__file__).resolve().parents[2] / "doc/operations/guest-trouble.md"
COLUMNS = ("svf why", "squeue %r", "node's Reason")
# Words of a quote that stand for others.
STAND_FOR = {"N": r"\d+", "TIME": r"\S.*\S", "...": r".*",
             **dict.fromkeys(("NODE", "HOST", "NETDEV", "DEVICE", "ADDRESS", "MAC",
                              "JOBID"), r"\S+")}


def told(cluster, job=None, node=None):
    """{column: text} of what is asked for."""
    texts = {}
    if job is not None:
        texts["svf why"] = cluster.svf("why", str(job), json_out=False).strip()
        texts["squeue %r"] = cluster.squeue(job)
    if node is not None:
        # scontrol's fields can't be told from a reason that has a Key=Value
        texts["node's Reason"] = cluster.must(
            "sinfo", "-h", "-N", "-n", node, "-o", "%E").splitlines()[0].strip()
    return texts


def say(cluster, case, job=None, node=None):
    """Prints the texts, and returns them as one."""
    text = "\n".join([f"case: {case}"] + [
        f"  {column}: " + words.replace("\n", "\n    ")
        for column, words in told(cluster, job, node).items()])
    print("\n" + text, flush=True)
    return text


def rows():
    """{case: {column: the cell's text}} of the page's tables."""
    res = {}
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) == len(COLUMNS) + 2:
            res[cells[0]] = dict(zip(COLUMNS, cells[1:]))
    return res


def pattern(quote):
    """The regular expression that a quote stands for."""
    words = "|".join(re.escape(word) for word in STAND_FOR)
    parts = re.split(rf"((?<![A-Za-z])(?:{words})(?![A-Za-z]))", quote)
    return "".join(STAND_FOR.get(part, re.escape(part)) for part in parts)


def is_as_quoted(case, column, words):
    """A cell quotes words, all or (with "or" between them) one of them, or says "none"."""
    cell = rows()[case][column]
    quotes = re.findall(r"`([^`]+)`", cell)
    if not quotes:
        assert cell == "none", f"{PAGE.name}: {case}: {column}: no quote and not none: {cell}"
        return words in ("none", "None", "")
    these = any if "` or `" in cell else all
    return these(re.search(pattern(quote), words) for quote in quotes)


def check(cluster, case, job=None, node=None):
    """Prints the texts. Each one has the words that the case's row quotes."""
    say(cluster, case, job, node)
    for column, words in told(cluster, job, node).items():
        assert is_as_quoted(case, column, words), \
            f"{PAGE.name}: {case}: {column}: {rows()[case][column]}\nbut it is: {words}"
