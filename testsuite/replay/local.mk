# SPDX-License-Identifier: GPL-2.0-or-later

# No test itself: check.sh replay compares what it prints (replay.py).
noinst_PROGRAMS += testsuite/replay/replay
testsuite_replay_replay_SOURCES = testsuite/replay/replay.c \
	testsuite/replay/client.c testsuite/replay/clone.c \
	testsuite/replay/replay.h
testsuite_replay_replay_LDADD = src/common/libvs_core.la -lpthread
