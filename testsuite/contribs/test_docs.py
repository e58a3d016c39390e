# SPDX-License-Identifier: GPL-2.0-or-later
"""docs.py finds what it refuses in a document: each fault is planted in a small tree."""

import shutil
import subprocess

import pytest

from conftest import LINT, lint_run, plant

THIRTY = "one " * 29 + "word."
LONG = "one " * 30 + "word."


@pytest.fixture
def said(tmp_path):
    """What docs.py says of a tree of these documents, without the file's name."""
    def run(files):
        shutil.rmtree(tmp_path, ignore_errors=True)
        plant(tmp_path, {"doc/a.md": files} if isinstance(files, str) else files)
        rc, out = lint_run("docs.py", tmp_path)
        assert rc == bool(out), out
        return out
    return run


def test_a_good_page_is_silent(said):
    assert said({
        "README.md": "# Name\n\n[page](doc/a.md), [part](doc/a.md#two-words), "
                     "![map](doc/b.svg), [web](https://example.org/x.md)\n",
        "doc/b.svg": "",
        "doc/a.md": f"# One\n\n## Two `words`\n{THIRTY} {THIRTY}\n\n- {THIRTY}\n- {THIRTY}\n\n"
                    f"| {THIRTY} | {THIRTY} |\n|---|---|\n\n[here](#one) `../README.md` `a.md`\n",
        "src/other.md": LONG}) == ""


@pytest.mark.parametrize("text", [
    LONG, f"{THIRTY} {LONG}", f"- {LONG}", f"1. {LONG}", f"> {LONG}", f"# {LONG}",
    f"| a | {LONG} |\n", f"A list:\n- {THIRTY}\n- {LONG}", LONG.replace(" ", "\n", 15),
    LONG.replace("one", "`a b. c`"), LONG.replace("one one", "[one one](https://example.org)"),
    "(" + LONG + ")"])
def test_a_long_sentence_is_found(said, text):
    out = said(text)
    assert "long: 31 words" in out and out.count("\n") == 1, out


@pytest.mark.parametrize("text", [
    f"```sh\n{LONG}\n```\n", f"~~~\n```\n{LONG}\n~~~\n", f"Text:\n\n    {LONG}\n",
    f"`{LONG}`", f"# Heading\n{THIRTY}", f"{THIRTY}\n\n{THIRTY}", f"{THIRTY}\n- {THIRTY}",
    f"| {THIRTY} | {THIRTY} |\n| {THIRTY} | `a|b` |", THIRTY.replace("one one", "i.e. one", 1)])
def test_code_headings_items_and_cells_end_a_sentence(said, text):
    assert said(text) == ""


@pytest.mark.parametrize("word", ["mended", "anew", "Nobody", "whoever", "in vain", "goes on",
                                  "goes\non", "the brake", "wish", "told of", "for it is"])
def test_a_private_word_is_found_but_not_in_code(said, word):
    assert "doc/a.md:2: word: " in said(f"# A\nThis {word} here.\n")
    assert said(f"# A\nThis `{word}` here.\n```\n{word}\n```\n") == ""


@pytest.mark.parametrize("link", ["b.md", "../b.md", "a.md#two", "#two", "../doc", "b.svg"])
def test_a_link_must_lead_somewhere(said, link):
    there = link in ("../doc",)
    assert ("link: " in said(f"# One\n\n[x]({link})\n")) is not there


@pytest.mark.parametrize("name", ["b.md", "dev/b.md", "README.md"])
def test_a_document_that_is_named_must_be_there(said, name):
    assert "names no file" in said(f"See `{name}`.\n")
    assert said({"doc/a.md": f"See `{name}`.\n", f"doc/{name}": "x\n"}) == ""


@pytest.mark.parametrize("name", ["README.md", "NEWS.md", "CONTRIBUTING.md", "SECURITY.md",
                                  "doc/a.md", "doc/dev/a.md", "contribs/x/README.md"])
def test_all_documents_are_read(said, name):
    assert f"{name}:1: long" in said({name: LONG if name != "README.md" else
                                      LONG.replace(" ", "\n")})


def test_readme_has_limits(said):
    assert said({"README.md": "x.\n" * 150}) == ""
    assert "README.md:151: lines: 151" in said({"README.md": "x.\n" * 151})
    assert said({"README.md": "x" * 100 + "\n| " + "x" * 137 + "|\n"}) == ""
    assert "README.md:1: column: 101" in said({"README.md": "x" * 101})
    assert "README.md:1: column: 141" in said({"README.md": "|" + "x" * 140})
    assert said({"README.md": "x", "doc/a.md": "x" * 300 + "\n" * 200}) == ""


def test_this_tree_is_clean():
    done = subprocess.run(["/usr/bin/python3", str(LINT / "docs.py")], text=True,
                          capture_output=True, check=False, timeout=300)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
