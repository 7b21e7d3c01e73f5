/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* What connections cost, and that those that are gone cost nothing. */

#include <string.h>

#include <rte_tcp.h>

#include "pw_tcp_priv.h"
#include "pw_tcp_rig.h"

#define CONNS 65536
#define CONN_MAX_BYTES 512
#define SHORT_CONNS 200000
#define MORE_BYTES 65536 /* the fragment cache, and what the heap itself needs */

static void
send_as(struct pw_tcp_rig *rig, unsigned i, struct pw_packet packet)
{
	struct pw_ip_info ip = pw_tcp_rig_ip;

	ip.src.words[3] = rte_cpu_to_be_32(0x0b000000 + (i >> 8));
	packet.src_port = 1000 + (i & 255);
	packet.dst_port = RIG_PORT;
	packet.window = 65535;
	packet.payload_base = 1;
	rig->nb_sent = rig->nb_expected = 0;
	pw_tcp_input(rig->tcp, pw_packet_segment(rig->pool, &packet), &ip, rig->now_us);
}

static void
connect_as(struct pw_tcp_rig *rig, unsigned i)
{
	send_as(rig, i, (struct pw_packet){.flags = RTE_TCP_SYN_FLAG});
	assert_int_equal(rig->nb_sent, 1);
	send_as(rig, i,
		(struct pw_packet){.flags = RTE_TCP_ACK_FLAG, .seq = 1, .ack = rig->our_isn + 1});
}

static void
an_idle_connection_is_small(void **state)
{
	struct pw_tcp_rig *rig = *state;
	size_t heap = pw_test_heap_bytes(), small;

	pw_tcp_destroy(rig->tcp);
	small = pw_test_heap_bytes();
	rig->params.max_conns = CONNS;
	rig->tcp = pw_tcp_create(&rig->params);
	assert_non_null(rig->tcp);
	pw_tcp_rig_restart(rig);
	heap = pw_test_heap_bytes();
	print_message(
		"%zu bytes for each of %u connections, all told\n", (heap - small) / CONNS, CONNS);
	assert_true((heap - small) / CONNS <= CONN_MAX_BYTES);
	assert_true(heap - small >= pw_tcp_memory(&rig->params, 0));
	assert_true(heap - small <= pw_tcp_memory(&rig->params, 0) + MORE_BYTES);

	for (unsigned i = 0; i < CONNS; i++)
		connect_as(rig, i);
	assert_int_equal(pw_tcp_rig_stats(rig).curr_estab, CONNS);
	assert_int_equal(pw_test_heap_bytes(), heap);
	assert_int_equal(rte_mempool_avail_count(rig->pool), rig->base);
	rig->nb_sent = 0;
	/* Each is found. */
	for (unsigned i = 0; i < CONNS; i++)
		send_as(rig, i, (struct pw_packet){.flags = RTE_TCP_RST_FLAG, .seq = 1});
	pw_tcp_rig_expect_all_home(rig);
}

/* Accepted, a request read and answered, closed by the peer or by us. */
static void
many_short_ones_leave_nothing(void **state)
{
	struct pw_tcp_rig *rig = *state;
	size_t heap = 0;

	rig->params.max_conns = 1000;
	rig->params.keepalive_s = 7200;
	pw_tcp_rig_restart(rig);
	rig->close_at_end = true;
	for (unsigned i = 0; i < SHORT_CONNS; i++) {
		uint32_t isn;

		rig->close = i % 4 == 0;
		rig->echo = !rig->close;
		connect_as(rig, i);
		isn = rig->our_isn;
		send_as(rig, i,
			(struct pw_packet){.flags = RTE_TCP_ACK_FLAG | RTE_TCP_FIN_FLAG,
				.seq = 1,
				.ack = isn + 1 + (i % 4 == 0),
				.payload_bytes = 10});
		if (i % 4 != 0)
			send_as(rig, i,
				(struct pw_packet){
					.flags = RTE_TCP_ACK_FLAG, .seq = 12, .ack = isn + 12});
		pw_tcp_rig_tick(rig, 1000);
		if (i == 2000)
			heap = pw_test_heap_bytes();
		if (i >= 2000 && i % 1000 == 0) {
			assert_int_equal(pw_test_heap_bytes(), heap);
			assert_int_equal(rte_mempool_avail_count(rig->pool), rig->base);
		}
	}
	assert_int_equal(rig->opened, SHORT_CONNS);
	assert_int_equal(pw_tcp_rig_stats(rig).passive_opens, SHORT_CONNS);
	rig->nb_sent = 0;
	pw_tcp_rig_tick(rig, 61000000);
	pw_tcp_rig_expect_all_home(rig);
	assert_int_equal(pw_frag_pool_in_flight(rig->frags), 0);
}

/* Others have all of a pool's objects but some. */
static void
take_all_but(struct pw_tcp_pool *pool, struct pw_tcp_pool_list *taken, unsigned leave)
{
	SLIST_INIT(taken);
	pool->max = pool->nb;
	while (pool->nb_free > leave) {
		struct pw_tcp_pool_link *object = pw_tcp_pool_take(pool);

		SLIST_INSERT_HEAD(taken, object, next);
	}
}

static void
give_back(struct pw_tcp_pool *pool, struct pw_tcp_pool_list *taken)
{
	struct pw_tcp_pool_link *object;

	while ((object = SLIST_FIRST(taken)) != NULL) {
		SLIST_REMOVE_HEAD(taken, next);
		pw_tcp_pool_give(pool, object);
	}
	assert_int_equal(pool->nb_free, pool->nb);
}

