# SPDX-License-Identifier: GPL-2.0-or-later
"""A second look at the few tests of shards.py's run that failed, each file alone.

Beside others a test may fail for want of time. When all files have ended, the
tests that failed are run twice more with no other test beside them; only one that
passes both times counts as passed, and it is named: `UNSTEADY: ...`. Its first
failure stays in the output. More than MOST of them are no unsteadiness: then
there is no second look, nor with VS_STRICT=1.
"""

import os
import xml.etree.ElementTree as ElementTree

MOST = 3
TIMES = 2
FAILED, UNREADABLE = 1, 2       # pytest's exit statuses


def cases(xml):
    return list(ElementTree.parse(xml).iter("testcase"))


def fault(case):
    """The failure or error of a testcase of junit's, or None."""
    return next((e for e in case if e.tag in ("failure", "error")), None)


def key(case):
    return case.get("classname"), case.get("name")


def passed(case):
    return not [e for e in case if e.tag in ("failure", "error", "skipped")]


def node_id(f, case):
    """As pytest selects it; None if it failed before there were tests."""
    words = (case.get("classname") or "").split(".")
    if f.stem not in words:
        return None
    return "::".join([str(f), *words[words.index(f.stem) + 1:],
                      case.get("name")])


def first_line(e):
    lines = (e.get("message") or e.text or "").strip().splitlines()
    return lines[0][:200] if lines else "?"


class Failed:
    """What failed in a file: tests, or what all of them stand on."""

    def __init__(self, f, xml):
        self.f, self.xml = f, xml
        bad = [c for c in cases(xml) if fault(c) is not None]
        self.tests = {key(c): c for c in reversed(bad)}     # the first fault
        ids = [node_id(f, c) for c in self.tests.values()]
        setups = [m for m in (fault(c).get("message", "") for c in bad)
                  if m.startswith("failed on setup")]
        # One fixture's failure is the error of each that asks for it.
        self.whole = None in ids or len(set(setups)) < len(setups)
        self.ids = sorted({str(f)} if self.whole else set(ids))

    def __len__(self):
        return 1 if self.whole and self.tests else len(self.tests)

    def names(self):
        """(test, why), the file's name for all of it."""
        if self.whole:
            c = next(iter(self.tests.values()))
            return [(self.f.name, first_line(fault(c)))]
        return sorted((f"{self.f.name}::{n}", first_line(fault(c)))
                      for (_, n), c in self.tests.items())

    def passed_in(self, xml):
        """All that failed has run there and passed; of a file that had no tests
        then, some have."""
        seen = {key(c): c for c in cases(xml)}
        wanted = [k for k in self.tests if k in seen or not self.whole]
        return any(map(passed, seen.values())) \
            and all(k in seen and passed(seen[k]) for k in wanted) \
            and not any(fault(c) is not None for c in seen.values())

    def replaced_by(self, xml):
        """The look's results stand for the failures: each test counts once."""
        if self.whole:
            self.xml.write_bytes(xml.read_bytes())
            return
        tree = ElementTree.parse(self.xml)
        again = {key(c): c for c in cases(xml)}
        for suite in tree.iter("testsuite"):
            for c in suite.findall("testcase"):
                if key(c) in self.tests:
                    suite.remove(c)
                    if key(c) in again:
                        suite.append(again.pop(key(c)))
            all_of = suite.findall("testcase")
            faults = [fault(c).tag for c in all_of if fault(c) is not None]
            suite.set("tests", str(len(all_of)))
            suite.set("failures", str(faults.count("failure")))
            suite.set("errors", str(faults.count("error")))
        tree.write(self.xml, "utf-8", True)


def what_failed(run):
    """[Failed], or none if it isn't to be looked at again."""
    if os.environ.get("VS_STRICT") == "1":
        return []
    bad = []
    for f, code in run.codes.items():
        xml = run.xml(f)
        if code in (FAILED, UNREADABLE) and xml.exists():
            bad.append(Failed(f, xml))
        elif code not in (0, 5):
            return []           # pytest itself failed
    return bad if all(bad) and sum(map(len, bad)) <= MOST else []


def passes_alone(run, failed, scratch):
    for n in range(TIMES):
        xml = scratch / f"{failed.f.stem}.{n}.xml"
        code = run.pytest(failed.f, xml, failed.ids,
                          f"{failed.f.name} alone, look {n + 1} of {TIMES}")
        if code not in (0, FAILED) and not failed.whole:
            failed.whole, failed.ids = True, [str(failed.f)]
            return passes_alone(run, failed, scratch)   # no test by that name
        if code != 0 or not failed.passed_in(xml):
            return None
    return xml


def again(run):
    """Runs again what failed in the run and corrects its results. Returns the
    lines that name what is unsteady."""
    scratch = run.scratch / "again"
    scratch.mkdir(exist_ok=True)
    lines = []
    for failed in what_failed(run):
        names = failed.names()
        xml = passes_alone(run, failed, scratch)
        if xml:
            failed.replaced_by(xml)
            run.codes[failed.f] = 0
            lines += [f"UNSTEADY: {name} failed beside others and passed twice "
                      f"alone: {why}" for name, why in names]
    return lines
