# SPDX-License-Identifier: GPL-2.0-or-later
"""messages.py finds each text that people read, and each fault that it refuses."""

import pytest

from conftest import lint_run, plant

LONG = " ".join(["word"] * 26)


def judge(tmp_path, source, *options, name="src/svf/a.c"):
    plant(tmp_path, {name: source})
    return lint_run("messages.py", tmp_path, *options)


@pytest.mark.parametrize("source, says", [
    (f'x("{LONG}");', "src/svf/a.c:1: 26 words in a sentence, 25 at most: word word"),
    # strings side by side are one, with a macro or a comment between them
    ('\nx("' + "word " * 13 + '"\n  "' + "word " * 13 + '");', "src/svf/a.c:2: 26 words"),
    ('x("' + "word " * 12 + '" PRIu64 /* a */ " ' + "word " * 13 + '");', "26 words"),
    # a full stop, a semicolon and an empty line end a sentence; a comma does not
    (f'x("One two three. {LONG}");', "26 words in a sentence, 25 at most: word"),
    ('x("' + "word " * 20 + ", " + "word " * 6 + '");', "27 words"),
    ('x("the VM is made anew");', 'src/svf/a.c:1: "anew" is refused: the VM is made anew'),
    ('x("what it\\nlacks is that");', '"what it lacks" is refused'),
    # KEY=VALUE before a sentence hides nothing of it
    (f'x("host=%s pf=%s {LONG}");', "28 words in a sentence, 25 at most: host=%s"),
    ('x("AdapterName=%s: Network=%s has nobody");', '"nobody" is refused'),
])
def test_a_fault_is_found(tmp_path, source, says):
    rc, out = judge(tmp_path, source)
    assert rc == 1 and says in out, out
    assert "messages: 1 texts, 1 faults" in out


@pytest.mark.parametrize("source", [
    f'x("{" ".join(["word"] * 25)}");',
    f'x("{" ".join(["word"] * 20)}. {" ".join(["word"] * 20)}");',
    f'x("{" ".join(["word"] * 20)};\\n\\n{" ".join(["word"] * 20)}");',
    # what is found, what is expected and the commands that repair it
    'x("' + "word " * 20 + '" SHOULD "' + "word " * 20 + '" FIX "govc ' + "word " * 30 + '\\n");',
    # comments, keys, what programs read
    f'x("one two three"); x("{" ".join(["Key=a-b-c"] * 26)}");',
    f'/* {LONG} */ x("one two three");',
    'x("one two three"); x("anew"); y("nobody here");',
    'x("one two three"); x("{\\"a b\\": \\"made anew by\\"}");',
])
def test_what_is_right_passes(tmp_path, source):
    rc, out = judge(tmp_path, source)
    assert rc == 0 and out == "messages: 1 texts, 0 faults\n", out


def test_the_list_has_each_text_once(tmp_path):
    rc, out = judge(tmp_path, '\nx("one two", 1);\ny("one two "\n"three");\nz("a b c d\\n");',
                    "--list")
    assert rc == 0
    assert out == "src/svf/a.c:3: one two three\nsrc/svf/a.c:5: a b c d\n2 texts\n"


def test_a_tree_without_texts_fails(tmp_path):
    rc, out = judge(tmp_path, "int x;")
    assert rc == 1 and "nothing was looked at" in out
