/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Texts for a terminal. Names come from vCenter, where any user may have chosen
 * them, and answers from any process that listens at an address.
 */
#include "rpc.h"

char *svf_clean(char *s)
{
	for (unsigned char *p = (unsigned char *)s; *p; p++) {
		/* C1 controls in UTF-8 are c2 80 to c2 9f. */
		if (*p < ' ' || *p == 0x7f)
			*p = '?';
		else if (*p == 0xc2 && p[1] >= 0x80 && p[1] <= 0x9f)
			p[0] = p[1] = '?';
	}
	return s;
}
