/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of what `svf check` can find: one row a code. The checks, the
 * answers' words, `svf check --codes` and the man page come from it. A code is
 * a promise to scripts: it never changes its meaning.
 */
#ifndef VS_PLAN_CHECK_TABLE_H
#define VS_PLAN_CHECK_TABLE_H

enum vs_severity {
	VS_HARD,		/* what it speaks of takes no job */
	VS_WARNING,		/* jobs run, but slower, or less safely */
	VS_UNSURE,		/* it can't be told */
};

enum vs_check {
	/* hosts and their physical functions */
	VS_CHECK_ESXI_OLD, VS_CHECK_ESXI_ODD, VS_CHECK_HOST_REBOOT,
	VS_CHECK_HOST_CLOCK, VS_CHECK_HOST_CORES, VS_CHECK_HOST_MEMORY,
	VS_CHECK_HOST_CORES_VFS, VS_CHECK_HOST_MEMORY_VFS,
	VS_CHECK_HOST_UNREAD, VS_CHECK_POWER_POLICY,
	VS_CHECK_NETWORK_MISSING, VS_CHECK_UPLINK_MISSING,
	VS_CHECK_LINK_DOWN, VS_CHECK_MTU, VS_CHECK_MTU_ODD,
	VS_CHECK_STORE_MISSING,
	VS_CHECK_VF_INCAPABLE, VS_CHECK_VF_OFF, VS_CHECK_VF_INACTIVE,
	VS_CHECK_VF_COUNT,
	VS_CHECK_VF_FEWER, VS_CHECK_VF_LOST, VS_CHECK_VF_OVERCOMMITTED,
	VS_CHECK_PF_CHANGED, VS_CHECK_DRIVER_ODD, VS_CHECK_FIRMWARE_ODD,
	/* templates */
	VS_CHECK_TEMPLATE_MISSING, VS_CHECK_TEMPLATE_HW,
	VS_CHECK_TEMPLATE_GUEST, VS_CHECK_TEMPLATE_CARD,
	VS_CHECK_TEMPLATE_HOT_ADD, VS_CHECK_TEMPLATE_SNAPSHOT,
	VS_CHECK_TEMPLATE_TOOLS,
	/* what hosts share */
	VS_CHECK_STORE_AWAY, VS_CHECK_STORE_ROOM, VS_CHECK_POOL_ROOM,
	VS_CHECK_POOL_NODES,
	VS_CHECK_DRS, VS_CHECK_HA, VS_CHECK_VM_OVERRIDE, VS_CHECK_DPM,
	VS_CHECK_ADAPTER_NETWORK, VS_CHECK_ADAPTER_UPLINK,
	VS_CHECK_ADAPTER_NSX, VS_CHECK_RULE_A,
	VS_CHECK_FOLDER, VS_CHECK_BESIDE, VS_CHECK_CLONES, VS_CHECK_VCENTER,
	/* the account */
	VS_CHECK_RIGHTS_MISSING, VS_CHECK_RIGHTS_EXCESS,
	VS_CHECK_RIGHTS_UNKNOWN,
	/* slurm.conf */
	VS_CHECK_SLURM_SUSPEND_PROGRAM, VS_CHECK_SLURM_RESUME_PROGRAM,
	VS_CHECK_SLURM_SUSPEND_TIME, VS_CHECK_SLURM_PREP,
	VS_CHECK_SLURM_TOPOLOGY, VS_CHECK_SLURM_RESUME_RATE,
	VS_CHECK_SLURM_SUSPEND_RATE, VS_CHECK_SLURM_RETURN,
	VS_CHECK_SLURM_PROLOG, VS_CHECK_SLURM_HOLD, VS_CHECK_SLURM_CLOUD,
	VS_CHECK_SLURM_RESUME_TIMEOUT, VS_CHECK_SLURM_SUSPEND_TIMEOUT,
	VS_CHECK_SLURM_EXCLUDED, VS_CHECK_SLURM_OTHERS,
	VS_CHECKS
};

struct vs_check_kind {
	const char *code;
	enum vs_severity severity;	/* a finding may be milder */
	const char *of;			/* what its objects are */
	const char *what;		/* is found, a phrase */
	const char *why;		/* it matters, a sentence */
};
extern const struct vs_check_kind vs_check_kinds[VS_CHECKS];

const char *vs_severity_name(enum vs_severity s);

#endif
