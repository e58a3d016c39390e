/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stock cons_tres, asked about a job. */
#ifndef VS_PLUGINS_SELECT_CONS_TRES_VSPHERE_STOCK_H
#define VS_PLUGINS_SELECT_CONS_TRES_VSPHERE_STOCK_H

#include "job_test.h"

/* Asks stock cons_tres just that. Returns its code; on success bitmap has the
 * nodes. The caller holds the locks of select_p_job_test(). */
int vs_stock_query(const struct vs_test *t, bitstr_t *bitmap);

#endif
