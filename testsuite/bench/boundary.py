#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""boundary.py BUILD [--functions]: what crosses the line between the scheduler's side
of the core and the provisioning side, as doc/dev/process-boundary.md shows it.

From the objects of BUILD (nm): which functions of a side the other one calls. From
BUILD's program testsuite/bench/boundary, if it is there: how often, at 10,000 nodes,
and which records change. boundary.sh makes such a BUILD. --functions names them all.
"""

import collections
import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "testsuite/lint"))

import csource                          # noqa: E402
import structure                        # noqa: E402

S, P, BOTH = "scheduler", "provisioning", "both"
# Each folder of the core. Pure code that both sides link counts for neither: `both`.
SIDES = {
    "engine/state": S, "engine/slurm": S, "engine/hosts": S, "engine/allocation": S,
    "engine/forecast": S, "engine/jobs": S, "engine/preemption": S, "engine/prefetch": S,
    "plan/allocation": S, "plan/placement": S, "plan/forecast": S,
    "engine/run": P, "engine/persist": P, "engine/inventory": P, "engine/rpc": P,
    "engine/vmspec": P, "engine/tasks": P, "engine/clone_source": P, "engine/checks": P,
    "engine/provision": P, "engine/maintenance": P, "engine/reconcile": P,
    "engine/report": P, "engine/metrics": P, "engine/control": P,
    "plan/checks": P, "plan/reconcile": P,
    "vcenter/spec": P, "vcenter/transport": P, "vcenter/decode": P, "vcenter/client": P,
    "vcenter/calls": P,
    "plan/devices": BOTH, "plan/inventory": BOTH, "util": BOTH,
}
# The plugins call the core through this file alone.
API = "src/common/engine/run/api.c"


def module_of(path):
    """engine/jobs of .../src/common/engine/jobs/jobs.c; None: not of the core."""
    if path.endswith(API) or path.endswith("engine/run/api.o"):
        return "API"
    if "unit/fake_vc" in path:
        return "vcenter/calls"
    m = re.search(r"src/common/((?:engine|plan|vcenter)/\w+|util)/", path)
    return m and m[1]


def side_of(module):
    return S if module == "API" else SIDES[module] if module else None


def crosses(caller, callee):
    """"scheduler -> provisioning", or None."""
    a, b = side_of(caller), side_of(callee)
    return f"{a} -> {b}" if {a, b} == {S, P} else None


def run(*argv):
    return subprocess.run(argv, text=True, capture_output=True, check=True).stdout


def is_client(caller, callee):
    """From the engine to vCenter's client: the line of a process for it alone."""
    return bool(caller and callee and callee.startswith("vcenter/") and
                (caller == "API" or caller.startswith("engine/")))


def references(build):
    """{(caller's module, callee's module): names} of functions that cross a line, by
    the objects."""
    where, wanted = {}, collections.defaultdict(set)
    objects = [str(o) for o in sorted((build / "src/common").rglob("*.o"))
               if ".libs" not in o.parts or not (o.parents[1] / o.name).exists()]
    for line in run("nm", "-A", *objects).splitlines():
        m = re.match(r"(.*\.o):[0-9a-f ]{16} ([TU]) (\w+)$", line)
        if m and m[2] == "T":
            where[m[3]] = module_of(plain(m[1]))
        elif m:
            wanted[m[3]].add(module_of(plain(m[1])))
    found = collections.defaultdict(set)
    for name, callers in wanted.items():
        for caller in callers:
            if name in where and (crosses(caller, where[name]) or
                                  is_client(caller, where[name])):
                found[caller, where[name]].add(name)
    return found


def facts(top):
    """{struct: {direction: members}}: one side writes the member, the other one has
    an expression that names it. By the text of the sources, as lint measures."""
    texts = structure.sources(top)
    known = csource.structs(texts)
    writes = csource.writes(texts, known, structure.SHARED)
    uses = collections.defaultdict(set)
    for f, text in texts.items():
        if f.endswith(".c") and f.startswith("src/common/"):
            for function in re.split(r"^\}", text, flags=re.M):
                here = csource.variables(function)
                for m in re.finditer(csource.CHAIN, function):
                    struct = here.get(m[1], (structure.SHARED.get(m[1]),))[0]
                    for end in range(1, len(chain_of(m[2])) + 1):
                        member = struct and csource.member_of(
                            known, struct, f, "".join(chain_of(m[2])[:end]))
                        if member:
                            uses[member].add(side_of(module_of(f)))
    found = collections.defaultdict(lambda: collections.defaultdict(set))
    for (struct, member), files in writes.items():
        writers = {side_of(module_of(f)) for f in files if module_of(f)} - {BOTH}
        if ":" in struct or not known[struct].file.startswith("src/common/"):
            continue
        for writer, reader in ((S, P), (P, S)):
            if writer in writers and reader in uses[struct, member]:
                found[struct][f"{writer} -> {reader}"].add(member)
    return found


