/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "split_rig.h"

#include <errno.h>
#include <string.h>

#include <rte_lcore.h>
#include <rte_malloc.h>

#include "bench.h"
#include "environment.h"
#include "grid.h"
#include "worker.h"

#define RING 1024
#define TX_MBUFS 2047
#define FRAGS_BYTES (2U << 20)
#define RECEIVER 2
#define TICK_BURSTS 64

static void
readable(struct pw_tcp_conn *conn, void *app_ctx)
{
	struct pw_split_rig *rig = app_ctx;
	struct rte_mbuf *m;

	while ((m = pw_tcp_recv(conn)) != NULL) {
		rig->taken_bytes += m->pkt_len;
		rte_pktmbuf_free(m);
	}
}

/* An ACK has nobody to go to. */
static void
output(void *ctx, struct rte_mbuf *frame)
{
	struct pw_split_rig *rig = ctx;

	rig->sent_frames++;
	pw_split_answer_read(&rig->answer, frame);
	rte_pktmbuf_free(frame);
}

/* New buffers for a burst of slots: a card waits for them, and so do we. */
static int
post(struct pw_split_card *card, struct rte_mbuf **slots)
{
	unsigned spins = 0;

	while (rte_pktmbuf_alloc_bulk(card->mp, slots, PW_SPLIT_BURST) != 0) {
		card->failed_gets++;
		if (pw_bench_must_give_up(card->wait, &spins))
			return -ENOBUFS;
	}
	return 0;
}

static int
hand_over(struct pw_split_card *card, struct rte_mbuf **burst)
{
	uint64_t begin = rte_rdtsc();
	int rc = 0;

	if (rte_ring_sp_enqueue_bulk(card->ring, (void **)burst, PW_SPLIT_BURST, NULL) > 0)
		return 0;
	rc = pw_bench_ring_put(card->wait, card->ring, (void **)burst, PW_SPLIT_BURST);
	card->waited_cycles += rte_rdtsc() - begin;
	return rc;
}

/* The receiving lcore: frames arrive in the oldest posted buffers, then others take their place. */
static void
receive(void *arg)
{
	struct pw_split_card *card = arg;
	uint64_t begin = rte_rdtsc();
	struct rte_mbuf *burst[PW_SPLIT_BURST];

	card->rc = 0;
	for (uint64_t done = 0; done < card->frames && card->rc == 0; done += PW_SPLIT_BURST) {
		struct rte_mbuf **slots = &card->slots[done % card->posted];

		for (unsigned i = 0; i < PW_SPLIT_BURST; i++) {
			burst[i] = slots[i];
			pw_split_flows_write(&card->flows, burst[i]);
		}
		card->rc = post(card, slots);
		if (card->rc < 0)
			memset(slots, 0, PW_SPLIT_BURST * sizeof(*slots));
		if (hand_over(card, burst) < 0) {
			rte_pktmbuf_free_bulk(burst, PW_SPLIT_BURST);
			card->rc = -ETIMEDOUT;
		}
	}
	if (card->rc < 0)
		pw_bench_give_up(card->wait);
	card->cycles = rte_rdtsc() - begin;
}

/* The stack's lcore. */
static int
take_frames(struct pw_split_rig *rig, uint64_t frames)
{
	struct rte_mbuf *burst[PW_SPLIT_BURST];
	uint64_t begin = rte_rdtsc(), done = 0, bursts = 0, idle_since = 0;
	unsigned spins = 0;

	rig->waited_cycles = 0;
	while (done < frames) {
		unsigned n = rte_ring_sc_dequeue_burst(
			rig->ring, (void **)burst, PW_SPLIT_BURST, NULL);

		if (n == 0) {
			if (idle_since == 0)
				idle_since = rte_rdtsc();
			if (pw_bench_must_give_up(&rig->wait, &spins))
				return -ETIMEDOUT;
			continue;
		}
		if (idle_since > 0)
			rig->waited_cycles += rte_rdtsc() - idle_since;
		idle_since = 0;
		pw_bench_stack_input(&rig->stack, burst, n, pw_bench_now_us());
		if (bursts++ % TICK_BURSTS == 0)
			pw_bench_stack_tick(&rig->stack, pw_bench_now_us());
		done += n;
	}
	rig->cycles = rte_rdtsc() - begin;
	return 0;
}