/* What is sent comes all the same, once others are done; and then our FIN. */
static void
new_data_waits_for_a_flight(void **state)
{
	struct pw_tcp_rig *rig = *state;
	struct pw_tcp_pool *pool = &rig->tcp->flights;
	struct pw_tcp_pool_list taken;

	pw_tcp_rig_connect(rig);
	take_all_but(pool, &taken, 0);
	rig->send_bytes = 1000;
	rig->close = true;
	pw_tcp_rig_run(rig,
		"< . 1:101(100) ack 1 win 65535\n"
		"+40\n"
		"> . 1:1(0) ack 101\n"
		"+100");
	assert_int_equal(rig->queued, 1000);
	assert_int_equal(pw_tcp_rig_stats(rig).out_bytes, 0);
	give_back(pool, &taken);
	pw_tcp_rig_run(rig,
		"+10\n"
		"> FP. 1:1001(1000) ack 101\n"
		"< . 101:101(0) ack 1002 win 65535\n");
	assert_int_equal(pool->nb_free, pool->nb);
	pw_tcp_rig_run(rig,
		"< F. 101:101(0) ack 1002 win 65535\n"
		"> . 1002:1002(0) ack 102\n"
		"+*61000");
	pw_tcp_rig_expect_all_home(rig);
}

/* Out of order it is dropped, in order it is taken. */
static void
data_out_of_order_without_memory(void **state)
{
	struct pw_tcp_rig *rig = *state;
	struct pw_tcp_pool *pool = &rig->tcp->reassemblies;
	struct pw_tcp_pool_list taken;

	pw_tcp_rig_run(rig,
		"< S 0:0(0) win 65535 <mss 1000,sackOK>\n"
		"> S. 0:0(0) ack 1\n"
		"< . 1:1(0) ack 1 win 65535");
	take_all_but(pool, &taken, 0);
	pw_tcp_rig_run(rig,
		"< . 101:201(100) ack 1 win 65535\n"
		"> . 1:1(0) ack 1 <>\n"
		"< . 1:101(100) ack 1 win 65535\n"
		"+40\n"
		"> . 1:1(0) ack 101 <>\n"
		/* What came twice cannot be told. */
		"< . 1:101(100) ack 1 win 65535\n"
		"> . 1:1(0) ack 101 <>");
	assert_int_equal(pw_tcp_rig_stats(rig).ofo_drop, 1);
	give_back(pool, &taken);
	pw_tcp_rig_run(rig,
		"< . 201:301(100) ack 1 win 65535\n"
		"> . 1:1(0) ack 101 <sack 201:301>\n"
		"< . 101:201(100) ack 1 win 65535\n"
		"> . 1:1(0) ack 301 <>");
	assert_int_equal(rig->received, 300);
	assert_int_equal(pool->nb_free, pool->nb);
}

/* A flight that only waits for a D-SACK block makes room for one with data. */
static void
a_resting_flight_makes_room(void **state)
{
	struct pw_tcp_rig *rig = *state;
	struct pw_tcp_pool *pool = &rig->tcp->flights;
	struct pw_tcp_pool_list taken;
	struct pw_tcp_conn *conn;

	pw_tcp_rig_run(rig,
		"< S 0:0(0) win 65535 <mss 1000,sackOK>\n"
		"> S. 0:0(0) ack 1\n"
		"< . 1:1(0) ack 1 win 65535");
	rig->send_bytes = 1000;
	pw_tcp_rig_run(rig,
		"< . 1:2(1) ack 1 win 65535\n"
		"> P. 1:1001(1000) ack 2\n"
		"+*1500\n"
		"> *\n"
		"< . 2:2(0) ack 1001 win 65535");
	conn = TAILQ_FIRST(&rig->tcp->lists[PW_TCP_LIST_OPEN]);
	assert_non_null(conn->flight);
	take_all_but(pool, &taken, 0);

	rig->peer_port++;
	pw_tcp_rig_connect(rig);
	rig->send_bytes = 1000;
	pw_tcp_rig_run(rig,
		"< . 1:2(1) ack 1 win 65535\n"
		"> P. 1:1001(1000) ack 2");
	assert_null(conn->flight);
	pw_tcp_rig_run(rig, "< R. 2:2(0) ack 1 win 65535");
	give_back(pool, &taken);
}

/* Memory follows what is in use at a time, up to the bound. */
static void
a_pool_grows_to_its_bound(void **state)
{
	struct pw_tcp_pool pool;
	void *objects[1000];
	unsigned n;
	size_t heap = pw_test_heap_bytes(), first;

	(void)state;
	assert_int_equal(pw_tcp_pool_init(&pool, "test", 100, 1000, SOCKET_ID_ANY), 0);
	first = pw_test_heap_bytes();
	for (n = 0; n < 1000; n++) {
		objects[n] = pw_tcp_pool_take(&pool);
		assert_non_null(objects[n]);
		memset(objects[n], n & 0xff, 100);
	}
	assert_null(pw_tcp_pool_take(&pool));
	assert_true(pw_test_heap_bytes() - heap >= pw_tcp_pool_bytes(100, 1000));
	assert_true(pw_test_heap_bytes() - heap > 10 * (first - heap));
	while (n-- > 0) {
		assert_int_equal(((uint8_t *)objects[n])[99], n & 0xff);
		pw_tcp_pool_give(&pool, objects[n]);
	}
	pw_tcp_pool_fini(&pool);
	assert_int_equal(pw_test_heap_bytes(), heap);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, pw_tcp_rig_set_up, pw_tcp_rig_tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_idle_connection_is_small),
		TEST(many_short_ones_leave_nothing),
		TEST(new_data_waits_for_a_flight),
		TEST(data_out_of_order_without_memory),
		TEST(a_resting_flight_makes_room),
		TEST(a_pool_grows_to_its_bound),
	};

	return cmocka_run_group_tests_name("tcp_memory", tests, pw_test_eal, NULL);
}
