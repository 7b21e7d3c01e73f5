/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* What stands on fragments: buffers that mbufs point into, copy-break, and the senders' pages. */
#include "pw_test.h"

#include <errno.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>
#include <rte_memory.h>

#include "pw_copybreak.h"
#include "pw_frag.h"
#include "pw_frag_buf.h"
#include "pw_frag_rig.h"
#include "pw_frag_send.h"

static const char *const presets[] = {PW_FRAG_STRATEGIES};

#define MBUFS 63
#define DATA_ROOM (RTE_PKTMBUF_HEADROOM + 2048)

/* ---- buffers ---- */

static void
buffers_have_the_size_asked_for(void **state)
{
	static const char *const strategies[] = {
		PW_FRAG_STRATEGIES, "order0:4", "reuse:9", "flip:0", "flip:5"};

	(void)state;
	for (unsigned s = 0; s < RTE_DIM(strategies); s++) {
		struct desk desk;
		struct pw_frag_buf *buf;
		uint16_t max;

		desk_open(&desk, strategies[s], 2);
		max = pw_frag_buf_max(desk.pool);
		assert_int_equal(max,
			RTE_MIN(desk.page_bytes - sizeof(struct pw_frag_buf), (size_t)UINT16_MAX));
		buf = pw_frag_buf_alloc(desk.cache, max);
		assert_non_null(buf);
		assert_int_equal(buf->size_bytes, max);
		memset(buf->data, 0x5a, max);
		assert_int_equal(buf->size_bytes, max);
		assert_ptr_equal(desk_page_start(&desk, buf->data),
			desk_page_start(&desk, buf->data + max - 1));
		assert_true(buf->iova == rte_mem_virt2iova(buf->data));
		pw_frag_buf_put(buf);

		rte_errno = 0;
		assert_null(pw_frag_buf_alloc(desk.cache, 0));
		assert_int_equal(rte_errno, EINVAL);
		if (max < UINT16_MAX) {
			assert_null(pw_frag_buf_alloc(desk.cache, max + 1));
			assert_int_equal(rte_errno, EMSGSIZE);
		}
		pw_frag_buf_put(NULL);
		desk_close(&desk);
	}
}

static void
check_attached(const struct rte_mbuf *m, struct pw_frag_buf *buf, uint16_t offset, uint16_t len)
{
	const char *reason;

	assert_true(RTE_MBUF_HAS_EXTBUF(m));
	assert_ptr_equal(rte_pktmbuf_mtod(m, char *), buf->data + offset);
	assert_true(rte_mbuf_data_iova(m) == buf->iova + offset);
	assert_int_equal(rte_pktmbuf_data_len(m), len);
	assert_int_equal(rte_pktmbuf_pkt_len(m), len);
	assert_int_equal(rte_pktmbuf_tailroom(m), buf->size_bytes - offset - len);
	assert_int_equal(rte_mbuf_check(m, 1, &reason), 0);
}

static struct rte_mempool *
make_mbufs(const char *name, uint16_t data_room_bytes)
{
	struct rte_mempool *pool = rte_pktmbuf_pool_create_by_ops(
		name, MBUFS, 0, 0, data_room_bytes, SOCKET_ID_ANY, "ring_mp_mc");

	assert_non_null(pool);
	return pool;
}

