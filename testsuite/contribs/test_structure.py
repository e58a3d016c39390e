# SPDX-License-Identifier: GPL-2.0-or-later
"""structure.py notices what it measures, and tree.py what a folder may include:
each violation is planted in a small tree."""

import os
import re
import shutil
import subprocess

import pytest

from conftest import LINT, lint_run, plant

ENGINE = "src/common/engine/"


def void(name, *calls):
    return f"void {name}(void)\n{{\n" + "".join(f"\t{c}();\n" for c in calls) + "}\n"


def ring(n, folder=ENGINE):
    """So many files that call each other in a circle."""
    return {f"{folder}f{i}.c": void(f"f{i}", f"f{(i + 1) % n}") for i in range(n)}


def wide(name, n):
    return f"struct {name} {{\n" + "".join(f"\tint m{i};\n" for i in range(n)) + "};\n"


@pytest.fixture
def tree(tmp_path):
    """Runs structure.py over a tree of these files; every file of the engine is
    in the module `jobs` unless modules says otherwise."""
    def run(files, *options, kept="", modules=None):
        lint = tmp_path / "testsuite/lint"
        shutil.rmtree(tmp_path / "src", ignore_errors=True)
        lint.mkdir(parents=True, exist_ok=True)
        plant(tmp_path, {ENGINE + "empty.c": "", **files})
        flat = sorted(n for n in {ENGINE + "empty.c": "", **files}
                      if re.fullmatch(ENGINE + r"\w+\.c", n))
        (lint / "modules.txt").write_text("".join(
            f"{n} {(modules or {}).get(n.rsplit('/', 1)[1], 'jobs')}\n" for n in flat))
        (lint / "structure.txt").write_text(kept)
        return lint_run("structure.py", tmp_path, *options)
    run.lint = tmp_path / "testsuite/lint"
    return run


@pytest.mark.parametrize("files, modules, says", [
    (ring(7), {}, "cycle src/common/engine: 7, at most 6"),
    ({"src/svf/a.c": void("a", "b"), "src/svf/top/b.c": void("b", "a")}, {},
     "folders src: 2, at most 0"),
    ({ENGINE + "a.c": void("a", "b"), ENGINE + "b.c": void("b", "a")}, {"a.c": "tasks"},
     "modules engine: 2, at most 0"),
    ({f"src/svf/f{i}.c": "" for i in range(17)}, {}, "files src/svf: 17, at most 16"),
    ({"src/svf/a.h": wide("svf", 41)}, {}, "struct svf: 41, at most 40"),
    ({f"src/svf/f{i}.c": "static void f(void)\n{\n\tvs_lock();\n}\n" for i in range(8)}, {},
     "locks src: 8, at most 7"),
    ({"src/common/engine/hosts/a.c": "void f(struct c *c)\n{\n\tc->port->scan(c->port->ctx);\n}\n",
      "src/common/engine/jobs/b.c": "void g(struct p *p)\n{\n\tp->scan(p->ctx);\n}\n",
      "src/common/engine/run/c.c": "void h(struct c *c)\n{\n\tc->port->scan(c->port->ctx);\n}\n"},
     {}, "port src: 2, at most 0"),
    ({"src/svf/a.h": "struct a {\n\tvoid (*f)(int, char);\n\tint (*g)(void), x;\n};\n"}, {},
     "callbacks a: 2, at most 0"),
    ({"src/svf/a.h": "typedef void done_fn(int x);\nstruct a {\n\tconst done_fn *f;\n};\n"}, {},
     "callbacks a: 1, at most 0"),
    ({"src/svf/a.h": "struct a {\n\tstruct {\n\t\tvoid (*f)(void);\n\t} in;\n};\n"}, {},
     "callbacks a: 1, at most 0"),
    ({"src/svf/a.c": "static struct {\n\tint (*f)(void);\n} stock;\n"}, {},
     "callbacks src/svf/a.c:stock: 1, at most 0"),
    ({"src/svf/a.c": "static int (*const all[])(void) = { a, b };\n"}, {},
     "callbacks src/svf/a.c:all: 2, at most 0"),
    ({"src/svf/a.c": "typedef int one_fn(void);\nstatic one_fn *const all[] = { a, b, };\n"}, {},
     "callbacks src/svf/a.c:all: 2, at most 0"),
])
def test_what_is_planted_is_found(tree, files, modules, says):
    assert tree({}) == (0, "")
    rc, out = tree(files, modules=modules)
    assert rc == 1 and says in out, out


