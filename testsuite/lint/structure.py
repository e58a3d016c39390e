#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""structure.py [--print | --lower] [--files MEASURE NAME] [--top DIR]

Measures how src is built, and compares the numbers with structure.txt, where
each is kept. A number may only fall: one that rose is a failure, and one that
fell is a failure until structure.txt says so.

  (no option)  prints what differs; exits with 1 if anything does
  --print      prints each number, the kept one and its goal
  --lower      writes what fell into structure.txt; raises nothing
  --files      prints what a number is made of, such as the files of a cycle

Measures, and the limit of what has no line in structure.txt:
  cycle FOLDER      .c files in the folder's largest dependency cycle      6
  folders src       folders that depend on each other in cycles            0
  modules engine    modules that depend on each other in cycles            0
  files FOLDER      .c files in a folder                                  16
  struct NAME       members, those of embedded structs included where two
                    modules write them                                    40
  foreign STRUCT    members written by a module that does not own them,
                    and conditions of vs_node that several modules set     0
  locks src         .c files that take the core's mutex, but the one
                    that lends it                                          7
  port src          .c files of the engine that call Slurm (slurm_ops.h),
                    but those of run and slurm                             0
  callbacks TABLE   pointers to functions in a struct or an array          0
  lines src         lines of C, comments collapsed: printed, not held  60000

