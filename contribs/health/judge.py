# SPDX-License-Identifier: GPL-2.0-or-later
"""What figures mean: a test is good, slow, or has no result; and which host slow
pairs speak against. Pure: times are epoch seconds that the caller gives.

Rules: a slow pair accuses two hosts and proves none. A host is found slow
- if it is slow with two other hosts, and with more than each of these is, or
- if it is slow with one that is known good, and isn't known good itself.
A good pair clears both of what was seen before. No result says nothing, a pair on
one host says nothing of wires, and where no pair at all was good the limits or
the network are the suspects. What a run acts on is of this run (since): a slow pair
of that host, another host's good pair, and that by which another is known good.
"""

import collections

import perf

DEFAULT_LIMITS = {"bandwidth": 90.0, "latency": 3.0, "osu_bandwidth": None,
                  "osu_latency": None, "line_rate": None}
REASON_MAX = 119        # bytes, of svf host drain


def limit_of(test, limits):
    """Per cent of the line rate, or microseconds."""
    key = "bandwidth" if test in perf.BANDWIDTH else "latency"
    own = limits["osu_" + key] if test.startswith("osu_") else None
    return limits[key] if own is None else own


def assess(test, rates, limits):
    """One test of read_job(): {value, unit, line_rate, limit, verdict, why}.
    rates: Gb/s of its two ports, None where the guest didn't say."""
    bandwidth = test["test"] in perf.BANDWIDTH
    res = {"value": None, "unit": "Gb/s" if bandwidth else "us",
           "limit": limit_of(test["test"], limits), "line_rate": None,
           "verdict": "none", "reason": ""}
    if bandwidth:
        line = limits["line_rate"] or (min(rates) if all(rates) else None)
        res["line_rate"] = line
    try:
        value = round(perf.measure(test), 2)
    except perf.Unreadable as e:
        res["reason"] = str(e)
        return res
    if bandwidth and not line:
        res["reason"] = "the port's rate is not known"
        return res
    res["value"] = value
    if not bandwidth:
        res["verdict"] = "good" if value <= res["limit"] else "slow"
    elif value > 1.05 * line:
        res["reason"] = f"{value} Gb/s are more than the line's {line:g}"
    else:
        res["verdict"] = "good" if value >= line * res["limit"] / 100 \
            else "slow"
    return res


def figure(row):
    """"ib_send_bw 41.2 Gb/s of 100 (90 % asked)"."""
    if row["unit"] == "us":
        return f"{row['test']} {row['value']:g} us ({row['limit']:g} asked)"
    return (f"{row['test']} {row['value']:g} Gb/s of {row['line_rate']:g} "
            f"({row['limit']:g} % asked)")


def pairs(rows):
    """The rows (one per test) by job and NIC: {time, job, ends: 2 of (host, PF),
    verdict, row: the one that says it}. In the order of their times."""
    groups = collections.OrderedDict()
    for row in sorted((r for r in rows if "test" in r),
                      key=lambda r: r["time"]):
        groups.setdefault((row["time"], row["job"], row["nic"]),
                          []).append(row)
    found = []
    for (time, job, _), group in groups.items():
        kinds = [r["verdict"] for r in group]
        verdict = "slow" if "slow" in kinds else \
            "none" if "none" in kinds else "good"
        first = group[0]
        found.append({
            "time": time, "job": job, "verdict": verdict,
            "ends": [(first[e]["host"], first[e]["pf"])
                     for e in ("from", "to")],
            "row": next(r for r in group if r["verdict"] == verdict)})
    return found


