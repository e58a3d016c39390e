# SPDX-License-Identifier: GPL-2.0-or-later
"""What a user and an administrator are told in a case, printed for the documents."""


def say(cluster, case, job=None, node=None):
    """Prints the texts, and returns them as one."""
    rows = [f"case: {case}"]
    if job is not None:
        rows += [f"  squeue %r: {cluster.squeue(job)}",
                 "  svf why: " + cluster.svf("why", str(job), json_out=False)
                 .strip().replace("\n", "\n    ")]
    if node is not None:
        rows.append(f"  node's Reason: {cluster.node(node).get('Reason', 'none')}")
    text = "\n".join(rows)
    print("\n" + text, flush=True)
    return text
