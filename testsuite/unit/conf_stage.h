/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A stage for the tests of vsphere.conf: files in a directory of their own, and
 * Slurm's configuration, nodes and partitions as data. */
#ifndef CONF_STAGE_H
#define CONF_STAGE_H

#include <stdbool.h>
#include <stdint.h>
#include "plugins/conf/load.h"

/* cmocka's setup and teardown. */
int stage_up(void **state);
int stage_down(void **state);

const char *stage_dir(void);
/* Write vsphere.conf and read it: the configuration, or NULL with stage_err.
 * Freed by stage_down. "%P" in text is the password file's path. */
struct vs_conf *stage_read(const char *text);
/* The same and Slurm's nodes with it. */
struct vs_conf *stage_nodes(const char *text);
extern struct vs_err stage_err;

/* A whole file that is right; `more` is added at its end. */
char *stage_text(const char *more);
#define STAGE_TOP							\
	"VCenter=https://vc.example.org\n"				\
	"VCenterUser=slurm@vsphere.local\n"				\
	"VCenterPasswordFile=%P\n"						\
	"Datacenter=DC0 Folder=slurm Datastore=vsan\n"
#define STAGE_LINES							\
	"VSphereCluster=HPC1 ResourcePool=slurm\n"				\
	"AdapterName=sriov-roce Type=sriov Network=ROCE-PG MTU=9000\n"	\
	"AdapterName=vmxnet3 Type=vmxnet3 Network=VM-PG\n"		\
	"PartitionName=roce Adapter=sriov-roce Template=rhel9-ofed\n"

/* slurm.conf. */
void stage_node(const char *name, const char *features, int cpus,
		uint64_t memory, bool cloud);
/* nodes: indexes in order of stage_node, as a string of digits. */
void stage_partition(const char *name, const char *nodes, bool exclusive);
/* The last partition's SuspendTime and SelectTypeParameters. */
void stage_partition_has(uint32_t suspend_time, uint16_t select_params);
/* The last node was created at run time. */
void stage_created(void);
/* A place in the table for a node that is not there. */
void stage_hole(void);
/* "NAME: WHY" of the nodes that were refused, one after the other. */
const char *stage_refused(void);
/* A key of slurm.conf by its name; NULL: not given. */
void stage_slurm(const char *key, const char *value);

#endif
