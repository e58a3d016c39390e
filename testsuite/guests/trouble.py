# SPDX-License-Identifier: GPL-2.0-or-later
"""What the cases of trouble have in common. Slurm lets a requeued job wait two minutes,
so each case ends its job once that is requeued, and another job shows that the nodes
serve again."""

import contextlib

from guest_cluster import BOOT_S


def serve(cluster):
    job = cluster.submit("srun -l hostname\n", "-N2")
    text = cluster.wait_done(job, 2 * BOOT_S)
    assert "vm001" in text and "vm002" in text


@contextlib.contextmanager
def served(cluster):
    """Both nodes serve a job before and after."""
    serve(cluster)
    yield
    for job in cluster.run("squeue", "-h", "-o", "%A").stdout.split():
        cluster.run("scancel", job)     # of a case that failed
    serve(cluster)