/* The fragment is free with the last holder, in whatever order they let go, the cache gone. */
static void
buffers_live_as_long_as_their_mbufs(void **state)
{
	static const unsigned orders[][4] = {{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 3, 0, 2}};
	struct pw_test_memory before = pw_test_memory();
	struct rte_mempool *mbuf_pool = make_mbufs("frag_bufs", 0);

	(void)state;
	for (unsigned o = 0; o < RTE_DIM(orders) * RTE_DIM(presets); o++) {
		const unsigned *order = orders[o % RTE_DIM(orders)];
		struct rte_mbuf *mbufs[3];
		struct pw_frag_buf *buf;
		struct desk desk;

		desk_open(&desk, presets[o / RTE_DIM(orders)], 1);
		buf = pw_frag_buf_alloc(desk.cache, 3000);
		assert_non_null(buf);
		memset(buf->data, 0x5a, 3000);
		for (unsigned i = 0; i < RTE_DIM(mbufs); i++) {
			mbufs[i] = rte_pktmbuf_alloc(mbuf_pool);
			pw_frag_buf_attach(buf, mbufs[i], i * 1000, 1000 - i);
			check_attached(mbufs[i], buf, i * 1000, 1000 - i);
		}
		pw_frag_cache_destroy(desk.cache);
		desk.cache = NULL;
		for (unsigned i = 0; i < 4; i++) {
			assert_int_equal(pw_frag_pool_in_flight(desk.pool), 1);
			assert_int_equal(pw_frag_pool_destroy(desk.pool), -EBUSY);
			assert_int_equal(buf->data[2999], 0x5a);
			if (order[i] == 3)
				pw_frag_buf_put(buf);
			else
				rte_pktmbuf_free(mbufs[order[i]]);
		}
		desk_close(&desk);
		assert_int_equal(rte_mempool_avail_count(mbuf_pool), MBUFS);
	}
	rte_mempool_free(mbuf_pool);
	pw_test_memory_equal(before);
}

static void
a_reference_is_handed_over(void **state)
{
	struct pw_test_memory before = pw_test_memory();
	struct rte_mempool *mbuf_pool = make_mbufs("frag_bufs", 0);
	struct rte_mbuf *m = rte_pktmbuf_alloc(mbuf_pool);
	struct pw_frag_buf *buf;
	struct desk desk;

	(void)state;
	desk_open(&desk, "reuse", 1);
	buf = pw_frag_buf_alloc(desk.cache, 100);
	assert_non_null(buf);
	pw_frag_buf_hand_over(buf, m, 10, 90);
	check_attached(m, buf, 10, 90);
	assert_int_equal(pw_frag_pool_in_flight(desk.pool), 1);
	rte_pktmbuf_free(m);
	assert_int_equal(pw_frag_pool_in_flight(desk.pool), 0);
	desk_close(&desk);
	rte_mempool_free(mbuf_pool);
	pw_test_memory_equal(before);
}

static void
buffers_without_pages_are_refused(void **state)
{
	struct pw_frag_buf *buf;
	struct desk desk;

	(void)state;
	desk_open(&desk, "reuse:0", 1);
	buf = pw_frag_buf_alloc(desk.cache, 4000);
	assert_non_null(buf);
	rte_errno = 0;
	assert_null(pw_frag_buf_alloc(desk.cache, 4000));
	assert_int_equal(rte_errno, ENOMEM);
	pw_frag_buf_put(buf);
	desk_close(&desk);
}

/* When only small pages are left, buffers of that size can still be had. */
static void
buffers_fit_fallback_pages(void **state)
{
	uint16_t max = pw_frag_buf_fallback_max();
	struct pw_frag_buf *buf;
	struct desk desk;

	(void)state;
	desk_open(&desk, "order3", 2);
	pw_arena_fragment(desk.arena, 0);
	assert_null(pw_frag_buf_alloc(desk.cache, max + 1));
	assert_int_equal(rte_errno, ENOMEM);
	buf = pw_frag_buf_alloc(desk.cache, max);
	assert_non_null(buf);
	assert_int_equal(desk_page_bytes(&desk, buf), 4096);
	assert_true(buf->iova == rte_mem_virt2iova(buf->data));
	pw_frag_buf_put(buf);
	buf = pw_frag_buf_alloc_upto(desk.cache, UINT16_MAX / 4);
	assert_int_equal(buf->size_bytes, max);
	pw_frag_buf_put(buf);
	pw_arena_defragment(desk.arena);
	buf = pw_frag_buf_alloc_upto(desk.cache, UINT16_MAX / 4);
	assert_int_equal(buf->size_bytes, UINT16_MAX / 4);
	pw_frag_buf_put(buf);
	desk_close(&desk);
}

/* ---- senders' pages ---- */

