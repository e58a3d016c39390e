# SPDX-License-Identifier: GPL-2.0-or-later
"""A cluster file of vHPC-toolkit becomes a site: what vhpc-import prints is the
vsphere.conf with which slurmctld begins, and a job gets its VFs by it."""

import pathlib
import re

import pytest

from cluster import Cluster, wait_for
from worlds import world

SAMPLES = sorted((pathlib.Path(__file__).parents[1] /
                  "contribs/corpus/vhpc-import").glob("cluster-*.conf"))
# The sample for SR-IOV, with the names of this site.
SITE = (("vhpc_clone", "rhel9-ofed"), ("HPC_Datacenter", "DC0"),
        ("COMPUTE_GPU_Cluster", "HPC1"), ("COMPUTE01_vsanDatastore", "vsan"),
        ("sriov-pg", "SRIOV-ROCE-PG"), ("0000:af:00.0", "0000:3b:00.0"),
        ("vm_folder:", "vm_folder: slurm"), ("cpu: 10", "cpu: 2"),
        ("resource_pool:", "resource_pool: slurm"), ("memory: 50", "memory: 2"),
        ("sriov-vm{1:8}", "vm00{1:4}"))


def make_cluster():
    return Cluster(nodes=4, inventory=world(hosts=2, vfs=2))


def imported(cluster, path):
    """What the installed script prints. Nothing on stderr: svf has checked it."""
    (script,) = pathlib.Path(cluster.root).glob("usr/**/vhpc-import/vhpc-import")
    r = cluster.run(script, path)
    assert (r.returncode, r.stderr) == (0, "")
    return r.stdout


@pytest.mark.parametrize("sample", SAMPLES, ids=[s.stem for s in SAMPLES])
def test_what_is_printed_is_a_valid_configuration(cluster, sample):
    f = cluster.path("etc", "imported.conf")
    f.write_text(imported(cluster, sample))
    cluster.must("svf", "conf", str(f))


def test_a_job_runs_by_an_imported_configuration(cluster):
    text = next(s for s in SAMPLES if s.stem == "cluster-sriov").read_text()
    for theirs, ours in SITE:
        assert theirs in text
        text = text.replace(theirs, ours)
    f = cluster.path("etc", "toolkit.conf")
    f.write_text(text)
    new = imported(cluster, f)
    nodes = re.search(r"^#NodeName=(\S+) CPUs=2 .*Features=(\S+) ", new, re.M)
    partition = re.search(r"^PartitionName=(\S+) Adapter=(\S+) ", new, re.M)
    assert nodes[1] == "vm00[1-4]" or nodes[1] == "vm[001-004]"
    assert nodes[2] == partition[2]
    own = cluster.path("etc", "vsphere.conf").read_text()
    for key in ("VCenter", "VCenterUser", "VCenterPasswordFile", "VCenterCAFile", "SvfPort",
                "Mode"):
        (line,) = re.findall(rf"^{key}=.*$", own, re.M)
        new = re.sub(rf"^{key}=.*\n", "", new, flags=re.M)
        new = f"{line}\n{new}"
    # The site's slurm.conf is there already: its names for the feature.
    new = re.sub(rf"\b(Adapter(?:Name)?)={nodes[2]} ", r"\1=sriov-roce ", new)
    cluster.path("etc", "vsphere.conf").write_text(
        new.replace(f"PartitionName={partition[1]} ", "PartitionName=roce "))
    cluster.must("scontrol", "reconfigure")
    assert "stays in force" not in cluster.ctld_log()
    job = cluster.sbatch("-N2", "-C", "sriov-roce", script="srun hostname")
    assert len(cluster.wait_job(job, 60).split()) == 2
    wait_for("each has its VF", 10, lambda: cluster.vfs_used() == 2)