static void
drain(struct pw_split_rig *rig)
{
	void *m;

	while (rte_ring_sc_dequeue(rig->ring, &m) == 0)
		rte_pktmbuf_free(m);
}

int
pw_split_rig_run(struct pw_split_rig *rig, uint64_t frames)
{
	int rc, card;

	rig->card.frames = frames;
	rig->card.waited_cycles = rig->card.failed_gets = 0;
	rig->taken_bytes = 0;
	pw_bench_wait_begin(&rig->wait);
	pw_bench_worker_begin(receive, &rig->card);
	rc = take_frames(rig, frames);
	if (rc < 0)
		pw_bench_give_up(&rig->wait);
	card = pw_bench_worker_wait();
	if (card == 0)
		card = rig->card.rc;
	return card < 0 ? card : rc;
}

int
pw_split_rig_open(struct pw_split_rig *rig, struct rte_mempool *mp, unsigned posted)
{
	const struct pw_bench_stack_params params = {
		.host = RECEIVER,
		.pool = rig->tx,
		.frags = rig->frags,
		.output = output,
		.ctx = rig,
	};
	int rc = pw_bench_stack_open(&rig->stack, &params);

	if (rc < 0)
		return rc;
	rig->card.mp = mp;
	rig->card.posted = 0;
	rc = pw_tcp_listen(rig->stack.tcp, PW_SPLIT_PORT, &rig->app, rig);
	if (rc == 0)
		rc = pw_split_flows_open(&rig->card.flows, &rig->stack, rig->tx, &rig->answer);
	if (rc == 0 && rte_pktmbuf_alloc_bulk(mp, rig->card.slots, posted) != 0)
		rc = -ENOBUFS;
	if (rc == 0)
		rig->card.posted = posted;
	return rc;
}

void
pw_split_rig_close(struct pw_split_rig *rig)
{
	drain(rig);
	pw_bench_stack_close(&rig->stack);
	for (unsigned i = 0; i < rig->card.posted; i++)
		rte_pktmbuf_free(rig->card.slots[i]);
	rig->card.posted = 0;
}

static void
say_no_memory(void)
{
	char reason[PW_BENCH_REASON_MAX];

	pw_bench_explain_memory(
		reason, sizeof(reason), "the hand-over ring and the stack", 16, "a program less");
	pw_bench_error("%s", reason);
}

struct pw_split_rig *
pw_split_rig_create(void)
{
	const struct pw_frag_pool_params frags = {
		.name = "split", .socket_id = (int)rte_socket_id(), .bytes = FRAGS_BYTES};
	struct pw_split_rig *rig = rte_zmalloc("split", sizeof(*rig), PW_BENCH_APART);

	if (rig == NULL) {
		say_no_memory();
		return NULL;
	}
	rig->ring = rte_ring_create(
		"split", RING, (int)rte_socket_id(), RING_F_SP_ENQ | RING_F_SC_DEQ);
	rig->tx = rte_pktmbuf_pool_create(
		"split_tx", TX_MBUFS, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, (int)rte_socket_id());
	rig->frags = pw_frag_pool_create(&frags);
	rig->card.ring = rig->ring;
	rig->card.wait = &rig->wait;
	rig->app = (struct pw_tcp_app){.name = "discard", .readable = readable};
	if (rig->ring != NULL && rig->tx != NULL && rig->frags != NULL)
		return rig;
	say_no_memory();
	pw_split_rig_destroy(rig);
	return NULL;
}

void
pw_split_rig_destroy(struct pw_split_rig *rig)
{
	if (rig == NULL)
		return;
	rte_ring_free(rig->ring);
	rte_mempool_free(rig->tx);
	pw_frag_pool_destroy(rig->frags);
	rte_free(rig);
}
