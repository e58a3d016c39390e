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


# What names.py reads of the sources, as small as it can be.
CODE = {
    "src/plugins/conf/keys.c": '{ VS_SCOPE_TOP, VS_CONF_INT, "SvfPort", NULL, 0 },\n',
    "src/svf/usage.c": '{ "-O", "--Format", "FIELDS" }, { "-h", "--noheader" }, { "-i", "--iterate" }',
    "src/svf/list/list.h": '#define SVF_FILTER_ME { NULL, "--me" }\n',
    "src/svf/verbs/jobs.c": 'own[] = { SVF_FILTER_ME };\n{ .name = "state" }\n'
                            'const struct svf_verb svf_jobs = {\n.name = "jobs", .args = "[ID]"',
    "src/svf/verbs/vm.c": 'const struct svf_verb svf_vm = {\n.name = "vm", .args = "evict|move NODES",',
    "src/svf/verbs/check.c": 'const struct svf_verb svf_check = {\n.name = "check", .args = "[CODE]",',
    "src/common/plan/checks/check_rows.h": 'CHECK(A, "esxi-old", HARD,\n',
    "src/common/engine/metrics/format.c": 'put(o, PREFIX "vfs{"); one(o, COUNTER, "starts", "VMs.");',
    "contribs/guest/slurm-vsphere-guest": "${SLURM_VSPHERE_RUN:-/run/slurm-vsphere}/ready",
    "debian/a.install": "usr/sbin/slurm-vsphere-guest\nusr/share/slurm-vsphere/guest/*.service usr/lib\n",
    "debian/a.examples": "usr/share/doc/slurm-vsphere/examples/vsphere.conf\n",
}
NAMES = [
    ("SvfPort=9000", "SvfPorts=9000", "SvfPorts= is no key of vsphere.conf"),
    ("svf jobs -h -O state:9 --me", "svf list", "svf list is no verb"),
    ("svf -i 5 vm evict vm1", "svf vm stop vm1", "svf vm stop is no verb"),
    ("svf jobs --me; ls --all", "svf jobs --all", "svf jobs has no --all"),
    ("svf -h jobs", "svf vm --me", "svf vm has no --me"),
    ("svf jobs -O state,ALL", "svf jobs -O state,why:8", "why is no field of svf"),
    ("svf jobs --Format=state", "svf jobs --Format=why", "why is no field of svf"),
    ("svf check esxi-old", "svf check esxi-new", "esxi-new is no code of svf check"),
    ("svf check ESXI HOST", "svf check esxi", "esxi is no code of svf check"),
    ("slurm_vsphere_vfs slurm_vsphere_starts_total slurm_vsphere.id",
     "slurm_vsphere_ours", "slurm_vsphere_ours is no metric"),
    ("SLURM_VSPHERE_RUN", "SLURM_VSPHERE_RUNS", "SLURM_VSPHERE_RUNS is in no source"),
    ("/usr/sbin/slurm-vsphere-guest", "/usr/bin/slurm-vsphere-guest",
     "/usr/bin/slurm-vsphere-guest is in no package"),
    ("/usr/share/doc/slurm-vsphere/examples/vsphere.conf", "/usr/share/slurm-vsphere/vsphere.conf",
     "/usr/share/slurm-vsphere/vsphere.conf is in no package"),
    ("/run/slurm-vsphere/ready", "/run/slurm-vsphere/done",
     "/run/slurm-vsphere/done is in no source"),
    ("src/svf/usage.c src/svf/*.c contribs/guest", "src/svf/use.c",
     "src/svf/use.c is not in the source"),
]


@pytest.mark.parametrize("good, bad, says", NAMES)
def test_a_name_that_the_code_does_not_have_is_found(said, good, bad, says):
    for text in (f"`{good}`\n", f"```\n{good}\n```\n", f"| `{good}` |\n"):
        assert said({**CODE, "doc/a.md": text}) == ""
        out = said({**CODE, "doc/a.md": text.replace(good, bad)})
        assert f": name: {says}\n" in out and out.count("\n") == 1, out
    # in prose it is a word
    assert said({**CODE, "doc/a.md": bad + "\n"}) == ""


@pytest.mark.parametrize("text, count", [
    ("`svf check` reports it as `esxi-old`.", 0), ("`svf check` reports it as `esxi-new`.", 1),
    ("A host is reported as `esxi-new`.", 1), ("`svf check` and `svf-probe` read it.", 0),
    ("A host, `esxi-new`.", 0)])
def test_a_code_beside_svf_check_must_be_one(said, text, count):
    out = said({**CODE, "doc/a.md": text + "\n"})
    assert out.count("doc/a.md:1: name: esxi-new is no code of svf check\n") == count, out
    assert out.count("\n") == count, out


@pytest.mark.parametrize("good", [n[0] for n in NAMES])
def test_a_class_whose_source_is_gone_refuses_all(said, good):
    assert ": name: " in said({"doc/a.md": f"`{good}`\n"})


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
