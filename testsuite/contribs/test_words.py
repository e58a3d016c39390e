# SPDX-License-Identifier: GPL-2.0-or-later
"""words.py finds each word that it refuses, in names, comments and texts: each is
planted in a small tree."""

import json
import shutil
import subprocess

import pytest

from conftest import LINT, lint_run, plant

KEPT = "testsuite/lint/words.txt"
NONE = {"src/svf/empty.c": ""}


@pytest.fixture
def tree(tmp_path):
    """Runs words.py over a tree of these files."""
    def run(files, *options, kept=None):
        shutil.rmtree(tmp_path, ignore_errors=True)
        plant(tmp_path, {**NONE, **files})
        if kept is not None:
            plant(tmp_path, {KEPT: kept})
        (tmp_path / KEPT).parent.mkdir(parents=True, exist_ok=True)
        return lint_run("words.py", tmp_path, *options)
    run.kept = tmp_path / KEPT
    return run


@pytest.mark.parametrize("word, text", [
    ("mend", "It mends a node."), ("anew", "made Anew"), ("nobody", "Nobody waits"),
    ("nobody", "if somebody is there"), ("ours", "a VM of ours"), ("whoever", "Whoever asks"),
    ("in_vain", "tried in vain"), ("go_on", "it goes on"), ("begin_anew", "begins\n * anew"),
    ("to_be_told", "is to be told"), ("not_in_sight", "the 6th is not in sight"),
    ("the_brake", "the\n * brake"), ("deed", "a deed"), ("wish", "as he wishes"),
    ("told_of", "is told of a VM"), ("for_it_is", "waits, for it is off"),
    ("what_it_lacks", "what it lacks"), ("card", "a card of the VM"), ("card", "Its cards"),
])
def test_a_private_word_is_found_in_each_kind_of_text(tree, word, text):
    line = text.replace("\n * ", " ")
    files = {
        "comment": {"a.c": f"/*\n * {text}\n */\nint x;\n", "a.h": f"int x; // {line}\n",
                    "a.go": f"// {line}\n", "a.py": f"x = 1  # {line}\n",
                    "b.py": f'def f():\n    """{line}"""\n', "a.sh": f"x=1 # {line}\n"},
        "text": {"b.c": f'const char *x = "{line}";\n', "b.go": f"x := `{line}`\n",
                 "c.py": f'x = "{line}"\n', "a": f'#!/bin/bash\necho "{line}"\n',
                 "a.md": f"{line}\n"}}
    planted = {f"src/svf/{n}": t for kind in files.values() for n, t in kind.items()}
    rc, out = tree(planted)
    assert rc == 1
    for kind, those in files.items():
        assert f"{kind} {word} src/svf: {len(those)}, at most 0 is allowed" in out, out
        found = tree(planted, "--find", kind, word, "src/svf")[1].splitlines()
        assert {f.split(":")[0] for f in found} == {f"src/svf/{n}" for n in those}, found


@pytest.mark.parametrize("word, name", [
    *(("private", f"vs_{w}") for w in (
        "tell", "deed", "door", "kept", "bar", "find", "send", "when", "expect", "calm", "brake",
        "beside", "took", "got", "lost", "slot", "ask", "asks", "order", "orders", "hint",
        "hints")),
    ("private", "VS_TELL_FAIL"), ("private", "vs_got_text"),
    ("giveup", "node_giveup"), ("giveup", "VS_TELL_GIVEUP"), ("pair_of", "wanted_of"),
    ("pair_of", "seen_of"), ("card", "ncards"), ("card", "card_find"), ("card", "VM_CARD"),
])
def test_a_private_name_is_found(tree, word, name):
    rc, out = tree({"src/svf/a.c": f"int {name};\n"})
    assert rc == 1 and f"name {word} src/svf: 1, at most 0 is allowed" in out, out


def test_names_are_looked_for_in_the_names_of_c_alone(tree):
    assert tree({"src/svf/a.c": '/* vs_tell() */\nint vs_teller, vs_finding, x_vs_tell;\n'
                                'const char *x = "vs_tell node_giveup wanted_of";\n',
                 "src/svf/a.py": "vs_tell = node_giveup\n"}) == (0, "")


def test_a_key_in_quotes_and_a_longer_word_are_no_card(tree):
    assert tree({"src/svf/a.c": 'int wildcard, discard, cardinal;\n',
                 "src/svf/a.py": 'x = {"cards": "cards.json of VirtualSriovEthernetCard"}\n'}) == (0, "")


def test_two_public_functions_that_differ_in_a_preposition_are_found(tree):
    rc, out = tree({"src/svf/a.h": "int vs_x_of(int a);\n",
                    "src/common/util/b.h": "int vs_x_for(int a,\n\t     int vs_y(int));\n"})
    assert rc == 1 and "name pair src/svf: 1, at most 0" in out, out
    assert "name pair src/common/util: 1, at most 0" in out, out
    rc, out = tree({"src/svf/a.h": "int vs_x_here(int a);\nint vs_x(void);\n"})
    assert rc == 1 and "name pair src/svf: 1, at most 0" in out, out
    assert tree({"src/svf/a.h": "int vs_x_of(int a);\nint vs_y_for(int a);\nint vs_y_ms(void);\n"
                                "/* int vs_x(void); */\nstruct vs_x;\n",
                 "src/svf/a.c": "int vs_y(int a)\n{\n}\n"}) == (0, "")