static char *
room(const struct desk *desk, struct pw_send_frag *sf, size_t min_bytes, size_t expected_bytes)
{
	size_t room_bytes = 0;
	char *at = pw_send_frag_room(sf, desk->pool, min_bytes, &room_bytes);

	assert_non_null(at);
	assert_int_equal(room_bytes, expected_bytes);
	return at;
}

static void
senders_write_from_the_start_to_the_end(void **state)
{
	(void)state;
	for (unsigned s = 0; s < RTE_DIM(presets); s++) {
		struct pw_send_frag sf = {0};
		struct desk desk;
		char *first, *at, *frags[8];
		size_t step;

		desk_open(&desk, presets[s], 2);
		step = desk.page_bytes / 8;
		first = room(&desk, &sf, 1, desk.page_bytes);
		assert_ptr_equal(first, desk_page_start(&desk, first));
		assert_ptr_equal(room(&desk, &sf, desk.page_bytes, desk.page_bytes), first);
		assert_int_equal(pw_frag_pool_in_flight(desk.pool), 0);
		for (unsigned i = 0; i < RTE_DIM(frags); i++) {
			at = room(&desk, &sf, step, desk.page_bytes - i * step);
			memset(at, i, step);
			frags[i] = pw_send_frag_take(&sf, step);
			assert_ptr_equal(frags[i], at);
			assert_ptr_equal(at, first + i * step);
			assert_int_equal(pw_frag_pool_in_flight(desk.pool), i + 1);
		}
		at = room(&desk, &sf, 1, desk.page_bytes);
		assert_ptr_not_equal(desk_page_start(&desk, at), first);
		for (unsigned i = 0; i < RTE_DIM(frags); i++) {
			assert_int_equal(frags[i][0], i);
			assert_int_equal(frags[i][step - 1], i);
			desk_give(&desk, frags[i] + i % step);
		}
		assert_int_equal(desk_pool_stats(&desk).pages_in_use, 1);
		pw_send_frag_release(&sf, desk.pool);
		assert_null(sf.page);
		desk_close(&desk);
	}
}

static void
wrong_requests_change_nothing(void **state)
{
	struct pw_send_frag sf = {0}, before;
	struct desk desk;
	size_t room_bytes = 7;
	char *at, *frag;

	(void)state;
	desk_open(&desk, "order3", 1);
	for (unsigned turn = 0; turn < 2; turn++) {
		before = sf;
		assert_null(pw_send_frag_room(&sf, desk.pool, 0, &room_bytes));
		assert_int_equal(rte_errno, EINVAL);
		assert_null(pw_send_frag_room(&sf, desk.pool, desk.page_bytes + 1, &room_bytes));
		assert_int_equal(rte_errno, EMSGSIZE);
		assert_null(pw_send_frag_room(&sf, desk.pool, SIZE_MAX, &room_bytes));
		assert_int_equal(rte_errno, EMSGSIZE);
		assert_int_equal(room_bytes, 7);
		rte_errno = 0;
		assert_null(pw_send_frag_take(&sf, 0));
		assert_int_equal(rte_errno, EINVAL);
		assert_null(pw_send_frag_take(&sf, turn == 0 ? 1 : desk.page_bytes + 1));
		assert_null(pw_send_frag_take(&sf, SIZE_MAX));
		assert_memory_equal(&sf, &before, sizeof(sf));
		assert_int_equal(pw_frag_pool_in_flight(desk.pool), 0);
		room(&desk, &sf, 1, desk.page_bytes);
	}
	at = room(&desk, &sf, 100, desk.page_bytes);
	frag = pw_send_frag_take(&sf, 100);
	/* Exhausted: the room that there was stays. */
	before = sf;
	assert_null(pw_send_frag_room(&sf, desk.pool, desk.page_bytes - 99, &room_bytes));
	assert_int_equal(rte_errno, ENOMEM);
	assert_memory_equal(&sf, &before, sizeof(sf));
	assert_ptr_equal(room(&desk, &sf, 1, desk.page_bytes - 100), at + 100);
	pw_send_frag_release(&sf, desk.pool);
	pw_send_frag_release(&sf, desk.pool); /* empty: nothing happens */
	desk_give(&desk, frag);
	desk_close(&desk);
}