levels.txt gives folders of a layer their levels; an include or a call that does not
go down is a failure, whatever the numbers are. So is a third header of a module of the
engine that levels.txt does not give a reason.
"""

import argparse
import collections
import os
import pathlib
import re
import sys

import csource
from files import tracked

HERE = pathlib.Path(__file__).resolve().parent
LIMITS = {"cycle": 6, "folders": 0, "modules": 0, "files": 16, "struct": 40,
          "foreign": 0, "locks": 7, "port": 0, "callbacks": 0, "lines": 60000}
PRINTED_ONLY = {"lines"}
# The engine's state: these, the structs of variables that headers declare, and the
# structs that they embed or list.
STATE = ("vs_core", "vs_node")
SHARED = re.compile(r"^extern struct (\w+) (\w+);", re.M)
# A node's conditions are bits of one member; each has one module that sets it.
CONDITION = re.compile(r"\bvs_node_condition\s*\([^,;]+,\s*(\w+)\s*,")
LOCK = re.compile(r"\bvs_lock(?:_priority)?\s*\(")
PORT = re.compile(r"\bport->\w+\s*\(|\bp->\w+\s*\(\s*p->ctx\b")
SPEAKS = ("src/common/engine/run/", "src/common/engine/slurm/")
LENDS = "src/common/engine/state/lock.c"


def sources(top):
    """The C files of src, without comments and strings, by name."""
    return {n: csource.without_comments((top / n).read_text(errors="replace"))
            for n in tracked(top)
            if n.startswith("src/") and n.endswith((".c", ".h"))}


class Modules:
    """Which module of the engine a file belongs to: its folder below engine/,
    and modules.txt for the files that lie in engine itself."""

    def __init__(self, table, texts):
        self.by_file = {}
        self.wrong = []
        for line in table.read_text().splitlines() if table.exists() else []:
            if line.strip() and not line.startswith("#"):
                name, module = line.split()[:2]
                self.by_file[name] = module
        flat = {f for f in texts if re.search(r"/engine/\w+\.c$", f)}
        self.wrong += [f"modules.txt: no row for {f}" for f in sorted(flat - set(self.by_file))]
        self.wrong += [f"modules.txt: {f} does not exist"
                       for f in sorted(set(self.by_file) - flat)]

    def of(self, name):
        inside = re.search(r"/engine/(\w+)/", name)
        return inside.group(1) if inside else self.by_file.get(name)


class Levels:
    """levels.txt: FOLDER LEVEL [FRIEND], and HEADER beside REASON. What breaks the order
    of the folders of a layer, which is a folder of src/common, src/plugins or src/svf."""

    INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)
    LAYER = re.compile(r"src/(?:common/[^/]+|plugins|svf)(?=/|$)")
    MODULE_HEADER = re.compile(r"src/common/engine/(\w+)/(\w+)\.h")

    def __init__(self, table, top, names):
        self.levels, self.friend, self.beside = {}, {}, set()
        for n, line in enumerate(table.read_text().splitlines() if table.exists() else [], 1):
            if line.strip() and not line.startswith("#"):
                folder, level, *friend = line.split() + [""]
                if folder.endswith(".h"):
                    if level != "beside" or not friend[0]:
                        sys.exit(f"levels.txt:{n}: `HEADER beside REASON` is expected")
                    self.beside.add(folder)
                    continue
                if not level.isdigit() or folder in self.levels or len(friend) > 2:
                    sys.exit(f"levels.txt:{n}: `FOLDER LEVEL` is expected, once for a folder")
                self.levels[folder] = int(level)
                self.friend[folder] = friend[0]
        self.layers = {self.LAYER.match(f)[0] for f in self.levels}
        self.names = set(names)
        self.wrong = [f"levels.txt: {f} does not exist" for f in sorted(self.levels)
                      if f not in {os.path.dirname(n) for n in names}]
        self.wrong += self.judge_headers()
        for name in sorted(names):
            self.wrong += self.judge(name, (top / name).read_text(errors="replace"))

    def layer(self, name):
        """The layer that a file lies in, or None if its folders have no levels."""
        found = self.LAYER.match(name)
        return found[0] if found and found[0] in self.layers else None

    def included(self, name, path):
        """The file that an include of this file means, or None if it is not src's."""
        places = (os.path.dirname(name), "src/common", "src")
        return next((f for f in (os.path.normpath(f"{p}/{path}") for p in places)
                     if f in self.names), None)

    def goes_up(self, name, other):
        """Is other in a folder of the same layer that has no lower level?"""
        here, there = os.path.dirname(name), os.path.dirname(other)
        return here != there and self.layer(name) == self.layer(other) is not None and \
            self.levels.get(there, 0) >= self.levels.get(here, 0)

    def judge_calls(self, graph):
        """What is wrong in a graph of .c files that call each other."""
        return [f"{f}: calls {os.path.relpath(o, self.layer(f))}, which is not of a lower level"
                for f in sorted(graph) for o in sorted(graph[f]) if self.goes_up(f, o)]

    def judge_headers(self):
        """A module of the engine has one header for others, MODULE.h, and one for its own
        files, MODULE_i.h. What is beside them has a reason in levels.txt."""
        third = {f for f in self.names if (m := self.MODULE_HEADER.fullmatch(f)) and
                 m[2] not in (m[1], f"{m[1]}_i")}
        for f in sorted(third - self.beside):
            module = os.path.basename(os.path.dirname(f))
            yield (f"{f}: a module has {module}.h and {module}_i.h; "
                   "`HEADER beside REASON` in levels.txt allows another")
        for f in sorted(self.beside - third):
            yield f"levels.txt: {f} is no header beside a module's two"

    def judge(self, name, text):
        layer, folder = self.layer(name), os.path.dirname(name)
        if layer and folder not in self.levels:
            yield f"{name}: levels.txt has no row for {folder}"
            return
        for path in self.INCLUDE.findall(text):
            other = self.included(name, path)
            if not other or not self.layer(other) or os.path.dirname(other) == folder:
                continue
            to = os.path.dirname(other)
            if other.endswith("_i.h") and (self.layer(other) != layer or
                                           self.friend[folder] != os.path.basename(to)):
                yield f"{name}: \"{path}\" is private to {to}"
            elif self.goes_up(name, other):
                yield (f"{name}: \"{path}\" is not of a lower level: "
                       f"{os.path.basename(folder)} has {self.levels[folder]}")


