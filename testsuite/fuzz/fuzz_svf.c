/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes what svf prints of an answer from any server: the first byte says
 * which verb asked, the rest is the answer.
 *
 * svf must not crash, and must print no byte that could control a terminal. An
 * answer that isn't JSON gives an exit code, never a report.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "svf/verbs/verbs.h"
#include "svf/map/map.h"
#include "svf/top/top.h"
#include "util/mem.h"

static const char *answer;
static size_t answer_len;

/* Instead of src/svf/rpc/ask.c: the answer is there. */
int svf_ask(const char *verb, uint32_t job, const char *name,
	    struct vs_jdoc *doc)
{
	struct vs_err err;

	(void)verb;
	(void)job;
	(void)name;
	return vs_jdoc_parse(doc, answer, answer_len, &err) ? SVF_AWAY : SVF_OK;
}

int svf_request(const char *verb, const char *name, const char *text,
		struct vs_jdoc *doc)
{
	(void)text;
	return svf_ask(verb, 0, name, doc);
}

int svf_request_at(const char *verb, const char *name, const char *text,
		   int64_t at, struct vs_jdoc *doc)
{
	(void)at;
	return svf_request(verb, name, text, doc);
}

int svf_request_nodes(const char *verb, const char *nodes, const char *text,
		      struct vs_jdoc *doc)
{
	return svf_request(verb, nodes, text, doc);
}

/* Instead of src/svf/rpc/where.c: no server is asked. */
int svf_where(struct svf_where *w, struct vs_err *err)
{
	memset(w, 0, sizeof(*w));
	return vs_err_set(err, VS_E_REQUEST, "nowhere");
}

void svf_where_free(struct svf_where *w)
{
	(void)w;
}

static void must_be_printable(FILE *f)
{
	int c, last = 0;

	rewind(f);
	while ((c = getc(f)) != EOF) {
		if ((c < ' ' && c != '\n' && c != '\t') || c == 0x7f ||
		    (last == 0xc2 && c >= 0x80 && c <= 0x9f))
			abort();
		last = c;
	}
}

static void run(const struct svf_verb *v, const struct svf *s)
{
	FILE *out = stdout, *err = stderr, *said = tmpfile();
	int rc;

	if (!said)
		abort();
	stdout = stderr = said;
	rc = v->run(s);
	fflush(said);
	stdout = out;
	stderr = err;
	if (rc < SVF_OK || rc > SVF_CONF)
		abort();
	must_be_printable(said);
	fclose(said);
}

/* svf top's screen of it, as far as keys go. */
static void look(unsigned int keys)
{
	static const uint32_t all[] = { TOP_KEY_END, TOP_KEY_PGUP, '/', '1',
		'\n', 's', '\t', TOP_KEY_DOWN };
	struct top_view v = { .rows = 24, .cols = 80 };
	struct json_object *top;
	struct top_model *m;
	struct vs_jdoc doc = { 0 };

	if (top_ask(&top))
		return;
	doc.root = top;
	m = top_model_new(&doc, NULL);
	for (unsigned int i = 0; i <= keys % VS_COUNT(all); i++) {
		struct top_lines out = { 0 };

		top_draw(m, &v, &out);
		if (out.n != (size_t)v.rows)
			abort();
		for (size_t k = 0; k < out.n; k++)
			if (out.l[k].n > v.cols)
				abort();
		top_lines_free(&out);
		top_key(m, &v, all[i]);
	}
	top_model_free(m);
	vs_jdoc_free(&doc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct svf_verb *const verbs[] = { &svf_hosts, &svf_nodes,
		&svf_why, &svf_status, &svf_reconcile, &svf_adopt, &svf_vm,
		&svf_host, &svf_jobs, &svf_map };
	static char *job[] = { "7" }, *vm[] = { "forget", "vm1" },
		*evict[] = { "evict", "vm1" };
	static char *host[] = { "drain", "esx1" };
	VS_FREE char *time = NULL;
	const struct svf_verb *v;
	struct svf s = { 0 };
	bool other;

	if (!size)
		return 0;
	v = verbs[(data[0] & 15) % VS_COUNT(verbs)];
	other = data[0] & 16;
	s.flag = other && v->flag;
	s.json = data[0] & 32;
	if (v == &svf_why || v == &svf_vm) {
		s.argv = v == &svf_why ? job : other ? evict : vm;
		s.argc = v == &svf_why ? 1 : 2;
	}
	if (v == &svf_host) {
		s.argv = host;
		s.argc = 2;
		s.own[0] = other ? "now+2hours" : NULL;	/* --at */
	}
	if (v == &svf_jobs && other)
		s.own[3] = "PENDING";			/* --states */
	/* As a time, whatever it is: a day in a tm's reach, or none. */
	time = vs_asprintf("%.*s", (int)(size - 1), (const char *)data + 1);
	if (svf_start_parse(time, 1789000000) > (int64_t)1 << 57)
		abort();
	answer = (const char *)data + 1;
	answer_len = size - 1;
	run(v, &s);
	if (v == &svf_map)
		look(data[0] >> 4);
	return 0;
}

#define FUZZ_CORPUS "svf"
#include "fuzz_main.h"
