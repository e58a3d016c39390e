/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The picture of a site that svf top and svf map show: what the answers say
 * (struct top_model), and how it looks (lines of cells with a style). The code
 * that makes either of them knows no terminal, no clock and no channel;
 * curses.c alone knows ncurses, top.c and ask.c whom to ask and when.
 */
#ifndef SVF_TOP_H
#define SVF_TOP_H

#include "svf/list/list.h"

extern const struct svf_verb svf_top;

/* What a VF is used for. The order is that within its PF. */
enum top_use {
	TOP_JOB,		/* a managed VM, on, that a job has */
	TOP_MAKING,		/* given to a job whose VM isn't on yet */
	TOP_IDLE,		/* a managed VM, on, without a job */
	TOP_HIDDEN,		/* a managed VM; its job isn't for you to see */
	TOP_HELD,		/* given to a node of which no more is known */
	TOP_FOREIGN,		/* a foreign VM */
	TOP_SUSPECT,		/* a VM whose ownership is in doubt */
	TOP_FREE,
	TOP_BARRED,		/* free, but VMs are kept away from it */
	TOP_QUARANTINED,	/* free, but its host is quarantined */
	TOP_UNKNOWN,		/* can't be counted now */
	TOP_USES
};
struct top_use_row {
	char ch;		/* of a VF; a job's letter is its own */
	const char *brief;	/* of the sums: "3 reserved" */
	const char *legend;	/* of svf top's last lines */
	const char *what;
};
extern const struct top_use_row top_uses[TOP_USES];

#define TOP_PF_CELLS 256	/* that are shown of a PF */
#define TOP_COLOURS 12		/* of jobs */

struct top_cell {
	unsigned char use;	/* enum top_use */
	int job;		/* of model.jobs, -1: none */
};

struct top_pf {
	char *pci, *label;	/* label: its name on the host, or the address */
	struct top_cell *cells;
	int ncells, more;	/* more: that aren't shown */
	int over;		/* so many are promised that aren't there */
	bool device;		/* a cell is a device that VMs get whole */
};

struct top_host {
	char *name, *cluster, *state, *reason;	/* "" where there is none */
	struct top_pf *pfs;
	int npfs;
	int total, free;	/* VFs and devices; free: those that a VM may
				 * have now */
	int devices;		/* of total */
	int trouble;		/* 0: up; the greater the worse */
};

struct top_job {
	uint32_t number;
	char *id, *user, *partition, *state, *text, *phase;
	int vfs, devices, making, need;
	int64_t since, expected;	/* s since the epoch, 0: not known */
	bool waits;
	char letter;		/* 'A' to 'Z'; 0: it has no VFs */
	int colour;		/* below TOP_COLOURS */
};

struct top_engine {		/* of "status"; numbers are -1 if not told */
	char *vcenter, *error, *mode;
	bool up, brake;
	int64_t since, in_flight, calls, mutating, nodes, on, off, suspect,
		starts, failures, clones_hour, clones_max;
};

struct top_model {
	char *site;		/* Slurm's cluster, or vCenter's name */
	int64_t at;		/* s since the epoch: when it was asked */
	struct top_host *hosts;
	size_t nhosts;
	struct top_job *jobs;	/* by number */
	size_t njobs;
	struct top_engine engine;
	int uses[TOP_USES];	/* how many VFs */
	char **notes;
	size_t nnotes;
};

/* ---- ask.c ----------------------------------------------------------- */
/* {"at": s, "site": "...", "nodes": <answer>, "hosts":, "jobs":, "status":}
 * into *all, to be freed by vs_jb_free() or put into a document; an exit code
 * and a line on stderr otherwise. */
int top_ask(struct json_object **all);

/* ---- model.c, cells.c -------------------------------------------- */
/* Of such a document. was: the picture before it or NULL; jobs keep their
 * letters. Whatever is absent is left out; read faults are doc->err's. */
struct top_model *top_model_new(struct vs_jdoc *doc,
				const struct top_model *was);
void top_model_free(struct top_model *m);
/* The cells of all PFs, by the counts and by who has which node (the "nodes"
 * array), and what they sum up to. */
void top_cells(struct top_model *m, struct vs_j hosts, struct vs_j nodes);
/* The jobs with VFs get letters; those of was keep theirs. */
void top_letters(struct top_model *m, const struct top_model *was);
/* -1: there is none. */
int top_job_at(const struct top_model *m, int64_t number);
/* The character of a VF: a job's letter, small while its VM isn't on yet. */
char top_cell_char(const struct top_model *m, const struct top_cell *c);

/* ---- line.c: lines of cells -------------------------------------------- */
enum top_style { TOP_PLAIN, TOP_BAR, TOP_HEAD, TOP_DIM, TOP_BAD, TOP_WARN,
		 TOP_OTHER, TOP_JOB0, TOP_STYLES = TOP_JOB0 + TOP_COLOURS };
#define TOP_MARK 0x80		/* found by / */

