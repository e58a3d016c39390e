/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stock cons_tres: its functions, and what it says about a job. */
#ifndef VS_PLUGINS_SELECT_CONS_TRES_VSPHERE_STOCK_H
#define VS_PLUGINS_SELECT_CONS_TRES_VSPHERE_STOCK_H

#include "job_test.h"

#define VS_STOCK_MEMBER(name, type, params, args) type (*name) params;

/* The functions of select/cons_tres that this plugin calls, without their
 * select_p_. All are NULL until vs_stock_load(). Unit tests set job_test. */
extern struct vs_stock {
	int (*node_init)(void);
	int (*reconfigure)(void);
	vs_job_test_fn *job_test;
	int (*job_begin)(job_record_t *job_ptr);
	int (*job_fini)(job_record_t *job_ptr);
	int (*job_resized)(job_record_t *job_ptr, node_record_t *node_ptr);
	int (*job_expand)(job_record_t *from, job_record_t *to);
	VS_SYMBOLS(VS_STOCK_MEMBER)
} vs_stock;

/* Loads select/cons_tres from Slurm's PluginDir, if it is not loaded. Returns 0.
 * Returns -1 if there is none, or if it lacks a function. */
int vs_stock_load(void);
bool vs_stock_is_loaded(void);
/* Does nothing if it is not loaded. */
void vs_stock_unload(void);

/* Asks stock cons_tres just that. Returns its code; on success bitmap has the
 * nodes. The caller holds the locks of select_p_job_test(). */
int vs_stock_query(const struct vs_test *t, bitstr_t *bitmap);

#endif
