# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads what pair.sbatch, perftest and the OSU benchmarks print. Pure.

Rules: a figure counts only if the whole of its output is as these programs
print it; anything else is Unreadable, with the reason, and never a small
figure. Units: bandwidth in Gb/s (10^9 bits), latency in microseconds.

Sources: perftest, src/perftest_parameters.h (RESULT_FMT*, REPORT_FMT*; 4.5 says
MB/sec where later ones say MiB/sec, and means 2^20 bytes in both); OSU
micro-benchmarks, c/util/osu_util_mpi.c (up to 7.x; MB are 10^6 bytes there).
"""

import math
import re

TESTS = ("ib_send_bw", "ib_send_lat", "osu_latency", "osu_bw")
BANDWIDTH = ("ib_send_bw", "osu_bw")
MOST = 1 << 20          # of a job's output
SMALL = 8               # bytes of a small message, at most

_NUMBER = re.compile(r"\d{1,15}(?:\.\d{1,9})?")
_NAME = r"[A-Za-z0-9_.-]{1,255}"


# perftest's get_clock.c, where the time between two readings of the clocks varies too
# much; all its figures are 0 then. pair.sbatch looks for it too.
CLOCK = "Correlation coefficient"


class Unreadable(Exception):
    """There is no result, and why."""


def number(word):
    if not _NUMBER.fullmatch(word):
        raise Unreadable(f"'{word[:40]}' is no number")
    value = float(word)
    assert math.isfinite(value)
    return value


def rows_below(text, is_head, split_head):
    """The table's column names and its rows of numbers; a row ends at the line's
    end, the table at a line that doesn't begin with a digit."""
    head, rows = None, []
    for line in text.split("\n")[:-1]:      # what has no end is cut off
        if is_head(line):
            if head:
                raise Unreadable("two tables where one is expected")
            head = split_head(line)
        elif head and re.match(r"\s*\d", line):
            words = line.split()
            if len(words) != len(head):
                raise Unreadable(f"{len(words)} columns where {len(head)} are "
                                 f"expected: '{line.strip()[:60]}'")
            rows.append(dict(zip(head, words)))
    if not head:
        raise Unreadable("no table of results")
    if not rows:
        raise Unreadable("a table without a line")
    return rows


def perftest_rows(text):
    return rows_below(
        text, lambda line: line.startswith(" #bytes"),
        lambda line: re.findall(r"#\w+|\S[^\[\]#]*?\[[^\]]*\]|tps average",
                                line))


def send_bw(text):
    row = perftest_rows(text)
    if len(row) != 1:
        raise Unreadable(f"{len(row)} lines where one is expected")
    for name, unit in (("BW average[Gb/sec]", 1.0),
                       ("BW average[MiB/sec]", 2 ** 20 * 8 / 1e9),
                       ("BW average[MB/sec]", 2 ** 20 * 8 / 1e9)):
        if name in row[0]:
            return number(row[0][name]) * unit
    raise Unreadable("no column BW average")


def send_lat(text):
    row = perftest_rows(text)
    if len(row) != 1:
        raise Unreadable(f"{len(row)} lines where one is expected")
    if number(row[0].get("#bytes", "")) > SMALL:
        raise Unreadable(f"messages of {row[0]['#bytes']} bytes are not small")
    for name in ("t_typical[usec]", "t_avg[usec]"):
        if name in row[0]:
            return number(row[0][name])
    raise Unreadable("no column t_typical")


def osu_rows(text, column):
    """(size, figure) of each line, sizes growing."""
    rows = rows_below(
        text, lambda line: re.match(r"# Size\s", line),
        lambda line: [w.strip() for w in re.findall(
            r"# Size|[A-Z][A-Za-z. ]*?\s?\([^)]*\)|Validation|Transmit Size",
            line)])
    found = []
    for row in rows:
        names = [n for n in row if re.fullmatch(column, n)]
        if len(names) != 1:
            raise Unreadable("its column is not there: " + ", ".join(row))
        if row.get("Validation", "Pass") != "Pass":
            raise Unreadable("data arrived wrong (Validation)")
        found.append((number(row["# Size"]), number(row[names[0]])))
    if any(b[0] <= a[0] for a, b in zip(found, found[1:])):
        raise Unreadable("sizes that don't grow")
    return found


