/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "gro_contender.h"

#include <errno.h>
#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_ip.h>
#include <rte_lcore.h>

/* Of rte_gro's table, whose size is the product: no more packets than a window are ever held. */
#define RTE_ITEMS_PER_FLOW 4

static void
put_out(struct pw_gro_bench_output *output, struct rte_mbuf **pkts, uint16_t n)
{
	if (likely(output->n + n <= RTE_DIM(output->packets)))
		memcpy(&output->packets[output->n], pkts, n * sizeof(*pkts));
	output->n += n;
}

static bool
has_right_cksums(const struct rte_mbuf *m)
{
	const struct rte_ipv4_hdr *ip = rte_pktmbuf_mtod_offset(
		m, const struct rte_ipv4_hdr *, m->l2_len);
	const void *tcp = (const char *)ip + m->l3_len;

	return rte_ipv4_cksum(ip) == 0 && rte_ipv4_udptcp_cksum_verify(ip, tcp) == 0;
}

/* What rte_gro leaves to the program: bad packets would have to go round it. There are none. */
static void
verify(struct pw_gro_bench_contender *c, struct rte_mbuf **pkts, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++)
		if (unlikely(!has_right_cksums(pkts[i])))
			c->bad_cksum++;
}

static int
open_burst(struct pw_gro_bench_contender *c, uint32_t window)
{
	c->rte = (struct rte_gro_param){
		.gro_types = RTE_GRO_TCP_IPV4,
		.max_flow_num = window,
		.max_item_per_flow = RTE_ITEMS_PER_FLOW,
		.socket_id = rte_socket_id(),
	};
	return 0;
}

static int
open_ctx(struct pw_gro_bench_contender *c, uint32_t window)
{
	open_burst(c, window);
	c->rte_ctx = rte_gro_ctx_create(&c->rte);
	return c->rte_ctx == NULL ? -ENOMEM : 0;
}

static void
close_ctx(struct pw_gro_bench_contender *c)
{
	if (c->rte_ctx != NULL)
		rte_gro_ctx_destroy(c->rte_ctx);
	c->rte_ctx = NULL;
}

static void
receive_burst(struct pw_gro_bench_contender *c, struct rte_mbuf **pkts, uint16_t n)
{
	if (c->verifies)
		verify(c, pkts, n);
	n = rte_gro_reassemble_burst(pkts, n, &c->rte);
	put_out(c->output, pkts, n);
}

static void
receive_ctx(struct pw_gro_bench_contender *c, struct rte_mbuf **pkts, uint16_t n)
{
	if (c->verifies)
		verify(c, pkts, n);
	n = rte_gro_reassemble(pkts, n, c->rte_ctx);
	put_out(c->output, pkts, n);
}

static void
flush_ctx(struct pw_gro_bench_contender *c)
{
	struct pw_gro_bench_output *output = c->output;

	output->n += rte_gro_timeout_flush(c->rte_ctx, 0, RTE_GRO_TCP_IPV4,
		&output->packets[output->n], RTE_DIM(output->packets) - output->n);
}

static void
put_out_ours(void *ctx, struct rte_mbuf **pkts, uint16_t n)
{
	put_out(ctx, pkts, n);
}

/* As most would have it: both IP versions. */
static int
open_ours(struct pw_gro_bench_contender *c, uint32_t window)
{
	const struct pw_gro_params params = {
		.output = put_out_ours,
		.ctx = c->output,
		.socket_id = (int)rte_socket_id(),
		.types = PW_GRO_TCP,
		.max_flows = RTE_MAX(rte_align32pow2(window), (uint32_t)PW_GRO_FLOWS_DEFAULT),
	};

	c->gro = pw_gro_create(&params);
	return c->gro == NULL ? -ENOMEM : 0;
}

static void
close_ours(struct pw_gro_bench_contender *c)
{
	pw_gro_destroy(c->gro);
	c->gro = NULL;
}

static void
receive_ours(struct pw_gro_bench_contender *c, struct rte_mbuf **pkts, uint16_t n)
{
	pw_gro_receive(c->gro, pkts, n, c->now_us++);
}

static void
flush_ours(struct pw_gro_bench_contender *c)
{
	pw_gro_flush(c->gro);
}

static int
open_floor(struct pw_gro_bench_contender *c, uint32_t window)
{
	(void)c;
	(void)window;
	return 0;
}

static void
close_none(struct pw_gro_bench_contender *c)
{
	(void)c;
}

/* What nobody can do without: the length, and both lines that the header lies on. */
static void
receive_floor(struct pw_gro_bench_contender *c, struct rte_mbuf **pkts, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++) {
		const uint64_t *header = rte_pktmbuf_mtod(pkts[i], const uint64_t *);

		c->sum += pkts[i]->pkt_len + header[0] + header[8];
	}
	put_out(c->output, pkts, n);
}

const struct pw_gro_bench_kind pw_gro_bench_kinds[] = {
	{
		.column = {PW_BENCH_DPDK, false, "rte burst", "rte", "burst"},
		.open = open_burst,
		.close = close_none,
		.receive = receive_burst,
	},
	{
		.column = {PW_BENCH_DPDK, false, "rte ctx", "rte", "ctx"},
		.open = open_ctx,
		.close = close_ctx,
		.receive = receive_ctx,
		.flush = flush_ctx,
	},
	{
		.column = {PW_BENCH_OURS, true, "pagewheel", "", "pagewheel"},
		.open = open_ours,
		.close = close_ours,
		.receive = receive_ours,
		.flush = flush_ours,
	},
	{
		.column = {PW_BENCH_FLOOR, false, "floor", "", "floor"},
		.open = open_floor,
		.close = close_none,
		.receive = receive_floor,
	},
};

int
pw_gro_bench_contender_open(struct pw_gro_bench_contender *c, const struct pw_gro_bench_kind *kind,
	const struct pw_gro_bench_settings *settings, struct pw_gro_bench_output *output)
{
	*c = (struct pw_gro_bench_contender){
		.kind = kind,
		.output = output,
		.verifies = settings->cksum == PW_GRO_BENCH_SOFTWARE,
	};
	return kind->open(c, pw_gro_bench_window(settings));
}

void
pw_gro_bench_contender_close(struct pw_gro_bench_contender *c)
{
	if (c->kind != NULL)
		c->kind->close(c);
	c->kind = NULL;
}
