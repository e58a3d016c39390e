/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vHPC-toolkit's cluster files: what they say of VMs. */
#ifndef SVF_IMPORT_H
#define SVF_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include "util/buf.h"
#include "util/err.h"

#define SVF_IMPORT_TEXT_MAX (256 * 1024)
#define SVF_IMPORT_CONF_MAX (16 * 1024 * 1024)
#define SVF_IMPORT_VMS_MAX 10000

/* The toolkit's keys, of VMs and of switches: those of 1.0.3's cluster.py, and
 * barrier, which 0.2.0 had. */
enum svf_key {
	SVF_K_TEMPLATE, SVF_K_CPU, SVF_K_MEMORY, SVF_K_DATACENTER,
	SVF_K_VM_FOLDER, SVF_K_CLUSTER, SVF_K_RESOURCE_POOL, SVF_K_DATASTORE,
	SVF_K_SRIOV, SVF_K_PVRDMA, SVF_K_PORT_GROUP, SVF_K_PF, SVF_K_LATENCY,
	SVF_K_HOST, SVF_K_CPU_RESERVATION, SVF_K_MEMORY_RESERVATION,
	SVF_K_LINKED, SVF_K_INSTANT, SVF_K_POWER, SVF_K_DEVICE, SVF_K_VGPU,
	SVF_K_MMIO, SVF_K_CPU_SHARES, SVF_K_MEMORY_SHARES, SVF_K_ADAPTER_NUMBER,
	SVF_K_DVS_NAME, SVF_K_DHCP, SVF_K_IP, SVF_K_NETMASK, SVF_K_GATEWAY,
	SVF_K_DNS, SVF_K_DOMAIN, SVF_K_HOSTNAME, SVF_K_USERNAME, SVF_K_PASSWORD,
	SVF_K_SCRIPT, SVF_K_BARRIER, SVF_K_SEQUENCE, SVF_K_CORES,
	SVF_K_SECURE_BOOT, SVF_K_GUEST_MTU, SVF_K_SRIOV_DVS, SVF_K_SVS_NAME,
	SVF_K_NAME, SVF_K_PNIC, SVF_K_MTU,	/* of switches alone */
	SVF_KEYS
};
const char *svf_key_name(enum svf_key k);

struct svf_pos { int line, col; };	/* both from 1 */
struct svf_imported {
	char *name;
	/* NULL: not said. Of keys that may stand several times (sriov_port_group,
	 * pf, sriov_dvs_name, script, sequence) one a line, in their order. */
	char *values[SVF_KEYS];
	struct svf_pos at[SVF_KEYS];
};
struct svf_cluster {
	struct svf_imported *vms;	/* in the file's order, ranges unfolded */
	size_t nvms, cap;
	struct svf_imported *switches;	/* of _SVS_ and _DVS_ */
	size_t nswitches, cap_switches;
};

/*
 * As the toolkit reads it, but strictly: what it would pass over, or run into,
 * is an error "line L column C: ...", VS_E_CONFIG, -1. Nothing is evaluated.
 * To be freed in either case.
 */
int svf_import_parse(struct svf_cluster *im, const char *text, size_t len,
		     struct vs_err *err);
void svf_import_free(struct svf_cluster *im);
/* Would svf conf take it? -1: no, err says why. */
int svf_import_check(const char *conf, struct vs_err *err);

/* Does it say ${...}, which whoever uses the file is to replace? Braces that a
 * digit follows are a range. */
bool svf_variable(const char *s);
/* With CHANGE-ME in place of each ${...}, to be free()d. */
char *svf_filled(const char *s);
/* How many lines a value has, 0: NULL. */
size_t svf_lines(const char *v);
/* Its i-th line, from 0, to be free()d; NULL: it has fewer. */
char *svf_line(const char *v, size_t i);
/* With commas between them, to be free()d; NULL: "". */
char *svf_commas(const char *v);

/* "{x:y}" in a text: the number of values, 0: there is none; *doubled for
 * "{{x:y}}". -1: braces that are no range. */
int svf_range(const char *s, bool *doubled);
/* Its i-th value, from 0, to be free()d. */
char *svf_range_at(const char *s, int i);

/* vsphere.conf's text and lines for slurm.conf, to be free()d. -1: there is
 * nothing that could be made of it. */
int svf_import_conf(const struct svf_cluster *im, char **conf,
		    struct vs_err *err);

/* ---- import_hardware.c -------------------------------------------------------- */
/* " CPUReservation=full CPUShares=500": what the VM's line has of it, to be
 * free()d. */
char *svf_import_hardware(const struct svf_imported *vm);
bool svf_import_hardware_same(const struct svf_imported *a,
			      const struct svf_imported *b);
/* -1: vCenter would not take it. */
int svf_import_hardware_check(const struct svf_imported *vm, struct vs_err *err);
/* Of a word that is yes or no: is it yes? */
bool svf_import_yes(const char *v);

/* ---- import_notes.c ---------------------------------------------------------- */
void svf_import_notes(struct vs_buf *out, const struct svf_cluster *im);
/* What the switch of a VM's (first) card says: the one that the VM names, else
 * the one with the card's port group. NULL: nothing. */
const char *svf_import_mtu(const struct svf_cluster *im,
			   const struct svf_imported *vm, enum svf_key card);

#endif
