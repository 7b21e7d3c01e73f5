/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include <stdlib.h>
#include <string.h>

#include "iperf3.h"
#include "pw_test.h"

struct pw_iperf3_session pw_iperf3;

static bool
read(const char *text, struct pw_iperf3_params *params)
{
	json_t *json = json_loads(text, JSON_DECODE_INT_AS_REAL, NULL);
	bool ok;

	assert_non_null(json);
	ok = pw_iperf3_read_params(json, params);
	json_decref(json);
	return ok;
}

static void
what_stock_clients_ask_for(void **state)
{
	struct pw_iperf3_params params;

	(void)state;
	assert_true(read("{\"tcp\":true,\"omit\":1,\"time\":10,\"num\":0,\"blockcount\":0,"
			 "\"parallel\":8,\"reverse\":true,\"len\":131072,\"pacing_timer\":1000,"
			 "\"client_version\":\"3.12\"}",
		&params));
	assert_false(params.udp || params.bidir || params.counters64);
	assert_true(params.reverse);
	assert_int_equal(params.parallel, 8);
	assert_int_equal(params.time_s, 10);
	assert_int_equal(params.omit_s, 1);
	assert_int_equal(params.len_bytes, 131072);
	assert_int_equal(params.rate_bits, 0);

	assert_true(read("{\"udp\":true,\"time\":0,\"num\":1e+10,\"parallel\":1,"
			 "\"bidirectional\":true,\"len\":1448,\"bandwidth\":1048576,"
			 "\"udp_counters_64bit\":1}",
		&params));
	assert_true(params.udp && params.bidir && params.counters64);
	assert_int_equal(params.len_bytes, 1448);
	assert_int_equal(params.rate_bits, 1048576);
}

static void
lengths_have_defaults(void **state)
{
	struct pw_iperf3_params params;

	(void)state;
	assert_true(read("{\"tcp\":true}", &params));
	assert_int_equal(params.parallel, 1);
	assert_true(params.len_bytes > 0);
	assert_true(read("{\"udp\":true}", &params));
	assert_true(params.len_bytes >= 16 && params.len_bytes <= 1448);
}

static void
wrong_ones_are_refused(void **state)
{
	static const char *const rows[] = {
		"[]",
		"{\"sctp\":true}",
		"{\"parallel\":129}",
		"{\"parallel\":-1}",
		"{\"parallel\":1e300}",
		"{\"parallel\":\"8\"}",
		"{\"parallel\":[8]}",
		"{\"time\":86401}",
		"{\"omit\":601}",
		"{\"len\":-1}",
		"{\"len\":1048577}",
		"{\"udp\":true,\"len\":15}",
		"{\"udp\":true,\"len\":65508}",
		"{\"bandwidth\":1e14}",
		"{\"bandwidth\":-5}",
		"{\"reverse\":true,\"bidirectional\":true}",
	};
	struct pw_iperf3_params params;

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(rows); i++)
		assert_false(read(rows[i], &params));
}

/* What the client looks for, with its numbers of streams. */
static void
results_have_what_the_client_reads(void **state)
{
	static const char *const keys[] = {"bytes", "retransmits", "jitter", "errors", "packets"};
	static const int ids[] = {1, 3, 4};
	static const double cpu[] = {12, 30};
	json_t *json, *stream;
	char *text;

	(void)state;
	pw_iperf3.params = (struct pw_iperf3_params){.parallel = 3, .reverse = true};
	pw_iperf3.start_us = 1000000;
	pw_iperf3.end_us = 3500000;
	for (unsigned i = 0; i < 3; i++)
		pw_iperf3.streams[i] = (struct pw_iperf3_stream){
			.sends = true,
			.count = {.bytes = 1000 + i, .retrans = 5},
			.omitted = {.bytes = 100, .retrans = 2},
		};
	text = pw_iperf3_results(cpu);
	json = json_loads(text, 0, NULL);
	free(text);
	assert_non_null(json);
	assert_float_equal(json_real_value(json_object_get(json, "cpu_util_total")), 42, 0.001);
	assert_int_equal(json_integer_value(json_object_get(json, "sender_has_retransmits")), 1);
	assert_int_equal(json_array_size(json_object_get(json, "streams")), 3);
	for (unsigned i = 0; i < 3; i++) {
		stream = json_array_get(json_object_get(json, "streams"), i);
		assert_int_equal(json_integer_value(json_object_get(stream, "id")), ids[i]);
		assert_int_equal(json_integer_value(json_object_get(stream, "bytes")), 900 + i);
		assert_int_equal(json_integer_value(json_object_get(stream, "retransmits")), 3);
		assert_float_equal(
			json_real_value(json_object_get(stream, "end_time")), 2.5, 0.001);
		for (unsigned k = 0; k < RTE_DIM(keys); k++)
			assert_true(json_is_number(json_object_get(stream, keys[k])));
	}
	json_decref(json);
}

/* The most streams that there can be still fit what a client reads. */
static void
results_are_bounded(void **state)
{
	static const double cpu[] = {0, 0};
	char *text;

	(void)state;
	memset(&pw_iperf3, 0xff, sizeof(pw_iperf3));
	pw_iperf3.params = (struct pw_iperf3_params){
		.parallel = PW_IPERF3_PARALLEL_MAX, .bidir = true, .udp = true};
	for (unsigned i = 0; i < PW_IPERF3_STREAMS_MAX; i++) {
		pw_iperf3.streams[i].sends = false;
		pw_iperf3.streams[i].jitter_us = 1e6 / 3;
	}
	pw_iperf3.start_us = 0;
	text = pw_iperf3_results(cpu);
	assert_non_null(text);
	assert_true(strlen(text) < PW_IPERF3_JSON_MAX);
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_stock_clients_ask_for),
		cmocka_unit_test(lengths_have_defaults),
		cmocka_unit_test(wrong_ones_are_refused),
		cmocka_unit_test(results_have_what_the_client_reads),
		cmocka_unit_test(results_are_bounded),
	};

	return cmocka_run_group_tests_name("app_iperf3_json", tests, NULL, NULL);
}