def chain_of(text):
    """The links of a chain such as ->a[1].b"""
    return re.findall(r"(?:->|\.)\s*\w+|" + csource.INDEX, text)


def plain(path):
    """The object's name without libtool's prefix and folder."""
    return re.sub(r"(\.libs/)?(\w+_la-)?(\w+\.o)$", r"\3", path)


def symbols(program, addresses):
    """{address: (function, module)}"""
    text = subprocess.run(["addr2line", "-f", "-e", program], text=True, check=True,
                          input="\n".join(addresses), capture_output=True).stdout
    lines = text.splitlines()
    return {a: (lines[2 * i], module_of(lines[2 * i + 1]))
            for i, a in enumerate(addresses)}


def events(program):
    """[(name, times, [edge], [facts])] and the lines of trips."""
    found, trips = [], []
    for line in run(program).splitlines():
        word, *rest = line.split()
        if word == "event":
            found.append((rest[0], int(rest[1]), [], []))
        elif word == "trip":
            trips.append([int(r) for r in rest])
        else:
            found[-1][2 if word == "edge" else 3].append(rest)
    return found, trips


def table(head, rows):
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(str(c) for c in row) + " |")
    print()


def number(n):
    return f"{n:,.0f}" if n >= 10 else f"{n:.1f}"


def print_references(found, names):
    for pair in sorted(found) if names else ():
        print(f"{pair[0]} -> {pair[1]}: {' '.join(sorted(found[pair]))}")
    lines = {d: [p for p in found if crosses(*p) == d]
             for d in (f"{P} -> {S}", f"{S} -> {P}")}
    lines["engine -> client"] = [p for p in found if is_client(*p)]
    for direction, pairs in lines.items():
        functions = set().union(*(found[p] for p in pairs))
        print(f"{direction}: {len(functions)} functions, {len(pairs)} pairs of modules")
    print()


def print_calls(found, names):
    program_rows, all_calls = [], collections.defaultdict(dict)
    for name, times, edges, _ in found:
        total = collections.Counter()
        for caller, callee, calls in edges:
            total[crosses(caller[1], callee[1])] += int(calls) / times
            if is_client(caller[1], callee[1]) or is_client(callee[1], caller[1]):
                total["client"] += int(calls) / times
            if crosses(caller[1], callee[1]):
                key = callee[0], crosses(caller[1], callee[1])
                all_calls[key][name] = all_calls[key].get(name, 0) + int(calls) / times
        program_rows.append([name, number(total[f"{S} -> {P}"]),
                             number(total[f"{P} -> {S}"]), number(total["client"])])
    table(["event", f"{S} -> {P}", f"{P} -> {S}", "engine and client"], program_rows)
    top = sorted(all_calls.items(), key=lambda c: -max(c[1].values()))
    table(["function", "direction", "most calls in one event"],
          [[f, d, f"{number(max(n.values()))} in {max(n, key=n.get)}"]
           for (f, d), n in top[:None if names else 16]])


def print_shared(found, names):
    for direction in (f"{S} -> {P}", f"{P} -> {S}"):
        rows = sorted(((len(d[direction]), s) for s, d in found.items() if d[direction]),
                      reverse=True)
        print(f"{direction}: {sum(n for n, _ in rows)} members of {len(rows)} structs: " +
              ", ".join(f"{s} {n}" for n, s in rows))
        for _, s in rows if names else ():
            print(f"  {s}: {' '.join(sorted(found[s][direction]))}")
    print()


def print_facts(found):
    rows = []
    for records in sorted({f[0] for e in found for f in e[3]}):
        all_of = [(name, times, f) for name, times, _, facts in found for f in facts
                  if f[0] == records]
        size, exist = (int(n) for n in all_of[0][2][1:3])
        changes = [f"{name}: {number(int(f[3]) / times)} records, "
                   f"{number(int(f[4]) / times)} bytes"
                   for name, times, f in all_of if f[3] != "0"]
        rows.append([records, f"{size:,}", f"{exist:,}", f"{size * exist / 1e6:.1f}",
                     "; ".join(changes) or "none"])
    table(["record", "bytes", "exist", "MB", "changed by one event"], rows)


def main():
    build, names = pathlib.Path(sys.argv[1]), "--functions" in sys.argv
    print_references(references(build), names)
    print_shared(facts(TOP), names)
    program = build / "testsuite/bench/boundary"
    if not program.exists():
        return
    found, trips = events(program)
    at = sorted({a for e in found for edge in e[2] for a in edge[:2]})
    names_of = symbols(program, at)
    found = [(n, t, [(names_of[a], names_of[b], c) for a, b, c in edges], facts)
             for n, t, edges, facts in found]
    print_calls(found, names)
    print_facts(found)
    for size, median, worst in trips:
        print(f"a request and its answer of {size} bytes: {median / 1000:.0f} us, "
              f"{worst / 1000:.0f} us at the 99th percentile")


if __name__ == "__main__":
    main()
