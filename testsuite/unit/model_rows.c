/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The states of a node, Slurm's and its VM's together: the rows of
 * doc/dev/node-states.md, in its order. Each node is in one of them in each turn;
 * the first that fits.
 */
#include <string.h>
#include "fake_vc.h"
#include "model.h"

struct model_row model_rows[] = {
	{ .name = "down, not responding" },
	{ .name = "down" },
	{ .name = "powered down, counted as allocated" },
	{ .name = "powered down, not responding" },
	{ .name = "powered down, foreign VM in its place" },
	{ .name = "powered down, drained" },
	{ .name = "powered down, with a job" },
	{ .name = "powered down, VM out of reach" },
	{ .name = "powered down, VM on" },
	{ .name = "powered down" },
	{ .name = "powering up, foreign VM in its place" },
	{ .name = "powering up, VM out of reach" },
	{ .name = "powering up, no VM" },
	{ .name = "powering up, VM off" },
	{ .name = "powering up, VM on" },
	{ .name = "powering down, VM out of reach" },
	{ .name = "powering down, VM on" },
	{ .name = "powering down, VM off" },
	{ .name = "not responding" },
	{ .name = "up, counted as allocated" },
	{ .name = "up, power-down asked" },
	{ .name = "up, VM out of reach" },
	{ .name = "up, VM off" },
	{ .name = "up, draining with a job" },
	{ .name = "up, drained" },
	{ .name = "up, with a job" },
	{ .name = "up, idle" },
};
const int model_nrows = (int)(sizeof(model_rows) / sizeof(model_rows[0]));

static bool foreign(int k)
{
	const struct fake_vm *vm = fake_get(core_nodes()[k].name);

	return vm && !vm->mark[0];
}

static const char *powered_down(int k, const struct model_node *n)
{
	const struct fake_vm *vm = model_vm(k);

	return n->stale ? "powered down, counted as allocated" :
		n->silent ? "powered down, not responding" :
		foreign(k) ? "powered down, foreign VM in its place" :
		n->drained ? "powered down, drained" :
		model_jobs_on(k) ? "powered down, with a job" :
		vm && model_lost(vm) ? "powered down, VM out of reach" :
		vm && vm->on ? "powered down, VM on" : "powered down";
}

static const char *powering_up(int k)
{
	const struct fake_vm *vm = model_vm(k);

	return foreign(k) ? "powering up, foreign VM in its place" :
		!vm ? "powering up, no VM" :
		model_lost(vm) ? "powering up, VM out of reach" :
		vm->on ? "powering up, VM on" : "powering up, VM off";
}

static const char *up(int k, const struct model_node *n)
{
	const struct fake_vm *vm = model_vm(k);

	return n->silent ? "not responding" :
		n->stale ? "up, counted as allocated" :
		n->off_asked ? "up, power-down asked" :
		vm && model_lost(vm) ? "up, VM out of reach" :
		!vm || !vm->on ? "up, VM off" :
		n->drained ? model_jobs_on(k) ? "up, draining with a job" :
		"up, drained" :
		model_jobs_on(k) ? "up, with a job" : "up, idle";
}

static const char *state_of(int k)
{
	const struct model_node *n = &model.nodes[k];
	const struct fake_vm *vm = model_vm(k);

	if (n->down && !n->timed_out)
		return "down";
	if (n->powering_down)
		return vm && model_lost(vm) ? "powering down, VM out of reach" :
			vm && vm->on ? "powering down, VM on" :
			"powering down, VM off";
	if (n->down)
		return n->powered_down ? "powered down, not responding" :
			"down, not responding";
	return n->powering_up ? powering_up(k) :
		n->powered_down ? powered_down(k, n) : up(k, n);
}

static int row_of(const char *name)
{
	int i = 0;

	while (i < model_nrows - 1 && strcmp(model_rows[i].name, name))
		i++;
	return i;
}

void model_rows_look(void)
{
	for (int k = 0; k < MODEL_NODES; k++) {
		struct model_node *n = &model.nodes[k];
		int row = row_of(state_of(k));

		if (n->row_ms && row == n->row)
			continue;
		if (n->row_ms) {
			model_rows[n->row].left++;
			model_rows[n->row].next[row]++;
		}
		model_rows[row].reached++;
		n->row = row;
		n->row_ms = model.now;
	}
}
