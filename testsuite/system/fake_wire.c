/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A libibverbs for the real perftest, by LD_PRELOAD (test_perftest.py): a device
 * mlx5_0 with one active port. No byte is moved: of what is posted to a queue one
 * is done every WIRE_NS nanoseconds, so that it is known what they are to measure.
 * The two ends meet by perftest's own TCP; what they print is theirs.
 */
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#undef ibv_query_port
#undef ibv_reg_mr

#define RING 65536		/* completions that wait to be read, at most */

struct done {
	struct ibv_cq cq;
	struct {
		uint64_t wr_id;
		uint32_t qp_num;
		enum ibv_wc_opcode op;
	} ring[RING];
	unsigned int head, tail;
	int64_t next_ns;	/* when the wire is free for another */
};

static struct ibv_device device = {
	.node_type = IBV_NODE_CA, .transport_type = IBV_TRANSPORT_IB,
	.name = "mlx5_0", .dev_name = "uverbs0",
};

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static int64_t wire_ns(void)
{
	static int64_t ns;

	if (!ns)
		ns = strtoll(getenv("WIRE_NS"), NULL, 10);
	return ns;
}

static void put(struct ibv_cq *cq, uint64_t wr_id, uint32_t qp_num,
		enum ibv_wc_opcode op)
{
	struct done *d = (struct done *)cq;

	if (d->head == d->tail && d->next_ns < now_ns() + wire_ns())
		d->next_ns = now_ns() + wire_ns();
	d->ring[d->head % RING].wr_id = wr_id;
	d->ring[d->head % RING].qp_num = qp_num;
	d->ring[d->head++ % RING].op = op;
}

static int poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	struct done *d = (struct done *)cq;
	int got = 0;

	for (; got < n && d->tail != d->head && d->next_ns <= now_ns();
	     got++, d->tail++) {
		d->next_ns += wire_ns();
		memset(&wc[got], 0, sizeof(*wc));
		wc[got].status = IBV_WC_SUCCESS;
		wc[got].wr_id = d->ring[d->tail % RING].wr_id;
		wc[got].qp_num = d->ring[d->tail % RING].qp_num;
		wc[got].opcode = d->ring[d->tail % RING].op;
	}
	return got;
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
		     struct ibv_send_wr **bad)
{
	(void)bad;
	for (; wr; wr = wr->next)
		if (wr->send_flags & IBV_SEND_SIGNALED)
			put(qp->send_cq, wr->wr_id, qp->qp_num, IBV_WC_SEND);
	return 0;
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr,
		     struct ibv_recv_wr **bad)
{
	(void)bad;
	for (; wr; wr = wr->next)
		put(qp->recv_cq, wr->wr_id, qp->qp_num, IBV_WC_RECV);
	return 0;
}

static int req_notify_cq(struct ibv_cq *cq, int solicited)
{
	(void)cq;
	(void)solicited;
	return 0;
}

/* ---- ibv_wr_*, by which newer perftests post ------------------------------- */

static void wr_start(struct ibv_qp_ex *qp)
{
	(void)qp;
}

static void wr_send(struct ibv_qp_ex *qp)
{
	if (qp->wr_flags & IBV_SEND_SIGNALED)
		put(qp->qp_base.send_cq, qp->wr_id, qp->qp_base.qp_num,
		    IBV_WC_SEND);
}

static void wr_set_sge(struct ibv_qp_ex *qp, uint32_t lkey, uint64_t addr,
		       uint32_t len)
{
	(void)qp;
	(void)lkey;
	(void)addr;
	(void)len;
}

static void wr_set_inline_data(struct ibv_qp_ex *qp, void *addr, size_t len)
{
	(void)qp;
	(void)addr;
	(void)len;
}

static int wr_complete(struct ibv_qp_ex *qp)
{
	(void)qp;
	return 0;
}

static struct ibv_qp *create_qp_ex(struct ibv_context *c,
				   struct ibv_qp_init_attr_ex *a)
{
	struct ibv_qp_ex *x = calloc(1, sizeof(*x));
	struct ibv_qp *qp = &x->qp_base;

	qp->context = c;
	qp->pd = a->pd;
	qp->send_cq = a->send_cq;
	qp->recv_cq = a->recv_cq;
	qp->qp_num = 0x127;
	qp->qp_type = a->qp_type;
	x->wr_start = wr_start;
	x->wr_send = wr_send;
	x->wr_set_sge = wr_set_sge;
	x->wr_set_inline_data = wr_set_inline_data;
	x->wr_complete = wr_complete;
	return qp;
}

struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
	return (struct ibv_qp_ex *)qp;
}

/* ---- the calls, by their names ---------------------------------------------- */