static void *
free_on_thread(void *arg)
{
	void **call = arg;

	pw_frag_free(call[0], call[1]);
	return NULL;
}

/* As long as nobody else holds a part of it one page does, and is taken from its start again. */
static void
a_sender_reuses_its_page_when_alone(void **state)
{
	(void)state;
	for (unsigned s = 0; s < RTE_DIM(presets); s++) {
		struct pw_send_frag sf = {0};
		struct desk desk;
		char *first, *held;

		desk_open(&desk, presets[s], 2);
		first = room(&desk, &sf, 1, desk.page_bytes);
		for (unsigned i = 0; i < 100; i++) {
			assert_ptr_equal(
				room(&desk, &sf, desk.page_bytes / 2 + 1, desk.page_bytes), first);
			held = pw_send_frag_take(&sf, desk.page_bytes / 2 + 1);
			if (i % 2 == 0)
				desk_give(&desk, held);
			else
				pw_test_on_thread(free_on_thread, (void *[]){desk.pool, held});
		}
		room(&desk, &sf, desk.page_bytes, desk.page_bytes);
		held = pw_send_frag_take(&sf, 10);
		assert_ptr_not_equal(room(&desk, &sf, desk.page_bytes, desk.page_bytes), first);
		pw_send_frag_release(&sf, desk.pool);
		desk_give(&desk, held);
		desk_close(&desk);
	}
}

static void
senders_fall_back_to_small_pages(void **state)
{
	static const char *const strategies[] = {"order3", "cached", "reuse", "flip"};

	(void)state;
	for (unsigned s = 0; s < RTE_DIM(strategies); s++) {
		struct pw_send_frag sf = {0};
		struct desk desk;
		size_t room_bytes;
		char *frag;

		desk_open(&desk, strategies[s], 4);
		pw_arena_fragment(desk.arena, 0);
		assert_null(pw_send_frag_room(&sf, desk.pool, 4097, &room_bytes));
		assert_int_equal(rte_errno, ENOMEM);
		room(&desk, &sf, 4096, 4096);
		frag = pw_send_frag_take(&sf, 1000);
		assert_null(pw_send_frag_room(&sf, desk.pool, 4097, &room_bytes));
		room(&desk, &sf, 3096, 3096);
		desk_give(&desk, frag);
		/* Alone on a small page, another one is tried for before it is used again. */
		room(&desk, &sf, 4096, 4096);
		pw_arena_defragment(desk.arena);
		frag = pw_send_frag_take(&sf, 4096);
		desk_give(&desk, frag);
		room(&desk, &sf, 1, desk.page_bytes);
		pw_send_frag_release(&sf, desk.pool);
		desk_close(&desk);
	}
}

static void
a_pool_in_use_by_a_sender_stays(void **state)
{
	struct pw_send_frag sf = {0}, moved;
	struct desk desk;
	char *frag;

	(void)state;
	desk_open(&desk, "reuse", 2);
	pw_frag_cache_destroy(desk.cache);
	desk.cache = NULL;
	room(&desk, &sf, 1, desk.page_bytes);
	assert_int_equal(pw_frag_pool_destroy(desk.pool), -EBUSY);
	assert_int_equal(pw_frag_pool_in_flight(desk.pool), 0);
	assert_int_equal(desk_pool_stats(&desk).pages_pinned, 0);
	moved = sf;
	frag = pw_send_frag_take(&moved, 100);
	pw_send_frag_release(&moved, desk.pool);
	assert_int_equal(desk_pool_stats(&desk).pages_pinned, 1);
	assert_int_equal(pw_frag_pool_destroy(desk.pool), -EBUSY);
	desk_give(&desk, frag);
	desk_close(&desk);
}

/* ---- copy-break ---- */

/* An RX queue's mbufs, headers for the copies, and a pool for their data. */
struct post {
	struct desk desk;
	struct rte_mempool *big;
	struct rte_mempool *headers;
	struct pw_copybreak cb;
	struct pw_test_memory before;
};

