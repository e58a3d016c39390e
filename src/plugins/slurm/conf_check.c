/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The settings of slurm.conf that slurm-vsphere needs or recommends: one table,
 * for the start of slurmctld and for `svf check`. A hard finding keeps the
 * plugin from starting; after a reconfigure it can only be reported.
 *
 * Rules: the caller holds slurm_conf's lock; a row looks at slurm_conf and at
 * the bounds that it is given, at nothing else. slurm-vsphere-check links this file
 * without slurmctld; what needs slurmctld's locks is in conf_check_locked.c.
 */
#include <strings.h>
#include "conf_check.h"
#include "compat.h"
#include "util/mem.h"

/* ---- what is looked at ------------------------------------------------------ */

static bool no_suspend_program(const struct vs_slurm_bounds *b)
{
	(void)b;
	return !slurm_conf.suspend_program || !*slurm_conf.suspend_program;
}

static bool no_resume_program(const struct vs_slurm_bounds *b)
{
	(void)b;
	return !slurm_conf.resume_program || !*slurm_conf.resume_program;
}

static bool is_time(uint32_t suspend_time)
{
	return suspend_time != INFINITE && suspend_time != NO_VAL;
}

static int part_has_time(void *x, void *arg)
{
	bool *found = arg;

	*found = *found || is_time(((const part_record_t *)x)->suspend_time);
	return 0;
}

/*
 * Slurm's own rule (_init_power_config() in power_save.c): power saving runs if
 * the cluster or any partition has a SuspendTime, from 26.05 on also if a node
 * has. A cluster with other nodes has SuspendTime=INFINITE, and a time in the
 * lines of the VMs' partitions.
 */
static bool no_suspend_time(const struct vs_slurm_bounds *b)
{
	bool found = is_time(slurm_conf.suspend_time);
	const node_record_t *n;

	(void)b;
	if (!found && part_list)
		list_for_each(part_list, part_has_time, &found);
	for (int i = 0; !found && (n = next_node(&i)); i++)
		found = is_time(vs_node_line_suspend_time(n));
	return !found;
}

/* Of a job's share in a node, what the system tests run; the flags beside it are
 * stock cons_tres's alone. */
const char *vs_select_untested(uint16_t params)
{
	static const struct { uint16_t shares; const char *name; } untested[] = {
		{ VS_CR(CPU) | VS_CR(MEMORY), "CR_CPU_Memory" },
		{ VS_CR(SOCKET), "CR_Socket" },
		{ VS_CR(MEMORY), "CR_Memory" },
	};
	const uint16_t all = VS_CR(CPU) | VS_CR(CORE) | VS_CR(SOCKET) |
		VS_CR(MEMORY);

	for (size_t i = 0; i < VS_COUNT(untested); i++)
		if ((params & all) == untested[i].shares)
			return untested[i].name;
	return NULL;
}

static bool select_untested(const struct vs_slurm_bounds *b)
{
	(void)b;
	return vs_select_untested(slurm_conf.select_type_param);
}

static bool no_prep(const struct vs_slurm_bounds *b)
{
	const char *at = slurm_conf.prep_plugins, *ours = "prep/vsphere";

	(void)b;
	while (at && *at) {
		size_t len = strcspn(at, ", ");

		if (len == strlen(ours) && !strncasecmp(at, ours, len))
			return false;
		at += len + !!at[len];
	}
	return true;
}

/* What it is by default, by the names of all releases, is flat. */
static bool ordered_topology(const struct vs_slurm_bounds *b)
{
	static const char *const flat[] = { "none", "default", "flat" };
	const char *plugin = slurm_conf.topology_plugin;
	const char *slash = plugin ? strrchr(plugin, '/') : NULL;

	(void)b;
	if (!plugin || !*plugin)
		return false;
	for (size_t i = 0; i < VS_COUNT(flat); i++)
		if (!strcasecmp(slash ? slash + 1 : plugin, flat[i]))
			return false;
	return true;
}

static bool throttles(uint16_t rate)
{
	return rate != 0 && rate < 1000;
}

static bool resume_rate(const struct vs_slurm_bounds *b)
{
	(void)b;
	return throttles(slurm_conf.resume_rate);
}

static bool suspend_rate(const struct vs_slurm_bounds *b)
{
	(void)b;
	return throttles(slurm_conf.suspend_rate);
}

static bool no_return(const struct vs_slurm_bounds *b)
{
	(void)b;
	return slurm_conf.ret2service != 2;
}

static bool no_alloc(const struct vs_slurm_bounds *b)
{
	(void)b;
	return !(slurm_conf.prolog_flags & PROLOG_FLAG_ALLOC);
}

