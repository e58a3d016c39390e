# SPDX-License-Identifier: GPL-2.0-or-later
"""submit_env.c, built with the libslurm of the release that runs."""

import os
import pathlib
import subprocess

from daemons import plugin_dirs

SOURCE = pathlib.Path(__file__).resolve().parent / "submit_env.c"


def build(directory):
    out = pathlib.Path(directory, "submit_env")
    lib = next(d for d in map(pathlib.Path, plugin_dirs(None))
               if (d / "libslurmfull.so").exists())
    argv = ["gcc", "-Wall", "-Wextra", "-Werror", "-o", out, SOURCE,
            f"-I{os.environ['VS_SLURM_SRC']}", f"-L{lib}", "-lslurmfull",
            f"-Wl,-rpath,{lib}"]
    r = subprocess.run([*argv, "-DJOB_ID=job_id"], capture_output=True)
    if r.returncode:        # where 26.05 has it
        subprocess.run([*argv, "-DJOB_ID=step_id.job_id"], check=True)
    return out
