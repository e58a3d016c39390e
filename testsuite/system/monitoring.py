# SPDX-License-Identifier: GPL-2.0-or-later
"""A Prometheus for the tests: its daemon, its questions, and the page itself as
an independent parser reads it."""

import json
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

from prometheus_client import parser as plain_parser
from prometheus_client.openmetrics import parser as open_parser

from cluster import wait_for

OPENMETRICS = "application/openmetrics-text"
PREFIX = "slurm_vsphere_"
CONFIG = """\
global:
  scrape_interval: 1s
  evaluation_interval: 1s
scrape_configs:
  - job_name: slurm-vsphere
    static_configs:
      - targets: ["127.0.0.1:%d"]
"""


def page(port, accept=None, path="/metrics", method="GET", timeout=10):
    """(status, content type, text)"""
    r = urllib.request.Request(f"http://127.0.0.1:{port}{path}", method=method,
                               headers={"Accept": accept} if accept else {})
    try:
        with urllib.request.urlopen(r, timeout=timeout) as a:
            return a.status, a.headers["Content-Type"], a.read().decode()
    except urllib.error.HTTPError as e:
        return e.code, e.headers["Content-Type"], e.read().decode()


def families(port, openmetrics=True):
    """The page's families by name, as another implementation reads them."""
    status, kind, text = page(port, OPENMETRICS if openmetrics else None)
    assert status == 200, text
    assert kind.startswith(OPENMETRICS if openmetrics else "text/plain"), kind
    parse = open_parser if openmetrics else plain_parser
    return {f.name: f for f in parse.text_string_to_metric_families(text)}


def families_now(port):
    """The same, of what has happened until now: a page serves all who ask within
    a second."""
    time.sleep(1.1)
    return families(port)


def value(fams, name, suffix="", **labels):
    """The sum of the samples that have these labels."""
    found = [s.value for s in fams[PREFIX + name].samples
             if s.name == PREFIX + name + suffix and
             all(s.labels.get(k) == v for k, v in labels.items())]
    assert found, (name, labels)
    return sum(found)


class Prometheus:
    """One of Debian's, in a directory of the cluster's, scraping its port."""

    def __init__(self, c, target, port):
        there = c.path("prometheus")
        there.mkdir(exist_ok=True)
        (there / "prometheus.yml").write_text(CONFIG % target)
        self.url = f"http://127.0.0.1:{port}"
        self.daemon = c._start("prometheus", [
            "prometheus", f"--config.file={there / 'prometheus.yml'}",
            f"--storage.tsdb.path={there / 'data'}",
            f"--web.listen-address=127.0.0.1:{port}",
            f"--web.console.templates={there}",
            f"--web.console.libraries={there}"], LD_PRELOAD="")
        wait_for("Prometheus has scraped", 30, self.scraped)

    def get(self, what, **args):
        q = urllib.parse.urlencode(args)
        with urllib.request.urlopen(f"{self.url}/api/v1/{what}?{q}",
                                    timeout=10) as a:
            r = json.loads(a.read())
        assert r["status"] == "success", r
        return r["data"]

    def scraped(self):
        try:
            return [t for t in self.get("targets")["activeTargets"]
                    if t["health"] == "up"]
        except (OSError, AssertionError):
            return None

    def query(self, expr):
        """A number; None where there is no series."""
        rows = self.get("query", query=expr)["result"]
        assert len(rows) <= 1, rows
        return float(rows[0]["value"][1]) if rows else None


def promtool(*argv, **kw):
    return subprocess.run(["promtool", *map(str, argv)], text=True, timeout=60,
                          capture_output=True, check=False, **kw)