struct ibv_device **ibv_get_device_list(int *n)
{
	struct ibv_device **list = calloc(2, sizeof(*list));

	list[0] = &device;
	if (n)
		*n = 1;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	free(list);
}

const char *ibv_get_device_name(struct ibv_device *d)
{
	return d->name;
}

struct ibv_context *ibv_open_device(struct ibv_device *d)
{
	struct verbs_context *v = calloc(1, sizeof(*v));
	struct ibv_context *c = &v->context;

	v->sz = sizeof(*v);
	v->create_qp_ex = create_qp_ex;
	c->device = d;
	c->abi_compat = __VERBS_ABI_IS_EXTENDED;
	c->ops.poll_cq = poll_cq;
	c->ops.post_send = post_send;
	c->ops.post_recv = post_recv;
	c->ops.req_notify_cq = req_notify_cq;
	c->num_comp_vectors = 1;
	return c;
}

int ibv_close_device(struct ibv_context *c)
{
	free(verbs_get_ctx(c));
	return 0;
}

int ibv_query_device(struct ibv_context *c, struct ibv_device_attr *a)
{
	(void)c;
	memset(a, 0, sizeof(*a));
	memcpy(a->fw_ver, "22.36.1010", sizeof("22.36.1010"));
	a->vendor_id = 0x02c9;
	a->vendor_part_id = 4124;	/* ConnectX-6 VF */
	a->max_qp = a->max_cq = a->max_mr = a->max_pd = 1000;
	a->max_qp_wr = a->max_cqe = 32768;
	a->max_sge = 30;
	a->max_qp_rd_atom = a->max_qp_init_rd_atom = 16;
	a->phys_port_cnt = 1;
	return 0;
}

/* Of newer perftests: the NIC does nothing out of order. */
int mlx5dv_query_device(struct ibv_context *c, struct mlx5dv_context *a)
{
	(void)c;
	a->flags = 0;
	a->comp_mask = 0;
	return 0;
}

int ibv_query_port(struct ibv_context *c, uint8_t port,
		   struct _compat_ibv_port_attr *compat)
{
	struct ibv_port_attr a = {
		.state = IBV_PORT_ACTIVE, .max_mtu = IBV_MTU_4096,
		.active_mtu = IBV_MTU_4096, .gid_tbl_len = 16,
		.max_msg_sz = 1u << 30, .active_width = 2, .active_speed = 32,
		.phys_state = 5, .link_layer = IBV_LINK_LAYER_ETHERNET,
	};

	(void)c;
	(void)port;
	memcpy(compat, &a, offsetof(struct ibv_port_attr, port_cap_flags2));
	return 0;
}

int ibv_query_gid(struct ibv_context *c, uint8_t port, int index,
		  union ibv_gid *gid)
{
	static const uint8_t v4[16] = { [10] = 0xff, 0xff, 10, 1, 0, 1 };

	(void)c;
	(void)port;
	(void)index;
	memcpy(gid->raw, v4, sizeof(v4));
	return 0;
}

int ibv_query_pkey(struct ibv_context *c, uint8_t port, int index, __be16 *pkey)
{
	(void)c;
	(void)port;
	(void)index;
	*pkey = 0xffff;
	return 0;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *c)
{
	struct ibv_pd *pd = calloc(1, sizeof(*pd));

	pd->context = c;
	return pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	free(pd);
	return 0;
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t len,
				uint64_t iova, unsigned int access)
{
	struct ibv_mr *mr = calloc(1, sizeof(*mr));

	(void)iova;
	(void)access;
	mr->context = pd->context;
	mr->pd = pd;
	mr->addr = addr;
	mr->length = len;
	return mr;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t len, int access)
{
	return ibv_reg_mr_iova2(pd, addr, len, 0, (unsigned int)access);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	free(mr);
	return 0;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *c, int n, void *ctx,
			     struct ibv_comp_channel *channel, int vector)
{
	struct done *d = calloc(1, sizeof(*d));

	(void)vector;
	d->cq.context = c;
	d->cq.cq_context = ctx;
	d->cq.channel = channel;
	d->cq.cqe = n;
	return &d->cq;
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
	free(cq);
	return 0;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *a)
{
	struct ibv_qp_init_attr_ex ex = {
		.send_cq = a->send_cq, .recv_cq = a->recv_cq,
		.qp_type = a->qp_type, .pd = pd,
	};

	return create_qp_ex(pd->context, &ex);
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *a, int mask)
{
	(void)a;
	(void)mask;
	(void)qp;
	return 0;
}

int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *a, int mask,
		 struct ibv_qp_init_attr *init)
{
	(void)qp;
	(void)mask;
	memset(a, 0, sizeof(*a));
	memset(init, 0, sizeof(*init));
	return 0;
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
	free(qp);
	return 0;
}
