/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stock cons_tres: Slurm loads this plugin, and this file loads the stock one.
 * Here is the only call of its select_p_job_test(). The time that it takes is not
 * counted as the plugin's own.
 */
#include "stock.h"
#include "plugins/slurm/call_timing.h"
#include "util/mem.h"

#define SYMBOL(name, type, params, args) "select_p_" #name,

static const char *symbols[] = {
	"select_p_node_init",
	"select_p_reconfigure",
	"select_p_job_test",
	"select_p_job_begin",
	"select_p_job_fini",
	"select_p_job_resized",
	"select_p_job_expand",
	VS_SYMBOLS(SYMBOL)
};
struct vs_stock vs_stock;
_Static_assert(sizeof(vs_stock) == VS_COUNT(symbols) * sizeof(void *),
	       "one member for each symbol");

static plugin_handle_t handle = PLUGIN_INVALID_HANDLE;

bool vs_stock_is_loaded(void)
{
	return handle != PLUGIN_INVALID_HANDLE;
}

int vs_stock_load(void)
{
	if (!vs_stock_is_loaded())
		handle = plugin_load_and_link("select/cons_tres",
					      VS_COUNT(symbols), symbols,
					      (void **)&vs_stock);
	return vs_stock_is_loaded() ? 0 : -1;
}

void vs_stock_unload(void)
{
	if (vs_stock_is_loaded())
		plugin_unload(handle);
	handle = PLUGIN_INVALID_HANDLE;
}

int vs_stock_query(const struct vs_test *t, bitstr_t *bitmap)
{
	int rc;

	vs_timed_others_begin();
	rc = vs_stock.job_test(t->job_ptr, bitmap, t->min, t->max, t->req,
			       t->mode, t->candidates, t->preempted,
			       t->exc VS_XPASS(t));
	vs_timed_others_end();
	return rc;
}
