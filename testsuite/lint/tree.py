#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The house rules that a machine can check, over the files that git knows.

Prints one TAP line per rule; what breaks a rule follows as diagnostics. An
exception is a line `RULE PATH reason...` of allow.txt (for functions,
`function PATH:NAME reason`); one that nothing needs any more is a failure too.
"""

import ast
import os
import pathlib
import re
import sys

from files import tracked

TOP = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent

# Who may include whom: the first component of a quoted include.
WALLS = {
    "src/common/util": {"util"},
    "src/common/plan": {"util", "plan"},
    "src/common/vcenter": {"util", "vcenter"},
    "src/common/engine": {"util", "plan", "vcenter", "engine"},
    "src/plugins": {"util", "engine", "plan", "plugins", "src", "slurm"},
    # plugins: conf/conf.h; plan: check_table.h
    "src/svf": {"util", "engine", "plugins", "plan", "svf"},
    "contribs/probe": {"util", "vcenter", "plugins"},       # the same
    "contribs/guest": {"util"},
}
# plan is pure: no I/O, clock, threads, network, JSON.
PLAN_SYSTEM = {
    "assert.h", "ctype.h", "errno.h", "inttypes.h", "limits.h", "math.h",
    "stdbool.h", "stddef.h", "stdint.h", "stdio.h", "stdlib.h", "string.h",
    "stdarg.h", "strings.h", "sys/queue.h", "uthash.h", "utlist.h",
}
BANNED = ("strcpy", "strcat", "sprintf", "vsprintf", "gets", "strtok",
          "system", "popen", "atoi", "atol", "atoll", "alloca", "tmpnam",
          "mktemp", "rand", "srand")
FILE_LINES = 1000
FUNCTION_LINES = 60
PAGE = "HACKING.md"
PAGE_LINES = 120
PAGE_COLUMNS = 100
# What names files of the tree as they are, and not as they were.
PAGES = (PAGE, "doc/dev/where.md", "doc/dev/testing.md", "doc/dev/process-boundary.md")
# Each folder of these is a module, which HACKING.md names.
LAYERS = ("src/common/engine", "src/common/plan", "src/common/vcenter",
          "src/plugins", "src/svf")


def text(name):
    return (TOP / name).read_text(errors="replace")


def without_comments(src):
    """C source with comments and string contents blanked, lines kept."""
    def blank(m):
        s = m.group(0)
        if s[0] in "\"'":
            return s[0] + " " * (len(s) - 2) + s[0]
        return re.sub(r"[^\n]", " ", s)
    return re.sub(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'",
                  blank, src, flags=re.S)


def c_files(files):
    return [f for f in files if f.endswith((".c", ".h"))]


def room_of(name):
    for r in WALLS:
        if name.startswith(r + "/"):
            return r
    return None


def includes(name):
    """(line, '"' or '<', path) of each include."""
    for n, line in enumerate(text(name).splitlines(), 1):
        m = re.match(r'\s*#\s*include\s*(["<])([^">]+)[">]', line)
        if m:
            yield n, m.group(1), m.group(2)


def rule_includes(files):
    """includes go down only, plan and vcenter never see each other"""
    for f in c_files(files):
        room = room_of(f)
        if not room:
            continue
        for n, q, p in includes(f):
            head = p.split("/")[0]
            if q == "<":
                if p.startswith("slurm/") and room != "src/plugins":
                    yield f, f"{f}:{n}: Slurm's header <{p}> outside src/plugins"
                if room == "src/common/plan" and p not in PLAN_SYSTEM:
                    yield f, f"{f}:{n}: plan is pure, <{p}> is not"
            elif "/" not in p:
                if p != "vs_config.h" and not (TOP / f).parent.joinpath(p).is_file():
                    yield f, f"{f}:{n}: \"{p}\" is no header of this directory"
            elif head == "..":
                if room_of(os.path.normpath(f"{f}/../{p}")) != room:
                    yield f, f"{f}:{n}: \"{p}\" leads out of {room}"
            elif head not in WALLS[room]:
                yield f, f"{f}:{n}: {room} may not include \"{p}\""


def rule_json(files):
    """raw json_object_* only in util/json.c"""
    for f in c_files(files):
        if room_of(f) and f != "src/common/util/json.c":
            for n, line in enumerate(without_comments(text(f)).splitlines(), 1):
                if re.search(r"\bjson_(object|tokener)_\w+\s*\(", line):
                    yield f, f"{f}:{n}: {line.strip()}"


def rule_core(files):
    """unit tests name no member of struct vs_core but in their accessors"""
    for f in c_files(files):
        if not f.startswith("testsuite/unit/") or \
                f.endswith(("/core_access.h", "/engine_stage.h")):
            continue
        for n, line in enumerate(without_comments(text(f)).splitlines(), 1):
            if re.search(r"\bvs_core\s*\.\s*[a-z_]", line):
                yield f, f"{f}:{n}: core_access.h has a function for it"


def rule_version(files):
    """#if on Slurm's version only in slurm_compat"""
    for f in c_files(files):
        if re.fullmatch(r"src/plugins/slurm/compat\.[ch]", f):
            continue
        for n, line in enumerate(without_comments(text(f)).splitlines(), 1):
            if re.match(r"\s*#\s*(if|elif)\b", line) and \
                    re.search(r"SLURM_VERSION|VS_GE\b|VS_SLURM_GE", line):
                yield f, f"{f}:{n}: {line.strip()}"


