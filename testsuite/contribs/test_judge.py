# SPDX-License-Identifier: GPL-2.0-or-later
"""How testsuite/slurm judges by Slurm's own tests: what counts, and what not."""

import importlib.util
import os
import pathlib
import sys

import pytest

TOP = pathlib.Path(os.environ.get("VS_TOP", pathlib.Path(__file__).parents[2]))
sys.path[:0] = [str(TOP / "testsuite/slurm"), str(TOP / "testsuite/system")]

# (contribs/health has a judge, too.)
spec = importlib.util.spec_from_file_location(
    "slurm_judge", TOP / "testsuite/slurm/judge.py")
judge = sys.modules["slurm_judge"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(judge)
CLOUD, FAIL, PASS, PLAIN = judge.CLOUD, judge.FAIL, judge.PASS, judge.PLAIN
SKIP, STOCK, Run = judge.SKIP, judge.STOCK, judge.Run

SUMS = """
SKIPPED             : test1.14
  Subtests failed   :   0 (  0%)
  Subtests skipped  :   1 (  8%)
  Subtests passed   :  11 ( 91%)
"""


def one(*results):
    """A test after these results, in the order in which they were asked for."""
    t = judge.Test("expect/test1.1", [STOCK] * 3 + [PLAIN, CLOUD])
    for r in results:
        t.done(t.next(), r if isinstance(r, Run) else Run(r, "why"))
    return t


def test_three_passes_with_stock_and_one_with_ours_are_no_difference():
    t = one(PASS, PASS, PASS, PASS, PASS)
    assert t.over and t.judged(PLAIN) == t.judged(CLOUD) == judge.PASSES


@pytest.mark.parametrize("before", [[], [PASS], [PASS, PASS]])
@pytest.mark.parametrize("then", [FAIL, SKIP])
def test_what_does_not_pass_with_stock_is_never_run_with_ours(before, then):
    t = one(*before, then)
    assert t.over and not t.steady and not t.runs[PLAIN]


def test_what_fails_again_with_ours_is_a_difference():
    t = one(PASS, PASS, PASS, FAIL, PASS, PASS, PASS, PASS)
    assert t.next() == PLAIN and not t.over
    t.done(PLAIN, Run(FAIL, "why"))
    assert t.over and t.judged(PLAIN) == judge.DIFFERS
    assert t.judged(CLOUD) == judge.PASSES


def test_what_fails_once_with_ours_and_then_passes_three_times_is_named():
    t = one(PASS, PASS, PASS, FAIL, PASS, PASS, PASS, PASS, PASS, PASS, PASS)
    assert t.over and t.judged(PLAIN) == judge.WAVERS
    assert t.judged(CLOUD) == judge.PASSES


def test_what_fails_with_ours_and_then_with_stock_too_says_nothing():
    t = one(PASS, PASS, PASS, FAIL, PASS, PASS, FAIL)
    assert t.over and t.judged(PLAIN) is None


def test_a_difference_that_cloud_nodes_make_with_stock_too_is_named_not_counted():
    t = one(PASS, PASS, PASS, PASS, FAIL)
    assert t.next() == judge.STOCK_CLOUD
    t.done(t.next(), Run(FAIL, "why"))
    assert t.over and t.judged(CLOUD) == judge.ALIKE
    assert t.judged(PLAIN) == judge.PASSES
    assert judge.report([t], 0) == (1, 0)


def test_a_test_that_skips_more_of_itself_with_ours_is_a_difference():
    less, more = Run(PASS, skipped=1), Run(PASS, skipped=2)
    t = one(PASS, less, PASS, less, more, PASS, PASS, PASS, more)
    assert t.over and t.judged(PLAIN) == judge.PASSES
    assert t.judged(CLOUD) == judge.DIFFERS


def test_what_leaves_the_cluster_otherwise_with_ours_alone_is_a_difference():
    untidy = Run(PASS, tidy=False)
    t = one(PASS, PASS, PASS, untidy, PASS, PASS, PASS, PASS, untidy)
    assert t.over and t.judged(PLAIN) == judge.DIFFERS
    t = one(PASS, untidy, PASS, untidy, PASS)
    assert t.over and t.judged(PLAIN) == judge.PASSES


def test_the_parts_of_a_test_are_counted():
    assert judge.parts(SUMS, "expect/test1.14") == [11, 1]
    assert judge.parts("3 passed, 2 skipped in 1.0s\n", "python/x") == [3, 2]
    assert judge.parts("2 skipped in 1.0s\n", "python/x") == [0, 2]
    assert judge.parts("SUCCESS  : test1.1\n", "expect/test1.1")[0]
    assert not judge.parts("SKIPPED  : test1.1\n", "expect/test1.1")[0]


def test_the_sums_count_each_kind_of_ours_and_name_the_differences(capsys):
    good = one(PASS, PASS, PASS, PASS, PASS)
    bad = one(PASS, PASS, PASS, PASS, FAIL, PASS, PASS, PASS, FAIL)
    unsteady = one(PASS, FAIL)
    assert judge.report([good, bad, unsteady], 7) == \
        (3, 1)
    said = capsys.readouterr().out
    assert said.count("DIFFERS: expect/test1.1: why") == 1
    assert "not always: 1: why: expect/test1.1" in said
    assert "7 were not run" in said
