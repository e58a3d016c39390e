# SPDX-License-Identifier: GPL-2.0-or-later
"""man.py finds what it refuses in a manual page: each fault is planted in a small set
of pages. The pages of this tree have none."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

from conftest import LINT, lint_run, plant

THIRTY = "a " * 29 + "word."
LONG = "a " * 15 + "a\n" + "a " * 14 + "word."
TABLES = """verb\thosts\t--pfs\t[HOST...]\twhat
flag\t--pfs\twhat
word\thosts drain\tHOST\twhat
field\tfree\t1\twhat
option\t-i\t--iterate\tSECONDS\twhat
exit\t5\twhat
code\tmtu\thard\tPF\twhat\twhy.
keys
LINE         KEY      DEFAULT  MEANING
-            VCenter  -        What it means.
AdapterName  MTU      9000     What it means.
"""
SOURCES = {
    "contribs/health/keep.py": 'x, y = 1, 2\nKEYS = {\n    "wait": 1,\n}\nLIMITS = ("osu_latency",)\n',
    "contribs/health/slurm-vsphere-health":
        'must("--other")\ndef arguments():\n    s.add_argument("-c", "--conf")\n\ndef main():\n    "--x"\n',
    "contribs/probe/options.c": '{ "--folder", "NAME" }, { "--help" }\n',
    "contribs/guest/slurm-vsphere-guest": "#   check     what\n",
    # what names.py reads
    "src/plugins/conf/keys.c": "".join(f'{{ VS_SCOPE_TOP, VS_CONF_INT, "{k}", }}\n'
                                       for k in ("VCenter", "MTU")),
    "src/svf/usage.c": '{ "-i", "--iterate" }, { "-O", "--Format" }, { NULL, "--json" }\n',
    "src/svf/verbs/hosts.c": '{ "--pfs" }, { .name = "free" }\nconst struct svf_verb svf_hosts = '
                             '{ .name = "hosts", .args = "drain|resume HOST",\n',
}


def tags(*names):
    return "".join(f".TP\n.B {n}\nWhat it does.\n" for n in names)


PAGES = {
    "slurm-vsphere.7": {},
    "slurm-vsphere-guest.8": {"SYNOPSIS": "text\n", "COMMANDS": tags("check"),
                              "EXIT STATUS": "text\n", "FILES": "text\n"},
    "slurm-vsphere-health.8": {"SYNOPSIS": "text\n", "OPTIONS": tags(
        "\\-c \\fR, \\fB\\-\\-conf", "\\-\\-osu\\-latency"),
        "COMMANDS": tags("run", "report", "judge"),
        "EXIT STATUS": "text\n", "FILES": "text\n"},
    "svf.1": {"SYNOPSIS": "text\n", "OPTIONS": tags("\\-i, \\-\\-iterate=SECONDS"),
              "VERBS": ".SS svf hosts\n" + tags("\\-\\-pfs", "svf hosts drain HOST") +
                       ".PP\nFields: host, free.\n",
              "EXIT STATUS": tags("5"), "EXAMPLES": ".nf\nsvf \\-i 5 hosts\n.fi\n"},
    "svf-check-codes.7": {"CODES": tags("mtu")},
    "svf-probe.1": {"SYNOPSIS": "text\n", "OPTIONS": tags("\\-\\-folder", "\\-\\-help"),
                    "EXIT STATUS": "text\n", "EXAMPLES": "text\n"},
    "vsphere.conf.5": {"KEYS": tags("VCenter", "MTU"),
                       "EXAMPLE": ".nf\nVCenter=x MTU=1\n.fi\n", "FILES": "text\n"},
    "vsphere-health.conf.5": {"KEYS": tags("wait", "osu_latency"),
                              "EXAMPLE": "text\n", "FILES": "text\n"},
}


def page(name, sections):
    name, number = name.rsplit(".", 1)
    text = f'.TH {name.upper()} {number} 2026-11-28 "x" "x"\n.SH NAME\nx \\- y\n'
    sections = {"SYNOPSIS": None, "DESCRIPTION": "text\n", **sections}
    text += "".join(f".SH {k}\n{v}" for k, v in sections.items() if v)
    return text + ".SH SEE ALSO\n.BR svf (1)\n"


@pytest.fixture
def said(tmp_path):
    """What man.py says of the good pages after changes: {page: {section: text}},
    tables, or {page: text} of a whole page, None for none."""
    def run(changes=None, tables=TABLES, whole=None):
        shutil.rmtree(tmp_path, ignore_errors=True)
        pages = {n: page(n, {**s, **(changes or {}).get(n, {})}) for n, s in PAGES.items()}
        pages.update(whole or {})
        plant(tmp_path, {**SOURCES, **{f"man/{n}.in": "" for n in PAGES},
                         "pages/tables": tables,
                         **{f"pages/{n}": t for n, t in pages.items() if t is not None}})
        rc, out = lint_run("man.py", tmp_path, str(tmp_path / "pages"))
        assert rc == bool(out), out
        return out
    run.top = tmp_path
    return run


def test_good_pages_are_silent(said):
    assert said() == ""


def test_a_page_that_is_missing_or_unknown_is_found(said):
    assert said(whole={"svf.1": None}) == "svf.1: page: was not made\n"
    said()
    (said.top / "man/svf.1.in").unlink()
    (said.top / "man/new.1.in").write_text("")
    out = lint_run("man.py", said.top, str(said.top / "pages"))[1]
    assert out.count("has no source in man/") == 2, out


@pytest.mark.parametrize("text, says", [
    ("blank at the end \n", "whitespace at end of input line"),
    ("x" * 40 + " " + "x" * 40 + "\n", "input text line longer than 80 bytes"),
    (".XX\n", "skipping unknown macro"), (".TP\n", "SH breaks TP"),
    (".PP\n.PP\ntext\n", "skipping paragraph macro")])
def test_what_mandoc_says_is_found(said, text, says):
    out = said({"svf.1": {"DESCRIPTION": text}})
    assert out.startswith("svf.1: mandoc: ") and says in out, out


def test_a_page_without_a_date_is_found(said):
    out = said(whole={"slurm-vsphere.7": page("slurm-vsphere.7", {}).replace("2026-11-28", '""')})
    assert "slurm-vsphere.7: mandoc" in out and "missing date" in out, out


@pytest.mark.parametrize("name, most", [
    ("svf.1", 400), ("vsphere.conf.5", 500), ("svf-check-codes.7", 500), ("svf-probe.1", 250)])
def test_a_long_page_is_found(said, name, most):
    def lines(n):
        return said({name: {"DESCRIPTION": ".nf\n" + "text\n" * n + ".fi\n"}})
    out = lines(most)
    over = int(re.fullmatch(rf"{name}: lines: (\d+), at most {most} are allowed\n", out)[1]) - most
    assert lines(most - over) == ""
    assert lines(most - over + 1) == f"{name}: lines: {most + 1}, at most {most} are allowed\n"


@pytest.mark.parametrize("name, sections, says", [
    ("svf.1", {"EXIT STATUS": None}, "EXIT STATUS is missing"),
    ("svf.1", {"EXAMPLES": None}, "EXAMPLES is missing"),
    ("slurm-vsphere-guest.8", {"FILES": None}, "FILES is missing"),
    ("vsphere.conf.5", {"EXAMPLE": None}, "EXAMPLE is missing"),
    ("slurm-vsphere.7", {"DESCRIPTION": None}, "DESCRIPTION is missing"),
    ("slurm-vsphere.7", {"FILES": "text\n", "OTHER": "text\n"}, "OTHER is after FILES"),
    ("slurm-vsphere.7", {"OTHER": "text\n", "OPTIONS": "text\n"}, "OPTIONS is after OTHER"),
    ("slurm-vsphere.7", {"FILES": "text\n", "ENVIRONMENT": "text\n"},
     "ENVIRONMENT is after FILES"),
    ("slurm-vsphere.7", {"Other": "text\n"}, "Other occurs twice, or is not in upper case")])
def test_sections_out_of_order_are_found(said, name, sections, says):
    assert f"{name}: order: {says}" in said({name: sections})


@pytest.mark.parametrize("text", [
    LONG, f"{THIRTY}\n{LONG}", LONG.replace("a ", ".B a\n", 1),
    LONG.replace("a", "\\fBa\\fR", 1), f".TP\nx\n{LONG}", f".IP \\(bu 2\n{LONG}",
    f".nf\ncode\n.fi\n{LONG}"])
def test_a_long_sentence_is_found(said, text):
    out = said({"slurm-vsphere.7": {"DESCRIPTION": text + "\n"}})
    assert "slurm-vsphere.7: long: line " in out and "31 words" in out, out


@pytest.mark.parametrize("text", [
    THIRTY.replace(" a", "\na", 1), f"{THIRTY}\n{THIRTY}", f".nf\n{LONG}\n.fi",
    f"{THIRTY[:-1]}\n.PP\n{THIRTY}", f"{THIRTY[:-1]}\n.TP\nx\n{THIRTY}"])
def test_thirty_words_are_no_long_sentence(said, text):
    assert "long" not in said({"slurm-vsphere.7": {"DESCRIPTION": text + "\n"}})


@pytest.mark.parametrize("text", [
    "some" "body waits", "it goes\non", ".B an" "ew", ".nf\nm" "end\n.fi", ".TP\nno" "body\ntext"])
def test_a_refused_word_is_found(said, text):
    out = said({"slurm-vsphere.7": {"DESCRIPTION": text + "\n"}})
    assert "slurm-vsphere.7: word: line " in out and out.count("\n") == 1, out


@pytest.mark.parametrize("record, says", [
    ("verb\ttop\t\t\twhat", "svf top"), ("flag\t-n, --every=SECONDS\twhat", "--every"),
    ("flag\t    --mem=SIZE\twhat", "--mem"),
    ("word\thost move\tHOST\twhat", "svf host move"), ("exit\t6\twhat", "6"),
    ("option\t\t--color\t=WHEN\twhat", "--color"),
    ("field\treason\t1\twhat", "the field reason")])
def test_what_svf_has_and_its_page_has_not_is_found(said, record, says):
    out = said(tables=TABLES.replace("keys\n", f"{record}\nkeys\n"))
    assert out == f"svf.1: table: {says} is not in the page\n"


def test_a_finding_or_a_key_that_is_not_in_its_page_is_found(said):
    assert said(tables=TABLES.replace("keys\n", "code\tdrs\thard\tcluster\twhat\twhy.\nkeys\n")) == \
        "svf-check-codes.7: table: drs is not in the page\n"
    assert said(tables=TABLES + "AdapterName  PF       -        What it means.\n") == \
        "vsphere.conf.5: table: PF is not in the page\n"
    # a part of another word is not the key
    assert said({"vsphere.conf.5": {"KEYS": tags("VCenter", "MTUs")}}).startswith(
        "vsphere.conf.5: table: MTU is not in the page\n")


@pytest.mark.parametrize("name, sections, says", [
    ("vsphere-health.conf.5", {"KEYS": tags("osu_latency")}, "wait"),
    ("vsphere-health.conf.5", {"KEYS": tags("wait")}, "osu_latency"),
    ("slurm-vsphere-health.8", {"COMMANDS": tags("run", "report")}, "judge"),
    ("slurm-vsphere-health.8", {"OPTIONS": tags("\\-\\-conf")}, "--osu-latency"),
    ("slurm-vsphere-health.8", {"OPTIONS": tags("\\-\\-osu\\-latency")}, "--conf"),
    ("svf-probe.1", {"OPTIONS": tags("\\-\\-help")}, "--folder"),
    ("slurm-vsphere-guest.8", {"COMMANDS": "text\n"}, "check")])
def test_what_a_program_has_and_its_page_has_not_is_found(said, name, sections, says):
    assert said({name: sections}) == f"{name}: table: {says} is not in the page\n"


def test_a_variable_that_svf_reads_is_in_its_page(said):
    said()
    plant(said.top, {"src/svf/top/a.c": 'x = getenv("TERM"), y = getenv("SVF_NEW");\n'})
    out = lint_run("man.py", said.top, str(said.top / "pages"))[1]
    assert out == "svf.1: table: SVF_NEW is not in the page\n"


def test_an_empty_table_is_found(said):
    said()
    (said.top / "contribs/probe/options.c").write_text("")
    out = lint_run("man.py", said.top, str(said.top / "pages"))[1]
    assert out == "svf-probe.1: table: its table is empty\n"


@pytest.mark.parametrize("text, says", [
    ("On all PFs (see METRICS).\n", "METRICS"), ("See LINKED\nCLONES.\n", "LINKED CLONES")])
def test_a_section_that_the_page_does_not_have_is_found(said, text, says):
    assert said({"svf.1": {"DESCRIPTION": text}}) == f"svf.1: unknown: the page has no section {says}\n"


def test_a_section_that_the_page_has_may_be_named(said):
    assert said({"svf.1": {"DESCRIPTION": "See VERBS, see EXIT STATUS, see PF.\n"}}) == ""


@pytest.mark.parametrize("text, says", [
    ("Set Old=1.\n", "Old= is no key of vsphere.conf"),
    (".B svf hosts \\-\\-old\n", "svf hosts has no --old"),
    ("\\fBsvf hosts \\-O why\\fR\n", "why is no field of svf"),
    (".nf\nsvf hosts \\-\\-old\n.fi\n", "svf hosts has no --old"),
    (".nf\nsvf \\-\\-json nodes\n.fi\n", "svf nodes is no verb"),
    (tags("svf nodes"), "svf nodes is no verb"),
    ("It sets SLURM_VSPHERE_OLD.\n", "SLURM_VSPHERE_OLD is in no source"),
    ("Read slurm_vsphere_old.\n", "slurm_vsphere_old is no metric"),
    ("Run /usr/bin/svf-old.\n", "/usr/bin/svf-old is in no package")])
def test_a_name_that_the_sources_do_not_have_is_found(said, text, says):
    assert said({"slurm-vsphere.7": {"DESCRIPTION": text}}) == f"slurm-vsphere.7: name: {says}\n"


def test_a_word_after_svf_in_prose_is_no_verb(said):
    assert said({"slurm-vsphere.7": {"DESCRIPTION": "Then svf prints it. MTU=1 is a key.\n"}}) == ""


def test_the_pages_of_this_tree_have_no_fault():
    pages = pathlib.Path(os.environ["VS_BUILD"]) / "man"
    done = subprocess.run(["/usr/bin/python3", str(LINT / "man.py"), str(pages)], text=True,
                          capture_output=True, check=False, timeout=120)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
