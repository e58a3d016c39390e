# SPDX-License-Identifier: GPL-2.0-or-later

# No test itself: check.sh replay compares what it prints (replay.py).
noinst_PROGRAMS += testsuite/replay/replay
testsuite_replay_replay_LDADD = src/common/libvs_core.la -lpthread
