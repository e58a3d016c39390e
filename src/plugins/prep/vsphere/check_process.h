/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The question to slurm-vsphere-guest or slurm-vsphere-port (contribs/guest), from
 * slurmd. */
#ifndef VS_PLUGINS_PREP_VSPHERE_CHECK_PROCESS_H
#define VS_PLUGINS_PREP_VSPHERE_CHECK_PROCESS_H

#include <stddef.h>

enum vs_port_answer {
	VS_PORT_RIGHT,
	VS_PORT_WRONG,		/* why has its sentence */
	VS_PORT_UNASKED,	/* the program isn't there, or doesn't understand */
};

/*
 * Run argv[0] (a path) with argv, NULL at its end, for at most timeout_ms. One
 * that doesn't answer in time is ended, and is an answer: wrong. One that can't
 * be ended is left to init: the caller never has a child afterwards.
 */
enum vs_port_answer vs_port_check(const char *const argv[], int timeout_ms,
				  char *why, size_t size);

#endif
