/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The control channel's stage: private munged daemons, a core that answers from
 * a script, a clock that can be moved, and a client that is not svf's.
 */
#ifndef CONTROL_STAGE_H
#define CONTROL_STAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "engine/control/control.h"
#include "engine/rpc/message.h"

/* cmocka's group set-up and its end: a directory, one munged in it. */
int stage_open(void **state);
int stage_close(void **state);
extern char stage_dir[];
extern char stage_socket[];		/* munged's */
/* Another munged with a key of its own; its socket. */
const char *stage_stranger(void);

/* A server on a free port with a state directory, no report prepared; its
 * port. */
int stage_start(void);
void stage_clock_forward(int64_t ms);
void stage_clock_stop(void);	/* it stands but for that, however slow we are */
void stage_clock_go(void);

/* A child that doesn't outlive the test, however that ends; the second for one
 * that changes its user. */
pid_t stage_fork(void);
void stage_dies_with_parent(void);

/* The core's part: "hosts" tells {"uid":N}; "nodes" an array that makes the
 * report at least stage_big bytes long; "why" knows job 4711 alone. */
extern _Atomic size_t stage_big;
/* What is answered instead, if not NULL: JSON per verb. */
extern const char *_Atomic stage_report_text[8];	/* hosts, nodes, why, status, plan, jobs, check, objects */

/* ---- the client -------------------------------------------------------- */
int dial(int port);
#define STAGE_CLUSTER "stage"
const char *stage_host(void);		/* this machine's name */
/* {"verb":verb,"job":job,"id":"q"} to the stage's server, sealed for its
 * munged. free() it. */
char *question(const char *verb, uint32_t job);
/* The same to a controller and a cluster, which may be none: "". */
char *question_to(const char *verb, uint32_t job, const char *to,
		  const char *cluster);
void send_frame(int fd, const char *cred);
/* One frame's credential, free() it; NULL when the peer has hung up. Fails the
 * test after thirty seconds. */
char *recv_frame(int fd);
/* The whole exchange: the report's text, or NULL with the refusal in *err (code
 * VS_E_RETRY and "hung up" if there was none). parts may be NULL. */
char *ask(int port, const char *verb, uint32_t job, struct vs_err *err,
	  unsigned int *parts);
char *ask_to(int port, const char *verb, uint32_t job, const char *to,
	     const char *cluster, struct vs_err *err, unsigned int *parts);
/* Connections since the server's start, by the lines that it logs. */
struct stage_counts { uint64_t served, refused, expired; };
struct stage_counts counts(void);

#endif
