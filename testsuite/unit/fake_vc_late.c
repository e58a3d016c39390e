/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See fake_vc.h: a call whose answer is lost, and which happens all the same. */
#include "fake_vc_i.h"

bool fake_late(enum fake_kind kind)
{
	struct fake_call *c = fake_oldest(kind);

	if (c)
		c->late = true;
	return c != NULL;
}

bool fake_late_task(struct vs_vc_task *t)
{
	static const char *const names[FAKE_KINDS] = {
		"VirtualMachine.clone", "VirtualMachine.reconfigure",
		"VirtualMachine.relocate", "VirtualMachine.powerOn",
		"VirtualMachine.powerOff", "", "VirtualMachine.destroy", "",
		"VirtualMachine.createSnapshot",
	};

	for (int i = 0; i < fake_ncalls; i++) {
		if (!fake_calls[i].late)
			continue;
		*t = (struct vs_vc_task) {
			.moid = fake_calls[i].task, .name = names[fake_calls[i].kind],
			.entity = fake_calls[i].kind == FAKE_CLONE ?
				fake_calls[i].clone.source : fake_calls[i].vm,
			.state = "running", .user = "slurm",
		};
		return fake_calls[i].kind != FAKE_SHUTDOWN;
	}
	return false;
}

void fake_late_happens(void)
{
	for (int i = 0; i < fake_ncalls; i++)
		if (fake_calls[i].late) {
			fake_calls[i].late = false;
			fake_effect(&fake_calls[i]);
		}
}

bool fake_no_vf(void)
{
	return fake_fault(FAKE_POWER_ON, VS_E_OTHER_HOST, VS_VC_FAULT_NO_VF,
			  "no free VF");
}

bool fake_lose(enum fake_kind kind, bool happens)
{
	struct fake_call *c = fake_oldest(kind);

	if (!c)
		return false;
	if (happens)
		fake_effect(c);
	return fake_fail(kind, VS_E_UNKNOWN, "the reply was lost");
}