static void
open_post(struct post *post, const char *strategy, uint16_t max_bytes)
{
	struct pw_copybreak_params params = {.max_bytes = max_bytes, .headroom_bytes = 64};

	post->before = pw_test_memory();
	post->big = make_mbufs("copy_big", DATA_ROOM);
	post->headers = make_mbufs("copy_headers", 0);
	desk_open(&post->desk, strategy, 64);
	params.cache = post->desk.cache;
	params.headers = post->headers;
	assert_int_equal(pw_copybreak_init(&post->cb, &params), 0);
}

static void
close_post(struct post *post)
{
	desk_close(&post->desk);
	assert_int_equal(rte_mempool_avail_count(post->big), MBUFS);
	assert_int_equal(rte_mempool_avail_count(post->headers), MBUFS);
	rte_mempool_free(post->headers);
	rte_mempool_free(post->big);
	pw_test_memory_equal(post->before);
}

/* A packet in segments, with the bytes 0, 1, 2, ... and all kinds of metadata. */
static struct rte_mbuf *
make_packet(struct rte_mempool *pool, uint32_t len_bytes, uint16_t seg_bytes)
{
	struct rte_mbuf *packet = rte_pktmbuf_alloc(pool);
	uint32_t at = 0;

	assert_non_null(packet);
	do {
		struct rte_mbuf *seg = at == 0 ? packet : rte_pktmbuf_alloc(pool);
		uint16_t n = RTE_MIN(len_bytes - at, seg_bytes);
		char *data = rte_pktmbuf_append(seg, n);

		assert_non_null(data);
		for (uint16_t i = 0; i < n; i++)
			data[i] = at + i;
		if (at > 0)
			assert_int_equal(rte_pktmbuf_chain(packet, seg), 0);
		at += n;
	} while (at < len_bytes);
	packet->port = 3;
	packet->packet_type = RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV4 | RTE_PTYPE_L4_TCP;
	packet->vlan_tci = 0x123;
	packet->vlan_tci_outer = 0x456;
	packet->hash.rss = 0xdeadbeef;
	packet->hash.fdir.hi = 77;
	packet->tx_offload = 0x0102030405060708;
	packet->ol_flags |= RTE_MBUF_F_RX_RSS_HASH | RTE_MBUF_F_RX_VLAN |
		RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_GOOD;
	memset(packet->dynfield1, 0x6b, sizeof(packet->dynfield1));
	return packet;
}

static void
check_packet(const struct rte_mbuf *m, uint32_t len_bytes)
{
	const char *reason;
	char expected[sizeof(m->dynfield1)];
	uint32_t at = 0;

	assert_int_equal(rte_mbuf_check(m, 1, &reason), 0);
	assert_int_equal(m->pkt_len, len_bytes);
	for (const struct rte_mbuf *seg = m; seg != NULL; seg = seg->next)
		for (uint16_t i = 0; i < seg->data_len; i++, at++)
			assert_int_equal(
				rte_pktmbuf_mtod(seg, unsigned char *)[i], (unsigned char)at);
	assert_int_equal(at, len_bytes);
	assert_int_equal(m->port, 3);
	assert_int_equal(m->packet_type, RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV4 | RTE_PTYPE_L4_TCP);
	assert_int_equal(m->vlan_tci, 0x123);
	assert_int_equal(m->vlan_tci_outer, 0x456);
	assert_int_equal(m->hash.rss, 0xdeadbeef);
	assert_int_equal(m->hash.fdir.hi, 77);
	assert_true(m->tx_offload == 0x0102030405060708);
	assert_true((m->ol_flags & ~(RTE_MBUF_F_EXTERNAL | RTE_MBUF_F_INDIRECT)) ==
		(RTE_MBUF_F_RX_RSS_HASH | RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_IP_CKSUM_GOOD |
			RTE_MBUF_F_RX_L4_CKSUM_GOOD));
	memset(expected, 0x6b, sizeof(expected));
	assert_memory_equal(m->dynfield1, expected, sizeof(expected));
}

