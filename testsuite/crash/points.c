/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints every crash point that this build declares, one a line: the list that
 * the crash matrix runs. Built with --enable-crash-points alone.
 */
#include <stdio.h>
#include "util/crash.h"

static void print(const char *point)
{
	puts(point);
}

int main(void)
{
	vs_crash_list(print);
	return 0;
}