def rule_banned(files):
    """no banned functions"""
    pat = re.compile(r"(?<![\w.>])(" + "|".join(BANNED) + r")\s*\(")
    for f in c_files(files):
        for n, line in enumerate(without_comments(text(f)).splitlines(), 1):
            m = pat.search(line)
            if m:
                yield f, f"{f}:{n}: {m.group(1)}()"


def code_files(files):
    return [f for f in files if f.endswith(
        (".c", ".h", ".go", ".py", ".sh", ".mk", ".am"))]


def rule_file(files):
    """no file over 1000 lines: one subject, one file, and no subject is cut for its length"""
    for f in code_files(files):
        n = len(text(f).splitlines())
        if n > FILE_LINES:
            yield f, f"{f}: {n} lines"


def functions(f):
    """(name, lines between the braces) of each function."""
    if f.endswith(".py"):
        for node in ast.walk(ast.parse(text(f))):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield node.name, node.end_lineno - node.lineno
        return
    lines = (without_comments(text(f)) if f.endswith((".c", ".h"))
             else text(f)).splitlines()
    start, name = None, ""
    for n, line in enumerate(lines):
        if f.endswith((".c", ".h")):
            if line.startswith("{"):
                start = n
                head = " ".join(lines[max(0, n - 6):n])
                m = re.findall(r"(\w+)\s*\([^;{}]*\)\s*$", head)
                name = m[-1] if m else f"line {n + 1}"
        else:
            m = re.match(r"func\s+(?:\([^)]*\)\s*)?(\w+)|(\w+)\(\)\s*[{(]", line)
            if m and not line.rstrip().endswith("}"):
                start, name = n, m.group(1) or m.group(2)
        if start is not None and re.match(r"[})]", line):
            yield name, n - start - 1
            start = None


def rule_function(files):
    """no function over 60 lines"""
    for f in code_files(files):
        for name, n in functions(f):
            if n > FUNCTION_LINES:
                yield f"{f}:{name}", f"{f}: {name}: {n} lines"


def rule_spdx(files):
    """every source file names its licence, every .c opens with its contract"""
    for f in code_files(files):
        head = text(f)[:600]
        if not head.strip():
            continue
        if "SPDX-License-Identifier: GPL-2.0-or-later" not in head:
            yield f, f"{f}: no SPDX line"
        elif f.endswith(".c") and not re.match(
                r"\s*/\* SPDX.*?\*/\s*/\*", head, re.S):
            yield f, f"{f}: the file's purpose is not said at its top"


def rule_shared(files):
    """no file speaks of a machine's own paths or of secrets"""
    pat = re.compile(r"(?<![\w$}])/(root|mnt|srv|w\w+k|b\w+f)/[\w.-]+|BEGIN [A-Z ]*PRIVATE KEY")
    for f in code_files(files):
        if f == "testsuite/lint/tree.py":
            continue
        for n, line in enumerate(text(f).splitlines(), 1):
            if pat.search(line):
                yield f, f"{f}:{n}: {line.strip()[:90]}"


def rule_page(files):
    """HACKING.md has at most 120 lines of at most 100 columns"""
    lines = text(PAGE).splitlines() if PAGE in files else []
    if len(lines) > PAGE_LINES:
        yield PAGE, f"{PAGE}: {len(lines)} lines; move reasons to doc/dev/decisions.md"
    for n, line in enumerate(lines, 1):
        if len(line) > PAGE_COLUMNS:
            yield PAGE, f"{PAGE}:{n}: {len(line)} columns"


