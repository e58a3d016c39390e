/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults inside data through the client's decoder. Reads "TYPE<TAB>JSON" lines
 * from testsuite/golden, puts each fault into an update set (a task's error, and
 * the missingSet of an object and of a filter), and says what came out of it.
 *
 * What must hold: the update is decoded, what follows the fault in it is
 * delivered, and the fault's type is the one that was generated.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/log.h"
#include "util/mem.h"
#include "vcenter/client/client_i.h"

#define REF(type, id) "{\"_typeName\":\"ManagedObjectReference\"," \
	"\"type\":\"" type "\",\"value\":\"" id "\"}"
#define ENTER(type, id) "{\"kind\":\"enter\",\"obj\":" REF(type, id)
#define DEVICES ",\"changeSet\":[{\"name\":\"config.hardware.device\"," \
	"\"op\":\"assign\",\"val\":[]}]"

/* A VM of which a property is missing, one that is missing, one that is whole;
 * a task that failed, and one that did not. */
static const char update[] = "{\"version\":\"1\",\"filterSet\":["
	"{\"filter\":" REF("PropertyFilter", "f-vms") ",\"objectSet\":["
	ENTER("VirtualMachine", "vm-1") DEVICES ",\"missingSet\":[{\"path\":"
	"\"runtime.host\",\"fault\":%s}]},"
	ENTER("VirtualMachine", "vm-2") DEVICES "},"
	ENTER("VirtualMachine", "vm-3") DEVICES "}],\"missingSet\":[{\"obj\":"
	REF("VirtualMachine", "vm-2") ",\"fault\":%s}]},"
	"{\"filter\":" REF("PropertyFilter", "f-tasks") ",\"objectSet\":["
	ENTER("Task", "task-1") ",\"changeSet\":["
	"{\"name\":\"info.error\",\"op\":\"assign\",\"val\":%s},"
	"{\"name\":\"info.state\",\"op\":\"assign\",\"val\":\"error\"}]},"
	ENTER("Task", "task-2") ",\"changeSet\":["
	"{\"name\":\"info.state\",\"op\":\"assign\",\"val\":\"success\"}]}]}]}";

static struct {
	char type[128];		/* of task-1's error */
	struct vs_err err;	/* what the client makes of it */
	int vms, tasks;
} got;

static void on_vm(void *arg, const struct vs_vc_vm *v)
{
	(void)arg;
	(void)v;
	got.vms++;
}

static int tasks_read(struct vs_inv *inv, struct vs_j set, struct vs_err *err)
{
	struct vcx_task_updates tasks;
	int rc = vs_inv_tasks(inv, set, &tasks, err);

	got.tasks = (int)tasks.n;
	for (size_t i = 0; i < tasks.n; i++) {
		const struct vcx_task_update *t = &tasks.list[i];

		if (strcmp(t->moid, "task-1") ||
		    strcmp(vs_j_str_or(t->state, ""), "error"))
			continue;
		vs_strlcpy(got.type, vs_vcx_fault_type(t->error),
			   sizeof(got.type));
		vs_vcx_fault(t->error, VCX_IN_TASK, &got.err);
	}
	free(tasks.list);
	return rc;
}

static const struct vs_vc_events events = { .vm = on_vm };

static bool is_barred(struct vs_inv *inv, const char *moid)
{
	struct vcx_vm *vm = vs_inv_vm(inv, moid);

	return vm && vs_inv_vm_blocked(vm);
}

/* Returns what is wrong, or NULL. */
static const char *judge(struct vs_inv *inv, const char *type,
			 struct vs_j set, struct vs_err *err)
{
	bool session = !strcmp(type, "NotAuthenticated");

	if (vs_inv_update(inv, set, err))
		/* All of the update is worthless, and so is its document. */
		return session && err->code == VS_E_RELOGIN &&
			!strcmp(err->fault, type) ? NULL :
			"the update is not decoded";
	if (session)
		return "the lost session is not seen";
	vs_inv_flush(inv);
	if (tasks_read(inv, set, err))
		return "its tasks are not decoded";
	if (strcmp(got.type, type))
		return "the task's fault is of another type";
	if (got.err.code == VS_OK || !strstr(got.err.text, "It failed."))
		return "its text is another";
	if (got.vms != 3 || got.tasks != 2)
		return "what stands beside the fault is not delivered";
	if (is_barred(inv, "vm-2") == !strcmp(type, "ManagedObjectNotFound"))
		return "its missing object is taken for another";
	if (is_barred(inv, "vm-1") == !strcmp(type, "ManagedObjectNotFound"))
		return "its missing property is not seen";
	return NULL;
}

static bool one(const char *type, const char *fault)
{
	VS_FREE char *text = vs_asprintf(update, fault, fault, fault);
	struct vs_inv *inv = vs_inv_new(&events, NULL);
	const char *wrong = "no JSON";
	struct vs_err err = { 0 };
	struct vs_jdoc doc;

	memset(&got, 0, sizeof(got));
	inv->filter[VCX_F_VMS] = vs_strdup("f-vms");
	inv->filter[VCX_F_TASKS] = vs_strdup("f-tasks");
	if (!vs_jdoc_parse(&doc, text, strlen(text), &err)) {
		wrong = judge(inv, type, vs_j_root(&doc), &err);
		vs_jdoc_free(&doc);
	}
	if (wrong)
		printf("not ok %s: %s: %s\n  %s\n", type, wrong, err.text,
		       fault);
	vs_inv_free(inv);
	return !wrong;
}

static void quiet(enum vs_log_level level, const char *line)
{
	(void)level;
	(void)line;
}

int main(void)
{
	char *line = NULL;
	size_t size = 0;
	int good = 0, bad = 0;

	vs_log_to(quiet);
	while (getline(&line, &size, stdin) > 0) {
		char *tab = strchr(line, '\t');

		if (!tab)
			continue;
		*tab = '\0';
		if (one(line, tab + 1))
			good++;
		else
			bad++;
	}
	free(line);
	printf("%d faults decoded, %d not\n", good, bad);
	return bad || !good;
}
