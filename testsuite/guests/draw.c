/* SPDX-License-Identifier: GPL-2.0-or-later */
/* draw.c: in the guest, for tests: prints 32 bytes of getrandom() in hex. */
#include <stdio.h>
#include <sys/random.h>

int main(void)
{
	unsigned char b[32];
	size_t i;

	if (getrandom(b, sizeof(b), 0) != (ssize_t)sizeof(b))
		return 1;
	for (i = 0; i < sizeof(b); i++)
		printf("%02x", b[i]);
	puts("");
	return 0;
}
