# SPDX-License-Identifier: GPL-2.0-or-later
"""Names in documents and manual pages that the code must have. `unknown` is called by
docs.py and man.py, once for each text.

  key       KEY= that vsphere.conf has not, and that names.txt does not list either
  verb      svf VERB, its word, its options and its fields
  code      svf check CODE; a word with hyphens that is code beside "svf check" or "reports",
            and no program of names.txt
  metric    slurm_vsphere_NAME, if it is no variable of the Ansible role
  variable  SLURM_VSPHERE_NAME, SVF_NAME, SV_NAME
  path      a path that a package or the guest's script must have, a file of the source

Each class is read of the sources by a pattern. One that finds nothing is no excuse: all
names of its class are refused then.
"""

import fnmatch
import functools
import pathlib
import re

import files

HERE = pathlib.Path(__file__).resolve().parent
KEY = re.compile(r"(?<![\w$%./-])([A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*)=")
SVF = re.compile(r"(?<![\w/.-])svf ((?:[^\s;|&#()`]|\s(?! ))+)")
METRIC = re.compile(r"(?<![\w/-])slurm_vsphere_([a-z_]+)(?!\w|\.\w)")
VARIABLE = re.compile(r"\b(?:SLURM_VSPHERE|SVF|SV)_[A-Z][A-Z_]*\b")
PACKAGED = re.compile(r"/usr/(?:share(?:/doc)?|libexec)/slurm-vsphere/[\w./*-]+"
                      r"|/usr/s?bin/(?:slurm-vsphere|svf|vhpc)[\w-]*")
GUEST = re.compile(r"(/(?:run|etc|var/lib)/slurm-vsphere(?:-health)?)(?![\w-])(/[\w./-]+)?")
SOURCE = re.compile(r"(?<![\w/.$}-])(?:src|contribs|testsuite|debian)/[\w.*/-]+")
# Options of each verb that take a value.
VALUED = {"-O": "fields", "--Format": "fields", "-S": "fields", "--sort": "fields",
          "-i": "seconds", "--iterate": "seconds"}


tracked = functools.cache(files.tracked)


@functools.cache
def source(top, pattern):
    """The text of all files that fnmatch the pattern, without the documents."""
    return "\n".join((top / f).read_text(errors="replace") for f in tracked(top)
                     if fnmatch.fnmatch(f, pattern) and not f.endswith((".md", ".in")))


@functools.cache
def listed(name):
    """The words of a section of names.txt."""
    found, at = set(), None
    for line in (HERE / "names.txt").read_text().splitlines():
        if line.startswith("["):
            at = line.strip("[]")
        elif at == name and not line.startswith("#"):
            found.update(line.split())
    return found


@functools.cache
def keys(top):
    return set(re.findall(r'\{ VS_SCOPE_\w+, VS_CONF_\w+, "(\w+)"',
                          source(top, "src/plugins/conf/keys.c")))


@functools.cache
def verbs(top):
    """Of each verb its words and its options; all fields of all verbs."""
    option = r'"(--?[A-Za-z][\w-]*)"'
    shared = set(re.findall(option, source(top, "src/svf/usage.c")))
    filters = {m[1]: set(re.findall(option, m[0])) for m in re.finditer(
        r"#define (SVF_FILTER_\w+).*(?:\\\n.*)*", source(top, "src/svf/list/list.h"))}
    found = {}
    for f in fnmatch.filter(tracked(top), "src/svf/*.c"):
        text = (top / f).read_text()
        own = set(re.findall(option, text)).union(
            *(o for name, o in filters.items() if re.search(rf"\b{name}\b", text)))
        for m in re.finditer(r'const struct svf_verb svf_\w+ = \{\s*\.name = "([\w-]+)",'
                             r'\s*\.args = "([^"]*)"', text):
            words = m[2].split()[0].split("|") if re.match(r"[a-z]+\|", m[2]) else ()
            found[m[1]] = (words, own | shared)
    if found:
        found["help"] = ((), shared)
    return found, {*re.findall(r'\.name = "([a-z_]+)"', source(top, "src/svf/*.c")), "ALL"}


@functools.cache
def codes(top):
    return set(re.findall(r'^(?:CHECK|FOUND|FLAG)\(\w+, "([\w-]+)"',
                          source(top, "src/common/plan/checks/check_rows.h"), re.M))


@functools.cache
def metrics(top):
    text = source(top, "src/common/engine/metrics/format.c")
    found = set(re.findall(r'"(?:" PREFIX ")?([a-z]+(?:_[a-z]+)*)(?:_total)?"', text))
    return found | set(re.findall(r'PREFIX "(\w+)\{', text))