class Measures:
    """All numbers of a tree by (measure, name), and what each is made of."""

    def __init__(self, top, lint):
        self.texts = sources(top)
        if not self.texts:
            sys.exit(f"{top}/src has no C files")
        self.modules = Modules(lint / "modules.txt", self.texts)
        self.levels = Levels(lint / "levels.txt", top, self.texts)
        self.structs = csource.structs(self.texts)
        self.shared = {"vs_core": "vs_core"} | {
            variable: struct for f, text in self.texts.items()
            if "/engine/" in f and f.endswith(".h")
            for struct, variable in SHARED.findall(text)}
        self.writes = csource.writes(self.texts, self.structs, self.shared)
        self.parts = {}
        self.value = {}
        self.dependencies()
        self.folders()
        self.members()
        self.foreign()
        self.locks()
        self.port()
        self.callbacks()
        self.note("lines", "src", [], sum(t.count("\n") for t in self.texts.values()))

    def note(self, measure, name, parts, value=None):
        self.parts[measure, name] = parts
        self.value[measure, name] = len(parts) if value is None else value

    def dependencies(self):
        graph = csource.calls(self.texts)
        self.levels.wrong += self.levels.judge_calls(graph)
        largest = {}
        for cycle in csource.cycles(graph, graph):
            folder = os.path.commonpath([os.path.dirname(f) for f in cycle])
            largest.setdefault(folder, cycle)
        for folder, cycle in largest.items():
            self.note("cycle", folder, cycle)
        for measure, name, of in (("folders", "src", os.path.dirname),
                                  ("modules", "engine", self.modules.of)):
            edges = collections.defaultdict(set)
            for f, others in graph.items():
                for o in others:
                    if of(f) and of(o) and of(f) != of(o):
                        edges[of(f)].add(of(o))
            self.note(measure, name, sorted(
                x for c in csource.cycles(edges, edges) for x in c))

    def folders(self):
        by = collections.defaultdict(list)
        for f in self.texts:
            if f.endswith(".c"):
                by[os.path.dirname(f)].append(f)
        for folder, files in by.items():
            self.note("files", folder, sorted(files))

    def writers(self, struct, member):
        """The modules whose files write it; a file of no module counts for none."""
        return {self.modules.of(f) for f in self.writes.get((struct, member), ())} - {None}

    def members(self):
        for name, struct in self.structs.items():
            parts = self.shared_members(struct, set())
            self.note("struct", name, parts)

    def shared_members(self, struct, seen):
        """Its members; those of an embedded struct too if more than one module
        writes any of them."""
        parts = []
        for m in struct.members:
            parts.append(m.name)
            inner = not m.pointer and self.structs.get(m.struct)
            if inner and inner.name not in seen and len(set().union(*(
                    self.writers(inner.name, i.name) for i in inner.members))) > 1:
                parts += [f"{m.name}.{p}" for p in
                          self.shared_members(inner, seen | {struct.name})]
            elif m.inline and len(self.writers(struct.name, m.name)) > 1:
                parts += [f"{m.name}.{p.name}" for p in csource.members(m.inline)]
        return parts

    def state(self):
        """The structs of the engine's state: STATE, those of shared variables, and
        what these embed or point to, as far as it is the engine's."""
        found = set()
        todo = [s for s in {*STATE, *self.shared.values()} if s in self.structs]
        while todo:
            name = todo.pop()
            if name not in found:
                found.add(name)
                todo += [m.struct for m in self.structs[name].members
                         if "/engine/" in getattr(self.structs.get(m.struct), "file", "")]
        return found

    def foreign(self):
        """A member has one module that writes it. It is the one of the struct's
        header; any, where the header is in no module or in `state`."""
        for name in self.state():
            parts = []
            owner = self.modules.of(self.structs[name].file)
            for m in self.structs[name].members:
                who = self.writers(name, m.name)
                if owner not in (None, "state"):
                    who = who | {owner}
                if len(who) > 1:
                    parts.append(f"{m.name}: {', '.join(sorted(who))}")
            if name == "vs_node":
                parts += self.conditions()
            self.note("foreign", name, parts)

    def conditions(self):
        """Conditions of a node that more than one module sets."""
        who = collections.defaultdict(set)
        for f, t in self.texts.items():
            for bit in CONDITION.findall(t):
                who[bit] |= {self.modules.of(f)} - {None}
        return [f"{bit}: {', '.join(sorted(by))}"
                for bit, by in sorted(who.items()) if len(by) > 1]

    def locks(self):
        self.note("locks", "src", sorted(
            f for f, t in self.texts.items()
            if f.endswith(".c") and f != LENDS and LOCK.search(t)))

    def port(self):
        self.note("port", "src", sorted(
            f for f, t in self.texts.items()
            if f.startswith("src/common/engine/") and f.endswith(".c") and
            not f.startswith(SPEAKS) and PORT.search(t)))

    def callbacks(self):
        for name, struct in self.structs.items():
            self.note("callbacks", name, struct.functions)
        for name, n in csource.function_arrays(self.texts):
            self.note("callbacks", name, [], n)


