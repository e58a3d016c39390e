# SPDX-License-Identifier: GPL-2.0-or-later
"""Which files a source tree has."""

import re
import subprocess


def tracked(top):
    """Names below top, sorted: what git has or would take, of an unpacked release
    all but what autoreconf made."""
    out = (top / ".git").exists() and subprocess.run(
        ["git", "-c", "safe.directory=*", "-C", str(top), "ls-files", "-z",
         "--cached", "--others", "--exclude-standard"],
        capture_output=True, check=False)
    if out and out.returncode == 0:
        names = out.stdout.decode().split("\0")
    else:
        names = [n for n in (str(p.relative_to(top)) for p in top.rglob("*"))
                 if not re.match(r"(auxdir|m4|autom4te\.cache)/|configure~?$", n)]
    return sorted(n for n in names if n and (top / n).is_file())
