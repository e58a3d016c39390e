# SPDX-License-Identifier: GPL-2.0-or-later
"""The configuration, and the results on disk: one line of JSON per test.

Rules: an unknown key is an error that names file and section; a line that can't
be read is left out and told, never guessed; what was written is on disk before
the program acts on it.
"""

import configparser
import fcntl
import json
import os
import pathlib
import re

import judge
import perf

CONF = "/etc/slurm/vsphere-health.conf"
LINES_MOST = 4 << 20        # bytes of a file of results before the next begins
FILES = 4                   # kept besides it

_SECONDS = {"": 1, "s": 1, "min": 60, "h": 3600, "d": 86400}


NO, AWAY, AUTH, FILE = 1, 3, 4, 5       # exit codes, those of svf(1)


class Wrong(Exception):
    """One sentence for the user, and the exit code."""

    def __init__(self, text, code=FILE):
        super().__init__(text)
        self.code = code


def duration(text):
    m = re.fullmatch(r"(\d{1,7}) ?(s|min|h|d|)", text)
    if not m:
        raise ValueError("a time such as 7d, 12h, 30min or 90s is expected")
    return int(m[1]) * _SECONDS[m[2]]


def positive(text):
    if not re.fullmatch(r"\d{1,7}(\.\d{1,6})?", text) or float(text) <= 0:
        raise ValueError("a number above 0 is expected")
    return float(text)


def count(text):
    if not re.fullmatch(r"\d{1,4}", text):
        raise ValueError("a count is expected")
    return int(text)


def boolean(text):
    if text not in ("yes", "no"):
        raise ValueError("yes or no is expected")
    return text == "yes"


def words(text):
    return text.replace(",", " ").split()


def tests(text):
    for name in words(text):
        if name not in perf.TESTS:
            raise ValueError("tests are " + ", ".join(perf.TESTS))
    return words(text)


def fresh(text):
    if text not in ("boot", "rebuild", "no"):
        raise ValueError("boot, rebuild or no is expected")
    return text


# key: (parser, default)
KEYS = {
    "partitions": (words, []),
    "tests": (tests, list(perf.TESTS)),
    "pairs": (count, 2),
    "every": (duration, 7 * 86400),
    "trusted": (duration, 86400),
    "window": (duration, 14 * 86400),
    "wait": (duration, 3600),
    "fresh": (fresh, "boot"),
    "alone": (boolean, True),
    "drain": (boolean, True),
    "drains": (count, 1),
    "state": (str, "/var/lib/slurm-vsphere-health"),
    "output": (str, ""),
    "script": (str, ""),
    "sbatch": (words, []),
    "setup": (str, ""),
    "mpirun": (str, ""),
    "bandwidth_options": (str, ""),
    "seconds": (count, 60),
}
LIMITS = ("bandwidth", "latency", "osu_bandwidth", "osu_latency", "line_rate")


def _parsed(path, section, key, parse, text):
    try:
        return parse(text)
    except ValueError as e:
        raise Wrong(f"{path}: [{section}] {key} = {text}: {e}") from None


def _limits(path, section, items, base):
    got = dict(base)
    for key, text in items:
        if key not in LIMITS:
            raise Wrong(f"{path}: [{section}] {key}: not known, there are " +
                        ", ".join(LIMITS))
        got[key] = _parsed(path, section, key, positive, text)
        if "bandwidth" in key and got[key] > 100:
            raise Wrong(f"{path}: [{section}] {key} = {text}: per cent of the "
                        "line rate are expected")
    return got


