# SPDX-License-Identifier: GPL-2.0-or-later
"""A site's copy of contribs/guest/packer, Packer, and a vCenter: govmomi's simulator."""

import contextlib
import hashlib
import os
import pathlib
import re
import shutil
import subprocess

from conftest import TOP
from template_root import checked, ends_with_parent

SITE = {"vcenter_username": "user", "vcenter_insecure": "true", "datacenter": "DC0",
        "cluster": "HPC1", "host": "esx01.example.org", "datastore": "vsanDatastore",
        "folder": "templates", "template_name": "made"}


def copied(top):
    """The recipe in a directory of a site's. Debian's Packer is older than the block
    required_plugins."""
    for part in ("packer", "ansible"):
        shutil.copytree(TOP / "contribs/guest" / part, top / part)
    d = top / "packer"
    (d / "plugins.pkr.hcl").unlink()
    checked("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", top / "key")
    shutil.copy(top / "key.pub", d / "http/authorized_keys")
    (top / "role.yml").write_text("{}\n")
    (top / "small.iso").write_bytes(bytes(4096))
    return d


def packer(recipe, verb, build, password="secret", **variables):
    top = recipe.parent
    given = {"ssh_private_key_file": top / "key", "role_variables": top / "role.yml",
             "iso_url": top / "small.iso", "source_template": "rhel9-ofed",
             "iso_checksum": "sha256:" + hashlib.sha256(bytes(4096)).hexdigest(), **variables}
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PKR_", "PACKER_"))}
    env |= {"CHECKPOINT_DISABLE": "1", "PACKER_CACHE_DIR": str(top / "cache"),
            "PACKER_CONFIG_DIR": str(top), "PACKER_NO_COLOR": "1"}
    if password:
        env["PKR_VAR_vcenter_password"] = password
    command = ["packer", verb, f"-only={build}", "-var-file=example.pkrvars.hcl",
               *(f"-var={k}={v}" for k, v in given.items()), "."]
    # pylint: disable=consider-using-with,subprocess-popen-preexec-fn
    return subprocess.Popen(command, cwd=recipe, env=env, text=True, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            preexec_fn=ends_with_parent)


@contextlib.contextmanager
def vcenter():
    """govc's environment and the address, of govmomi's own simulator."""
    tools = pathlib.Path(os.environ["VS_GOVC"]).parent
    with subprocess.Popen([tools / "bare", "tls"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as p:
        try:
            url = p.stdout.readline().strip()
            yield ({**os.environ, "GOVC_URL": url, "GOVC_INSECURE": "1",
                    "GOVC_PERSIST_SESSION": "false", "PATH": f"{tools}:{os.environ['PATH']}"},
                   re.search(r"[\d.]+:\d+", url)[0])
        finally:
            p.stdin.close()
