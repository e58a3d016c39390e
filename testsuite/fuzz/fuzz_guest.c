/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a guest says of itself (guestinfo, as the client delivers it): state,
 * and after a newline its reason, at several instants of a boot.
 *
 * What must hold: nothing crashes; what reaches Slurm as a reason is one
 * printable line; no word of a guest keeps a VM on or takes a second VF.
 */
#include "engine_stage.h"

static bool printable(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			return false;
	return true;
}

static void quiet(enum vs_log_level level, const char *line)
{
	(void)level;
	if (!printable(line))
		abort();
}

static void look(void)
{
	for (size_t i = 0; i < ntold; i++)
		if (!printable(told[i].text))
			abort();
	ntold = 0;
	if (free_on("host-1") + free_on("host-2") < 1 || fake_overfull)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	VS_FREE char *text = vs_calloc(size + 1, 1);
	char *at = text, *line;
	struct fake_vm *vm;

	vs_log_to(quiet);
	memcpy(text, data, size);
	begin(1, 2, 1, "warm");
	ready();
	boot_up(1, "vm1");
	fake_finish(FAKE_POWER_ON);
	turn();
	for (int n = 0; n < 16 && (line = strsep(&at, "\n")); n++) {
		vm = fake_get("vm1");
		if (!vm)
			break;
		vm->guest_state = line;
		vm->guest_reason = strsep(&at, "\n");
		fake_show(vm);
		turns(60);
		look();
		for (int k = 0; k < 4 * FAKE_KINDS; k++)
			if (fake_finish(k % FAKE_KINDS))
				turns(20);
	}
	/* The words go before the text does. */
	if ((vm = fake_get("vm1")))
		vm->guest_state = vm->guest_reason = NULL;
	return 0;
}

#define FUZZ_CORPUS "guest"
#define FUZZ_ROUNDS 1500		/* each boots a VM */
#include "fuzz_main.h"