def osu_latency(text):
    small = [us for size, us in osu_rows(text, r"(Avg )?Latency ?\(us\)")
             if size <= SMALL]
    if not small:
        raise Unreadable(f"no line of at most {SMALL} bytes")
    return small[-1]


def osu_bw(text):
    """The best of all sizes: it is a bar that at least one must reach."""
    rows = osu_rows(text, r"Bandwidth \(MB/s\)")
    if rows[-1][0] < 1 << 20:
        raise Unreadable("no line of 1 MB or more")
    return max(mb for _, mb in rows) * 8 / 1e3


_READ = {"ib_send_bw": send_bw, "ib_send_lat": send_lat,
         "osu_latency": osu_latency, "osu_bw": osu_bw}


_TROUBLE = re.compile(r"error|fail|could|unable|\bnot? |invalid|unrecognized|"
                      r"refused|denied|no active", re.I)


def complaint(text):
    """The line that says best what went wrong, "": none. The first line that names
    trouble: programs print afterwards what fails because of it, and their usage."""
    said = [ln.strip() for ln in text.splitlines() if ln.strip("- \t")
            and not ln.startswith("server: ")]
    return next((ln for ln in said if _TROUBLE.search(ln)),
                said[-1] if said else "")[:80]


def measure(test):
    """The figure of one test, a dict of read_job(); else Unreadable."""
    if test["rc"] != 0:
        said = complaint(test["text"])
        how = {124: "took too long", 127: "isn't installed"}.get(
            test["rc"], f"ended with {test['rc']}")
        raise Unreadable(f"{how}: {said}" if said else how)
    value = _READ[test["test"]](test["text"])
    if value <= 0:
        if CLOCK in test["text"]:
            raise Unreadable("perftest could not measure the machine's clock: it was busy")
        raise Unreadable("it measured 0")
    return value


def rate(text):
    """Gb/s of a port's /sys/class/infiniband/*/ports/*/rate, or None."""
    m = re.match(r"(\d{1,5}(?:\.\d{1,3})?) Gb/sec( |$)", text)
    return float(m[1]) if m and float(m[1]) > 0 else None


_NIC = re.compile(rf"health: nic node=({_NAME}) nic=(\d{{1,2}}) "
                   rf"device=({_NAME}) rate=(.*)")
_EDGE = re.compile(rf"health: (begin|end) test=({'|'.join(TESTS)}) "
                   rf"nic=(\d{{1,2}}) from=({_NAME}) to=({_NAME})"
                   r"(?: rc=(\d{1,3}))?")
_FIRST = re.compile(rf"health: version=1 job=(\d{{1,10}}) "
                    rf"nodes=({_NAME}),({_NAME})")


def read_job(text):
    """{job, nodes, nics: {(node, nic): {device, rate}}, tests: [{test, nic,
    from, to, rc, text}], said: what it says beside these, done}. Tests without an
    end are left out."""
    if len(text) > MOST:
        raise Unreadable(f"more than {MOST} bytes of output")
    job, begun, inside = None, None, []
    for line in text.split("\n")[:-1]:
        first = _FIRST.fullmatch(line)
        if first and not job:
            job = {"job": int(first[1]), "nodes": [first[2], first[3]],
                   "nics": {}, "tests": [], "said": "", "done": False}
            continue
        if not job:
            continue
        nic, edge = _NIC.fullmatch(line), _EDGE.fullmatch(line)
        if nic and not begun:
            job["nics"][nic[1], int(nic[2])] = {
                "device": nic[3], "rate": rate(nic[4])}
        elif edge and edge[1] == "begin":
            begun, inside = edge.groups()[1:5], []
        elif edge:
            if begun == edge.groups()[1:5] and edge[6]:
                job["tests"].append({
                    "test": begun[0], "nic": int(begun[1]), "from": begun[2],
                    "to": begun[3], "rc": int(edge[6]),
                    "text": "".join(ln + "\n" for ln in inside)})
            begun = None
        elif line == "health: done" and not begun:
            job["done"] = True
        elif begun:
            inside.append(line)
        elif not line.startswith("health: "):
            job["said"] += line + "\n"
    if not job:
        raise Unreadable("it isn't the output of pair.sbatch")
    if len(set(job["nodes"])) != 2:
        raise Unreadable("two nodes are needed")
    job["tests"] = [t for t in job["tests"]
                    if {t["from"], t["to"]} == set(job["nodes"])]
    return job