def read_conf(path, overrides=()):
    """{key: value}, and "limits": of an adapter's name, by limits_of()."""
    conf = {k: default for k, (_, default) in KEYS.items()}
    parser = configparser.ConfigParser(interpolation=None, strict=True,
                                       default_section="\0",
                                       inline_comment_prefixes=("#",))
    try:
        with open(path, encoding="utf-8") as f:
            parser.read_file(f, str(path))
    except (OSError, UnicodeError, configparser.Error) as e:
        raise Wrong(f"{path}: {e}".replace("\n", " ")) from None
    all_limits = dict(judge.DEFAULT_LIMITS)
    by_adapter = {}
    for section in parser.sections():
        items = parser.items(section)
        if section == "health":
            for key, text in items:
                if key not in KEYS:
                    raise Wrong(f"{path}: [health] {key}: not known, there are "
                                + ", ".join(KEYS))
                conf[key] = _parsed(path, section, key, KEYS[key][0], text)
        elif section == "limits":
            all_limits = _limits(path, section, items, all_limits)
        elif re.fullmatch(r"limits \S+", section):
            by_adapter[section.split()[1]] = section
        else:
            raise Wrong(f"{path}: [{section}]: [health], [limits] or "
                        "[limits ADAPTER] is expected")
    if not conf["partitions"]:
        raise Wrong(f"{path}: [health] partitions: none is named")
    over = _limits("command line", "limits", overrides, {})
    conf["limits"] = {
        a: {**_limits(path, s, parser.items(s), all_limits), **over}
        for a, s in by_adapter.items()}
    conf["limits"][""] = {**all_limits, **over}
    return conf


def limits_of(conf, adapter):
    return conf["limits"].get(adapter, conf["limits"][""])


# ---- results -------------------------------------------------------------------

class Results:
    """results.jsonl in a directory of its own, .1 the one before it."""

    def __init__(self, directory):
        self.dir = pathlib.Path(directory)
        self.path = self.dir / "results.jsonl"
        self.bad = 0        # lines that could not be read

    def lock(self):
        """Until this process ends: one run at a time."""
        try:
            self.dir.mkdir(mode=0o755, parents=True, exist_ok=True)
            self.held = open(self.dir / "lock", "w")
            fcntl.flock(self.held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Wrong("another run is under way", NO) from None
        except OSError as e:
            raise Wrong(f"{self.dir}: {e.strerror}") from None

    def files(self):
        return [f for f in [self.path.with_name(f"results.jsonl.{i}")
                            for i in range(FILES, 0, -1)] + [self.path]
                if f.exists()]

    def read(self):
        """All rows, the oldest first; lines that are none are counted."""
        rows, self.bad = [], 0
        for f in self.files():
            for line in f.read_text(errors="replace").split("\n"):
                if line.strip():
                    row = readable(line)
                    rows += [row] if row else []
                    self.bad += not row
        return rows

    def add(self, rows):
        if self.path.exists() and self.path.stat().st_size > LINES_MOST:
            for i in range(FILES - 1, 0, -1):
                older = self.path.with_name(f"results.jsonl.{i}")
                if older.exists():
                    older.rename(self.path.with_name(f"results.jsonl.{i + 1}"))
            self.path.rename(self.path.with_name("results.jsonl.1"))
        text = "".join(json.dumps(r, separators=(",", ":")) + "\n"
                       for r in rows)
        fd = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            end = os.fstat(fd).st_size
            if end:     # a line that was cut off stays one line
                with open(self.path, "rb") as f:
                    f.seek(end - 1)
                    if f.read(1) != b"\n":
                        text = "\n" + text
            os.write(fd, text.encode())
            os.fsync(fd)
        finally:
            os.close(fd)


def _end_ok(end):
    return isinstance(end, dict) and all(
        isinstance(end.get(k), str) for k in ("node", "host", "pf"))


def readable(line):
    """The line as a row of this program, or None."""
    try:
        row = json.loads(line)
    except ValueError:
        return None
    if not isinstance(row, dict) or type(row.get("time")) not in (int, float):
        return None
    if isinstance(row.get("drained"), str):
        return row
    numbers = (int, float, type(None))
    ok = row.get("test") in perf.TESTS and _end_ok(row.get("from")) and \
        _end_ok(row.get("to")) and type(row.get("job")) is int and \
        type(row.get("nic")) is int and \
        row.get("verdict") in ("good", "slow", "none") and \
        all(type(row.get(k)) in numbers for k in
            ("value", "limit", "line_rate")) and \
        row.get("unit") in ("Gb/s", "us")
    if ok and row["verdict"] == "slow":     # its figure is spoken of
        ok = None not in (row["value"], row["limit"]) and \
            (row["unit"] == "us" or row["line_rate"] is not None)
    return row if ok else None