static void
small_packets_are_copied(void **state)
{
	static const struct {
		uint32_t len_bytes;
		uint16_t seg_bytes;
		bool copied;
	} rows[] = {{0, 2048, true}, {1, 2048, true}, {60, 2048, true}, {255, 2048, true},
		{256, 2048, true}, {257, 2048, false}, {1500, 2048, false}, {256, 100, true},
		{256, 1, true}, {20, 7, true}, {257, 256, false}};
	unsigned copied = 0, bytes = 0;
	struct post post;

	(void)state;
	open_post(&post, "reuse", 256);
	for (unsigned r = 0; r < RTE_DIM(rows); r++) {
		struct rte_mbuf *m, *copy;

		if (rows[r].len_bytes / rows[r].seg_bytes >= MBUFS)
			continue;
		m = make_packet(post.big, rows[r].len_bytes, rows[r].seg_bytes);
		copy = pw_copybreak(&post.cb, m);
		check_packet(copy, rows[r].len_bytes);
		assert_int_equal(copy != m, rows[r].copied);
		if (rows[r].copied) {
			copied++;
			bytes += rows[r].len_bytes;
			assert_int_equal(rte_mempool_avail_count(post.big), MBUFS);
			assert_true(RTE_MBUF_HAS_EXTBUF(copy) && !RTE_MBUF_CLONED(copy));
			assert_int_equal(copy->nb_segs, 1);
			assert_int_equal(rte_pktmbuf_headroom(copy), 64);
			assert_non_null(rte_pktmbuf_prepend(copy, 64));
		} else {
			assert_ptr_equal(copy->pool, post.big);
		}
		rte_pktmbuf_free(copy);
	}
	assert_int_equal(post.cb.stats.copied, copied);
	assert_int_equal(post.cb.stats.copied_bytes, bytes);
	assert_int_equal(post.cb.stats.passed_large, 3);
	assert_int_equal(post.cb.stats.no_memory, 0);
	close_post(&post);
}

/* What the original was attached to says nothing about the copy, and is let go of. */
static void
attached_packets_are_copied(void **state)
{
	struct rte_mbuf *original, *clone, *copy;
	struct rte_mempool *clones;
	struct pw_frag_buf *buf;
	struct post post;

	(void)state;
	open_post(&post, "reuse", 256);
	clones = make_mbufs("copy_clones", 0);
	original = make_packet(post.big, 200, 2048);
	clone = rte_pktmbuf_clone(original, clones);
	assert_true(RTE_MBUF_CLONED(clone));
	copy = pw_copybreak(&post.cb, clone);
	assert_ptr_not_equal(copy, clone);
	assert_true(RTE_MBUF_HAS_EXTBUF(copy) && !RTE_MBUF_CLONED(copy));
	assert_int_equal(rte_mempool_avail_count(clones), MBUFS);
	rte_pktmbuf_free(original);
	assert_int_equal(rte_mempool_avail_count(post.big), MBUFS);
	check_packet(copy, 200);
	rte_pktmbuf_free(copy);

	buf = pw_frag_buf_alloc(post.desk.cache, 100);
	original = rte_pktmbuf_alloc(clones);
	pw_frag_buf_hand_over(buf, original, 0, 100);
	memset(buf->data, 0x11, 100);
	copy = pw_copybreak(&post.cb, original);
	assert_true(RTE_MBUF_HAS_EXTBUF(copy));
	assert_int_equal(pw_frag_pool_in_flight(post.desk.pool), 1);
	assert_int_equal(*rte_pktmbuf_mtod_offset(copy, char *, 99), 0x11);
	rte_pktmbuf_free(copy);
	rte_mempool_free(clones);
	close_post(&post);
}