@functools.cache
def installed(top):
    """Patterns of the paths in the packages."""
    found = set()
    for line in source(top, "debian/*.install").splitlines():
        what, _, to = line.partition(" ")
        found.add(f"/{to}/{what.split('/')[-1]}" if to else f"/{what}")
        found.add(f"/{what}")
    for line in source(top, "debian/*.examples").splitlines():
        found.add(f"/usr/share/doc/slurm-vsphere/examples/{line.split('/')[-1]}")
    for line in source(top, "debian/*.docs").splitlines():
        found.add(f"/{line}")
    return found


def of_key(top, text):
    for m in KEY.finditer(text):
        if m[1] not in keys(top) and m[1] not in listed("keys"):
            yield m.start(), f"{m[1]}= is no key of vsphere.conf"


def split(words):
    """(options, fields, the others) of the words after svf."""
    options, fields, others = [], [], []
    words = iter(words)
    for word in words:
        m = re.fullmatch(r"(--[A-Za-z][\w-]*|-[A-Za-z](?==|\d|$))=?(.*)", word)
        if not m:
            others.append(word)
            continue
        options.append(m[1])
        if options[-1] in VALUED:
            value = m[2] if m[2] else next(words, "")
            if VALUED[options[-1]] == "fields":
                fields += [re.sub(r":.*", "", f).lstrip("-+") for f in value.split(",")]
    return options, fields, others


def command(top, words):
    """What is wrong in the words after svf."""
    known, columns = verbs(top)
    options, fields, (verb, *others) = split(words)[:2] + ((split(words)[2] or [""]),)
    if re.fullmatch(r"[a-z][a-z-]*", verb) and verb not in known:
        yield f"svf {verb} is no verb"
    if verb and verb not in known:
        return
    subs, allowed = known[verb] if verb else ((), {o for v in known.values() for o in v[1]})
    small = [w for w in others[:1] if re.fullmatch(r"[a-z]+(?:-[a-z0-9]+)*", w)]
    if subs:
        yield from (f"svf {verb} {w} is no verb" for w in small if w not in subs)
    if verb == "check":
        yield from (f"{w} is no code of svf check" for w in small if w not in codes(top))
    yield from (f"svf {verb} has no {o}".replace("  ", " ") for o in options if o not in allowed)
    yield from (f"{f} is no field of svf" for f in fields
                if re.fullmatch("[a-z_]+", f) and f not in columns)


def of_verb(top, text):
    for m in SVF.finditer(text):
        words = m[1].replace("\\", " ").replace('"', " ").split()
        for what in command(top, words):
            yield m.start(), what


def of_metric(top, text):
    for m in METRIC.finditer(text):
        name = re.sub(r"_(bucket|sum|count|total)$", "", m[1])
        role = source(top, "contribs/*/roles/*")    # its variables begin alike
        if {name, m[1]}.isdisjoint(metrics(top)) and not re.search(rf"\b{m[0]}\b", role):
            yield m.start(), f"{m[0]} is no metric"


def of_variable(top, text):
    code = source(top, "src/*") + source(top, "contribs/*")
    for m in VARIABLE.finditer(text):
        if not re.search(rf"\b{m[0]}\b", code):
            yield m.start(), f"{m[0]} is in no source"


def of_path(top, text):
    for m in PACKAGED.finditer(text):
        path = m[0].rstrip("./")
        if not any(fnmatch.fnmatch(path, p) or path.startswith(p + "/") or p.startswith(path + "/")
                   for p in installed(top)):
            yield m.start(), f"{path} is in no package"
    code = source(top, "src/*") + source(top, "contribs/*")
    for m in GUEST.finditer(text):
        if m[1] not in code or any(
                not re.search(rf"(?<![\w-]){re.escape(part)}(?![\w-])", code)
                for part in (m[2] or "").strip("./").split("/") if part):
            yield m.start(), f"{m[0]} is in no source"
    names = tracked(top)
    for m in SOURCE.finditer(text):
        path = m[0].rstrip("./")
        if re.search(r"NAME|[A-Z]{4,}\b(?!\.md)", path):
            continue
        if not (path in names or (top / path).is_dir() or fnmatch.filter(names, path)
                or f"{path}.c" in names or f"testsuite/{path}" in names):
            yield m.start(), f"{path} is not in the source"


CLASSES = (of_verb, of_key, of_metric, of_variable, of_path)


def unknown_codes(top, paragraph):
    """(offset, what) of each `word-with-hyphens` that such a paragraph has as a code."""
    if re.search(r"\bsvf check\b|\breport(s|ed)\b", paragraph):
        for m in re.finditer(r"`([a-z]+(?:-[a-z0-9]+)+)`", paragraph):
            if m[1] not in codes(top) | listed("programs"):
                yield m.start(), f"{m[1]} is no code of svf check"


def unknown(top, text, prose=False):
    """(offset, what) of each name in code that the sources do not have. In prose, as of a
    manual page without fonts, what follows "svf" may be any word."""
    for judge in CLASSES[1:] if prose else CLASSES:
        yield from judge(top, text)