def test_a_private_header_of_another_folder_is_found(tree):
    inside = {"src/common/engine/state/a_i.h": "",
              "src/common/engine/state/a.c": '#include "engine/state/a_i.h"\n',
              "src/common/engine/state/b.c": '#include "a_i.h"\n'}
    assert tree(inside) == (0, "")
    rc, out = tree({**inside,
                    "src/common/engine/jobs/a.c": '#include "engine/state/a_i.h"\n'})
    assert rc == 1 and "name private_header src/common/engine: 1, at most 0" in out, out


def test_a_file_with_a_private_name_is_found(tree):
    rc, out = tree({"src/svf/tell.c": "", "src/svf/node_giveup.h": ""})
    assert rc == 1 and "name private src/svf: 1, at most 0" in out, out
    assert "name giveup src/svf: 1, at most 0" in out, out
    assert tree({"doc/tell.md": ""}) == (0, "")


def schema(**properties):
    return json.dumps({"properties": {"rows": {"items": {"properties": properties}}}})


@pytest.mark.parametrize("key", ["held", "vfs_ours", "parent_ms", "brake", "ahead_made", "why"])
def test_a_private_key_of_svfs_json_is_found(tree, key):
    rc, out = tree({"src/svf/schema/hosts.json": schema(**{key: {}, "reason": {}})})
    assert rc == 1 and "key private src/svf: 1, at most 0 is allowed" in out, out
    assert tree({"src/svf/schema/hosts.json": schema(managed={}, clone_sources={}),
                 "doc/schema/hosts.json": schema(**{key: {}})}) == (0, "")


def test_a_state_in_lower_case_is_found_in_svfs_json(tree):
    rc, out = tree({"src/svf/schema/nodes.json": schema(vm_state={"enum": ["ON", "off"]})})
    assert rc == 1 and "key lower_state src/svf: 1, at most 0 is allowed" in out, out
    assert tree({"src/svf/schema/nodes.json": schema(
        vm_state={"enum": ["ON", "NO_SNAPSHOT"]}, severity={"enum": ["hard"]})}) == (0, "")


@pytest.mark.parametrize("line", [
    'one("brake");', 'put("vfs{state=\\"free\\",kind=\\"%s\\"} %d\\n");', 'words("held");',
    'words("on-trial");', 'one("parents_made");'])
def test_a_private_name_label_or_value_of_the_metrics_is_found(tree, line):
    at = "src/common/engine/metrics/format.c"
    rc, out = tree({at: line + "\n"})
    assert rc == 1 and "key private src/common/engine: 1, at most 0 is allowed" in out, out
    assert tree({at: 'one("clone_sources_made", "VMs kept until why is told: on-trial");\n'
                     'put("%s{state=\\"%s\\"} %d\\n"); words("on_trial", "removal_limit_reached");\n',
                 "src/common/engine/metrics/collect.c": line + "\n"}) == (0, "")


def test_a_count_may_only_fall(tree):
    two = {"src/svf/a.c": "/* anew */\n/* anew */\n"}
    kept = "# kept\ncomment anew src/svf 2\n"
    assert tree(two, kept=kept) == (0, "")
    rc, out = tree({**two, "src/svf/b.c": "/* anew */\n"}, kept=kept)
    assert rc == 1 and "comment anew src/svf: 3, at most 2 is allowed" in out, out
    # of another folder, or kind, it is not kept
    rc, out = tree({**two, "doc/b.md": "anew\n"}, kept=kept)
    assert rc == 1 and out.startswith("text anew doc: 1, at most 0"), out
    rc, out = tree({"src/svf/a.c": "/* anew */\n"}, kept=kept)
    assert rc == 1 and "comment anew src/svf: 1, words.txt says 2" in out, out
    rc, out = tree({}, kept=kept)
    assert rc == 1 and "comment anew src/svf: 0, words.txt says 2" in out, out
    rc, out = tree({}, kept="comment anew src/svf 0\n")
    assert rc == 1 and "comment anew src/svf: a count of 0 needs no line" in out, out


def test_lower_writes_what_fell_and_raises_nothing(tree):
    files = {"src/svf/a.c": "/* anew nobody nobody */\n", "doc/a.md": "anew anew\n"}
    kept = "# kept\ncomment anew src/svf 3\ncomment nobody src/svf 1\ntext anew doc 2\n" \
        "text mend doc 1\n"
    rc, out = tree(files, "--lower", kept=kept)
    assert rc == 1 and out.startswith("comment nobody src/svf: 2, at most 1") and \
        out.count("\n") == 1, out
    assert tree.kept.read_text() == "# kept\ncomment anew src/svf 1\ncomment nobody src/svf 1\n" \
        "text anew doc 2\n"


@pytest.mark.parametrize("row", [
    "comment anew src/svf", "comment anew src/svf x", "comment unknown src/svf 1",
    "prose anew src/svf 1", "comment anew src/svf 1\ncomment anew src/svf 2"])
def test_a_wrong_row_of_words_is_said(tree, row):
    rc, out = tree({}, kept=f"{row}\n")
    assert rc == 1 and out.startswith("words.txt:"), out


def test_this_tree_keeps_its_counts():
    done = subprocess.run(["/usr/bin/python3", str(LINT / "words.py")], text=True,
                          capture_output=True, check=False, timeout=300)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