def spans(src):
    """(line, word) for each word of a Markdown text that stands between ` and `."""
    for n, line in enumerate(src.splitlines(), 1):
        for span in re.findall(r"`([^`]+)`", line):
            for word in span.split():
                yield n, word


def rule_modules(files):
    """HACKING.md names each module"""
    named = {w for _, w in spans(text(PAGE))} if PAGE in files else set()
    for layer in LAYERS:
        folders = {f[len(layer) + 1:].split("/")[0] for f in files
                   if f.startswith(layer + "/") and f.count("/") > layer.count("/") + 1}
        for folder in sorted(folders - named):
            yield folder, f"{PAGE} does not name {layer}/{folder}"


def rule_names(files):
    """each file that HACKING.md and its pages name exists"""
    ends = {"/".join(p[i:]) for p in (f.split("/") for f in files)
            for i in range(len(p))}
    for page in PAGES:
        for n, word in spans(text(page)) if page in files else ():
            for name in re.findall(r"^[\w./-]*[\w-]\.(?:c|h|go|py|sh|md|txt|mk|awk|in|am)$", word):
                if name not in ends and "NAME" not in name:     # a placeholder
                    yield page, f"{page}:{n}: there is no {name}"


def rule_neighbours(files):
    """each bug of the neighbours is named by one of our tests"""
    tests = "\n".join(text(f) for f in files if f.startswith("testsuite/") and
                      re.search(r"/test_\w+\.(py|c)$", f))
    for line in (HERE / "neighbours.txt").read_text().splitlines():
        name = line.rsplit(": ", 1)[0]
        if line and not line.startswith("#") and name not in tests:
            yield name, f"no test names {name}"


def rule_crash(files):
    """util/crash.c declares each point that the engine and the client have"""
    listed = set(re.findall(r'"([\w.?=]+)"', text("src/common/util/crash.c")))
    for f in c_files(files):
        src = text(f)
        names = re.findall(r'vs_crash_(?:before|after)\("(\w+)", "(\w+)"\)', src)
        names += [("tell", n) for n in re.findall(
            r'\[VS_REQUEST_\w+\] = "(\w+)"', src)]
        for point in names:
            for word in set(point) - listed:
                yield f, f"{f}: {'.'.join(point)}: no {word} in crash.c"


def asserted(tree):
    """The words that a system test expects: what begins a row of a table, what
    is an argument of found() or alone(), what something == ."""
    def words(nodes):
        return [n.value for n in nodes if isinstance(n, ast.Constant)]
    for node in ast.walk(tree):
        if isinstance(node, ast.List):
            for row in node.elts:
                if isinstance(row, ast.Tuple):
                    yield from words(row.elts[:1])
        elif isinstance(node, ast.Call):
            if getattr(node.func, "id", "") in ("found", "alone"):
                yield from words(node.args)
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq):
            yield from words(node.comparators)


def rule_codes(files):
    """each code of svf check is found by a system test"""
    tests = [ast.parse(text(f)) for f in files
             if re.match(r"testsuite/system/test_\w+\.py$", f)]
    have = {w for t in tests for w in asserted(t)}
    for code in re.findall(r'^(?:CHECK|FOUND|FLAG)\(\w+, "([\w-]+)"',
                           text("src/common/plan/checks/check_rows.h"), re.M):
        if code not in have:
            yield code, f"no test in testsuite/system finds {code}"


def allowed():
    res = {}
    f = HERE / "allow.txt"
    for n, line in enumerate(f.read_text().splitlines() if f.exists() else [], 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = line.split(None, 2)
        if len(parts) < 3:
            sys.exit(f"allow.txt:{n}: `RULE PATH reason` is expected")
        res[(parts[0], parts[1])] = False
    return res


def main():
    files = tracked(TOP)
    exceptions = allowed()
    rules = {k[5:]: v for k, v in globals().items() if k.startswith("rule_")}
    failed = 0
    # first, so that a rule that ends this program leaves a gap
    print(f"1..{len(rules)}", flush=True)
    for i, (name, rule) in enumerate(rules.items(), 1):
        bad = []
        for key, message in rule(files):
            if (name, key) in exceptions:
                exceptions[(name, key)] = True
            else:
                bad.append(message)
        bad += [f"allow.txt: `{r} {p}` is not needed any more"
                for (r, p), used in exceptions.items() if r == name and not used]
        failed += bool(bad)
        print(f"{'not ok' if bad else 'ok'} {i} - {rule.__doc__.splitlines()[0]}")
        for b in bad:
            print(f"#   {b}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