struct top_glyph {
	uint32_t ch;		/* one column wide */
	unsigned char style;	/* enum top_style, | TOP_MARK */
};
struct top_line {
	struct top_glyph *g;
	int n, cap;
	int max;		/* columns; the rest is cut */
	int of;			/* whose: a host's place, or -1 */
};
struct top_lines {
	struct top_line *l;
	size_t n, cap;
	int width;
};
struct top_line *top_line_new(struct top_lines *ls);
void top_lines_free(struct top_lines *ls);
void top_lines_cut(struct top_lines *ls, size_t n);	/* to n of them */
void top_put(struct top_line *l, int style, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void top_char(struct top_line *l, int style, uint32_t ch);
void top_pad(struct top_line *l, int style, int to);	/* with blanks */
/* How many columns a text takes. */
int top_width(const char *text);
/* Words, broken at blanks; lines after the first begin with indent blanks;
 * at most nlines of them, the last one cut. */
void top_wrap(struct top_lines *ls, int style, int indent, int nlines,
	      const char *text);

/* ---- what there is to see ---------------------------------------------------- */
enum top_order { TOP_BY_NAME, TOP_BY_TROUBLE, TOP_BY_FREE, TOP_BY_USED,
		 TOP_ORDERS };
extern const char *const top_order_names[TOP_ORDERS];

#define TOP_SEARCH_MAX 64
struct top_view {
	int rows, cols;
	enum top_order order;
	size_t at, jobs_at;	/* the first host and job line shown */
	size_t page, jobs_page;	/* how many were: written by top_draw() */
	size_t jobs_max;	/* as far as jobs_at may go; so too */
	bool jobs;		/* arrows move the jobs */
	bool paused, help, typing;
	char search[TOP_SEARCH_MAX];	/* typed, or looked for */
	bool found;		/* search is in force */
	char said[120];		/* what a key came to */
	int interval;		/* s */
	int64_t now, away;	/* s since the epoch; no answer since, 0: answers */
	char error[256];	/* why, while away */
};

/* search.c */
bool top_job_found(const struct top_view *v, const struct top_model *m, int job);
bool top_host_found(const struct top_view *v, const struct top_model *m,
		    const struct top_host *h);
/* The place in order[] of the next host after `from` that is found or has a VF
 * of a job that is; -1: none. */
long top_find(const struct top_view *v, const struct top_model *m,
	      const size_t *order, size_t from);

/* hosts.c */
/* The hosts' places in this order, to be free()d. */
size_t *top_order_of(const struct top_model *m, enum top_order by);
/* Returns ".example.org" if all hosts end so, because it need not be shown a
 * thousand times. Returns NULL otherwise. */
const char *top_domain(const struct top_model *m);
/* Lines of host i; v may be NULL: nothing is found. */
void top_host_lines(const struct top_model *m, const struct top_view *v,
		    size_t i, struct top_lines *out);
/* Columns that a host takes, without the reason, so that it is one line. */
int top_hosts_width(const struct top_model *m);
void top_hosts_head(const struct top_model *m, struct top_lines *out);

/* side.c: what stands beside the hosts */
/* notes: how many lines one of them may have */
void top_engine_lines(const struct top_model *m, int64_t now, int notes,
		      struct top_lines *out);
/* "3 VFs, 1 device", "1 device", "0 VFs"; free() it. */
char *top_counts(int vfs, int devices);
void top_sum_lines(const struct top_model *m, struct top_lines *out);
void top_job_lines(const struct top_model *m, const struct top_view *v,
		   struct top_lines *out);
/* What each sign means that a cell of m has: in brief side by side, or a line each. */
void top_legend_lines(const struct top_model *m, bool brief, struct top_lines *out);
void top_help_lines(struct top_lines *out);

/* draw.c */
/* Exactly v->rows lines of at most v->cols; m NULL: no answer yet. */
void top_draw(const struct top_model *m, struct top_view *v,
	      struct top_lines *out);
/* Applies a key: a character, or one of these. Returns true if slurmctld has to
 * be asked again. */
enum top_key { TOP_KEY_UP = 0x110000, TOP_KEY_DOWN, TOP_KEY_PGUP, TOP_KEY_PGDN,
	       TOP_KEY_HOME, TOP_KEY_END, TOP_KEY_BACK };
enum top_did { TOP_DID, TOP_DID_QUIT, TOP_DID_ASK };
enum top_did top_key(const struct top_model *m, struct top_view *v,
		     uint32_t key);

/* ---- curses.c: the terminal --------------------------------------------- */
/* -1 with a line on stderr: there is no terminal, or one that can't. */
int top_curses_begin(bool colour);
void top_curses_end(void);
void top_curses_size(int *rows, int *cols);
void top_curses_show(const struct top_lines *screen);
void top_curses_again(void);	/* all of it is drawn next time */
/* The next key that is there, 0: none; -1: another size. */
int64_t top_curses_key(void);

#endif