def test_what_is_at_its_limit_is_no_failure(tree):
    assert tree({
        **ring(6), **{f"src/svf/f{i}.c": "" for i in range(15)},
        "src/svf/a.h": wide("svf", 40),
        **{f"src/plugins/f{i}.c": "static void f(void)\n{\n\tvs_lock_now();\n}\n"
           for i in range(7)},
        # the file that lends the mutex takes it again, and is not counted
        ENGINE + "state/lock.c": "static void f(void)\n{\n\tvs_lock();\n}\n",
        # calls that a comment or a string holds, and those of a file's own static
        "src/svf/a.c": "static void c(void)\n{\n}\n" + void("a", "c", "b"),
        "src/svf/top/b.c": '/* a() */\nvoid b(void)\n{\n\tx("a()");\n}\n',
        "src/plugins/spank/c.c": void("c", "a"),
    }) == (0, "")


LAYER = "src/common/vcenter/"
LEVELS = f"{LAYER}spec 0\n{LAYER}transport 0\n{LAYER}calls 1 spec\n"
FOLDERS = {LAYER + "spec/spec.h": "", LAYER + "spec/spec_i.h": "",
           LAYER + "transport/http.h": '#include "util/err.h"\n',
           LAYER + "transport/http.c": '#include "http.h"\n', "src/common/util/err.h": "",
           LAYER + "calls/calls.h": '#include "vcenter/spec/spec.h"\n#include <curl/curl.h>\n',
           LAYER + "calls/a.c": '#include "calls.h"\n#include "vcenter/transport/http.h"\n',
           LAYER + "calls/b.c": '#include "vcenter/spec/spec_i.h"\n',
           LAYER + "transport/http_i.h": "",
           ENGINE + "engine.c": '#include "vcenter/calls/calls.h"\n'}


@pytest.mark.parametrize("name, include, says", [
    ("spec/spec.h", "vcenter/calls/calls.h",
     '"vcenter/calls/calls.h" is not of a lower level: spec has 0'),
    ("spec/spec.h", "../calls/calls.h",
     '"../calls/calls.h" is not of a lower level: spec has 0'),
    ("transport/http.c", "vcenter/spec/spec.h",
     '"vcenter/spec/spec.h" is not of a lower level: transport has 0'),
    ("../engine/engine.c", "vcenter/spec/spec_i.h",
     '"vcenter/spec/spec_i.h" is private to src/common/vcenter/spec'),
    ("calls/a.c", "vcenter/transport/http_i.h",
     '"vcenter/transport/http_i.h" is private to src/common/vcenter/transport'),
    ("new/new.c", "util/err.h", "levels.txt has no row for src/common/vcenter/new"),
    ("vc.c", "util/err.h", "levels.txt has no row for src/common/vcenter"),
])
def test_an_include_that_does_not_go_down_is_found(tree, name, include, says):
    (tree.lint).mkdir(parents=True)
    (tree.lint / "levels.txt").write_text(LEVELS)
    assert tree(FOLDERS) == (0, "")
    name = os.path.normpath(LAYER + name)
    rc, out = tree({**FOLDERS, name: FOLDERS.get(name, "") + f'# include "{include}"\n'})
    assert rc == 1 and out.count("\n") == 1 and f"{name}: {says}" in out, out


def test_a_call_that_does_not_go_down_is_found(tree):
    (tree.lint).mkdir(parents=True)
    (tree.lint / "levels.txt").write_text(LEVELS)
    files = {**FOLDERS, LAYER + "spec/s.c": void("s"), LAYER + "calls/c.c": void("c", "s")}
    assert tree(files) == (0, "")
    rc, out = tree({**files, LAYER + "transport/t.c": void("t", "c", "s")})
    assert rc == 1 and out == (
        f"{LAYER}transport/t.c: calls calls/c.c, which is not of a lower level\n"
        f"{LAYER}transport/t.c: calls spec/s.c, which is not of a lower level\n")


def test_a_third_header_of_a_module_needs_a_reason(tree):
    (tree.lint).mkdir(parents=True)
    (tree.lint / "levels.txt").write_text(f"{ENGINE}jobs 0\nsrc/common/engine 1\n")
    files = {f"{ENGINE}jobs/{h}": "" for h in ("jobs.h", "jobs_i.h", "a.c")}
    assert tree(files) == (0, "")
    third = f"{ENGINE}jobs/wait.h"
    rc, out = tree({**files, third: ""})
    assert rc == 1 and out.startswith(f"{third}: a module has jobs.h and jobs_i.h"), out
    with (tree.lint / "levels.txt").open("a") as f:
        f.write(f"{third} beside what plugins include\n")
    assert tree({**files, third: ""}) == (0, "")
    rc, out = tree(files)
    assert rc == 1 and out == f"levels.txt: {third} is no header beside a module's two\n"
    (tree.lint / "levels.txt").write_text(f"{third} beside\n")
    rc, out = tree({**files, third: ""})
    assert rc == 1 and "levels.txt:1: `HEADER beside REASON` is expected" in out, out