static bool holds(const struct vs_slurm_bounds *b)
{
	(void)b;
	return !xstrstr(slurm_conf.sched_params, "nohold_on_prolog_fail");
}

static bool hides_cloud(const struct vs_slurm_bounds *b)
{
	(void)b;
	return vs_private_cloud_missing();
}

/* Is it in a list like "vf:8,other"? */
static bool listed(const char *list, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = list; at && *at; at += !!*at) {
		size_t word = strcspn(at, ":=,;");

		if (word == len && !strncasecmp(at, name, len))
			return true;
		at += strcspn(at, ",;");
	}
	return false;
}

static bool vf_not_kept(const struct vs_slurm_bounds *b)
{
	(void)b;
	return listed(slurm_conf.licenses, "vf") &&
	       !listed(slurm_conf.accounting_storage_tres, "license/vf");
}

static bool vf_not_counted(const struct vs_slurm_bounds *b)
{
	(void)b;
	return !listed(slurm_conf.licenses, "vf") &&
	       listed(slurm_conf.accounting_storage_tres, "license/vf");
}

/* As parse_rlimits() of slurm_rlimits_info.c reads its lists. */
static bool names_memlock(const char *list)
{
	static const char prefix[] = "RLIMIT_", delimiters[] = ", \t\n";

	for (const char *at = list; *at; at += strspn(at, delimiters)) {
		size_t len = strcspn(at, delimiters);
		size_t skip = strncmp(at, prefix, sizeof(prefix) - 1) ?
			0 : sizeof(prefix) - 1;

		if (len - skip == strlen("MEMLOCK") &&
		    !strncmp(at + skip, "MEMLOCK", len - skip))
			return true;
		at += len;
	}
	return !strcmp(list, "ALL");
}

/* Slurm's default is PropagateResourceLimits=ALL. It ignores that key where the
 * other one is set. */
static bool memlock_propagated(const struct vs_slurm_bounds *b)
{
	const char *except = slurm_conf.propagate_rlimits_except;
	const char *some = slurm_conf.propagate_rlimits;

	if (!b || !b->rdma)
		return false;
	if (except && *except)
		return !names_memlock(except);
	return !some || !*some || names_memlock(some);
}

/* Slurm works out each node's timeouts from its partitions
 * (power_save_set_timeouts() in power_save.c). Without slurmctld no partition has
 * nodes: then it is the partition's own. Returns the least of a VM's node, or `than`
 * if none is less. */
static uint16_t least_of_part(const part_record_t *part_ptr, bool resume,
			      uint16_t than)
{
	const node_record_t *n;
	uint16_t own = resume ? part_ptr->resume_timeout :
		part_ptr->suspend_timeout;

	if (!part_ptr->node_bitmap)
		return MIN(own, than);
	for (int i = 0; (n = next_node(&i)); i++) {
		uint16_t is = resume ? n->resume_timeout : n->suspend_timeout;

		if (IS_NODE_CLOUD(n) && is != NO_VAL16 && is < than &&
		    bit_test(part_ptr->node_bitmap, n->index))
			than = is;
	}
	return than;
}

static int part_has_name(void *x, void *name)
{
	return !xstrcmp(((const part_record_t *)x)->name, name);
}

/* Not by find_part_record(), which only slurmctld has. */
static uint16_t least_timeout(const struct vs_slurm_bounds *b, bool resume)
{
	VS_FREE char *names = vs_strdup(b && b->partitions ? b->partitions : "");
	char *save = NULL;
	uint16_t least = NO_VAL16;

	for (char *name = strtok_r(names, ",", &save); name;
	     name = strtok_r(NULL, ",", &save)) {
		const part_record_t *part_ptr = part_list ?
			list_find_first(part_list, part_has_name, name) : NULL;

		if (part_ptr)
			least = least_of_part(part_ptr, resume, least);
	}
	if (least != NO_VAL16)
		return least;
	return resume ? slurm_conf.resume_timeout : slurm_conf.suspend_timeout;
}

/* While a VM is not on, vs_slurm_nodes_boot_push() leaves its node half of ResumeTimeout,
 * and that half has to cover the boot. Slurm keeps 16 bits. */
static int resume_needed(const struct vs_slurm_bounds *b)
{
	return MIN(2 * b->boot_timeout_s, NO_VAL16 - 1);
}

static bool short_resume(const struct vs_slurm_bounds *b)
{
	return b && least_timeout(b, true) < resume_needed(b);
}

static bool short_suspend(const struct vs_slurm_bounds *b)
{
	return b && least_timeout(b, false) < b->shutdown_grace_s;
}

/* ---- the table --------------------------------------------------------------- */

