# SPDX-License-Identifier: GPL-2.0-or-later
"""The chaos run's own parts that decide: the plan and what excuses Slurm."""

import time

from chaos_forgot import copy_explains, forgotten
from chaos_plan import LANES, draw

T0 = 1_700_000_000.0
REFUSED = ("[" + time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(T0 + 20)) +
           ".500] error: Job 34 already running, do not launch second copy\n")


def test_a_seed_repeats_the_plan():
    assert draw(4711, 300) == draw(4711, 300)
    assert draw(4711, 300) != draw(4712, 300)


def test_a_lane_that_is_left_out_changes_no_other():
    world, every = draw(4711, 300)
    for lane in LANES:
        assert draw(4711, 300, [lane]) == (
            world, [e for e in every if e.lane == lane])


def test_a_second_copy_of_a_run_that_a_kill_made_forgotten_is_slurms_own():
    assert copy_explains(T0 + 21, REFUSED, [(T0 + 10, "34")], [T0 + 12])


def test_a_second_copy_of_anything_else_is_a_violation():
    run = [(T0 + 10, "34")]
    for at, log, runs, kills in (
            (T0 + 21, "", run, [T0 + 12]),          # slurmd refused nothing
            (T0 + 21, REFUSED, [(T0 + 10, "33")], [T0 + 12]),   # another job
            (T0 + 21, REFUSED, [], [T0 + 12]),      # nothing ran there
            (T0 + 21, REFUSED, run, []),            # nobody was killed
            (T0 + 21, REFUSED, run, [T0 + 5]),      # before it began
            (T0 + 21, REFUSED, run, [T0 + 22]),     # after the refusal
            (T0 + 21, REFUSED, [(T0 - 20, "34")], [T0 + 12]),   # was saved
            (T0 + 90, REFUSED, run, [T0 + 12])):    # another drain
        assert not copy_explains(at, log, runs, kills)


def test_only_what_was_not_saved_is_forgotten():
    assert forgotten(T0, [T0 + 5], T0 + 60)
    assert not forgotten(T0, [T0 + 40], T0 + 60)
    assert not forgotten(T0, [], T0 + 60)
