/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Crash points: where a build with --enable-crash-points can be told to die by
 * kill -9, exactly before or exactly after a step (testsuite/crash). Any other
 * build has nothing of this: the words below vanish.
 *
 * VS_CRASH=before:tell.drain:1   die at the first time, before it is done
 * VS_CRASH_TRACE=FILE            note in FILE every point that is reached
 *
 * The points stand in the few doors that all steps go through: a call and its
 * answer, an operation's end, a word to Slurm, a hold, a file, a state.
 */
#ifndef VS_UTIL_CRASH_H
#define VS_UTIL_CRASH_H

#ifdef VS_CRASH_POINTS
/* what: a name of the group's (crash.c); of a path, its last part. */
void vs_crash(const char *side, const char *group, const char *what);
/* All points, "group.what". */
void vs_crash_list(void (*each)(const char *point));
#define vs_crash_before(group, what) vs_crash("before", group, what)
#define vs_crash_after(group, what) vs_crash("after", group, what)
#else
#define vs_crash_before(group, what) ((void)0)
#define vs_crash_after(group, what) ((void)0)
#endif

#endif