enum value { MISSING, RESUME_RATE, SUSPEND_RATE, RET2SERVICE, SUSPEND_TIMEOUT,
	     RESUME_TIMEOUT, TOPOLOGY, PREP, SELECT, MEMLOCK };

static const struct row {
	enum vs_check code;
	bool (*bad)(const struct vs_slurm_bounds *b);
	enum value is;
	const char *should;	/* and how it is written, but for lists: */
	const char *add;	/* to what a site may have there, or NULL */
	const char *text;	/* in the log; of hard ones, why we don't start */
} rows[] = {
	{ VS_CHECK_SLURM_SUSPEND_PROGRAM, no_suspend_program, MISSING,
	  "SuspendProgram=/bin/true", NULL,
	  "SuspendProgram is missing; without it Slurm never powers a VM up or "
	  "down (SuspendProgram=/bin/true will do)" },
	{ VS_CHECK_SLURM_RESUME_PROGRAM, no_resume_program, MISSING,
	  "ResumeProgram=/bin/true", NULL,
	  "ResumeProgram is missing; without it Slurm never powers a VM up or "
	  "down (ResumeProgram=/bin/true will do)" },
	{ VS_CHECK_SLURM_SUSPEND_TIME, no_suspend_time, MISSING,
	  "SuspendTime=600",
	  "SuspendTime=600 in the PartitionName= lines of the VMs, or for all nodes",
	  "SuspendTime is missing or INFINITE, and no partition has one; power "
	  "saving must be on (SuspendTime=600 in the VMs' PartitionName= lines, "
	  "say)" },
	{ VS_CHECK_SLURM_SELECT, select_untested, SELECT,
	  "SelectTypeParameters=CR_Core_Memory", NULL,
	  "is not tested with slurm-vsphere: set SelectTypeParameters=CR_CPU, "
	  "CR_Core, CR_Core_Memory or CR_Socket_Memory" },
	{ VS_CHECK_SLURM_PREP, no_prep, PREP,
	  "PrEpPlugins=prep/script,prep/vsphere",
	  "add to PrEpPlugins= (prep/script by default): prep/vsphere",
	  "prep/vsphere is not in PrEpPlugins (PrEpPlugins=prep/script,"
	  "prep/vsphere keeps Prolog and Epilog); without it jobs start before "
	  "their VMs are there" },
	{ VS_CHECK_SLURM_TOPOLOGY, ordered_topology, TOPOLOGY,
	  "no TopologyPlugin=", "leave TopologyPlugin= out",
	  "ties node names to switches, but VMs move between hosts; leave it "
	  "out and name switches by vsphere.conf's ESXiHost= (Placement=pack "
	  "uses them)" },
	{ VS_CHECK_SLURM_RESUME_RATE, resume_rate, RESUME_RATE, "ResumeRate=0",
	  NULL,
	  "ResumeRate throttles VMs to that many a minute; vsphere.conf's "
	  "MaxProvisionOps does it better: set ResumeRate=0" },
	{ VS_CHECK_SLURM_SUSPEND_RATE, suspend_rate, SUSPEND_RATE,
	  "SuspendRate=0", NULL, NULL },
	{ VS_CHECK_SLURM_RETURN, no_return, RET2SERVICE, "ReturnToService=2",
	  NULL,
	  "ReturnToService is not 2: a VM that comes back by itself stays DOWN" },
	{ VS_CHECK_SLURM_PROLOG, no_alloc, MISSING, "PrologFlags=Alloc",
	  "add to PrologFlags=: Alloc",
	  "PrologFlags=Alloc is missing: a job may start before all its "
	  "nodes' RDMA devices are checked" },
	{ VS_CHECK_SLURM_HOLD, holds, MISSING,
	  "SchedulerParameters=nohold_on_prolog_fail",
	  "add to SchedulerParameters=: nohold_on_prolog_fail",
	  "SchedulerParameters=nohold_on_prolog_fail is missing: a job whose node "
	  "fails its device check is held, not requeued" },
	{ VS_CHECK_SLURM_MEMLOCK, memlock_propagated, MEMLOCK,
	  "PropagateResourceLimitsExcept=MEMLOCK",
	  "add to PropagateResourceLimitsExcept=: MEMLOCK", NULL },
	{ VS_CHECK_SLURM_CLOUD, hides_cloud, MISSING, "PrivateData=cloud",
	  "add to PrivateData=: cloud",
	  "PrivateData=cloud is missing: sinfo hides powered-down VMs" },
	{ VS_CHECK_SLURM_VF_TRES, vf_not_kept, MISSING,
	  "AccountingStorageTRES=license/vf",
	  "add to AccountingStorageTRES=: license/vf",
	  "Licenses= has vf, and AccountingStorageTRES= has no license/vf: "
	  "jobs' VFs are neither stored in the database nor limited" },
	{ VS_CHECK_SLURM_VF_LICENSE, vf_not_counted, MISSING,
	  "Licenses=vf:N, N the number of VFs",
	  "add to Licenses=: vf:N, N the number of VFs",
	  "AccountingStorageTRES= has license/vf, and Licenses= has no vf: "
	  "no job's VFs are counted (Licenses=vf:N, with the number of VFs)" },
	{ VS_CHECK_SLURM_RESUME_TIMEOUT, short_resume, RESUME_TIMEOUT,
	  NULL, NULL, NULL },
	{ VS_CHECK_SLURM_SUSPEND_TIMEOUT, short_suspend, SUSPEND_TIMEOUT,
	  NULL, NULL, NULL },
};