/* Held for long they cost their own size, not that of an RX buffer; and they outlive the cache. */
static void
held_copies_outlive_the_cache(void **state)
{
	(void)state;
	for (unsigned s = 0; s < RTE_DIM(presets); s++) {
		struct rte_mbuf *copies[MBUFS];
		struct post post;

		open_post(&post, presets[s], 256);
		for (unsigned i = 0; i < MBUFS; i++) {
			copies[i] = pw_copybreak(&post.cb, make_packet(post.big, i, 2048));
			assert_ptr_equal(copies[i]->pool, post.headers);
		}
		assert_int_equal(rte_mempool_avail_count(post.big), MBUFS);
		pw_frag_cache_destroy(post.desk.cache);
		post.desk.cache = NULL;
		assert_int_equal(pw_frag_pool_in_flight(post.desk.pool), MBUFS);
		for (unsigned i = 0; i < MBUFS; i++) {
			check_packet(copies[i], i);
			rte_pktmbuf_free(copies[i]);
		}
		close_post(&post);
	}
}

static void
without_memory_packets_pass(void **state)
{
	struct rte_mbuf *headers[MBUFS], *m;
	struct post post;

	(void)state;
	open_post(&post, "order0", 256);
	assert_int_equal(rte_pktmbuf_alloc_bulk(post.headers, headers, MBUFS), 0);
	m = make_packet(post.big, 100, 2048);
	assert_ptr_equal(pw_copybreak(&post.cb, m), m);
	check_packet(m, 100);
	assert_int_equal(post.cb.stats.no_memory, 1);
	rte_pktmbuf_free_bulk(headers, MBUFS);

	desk_leave_pages(&post.desk, 0);
	assert_ptr_equal(pw_copybreak(&post.cb, m), m);
	check_packet(m, 100);
	assert_int_equal(post.cb.stats.no_memory, 2);
	assert_int_equal(post.cb.stats.copied, 0);
	assert_int_equal(rte_mempool_avail_count(post.headers), MBUFS);
	rte_pktmbuf_free(m);
	close_post(&post);
}

static void
wrong_copybreaks_are_refused(void **state)
{
	struct pw_copybreak cb;
	struct pw_copybreak_params params;
	struct rte_mempool *no_mbufs;
	struct post post;

	(void)state;
	open_post(&post, "order0", 256);
	params = post.cb.params;
	params.cache = NULL;
	assert_int_equal(pw_copybreak_init(&cb, &params), -EINVAL);
	params = post.cb.params;
	params.headers = NULL;
	assert_int_equal(pw_copybreak_init(&cb, &params), -EINVAL);
	no_mbufs = rte_mempool_create(
		"copy_wrong", 1, 64, 0, 0, NULL, NULL, NULL, NULL, SOCKET_ID_ANY, 0);
	params.headers = no_mbufs;
	assert_int_equal(pw_copybreak_init(&cb, &params), -EINVAL);
	rte_mempool_free(no_mbufs);

	params = post.cb.params;
	params.max_bytes = pw_frag_buf_max(post.desk.pool);
	params.headroom_bytes = 0;
	assert_int_equal(pw_copybreak_init(&cb, &params), 0);
	params.headroom_bytes = 1;
	assert_int_equal(pw_copybreak_init(&cb, &params), -EMSGSIZE);
	params.max_bytes = UINT16_MAX;
	params.headroom_bytes = UINT16_MAX;
	assert_int_equal(pw_copybreak_init(&cb, &params), -EMSGSIZE);
	close_post(&post);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buffers_have_the_size_asked_for),
		cmocka_unit_test(buffers_live_as_long_as_their_mbufs),
		cmocka_unit_test(a_reference_is_handed_over),
		cmocka_unit_test(buffers_without_pages_are_refused),
		cmocka_unit_test(buffers_fit_fallback_pages),
		cmocka_unit_test(senders_write_from_the_start_to_the_end),
		cmocka_unit_test(wrong_requests_change_nothing),
		cmocka_unit_test(a_sender_reuses_its_page_when_alone),
		cmocka_unit_test(senders_fall_back_to_small_pages),
		cmocka_unit_test(a_pool_in_use_by_a_sender_stays),
		cmocka_unit_test(small_packets_are_copied),
		cmocka_unit_test(attached_packets_are_copied),
		cmocka_unit_test(held_copies_outlive_the_cache),
		cmocka_unit_test(without_memory_packets_pass),
		cmocka_unit_test(wrong_copybreaks_are_refused),
	};

	return cmocka_run_group_tests_name("frag_buf", tests, pw_test_eal, NULL);
}