@pytest.mark.parametrize("rows, says", [
    (LEVELS + f"{LAYER}gone 1\n", f"levels.txt: {LAYER}gone does not exist"),
    (LEVELS + f"{LAYER}calls 2\n", "levels.txt:4: `FOLDER LEVEL` is expected, once for a folder"),
    (f"{LAYER}gone.h beside reasons\n" + LEVELS,
     f"levels.txt: {LAYER}gone.h is no header beside a module's two"),
    (f"{LAYER}calls\n", "levels.txt:1: `FOLDER LEVEL` is expected"),
])
def test_a_wrong_row_of_levels_is_said(tree, rows, says):
    (tree.lint).mkdir(parents=True)
    (tree.lint / "levels.txt").write_text(rows)
    rc, out = tree(FOLDERS)
    assert rc == 1 and says in out, out


CORE = {ENGINE + "core.h": """
struct vs_part {
	int x, y;
};
struct vs_core {
	int n, m;
	struct vs_part part;
	struct vs_node *nodes;
};
struct vs_node {
	int tries;
	char name[9];
};
"""}


def write(text, head="struct vs_core *c, struct vs_node *n"):
    return f"void x(int v, {head})\n{{\n\t{text}\n}}\n"


@pytest.mark.parametrize("text, says", [
    ("c->n = 1;", "foreign vs_core: 1"),
    ("c->n++;", "foreign vs_core: 1"),
    ("--c->n;", "foreign vs_core: 1"),
    ("vs_core.n |= 1;", "foreign vs_core: 1"),
    ("c->part.x += 2;", "foreign vs_part: 1"),
    ("memset(&c->part.x, 0, 2);", "foreign vs_part: 1"),
    ("c->nodes[c->a[1]].tries = 0;", "foreign vs_node: 1"),
    ("vs_strlcpy(n->name, b, 9);", "foreign vs_node: 1"),
    ("char b[9]; memcpy(b, n->name, 9); snprintf(b, 9, f, n->tries);", ""),
    ("if (c->n == 1 && c->part.x <= 2) vs_part_set(&c->part, n->tries);", ""),
    ("struct vs_part own; own.x = 1; n->tries--, v = c->n;", "foreign vs_node: 1"),
])
def test_a_member_that_two_modules_write_is_found(tree, text, says):
    mine = write("c->n = c->part.x = n->tries = 0; n->name[0] = 0;")
    files = {**CORE, ENGINE + "a.c": mine, ENGINE + "b.c": write(text)}
    assert tree(files) == (0, "")
    rc, out = tree(files, modules={"b.c": "tasks"})
    assert (rc, says in out, out.count("\n")) == (bool(says), True, bool(says)), out
    assert not says or "tasks" in tree(files, "--files", *says[:-3].split(),
                                       modules={"b.c": "tasks"})[1]


def test_a_struct_of_a_module_is_written_by_that_module_alone(tree):
    files = {ENGINE + "core.h": "struct vs_core {\n\tstruct vs_tasks *tasks;\n};\n",
             ENGINE + "tasks/tasks.h": "struct vs_tasks {\n\tint n;\n};\n",
             ENGINE + "tasks/tasks.c": write("t->n = 1;", "struct vs_tasks *t")}
    assert tree(files) == (0, "")
    files[ENGINE + "jobs/jobs.c"] = files.pop(ENGINE + "tasks/tasks.c")
    rc, out = tree(files)
    assert rc == 1 and "foreign vs_tasks: 1, at most 0" in out, out


def test_a_variable_of_a_module_is_written_by_that_module_alone(tree):
    files = {ENGINE + "tasks/tasks.h": "struct vs_tasks {\n\tint n;\n};\n"
                                       "extern struct vs_tasks vs_tasks;\n",
             ENGINE + "tasks/tasks.c": write("vs_tasks.n = 1;")}
    assert tree(files) == (0, "")
    files[ENGINE + "jobs/jobs.c"] = files[ENGINE + "tasks/tasks.c"]
    rc, out = tree(files)
    assert rc == 1 and "foreign vs_tasks: 1, at most 0" in out, out