static void value_of(enum value which, const struct vs_slurm_bounds *b, char *out,
		     size_t size)
{
	switch (which) {
	case RESUME_RATE:
		snprintf(out, size, "%u", slurm_conf.resume_rate);
		break;
	case SUSPEND_RATE:
		snprintf(out, size, "%u", slurm_conf.suspend_rate);
		break;
	case RET2SERVICE:
		snprintf(out, size, "%u", slurm_conf.ret2service);
		break;
	case SUSPEND_TIMEOUT:
		snprintf(out, size, "%u", least_timeout(b, false));
		break;
	case RESUME_TIMEOUT:
		snprintf(out, size, "%u", least_timeout(b, true));
		break;
	case TOPOLOGY:
		snprintf(out, size, "%s", slurm_conf.topology_plugin);
		break;
	case PREP:
		snprintf(out, size, "%s", slurm_conf.prep_plugins ?
			 slurm_conf.prep_plugins : "missing");
		break;
	case SELECT:
		snprintf(out, size, "%s",
			 vs_select_untested(slurm_conf.select_type_param));
		break;
	case MEMLOCK:
		if (slurm_conf.propagate_rlimits_except)
			snprintf(out, size, "PropagateResourceLimitsExcept=%s",
				 slurm_conf.propagate_rlimits_except);
		else
			snprintf(out, size, "PropagateResourceLimits=%s",
				 slurm_conf.propagate_rlimits ?
				 slurm_conf.propagate_rlimits : "ALL");
		break;
	case MISSING:
		snprintf(out, size, "missing");
		break;
	}
}

static char *should_be(const struct row *r, const struct vs_slurm_bounds *b)
{
	if (r->is == RESUME_TIMEOUT)
		return vs_asprintf("ResumeTimeout=%d", resume_needed(b));
	if (r->is == SUSPEND_TIMEOUT)
		return vs_asprintf("SuspendTimeout=%d", b->shutdown_grace_s);
	return vs_strdup(r->should);
}

void vs_slurm_checks(const struct vs_slurm_bounds *b, vs_slurm_found *fn,
		     void *arg)
{
	for (size_t i = 0; i < VS_COUNT(rows); i++) {
		const struct row *r = &rows[i];
		VS_FREE char *should = NULL;
		char is[256];

		if (!r->bad(b))
			continue;
		value_of(r->is, b, is, sizeof(is));
		should = should_be(r, b);
		fn(arg, r->code, is, should, r->add ? r->add : should);
	}
}

/* Each says it once in a process's life: reconfigure would repeat them. */
static void warn_once(const struct row *r, bool bad, bool *said)
{
	if (bad && !*said)
		error("slurm-vsphere: slurm.conf: %s", r->text);
	*said = bad;
}

int vs_conf_check_slurm(struct vs_err *err)
{
	static bool said[VS_COUNT(rows)];
	VS_FREE char *text = NULL;

	for (size_t i = 0; i < VS_COUNT(rows); i++) {
		const struct row *r = &rows[i];
		char is[256];

		if (vs_check_kinds[r->code].severity != VS_HARD || !r->bad(NULL))
			continue;
		value_of(r->is, NULL, is, sizeof(is));
		text = r->is == TOPOLOGY ?
			vs_asprintf("TopologyPlugin=%s %s", is, r->text) :
			r->is == SELECT ?
			vs_asprintf("SelectTypeParameters=%s %s", is, r->text) :
			vs_strdup(r->text);
		return vs_err_set(err, VS_E_CONFIG, "slurm.conf: %s", text);
	}
	for (size_t i = 0; i < VS_COUNT(rows); i++)
		if (rows[i].text &&
		    vs_check_kinds[rows[i].code].severity != VS_HARD)
			warn_once(&rows[i], rows[i].bad(NULL), &said[i]);
	return 0;
}
