#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The privileges that the account needs, as three places say them: the product's
table (vcenter/client/rights.c, by which svf check judges), slurm-vsphere(7) and the roles of
doc/admin/vcenter.md. Each must say what the others say, no more and no less.

usage: rights.py TOP
"""
import pathlib
import re
import sys

# What the table's flags mean: the heading in slurm-vsphere(7).
FOLDER = "The Folder, propagating"
HEADING = {
    "ON_FOLDER": FOLDER, "FOR_VMOTION": FOLDER,
    "FOR_NOTES": "The Folder, with Notes=",
    "FOR_PARENTS": "The Folder, with Clone=linked or Clone=instant",
    "FOR_LINKED": "The Folder, with Clone=linked",
    "FOR_POLICY": "The vCenter's root, with StoragePolicy=",
    "ON_POOL": "Each ResourcePool (or the cluster, if none is given)",
    "ON_TEMPLATE": "Each Template",
    "ON_STORE": "The Datastore",
    "ON_NETWORK": "Each Network, and those of the templates' own NICs",
    "ON_OWN_NETWORK": "Each Network, and those of the templates' own NICs",
}
# The page's roles, and the first cells of its table of what some keys need.
PAGE = {
    "slurm-folder": FOLDER,
    "slurm-pool": HEADING["ON_POOL"],
    "slurm-template": HEADING["ON_TEMPLATE"],
    "slurm-datastore": HEADING["ON_STORE"],
    "slurm-network": HEADING["ON_NETWORK"],
    "`Notes=`": HEADING["FOR_NOTES"],
    "`Clone=linked` or `Clone=instant`": HEADING["FOR_PARENTS"],
    "`Clone=linked`": HEADING["FOR_LINKED"],
    "`StoragePolicy=`": HEADING["FOR_POLICY"],
}
KIND = {"The Folder": "folder", "The vCenter's root": "root",
        "Each ResourcePool": "pool", "Each Template": "template",
        "The Datastore": "store", "Each Network": "network"}
PRIVILEGE = r"[A-Z]\w+(?:\.[A-Z]\w+)+"


def product(top):
    """{heading: privileges} of the product's table."""
    text = (top / "src/common/vcenter/client/rights.c").read_text()
    table = re.search(r"table\[\] = \{\n(.*?)\n\};", text, re.S)[1]
    rows = re.findall(r'\{\s*"([\w.]+)",\s*([\w |]+),\s*[\w |]+\}', table)
    if len(rows) != table.count("{"):
        raise SystemExit("rights.c: the table has rows that are not understood")
    found = {}
    for priv, flags in rows:
        for flag in re.findall(r"[A-Z_]+", flags):
            found.setdefault(HEADING[flag], set()).add(priv)
    return found


def manual(top):
    """The same of slurm-vsphere(7): "Group: Name, Name" or whole names."""
    text = (top / "man/slurm-vsphere.7.in").read_text()
    text = text.split(".SH PRIVILEGES")[1].split(".SH ")[0]
    found = {}
    for part in text.split(".TP\n")[1:]:
        head, body = part.split("\n", 1)
        for line in body.replace(",\n", ", ").splitlines():
            m = re.fullmatch(r"([\w.]+): (\w+(?:, \w+)*)", line)
            names = [f"{m[1]}.{n}" for n in m[2].split(", ")] if m else \
                [line] if re.fullmatch(PRIVILEGE, line) else []
            if names:
                found.setdefault(head, set()).update(names)
    return found


def page(top):
    """The same of the page on vCenter: govc role.create, and a table."""
    text = (top / "doc/admin/vcenter.md").read_text()
    found = {}
    for role, privs in re.findall(r"^govc role\.create (\S+) (.*)$",
                                  text.replace("\\\n", " "), re.M):
        found.setdefault(PAGE.get(role, role), set()).update(privs.split())
    for key, cell in re.findall(r"^\| ([^|]+) \| ([^|]+) \|", text, re.M):
        privs = re.findall(f"`({PRIVILEGE})`", cell)
        if privs and key in PAGE:
            found.setdefault(PAGE[key], set()).update(privs)
    return found


def by_kind(table):
    """{(privilege, kind of object)}, as the simulator counts what calls need."""
    return {(p, next(k for h, k in KIND.items() if head.startswith(h)))
            for head, privs in table.items() for p in privs}


def differences(name, theirs, ours):
    for head in sorted(set(theirs) | set(ours)):
        a, b = theirs.get(head, set()), ours.get(head, set())
        for p in sorted(b - a):
            yield f"{name} lacks {p} ({head}), which rights.c has"
        for p in sorted(a - b):
            yield f"{name} has {p} ({head}), which rights.c lacks"


def main():
    top = pathlib.Path(sys.argv[1])
    wrong = [*differences("slurm-vsphere(7)", manual(top), product(top)),
             *differences("vcenter.md", page(top), product(top))]
    print(*wrong, sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