def test_a_private_header_of_a_module_is_its_folders_alone(tree):
    (tree.lint).mkdir(parents=True)
    (tree.lint / "levels.txt").write_text(
        f"{ENGINE}state 0\n{ENGINE}tasks 1\n{ENGINE}jobs 2\nsrc/common/engine 3\n")
    files = {ENGINE + "tasks/tasks_i.h": "", ENGINE + "state/state.h": "",
             ENGINE + "tasks/tasks.c": '#include "engine/tasks/tasks_i.h"\n',
             ENGINE + "jobs/jobs.c": '#include "engine/state/state.h"\n'}
    assert tree(files) == (0, "")
    files[ENGINE + "jobs/jobs.c"] += '#include "engine/tasks/tasks_i.h"\n'
    rc, out = tree(files)
    assert rc == 1 and f'{ENGINE}jobs/jobs.c: "engine/tasks/tasks_i.h" is private to' in out, out


def test_a_condition_of_a_node_has_one_module_that_sets_it(tree):
    bit = "vs_node_condition(n, VS_COND_VACATE, true);"
    files = {**CORE, ENGINE + "jobs/jobs.c": write(bit),
             ENGINE + "tasks/tasks.c": write(bit.replace("VACATE", "STARTING"))}
    assert tree(files) == (0, "")
    files[ENGINE + "tasks/tasks.c"] = write(bit.replace("(n, ", "(&c->nodes[0],\n"))
    rc, out = tree(files)
    assert rc == 1 and "foreign vs_node: 1, at most 0" in out, out
    assert "VS_COND_VACATE: jobs, tasks" in tree(files, "--files", "foreign", "vs_node")[1]


def test_members_of_an_embedded_struct_count_where_two_modules_write_them(tree):
    core = {ENGINE + "core.h": wide("vs_part", 38) +
            "struct vs_core {\n\tint a, b;\n\tstruct vs_part part;\n};\n",
            ENGINE + "a.c": write("c->part.m1 = 1;")}
    assert tree(core) == (0, "")
    core[ENGINE + "b.c"] = write("c->part.m2 = 1;")
    assert tree(core) == (0, "")
    rc, out = tree(core, modules={"b.c": "tasks"})
    assert rc == 1 and out.startswith("struct vs_core: 41, at most 40"), out
    # the same without a name
    core[ENGINE + "core.h"] = "struct vs_core {\n\tint a, b;\n" + \
        wide("", 38).replace("};", "} part;") + "};\n"
    rc, out = tree(core, modules={"b.c": "tasks"})
    assert rc == 1 and out.startswith("struct vs_core: 41, at most 40"), out


def test_a_number_may_only_fall(tree):
    kept = "# kept\ncycle src/common/engine 8 6 a reason\n"
    assert tree(ring(8), kept=kept) == (0, "")
    rc, out = tree(ring(9), kept=kept)
    assert rc == 1 and "cycle src/common/engine: 9, at most 8 is allowed" in out, out
    rc, out = tree(ring(7), kept=kept)
    assert rc == 1 and "cycle src/common/engine: 7, structure.txt says 8" in out, out
    # what meets the limit needs no line, and what is gone neither
    for n in (6, 1):
        rc, out = tree(ring(n), kept=kept)
        assert rc == 1 and f": {n if n > 1 else 0}, structure.txt says 8" in out, out
    rc, out = tree(ring(6), kept="cycle src/common/engine 6 6\n")
    assert rc == 1 and "cycle src/common/engine: 6 needs no line" in out, out
    # a goal of its own is held when it is met
    assert tree(ring(8), kept="cycle src/common/engine 8 8 a reason\n") == (0, "")


def test_lower_writes_what_fell_and_raises_nothing(tree):
    kept = ("# kept\ncycle src/common/engine 8 6 a reason\nfiles src/svf 18 16\n"
            "callbacks gone 2 -\nlocks src 9 7\n")
    files = {**ring(7), **{f"src/svf/f{i}.c": "" for i in range(19)}}
    rc, out = tree(files, "--lower", kept=kept)
    assert rc == 1 and out.startswith("files src/svf: 19, at most 18") and \
        out.count("\n") == 1, out
    assert (tree.lint / "structure.txt").read_text() == \
        "# kept\ncycle src/common/engine 7 6 a reason\nfiles src/svf 18 16\n"


