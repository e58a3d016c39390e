# SPDX-License-Identifier: GPL-2.0-or-later
"""make release: the same bytes from the same commit, and what it refuses."""

import os
import re
import shutil
import subprocess
import tarfile

import pytest

from conftest import TOP

NAME = "slurm-vsphere-" + re.search(
    r"AC_INIT\(\[slurm-vsphere\], \[(.*?)\]",
    (TOP / "configure.ac").read_text())[1]
COMMITTED = 1764590400      # 2025-12-01 12:00 UTC


def git(where, *words):
    when = f"{COMMITTED} +0000"
    subprocess.run(
        ["git", "-c", "user.name=x", "-c", "user.email=x@example.org", "-C",
         str(where), *map(str, words)], check=True, capture_output=True,
        env={**os.environ, "GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when})


def files():
    """Those that git knows or would take; of an unpacked release all."""
    if (TOP / ".git").exists():
        out = subprocess.run(
            ["git", "-c", "safe.directory=*", "-C", str(TOP), "ls-files",
             "--cached", "--others", "--exclude-standard"], check=True,
            capture_output=True, text=True).stdout
        return [n for n in out.splitlines() if (TOP / n).is_file()]
    return [str(f.relative_to(TOP)) for f in TOP.rglob("*") if f.is_file()]


def dated(tree, news="2025-12-01", debian="Mon, 01 Dec 2025 10:00:00 +0000",
          spec="Mon Dec 01 2025"):
    for name, pattern, new in (
            ("NEWS.md", r"\A(.*?^## \S+) \(.*?\)$", rf"\1 ({news})"),
            ("debian/changelog", r"\A(.*?^ -- .*?>)  .*?$", rf"\1  {debian}"),
            ("slurm-vsphere.spec", r"\A(.*^%changelog\n\* )... ... \d+ \d+",
             rf"\g<1>{spec}")):
        f = tree / name
        text, n = re.subn(pattern, new, f.read_text(), count=1, flags=re.M | re.S)
        assert n == 1, name
        f.write_text(text)


@pytest.fixture(scope="module")
def repo(tmp_path_factory):
    """This tree as one commit, with dates."""
    tree = tmp_path_factory.mktemp("repo") / "tree"
    for name in files():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(TOP / name, tree / name)
    dated(tree)
    git(tree.parent, "init", "-q", tree)
    git(tree, "add", "-A")
    git(tree, "commit", "-q", "-m", "all")
    return tree


@pytest.fixture
def clone(repo, tmp_path):
    def make(name="clone"):
        git(tmp_path, "clone", "-q", repo, tmp_path / name)
        return tmp_path / name
    return make


def release(tree, to, umask=0o022, timeout=900, **env):
    return subprocess.run(
        ["bash", tree / "contribs/packaging/release.sh", "--tarball", to],
        text=True, capture_output=True, check=False, timeout=timeout, umask=umask,
        env={**{k: v for k, v in os.environ.items() if k not in
                ("VS_TOP", "VS_BUILD", "VS_SLURM_SRC", "SOURCE_DATE_EPOCH")},
             **env})


def refused(r, text):
    assert r.returncode == 1, r.stdout + r.stderr
    assert text in r.stderr


@pytest.fixture(scope="module")
def tarball(repo, tmp_path_factory):
    """(the tarball, the directory that holds it)"""
    to = tmp_path_factory.mktemp("first") / "release"
    r = release(repo, to)
    assert r.returncode == 0, r.stdout + r.stderr
    return to / (NAME + ".tar.xz"), to


def test_a_commit_has_one_tarball(tarball, clone, tmp_path):
    """Another clone, on another day, by another user's rights."""
    first, _ = tarball
    other = clone("another-name")
    for f in other.rglob("*"):
        if ".git" not in f.parts and f.is_file():
            os.utime(f, (1, 1))
    to = tmp_path / "second"
    r = release(other, to, umask=0o077, TZ="Asia/Kathmandu", USER="x",
                XZ_OPT="-0", TAR_OPTIONS="--owner=7", SOURCE_DATE_EPOCH="1")
    assert r.returncode == 0, r.stdout + r.stderr
    assert (to / first.name).read_bytes() == first.read_bytes()


def test_it_says_nothing_of_the_machine(tarball):
    with tarfile.open(tarball[0]) as t:
        members = t.getmembers()
    names = [m.name for m in members]
    assert {m.mtime for m in members} == {COMMITTED}
    assert {(m.uid, m.gid, m.uname, m.gname) for m in members} == {(0, 0, "", "")}
    assert not {oct(m.mode) for m in members} - {"0o644", "0o755"}
    assert names[0] == NAME and f"{NAME}/configure" in names
    by_folder = [n.split("/") for n in names]
    assert by_folder == sorted(by_folder)


def test_its_sums_are_right(tarball):
    _, to = tarball
    subprocess.run(["sha256sum", "--strict", "-c", "SHA256SUMS"], cwd=to,
                   check=True, capture_output=True)
    sums = [ln.split()[1] for ln in (to / "SHA256SUMS").read_text().splitlines()]
    assert sums == sorted({f.name for f in to.iterdir()} - {"SHA256SUMS"})
    assert "First release" in (to / "NEWS").read_text()


def test_it_builds_without_git(tarball, tmp_path):
    subprocess.run(["tar", "-xf", tarball[0], "-C", tmp_path], check=True)
    tree, root = tmp_path / NAME, tmp_path / "root"
    for argv in (["./configure", "--prefix=/usr", "CFLAGS=-O0",
                  "--with-slurm-source=" + os.environ["VS_SLURM_SRC"]],
                 ["make", f"-j{os.cpu_count()}"],
                 ["make", "install", f"DESTDIR={root}"]):
        r = subprocess.run(argv, cwd=tree, text=True, capture_output=True,
                           check=False, timeout=900)
        assert r.returncode == 0, (r.stdout + r.stderr)[-2000:]
    assert list(root.rglob("select_cons_tres_vsphere.so"))
    assert (root / "usr/bin/svf").is_file()


def test_news_without_a_date_is_refused(clone, tmp_path):
    tree = clone()
    for date in ("unreleased", "2025-13-01", "1 December 2025"):
        dated(tree, date)
        git(tree, "commit", "-q", "-a", "-m", date)
        refused(release(tree, tmp_path / "out"),
                f'({date})": a release needs its date')
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("dates, words", [
    ({"debian": "Tue, 02 Dec 2025 10:00:00 +0000"}, "debian/changelog has the date"),
    ({"spec": "Tue Dec 02 2025"}, "slurm-vsphere.spec's changelog has the date")])
def test_dates_that_differ_are_refused(clone, tmp_path, dates, words):
    tree = clone()
    dated(tree, **dates)
    git(tree, "commit", "-q", "-a", "-m", "dates")
    refused(release(tree, tmp_path / "out"), words)


def test_what_is_not_committed_is_refused(clone, tmp_path):
    tree = clone()
    (tree / "more.c").write_text("")
    refused(release(tree, tmp_path / "out"), "files that git does not know")
    (tree / "more.c").unlink()
    (tree / "NEWS.md").write_text((tree / "NEWS.md").read_text() + "more\n")
    refused(release(tree, tmp_path / "out"), "changes that are not committed")
    git(tree, "checkout", "-q", "NEWS.md")
    (tmp_path / "out").mkdir()
    refused(release(tree, tmp_path / "out"), "is there: name a new directory")


def test_a_tree_without_git_is_refused(clone, tmp_path):
    tree = clone()
    shutil.rmtree(tree / ".git")
    refused(release(tree, tmp_path / "out", GIT_CEILING_DIRECTORIES=str(tmp_path)),
            "is no clone")