class Kept:
    """structure.txt: MEASURE NAME VALUE GOAL [REASON]; GOAL `-` is none."""

    def __init__(self, path):
        self.path = path
        self.lines = path.read_text().splitlines()
        self.rows = {}
        for n, line in enumerate(self.lines):
            if not line.strip() or line.startswith("#"):
                continue
            word = line.split(None, 4)
            if len(word) < 4 or word[0] not in LIMITS or not word[2].isdigit() or \
                    not re.fullmatch(r"\d+|-", word[3]):
                sys.exit(f"{path.name}:{n + 1}: `MEASURE NAME VALUE GOAL [REASON]` is expected")
            if tuple(word[:2]) in self.rows:
                sys.exit(f"{path.name}:{n + 1}: {word[0]} {word[1]} has two lines")
            goal = None if word[3] == "-" else int(word[3])
            self.rows[word[0], word[1]] = n, int(word[2]), goal

    def differs(self, key, value):
        """`rose`, `fell`, or None."""
        if key[0] in PRINTED_ONLY:
            return None
        if key not in self.rows:
            return "rose" if value > LIMITS[key[0]] else None
        kept = self.rows[key][1]
        if value != kept:
            return "rose" if value > kept else "fell"
        return "fell" if value <= LIMITS[key[0]] else None

    def lower(self, key, value):
        n = self.rows[key][0]
        if value <= LIMITS[key[0]]:
            self.lines[n] = None
        else:
            word = self.lines[n].split(None, 4)
            self.lines[n] = " ".join([*word[:2], str(value), *word[3:]])

    def write(self):
        self.path.write_text("".join(f"{x}\n" for x in self.lines if x is not None))


def compared(now, kept):
    """(measure, name), value, what differs, of all that is kept or over a limit."""
    for key in sorted({*now.value, *kept.rows}, key=lambda k: (list(LIMITS).index(k[0]), k[1])):
        value = now.value.get(key, 0)
        if key in kept.rows or value > LIMITS[key[0]] or key[0] in PRINTED_ONLY:
            yield key, value, kept.differs(key, value)


def judged(now, kept):
    """What lint says, a line for each number that differs."""
    yield from now.modules.wrong
    yield from now.levels.wrong
    for (measure, name), value, how in compared(now, kept):
        limit = kept.rows.get((measure, name), (0, LIMITS[measure]))[1]
        if how == "rose":
            yield (f"{measure} {name}: {value}, at most {limit} is allowed; "
                   f"`structure.py --files {measure} {name}` prints what it is made of")
        elif how == "fell" and value == limit:
            yield (f"{measure} {name}: {value} needs no line; "
                   "`structure.py --lower` takes it out of structure.txt")
        elif how == "fell":
            yield (f"{measure} {name}: {value}, structure.txt says {limit}; "
                   "`structure.py --lower` writes the lower number")


def table(now, kept):
    yield f"{'measure':<10} {'name':<54} {'now':>6} {'kept':>6} {'goal':>6}"
    for key, value, how in compared(now, kept):
        _, held, goal = kept.rows.get(key, (0, "-", LIMITS[key[0]]))
        goal = "-" if goal is None else goal
        yield f"{key[0]:<10} {key[1]:<54} {value:>6} {held:>6} {goal:>6}{'  ' + how if how else ''}"


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--print", action="store_true", dest="all")
    p.add_argument("--lower", action="store_true")
    p.add_argument("--files", nargs=2, metavar=("MEASURE", "NAME"))
    p.add_argument("--top", type=pathlib.Path, default=HERE.parents[1])
    a = p.parse_args()
    here = a.top / "testsuite/lint"
    sys.setrecursionlimit(20000)
    now = Measures(a.top, here)
    if a.files:
        print("\n".join(now.parts.get(tuple(a.files), [])))
        return 0
    kept = Kept(here / "structure.txt")
    if a.lower:
        for key, value, how in list(compared(now, kept)):
            if how == "fell":
                kept.lower(key, value)
        kept.write()
        kept = Kept(here / "structure.txt")
    if a.all:
        print("\n".join(table(now, kept)))
    bad = list(judged(now, kept))
    for line in bad if not a.all else []:
        print(line)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
