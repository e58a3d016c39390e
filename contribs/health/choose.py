# SPDX-License-Identifier: GPL-2.0-or-later
"""Which hosts are tested next, and by which nodes. Pure: hosts and nodes are the
answers of `svf --json hosts` and `svf --json nodes`.

Rules: a host that was found slow comes first, then the one that waits longest; no
host is in two pairs at once, because they would share its link; only nodes that no job
uses are taken.
"""

AT_REST = {("ON", "IDLE"), ("OFF", "POWERED_DOWN"), ("NONE", "POWERED_DOWN")}


def pfs_of(node):
    return [p for p in node.get("pf", "").split(",") if p]


def pf_rows(host):
    """Its PFs. Devices that are handed out whole have rows among them: no network
    is at these."""
    return [pf for pf in host.get("pfs", []) if "device" not in pf]


def targets(hosts, nodes, partition, rows):
    """{host: [PF, ...]} that the partition's adapter may use: those of the
    networks on which its VMs are or were seen; before any was, of all."""
    known = {(n.get("host"), pf) for n in nodes
             if n["partition"] == partition for pf in pfs_of(n)}
    known |= {(r[e]["host"], r[e]["pf"]) for r in rows
              if r.get("partition") == partition for e in ("from", "to")}
    nets = {pf.get("network") for h in hosts for pf in pf_rows(h)
            if (h["host"], pf["pci"]) in known}
    found = {h["host"]: [pf["pci"] for pf in pf_rows(h)
                         if pf["total"] > 0 and
                         (pf.get("network") in nets or not nets)]
             for h in hosts}
    return {h: pfs for h, pfs in found.items() if pfs}


def usable(nodes, partition):
    """The partition's nodes that no job and no order has."""
    return [n for n in nodes if n["partition"] == partition and
            (n["vm_state"], n["node_state"]) in AT_REST and
            not n.get("job") and not n.get("request")]


def settling(nodes, partition):
    """Those that will be usable, or not, in a moment."""
    return [n for n in nodes if n["partition"] == partition and
            (n["node_state"] in ("COMPLETING", "POWERING_DOWN") or
             (n["node_state"] == "POWERED_DOWN" and
              n["vm_state"] in ("ON", "STOPPING")))]


def available(hosts, where, free):
    """Hosts that can take one more VM, or that have a managed VM that may go."""
    here = {n.get("host") for n in free if n["vm_state"] == "ON"}
    return [h["host"] for h in hosts if h["host"] in where and
            h["state"] == "UP" and
            (h["host"] in here or
             any(pf.get("free", 0) > 0 for pf in pf_rows(h)
                 if pf["pci"] in where[h["host"]]))]


def ages(where, last, now):
    """{host: seconds since all of its PFs were tested, None: never}."""
    res = {}
    for host, pfs in where.items():
        times = [last[host, pf]["time"] for pf in pfs if (host, pf) in last]
        res[host] = now - min(times) if len(times) == len(pfs) else None
    return res


def turns(where, last):
    """{host: when one of its PFs was tested last, 0: never}. This program can't
    choose a VM's PF, so a host with an untested PF must not always come first."""
    return {host: max((last[host, pf]["time"] for pf in pfs
                       if (host, pf) in last), default=0)
            for host, pfs in where.items()}


def pairs_of(can, age, turn, every, most, first=()):
    """[(host, host)], those that are due by their turns, each host once. Those in
    first are due before all others, each with one that isn't in it."""
    left = sorted(can, key=lambda h: (h not in first, turn[h], h))
    found = []
    while len(left) > 1 and len(found) < most:
        due = [h for h in left if h in first or age[h] is None or
               age[h] >= every]
        if not due:
            break
        left.remove(due[0])
        other = next((h for h in left if h not in first), left[0])
        left.remove(other)
        found.append((due[0], other))
    return found


def again(slow, can, good, most):
    """Pairs that tell which host of a slow pair it is: each of them with another
    partner, one that is known good if there is one."""
    busy, found = set(), []
    had = {frozenset(p) for p in slow}
    suspects = [h for pair in slow for h in pair]
    for host in dict.fromkeys(suspects):
        if host in busy or host not in can or len(found) == most:
            continue
        others = [h for h in can if h != host and h not in busy and
                  frozenset((host, h)) not in had]
        others.sort(key=lambda h: (h not in good, h in suspects, h))
        if others:
            found.append((host, others[0]))
            busy |= {host, others[0]}
    return found


def nodes_for(pair, free):
    """A node for each host of the pair, one whose VM is there first, and one
    without a VM that runs next; None if there are too few."""
    got = []
    for host in pair:
        left = [n for n in free if n not in got]
        left.sort(key=lambda n: (
            n.get("host") != host, n["vm_state"] == "ON", n["node"]))
        if not left:
            return None
        got.append(left[0])
    return got


def shared(hosts, nodes, own):
    """{(host, PF): VMs of others on it that may send now}: foreign ones, and
    nodes with jobs but for those named in own."""
    res = {}
    for h in hosts:
        for pf in pf_rows(h):
            res[h["host"], pf["pci"]] = pf.get("foreign", 0) + \
                pf.get("unverified", 0)
    for n in nodes:
        if n.get("job") and n["node"] not in own:
            for pf in pfs_of(n):
                key = n.get("host"), pf
                res[key] = res.get(key, 0) + 1
    return {k: v for k, v in res.items() if v}