def test_print_shows_number_kept_and_goal(tree):
    rc, out = tree(ring(8), "--print", kept="cycle src/common/engine 9 6\n")
    assert rc == 1 and re.search(r"^cycle +src/common/engine +8 +9 +6  fell$", out, re.M), out
    assert re.search(r"^lines +src +\d+ +- +60000$", out, re.M), out


@pytest.mark.parametrize("kept, says", [
    ("cycle src\n", "structure.txt:1: `MEASURE NAME VALUE GOAL"),
    ("cycles src 1 1\n", "structure.txt:1: `MEASURE NAME VALUE GOAL"),
    ("locks src 9 7\nlocks src 8 7\n", "structure.txt:2: locks src has two lines"),
])
def test_a_line_that_says_nothing_is_refused(tree, kept, says):
    rc, out = tree({}, kept=kept)
    assert rc == 1 and says in out, out


def test_each_file_of_the_engine_is_in_a_module(tree):
    tree({})
    f = tree.lint.parents[1] / ENGINE / "new.c"
    f.write_text("")
    run = ["/usr/bin/python3", str(LINT / "structure.py"), "--top", str(tree.lint.parents[1])]
    out = subprocess.run(run, text=True, capture_output=True, check=False).stdout
    assert out == f"modules.txt: no row for {ENGINE}new.c\n"
    f.unlink()
    (f.parent / "empty.c").unlink()
    (f.parent / "x.h").write_text("")
    out = subprocess.run(run, text=True, capture_output=True, check=False).stdout
    assert out == f"modules.txt: {ENGINE}empty.c does not exist\n"


def test_a_tree_without_sources_is_a_failure(tmp_path):
    done = subprocess.run(
        ["/usr/bin/python3", str(LINT / "structure.py"), "--top", str(tmp_path)],
        text=True, capture_output=True, check=False)
    assert done.returncode == 1 and "has no C files" in done.stderr, done


@pytest.fixture
def rules(tmp_path):
    """Runs tree.py over a tree of these files; what breaks the rule whose line
    begins so, or None if no rule's line does."""
    lint = tmp_path / "testsuite/lint"
    lint.mkdir(parents=True)
    for name in ("tree.py", "files.py"):
        shutil.copy(LINT / name, lint)

    def run(says, files):
        for name, body in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(body)
        out = subprocess.run(["/usr/bin/python3", str(lint / "tree.py")], text=True,
                             capture_output=True, check=False).stdout
        found = re.search(rf"^(not )?ok \d+ - {re.escape(says)}.*\n((?:#.*\n)*)", out, re.M)
        assert found and bool(found[1]) == bool(found[2]), out
        return [line.removeprefix("#   ") for line in found[2].splitlines()]
    return run


@pytest.mark.parametrize("lines, wrong", [(1000, []), (1001, ["x.c: 1001 lines"])])
def test_a_file_may_have_1000_lines(rules, lines, wrong):
    assert rules("no file over 1000 lines", {"x.c": "int x;\n" * lines}) == wrong


@pytest.mark.parametrize("page, wrong", [
    (["x" * 100] * 120, []),
    (["x"] * 121, ["HACKING.md: 121 lines; move reasons to doc/dev/decisions.md"]),
    (["x", "y" * 101], ["HACKING.md:2: 101 columns"])])
def test_hacking_is_one_page(rules, page, wrong):
    assert rules("HACKING.md has at most", {"HACKING.md": "\n".join(page) + "\n"}) == wrong


def test_hacking_names_each_module(rules):
    files = {ENGINE + "jobs/jobs.c": "", ENGINE + "core.h": "",
             "src/plugins/prep/vsphere/prep.c": "", "HACKING.md": "`jobs`, `prep conf`\n"}
    assert rules("HACKING.md names", files) == []
    files["src/svf/top/top.c"] = files[ENGINE + "tasks/tasks.c"] = ""
    assert rules("HACKING.md names", files) == [
        f"HACKING.md does not name {ENGINE}tasks", "HACKING.md does not name src/svf/top"]


def test_a_file_that_a_page_names_exists(rules):
    files = {"HACKING.md": "`jobs/a.c`, `a.c` and a.h\n", ENGINE + "jobs/a.c": "",
             "doc/dev/where.md": "`run a.c b.d NAME_i.h`\n"}
    assert rules("each file that HACKING.md", files) == []
    files["doc/dev/where.md"] += "`gone.py` or `b/a.c`, then\n"
    assert rules("each file that HACKING.md", files) == [
        "doc/dev/where.md:2: there is no gone.py", "doc/dev/where.md:2: there is no b/a.c"]
