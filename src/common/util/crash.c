/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See crash.h. Built with --enable-crash-points alone.
 *
 * Every point is declared here, and the crash matrix runs all that are: one
 * that is reached without being declared ends the process, so that a new step
 * can't be left out. Nothing is flushed, unlocked or freed on the way out.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "util/crash.h"
#include "util/mem.h"

#define CHANGES "CloneVM_Task", "ReconfigVM_Task", "RelocateVM_Task",	\
	"PowerOnVM_Task", "PowerOffVM_Task", "ShutdownGuest", "Destroy_Task", \
	"CreateSnapshot_Task", "InstantClone_Task"

static const char *const calls[] = {
	CHANGES, "CancelTask",
	"system?action=hello", "vimServiceVersions.xml", "content", "Login",
	"Logout", "CreateContainerView", "DestroyView", "FindByInventoryPath",
	"HasUserPrivilegeOnEntities", "PlaceVm", "QueryConfigTarget",
	"CreatePropertyCollector",
	"CreateFilter", "CreateListView", "ModifyListView",
	"RetrievePropertiesEx",
	"ContinueRetrievePropertiesEx", "WaitForUpdatesEx", "recentTask", NULL,
};
static const char *const ends[] = { CHANGES, "adopted", NULL };
static const char *const states[] = {
	"waiting", "hello", "content", "login", "resolve", "watch", "load",
	"up", NULL,
};
static const char *const words[] = {
	"rebuild", "power_down", "fail", "giveup", "scan", "prolog", "epilog",
	"got", "reason", "schedule", "boot_push", "booted", "adopt", "drain",
	"undrain", "power_up", "resvs", NULL,
};
static const char *const holds[] = { "take", "drop", NULL };
static const char *const files[] = {
	"slurm_vsphere.hints", "slurm_vsphere.id", NULL,
};
static const char *const core[] = {
	"renew", "ready", "job_begin", "job_wait", "job_end", "job_claim",
	"make_room", NULL,
};

static const struct group {
	const char *name;
	const char *const *names;
} groups[] = {
	{ "send", calls },	/* queued | all of it handed to the network */
	{ "answer", calls },	/* has come | has been taken to heart */
	{ "end", ends },	/* of a change: the same */
	{ "state", states },	/* of the client's connection */
	{ "tell", words },	/* a word to Slurm */
	{ "hold", holds },
	{ "write", files },	/* the new file beside the old one */
	{ "rename", files },
	{ "core", core },
};

void vs_crash_list(void (*each)(const char *point))
{
	for (size_t g = 0; g < VS_COUNT(groups); g++)
		for (const char *const *w = groups[g].names; *w; w++) {
			char name[96];

			snprintf(name, sizeof(name), "%s.%s", groups[g].name,
				 *w);
			each(name);
		}
}

static bool declared(const char *group, const char *what)
{
	for (size_t g = 0; g < VS_COUNT(groups); g++)
		for (const char *const *w = groups[g].names; *w; w++)
			if (!strcmp(groups[g].name, group) &&
			    !strcmp(*w, what))
				return true;
	return false;
}

static void note(const char *file, const char *line)
{
	VS_CLOSE int fd = open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC,
			       0600);

	if (fd < 0 || write(fd, line, strlen(line)) < 0)
		abort();
}

static void die(const char *line)
{
	if (write(STDERR_FILENO, line, strlen(line)) >= 0)
		kill(getpid(), SIGKILL);
	for (;;)
		pause();
}

void vs_crash(const char *side, const char *group, const char *what)
{
	static atomic_int times;
	const char *wanted = getenv("VS_CRASH");
	const char *trace = getenv("VS_CRASH_TRACE");
	const char *name = strrchr(what, '/') ? strrchr(what, '/') + 1 : what;
	char line[160];
	size_t len;

	snprintf(line, sizeof(line), "%s:%s.%s\n", side, group, name);
	len = strlen(line) - 1;
	if (!declared(group, name)) {
		fprintf(stderr, "crash point %.*s is not declared in util/crash.c\n",
			(int)len, line);
		abort();
	}
	if (trace)
		note(trace, line);
	if (wanted && !strncmp(wanted, line, len) && wanted[len] == ':' &&
	    atomic_fetch_add(&times, 1) + 1 == strtol(wanted + len + 1, NULL, 10))
		die(line);
}