class Evidence:
    """What speaks against whom, by (host, PF). A good pair from before since
    does not make a slow pair a proof; by default one that is older than trusted."""

    def __init__(self, rows, now, window, trusted, since=None):
        self.slow = collections.defaultdict(dict)   # end: {host: pair}
        self.good = {}      # end: {host: when they were good together, last}
        self.trusted = now - trusted
        self.since = self.trusted if since is None else since
        self.last_good = 0
        events = [{"time": r["time"], "drained": r["drained"]}
                  for r in rows if "drained" in r]
        for e in sorted(pairs(rows) + events, key=lambda e: e["time"]):
            if e["time"] < now - window:
                continue
            if "drained" in e:
                self.forget(e["drained"])
            elif e["ends"][0][0] != e["ends"][1][0]:
                self.learn(e)

    def forget(self, host):
        """It was drained for it: what was seen is used up, others' too."""
        for end in [e for e in self.slow if e[0] == host]:
            del self.slow[end]
        for known in self.slow.values():
            known.pop(host, None)
        for end in [e for e in self.good if e[0] == host]:
            del self.good[end]

    def learn(self, pair):
        for end, other in (pair["ends"], pair["ends"][::-1]):
            if pair["verdict"] == "good":
                self.last_good = max(self.last_good, pair["time"])
                self.slow.pop(end, None)
                self.good.setdefault(end, {})[other[0]] = pair["time"]
            elif pair["verdict"] == "slow":
                self.slow[end][other[0]] = {**pair, "other": other}
                self.good.get(end, {}).pop(other[0], None)

    def known_good(self, end, other_than, since=None):
        """Good with another host, lately, and slow with none but this one."""
        since = self.trusted if since is None else since
        return any(h != other_than and at >= since
                   for h, at in self.good.get(end, {}).items()) and \
            not set(self.slow.get(end, {})) - {other_than}

    def against(self, end):
        """The pair by which a host is found slow, the last one, or None."""
        mine = self.slow.get(end, {})
        others = {p["other"] for p in mine.values()}
        if len(mine) >= 2 and all(len(self.slow.get(o, {})) < len(mine)
                                  for o in others):
            return max(mine.values(), key=lambda p: p["time"])
        if any(self.known_good(end, h) for h in mine):
            return None
        return max((p for p in mine.values() if self.known_good(
            p["other"], end[0], self.since)),
            key=lambda p: p["time"], default=None)

    def accused(self):
        """{host: (end, pair)} of those found slow, by the last such pair."""
        found = {}
        for end in sorted(e for e, known in self.slow.items() if known):
            pair = self.against(end)
            if pair and (end[0] not in found or
                         pair["time"] > found[end[0]][1]["time"]):
                found[end[0]] = end, pair
        return found


def reason(end, pair):
    """At most REASON_MAX bytes of ASCII, for svf host drain."""
    text = f"{figure(pair['row'])}, PF {end[1] or '-'}, JobId={pair['job']}"
    return text.encode("ascii", "replace").decode()[:REASON_MAX]


def suspects(rows, now, window, trusted):
    """{host: (end, pair)} that were found slow at any time of the window and not
    cleared since."""
    return Evidence(rows, now, window, trusted, 0).accused()


def verdicts(rows, now, window, trusted, since=None):
    """([(host, reason)], one for each host that was found slow; [sentence] about
    what is slow beside that). With since, when a run began, only what it has seen
    is found; who was found slow before is told."""
    seen = Evidence(rows, now, window, trusted, since)
    found = {host: reason(*by) for host, by in sorted(seen.accused().items())
             if by[1]["time"] >= (since or 0)}
    before = {host: reason(*by) for host, by in sorted(suspects(
        rows, now, window, trusted).items())
        if by[1]["time"] < (since or 0) and host not in found}
    open_pairs = {}
    for known in seen.slow.values():
        for pair in known.values():
            if not {e[0] for e in pair["ends"]} & {*found, *before}:
                open_pairs[pair["time"], pair["job"]] = pair
    said = [f"{host} was slow: {why}; this run has no result of it, the next "
            "begins with it" for host, why in before.items()]
    if found and seen.last_good < (since or 1):
        return [], said + [
            "no pair was good at all: the network or the limits are suspects, "
            "not " + ", ".join(found)]
    return list(found.items()), said + [
        f"{figure(p['row'])} between {p['ends'][0][0]} and {p['ends'][1][0]}, "
        f"JobId={p['job']}: which of them it is, other pairs must show"
        for _, p in sorted(open_pairs.items())]


def tested(rows):
    """{(host, PF): its last pair that had a result on a wire}."""
    last = {}
    for p in pairs(rows):
        if p["verdict"] != "none" and p["ends"][0][0] != p["ends"][1][0]:
            for end in p["ends"]:
                last[end] = p
    return last
