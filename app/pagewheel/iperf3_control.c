/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* The control connection of an iperf3 test: one byte a state, and each JSON text behind its length.
 * The client goes through the states; it is told the next one here. */

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <rte_byteorder.h>

#include "iperf3.h"
#include "notice.h"

#define TICK_US 10000
#define ANSWER_US UINT64_C(30000000) /* for what the client has to do next */
#define IDLE_US UINT64_C(60000000)   /* a test in which nothing moves */
#define LINGER_US 2000000	     /* for the client to close, when all is done */
#define UNBOUNDED_S 86400	     /* of a test without time */
#define ERROR_PARAMS 114	     /* iperf3's number for parameters that were not understood */

/* False: it is not to be used any more. */
static bool
put(struct pw_tcp_conn *conn, const void *data, uint32_t len_bytes)
{
	if (pw_tcp_send(conn, data, len_bytes) == len_bytes)
		return true;
	pw_tcp_abort(conn); /* what a client has not read yet fits the queue beside this */
	return false;
}

static bool
put_state(struct pw_tcp_conn *conn, enum pw_iperf3_state state)
{
	int8_t byte = state;

	return put(conn, &byte, sizeof(byte));
}

static void
finish(struct pw_iperf3_conn *c, struct pw_tcp_conn *conn)
{
	pw_iperf3_leave(c->generation);
	c->deadline_us = pw_tcp_now(conn) + LINGER_US;
}

static void
refuse(struct pw_iperf3_conn *c, struct pw_tcp_conn *conn)
{
	const rte_be32_t numbers[] = {RTE_BE32(ERROR_PARAMS), 0};

	if (put_state(conn, PW_IPERF3_SERVER_ERROR) && put(conn, numbers, sizeof(numbers)))
		pw_tcp_shutdown(conn);
	finish(c, conn);
}

static void
read_cpu(double us[2])
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	us[0] = usage.ru_utime.tv_sec * 1e6 + usage.ru_utime.tv_usec;
	us[1] = usage.ru_stime.tv_sec * 1e6 + usage.ru_stime.tv_usec;
}

static void
take_params(struct pw_iperf3_conn *c, struct pw_tcp_conn *conn, const json_t *json)
{
	struct pw_iperf3_params params;

	if (!pw_iperf3_read_params(json, &params)) {
		refuse(c, conn);
		return;
	}
	pw_iperf3.params = params;
	pw_iperf3_set_phase(PW_IPERF3_STREAMS);
	c->deadline_us = pw_tcp_now(conn) + ANSWER_US;
	put_state(conn, PW_IPERF3_CREATE_STREAMS);
}

/* What the client has seen is its own business: ours is sent. */
static void
take_results(struct pw_iperf3_conn *c, struct pw_tcp_conn *conn)
{
	double cpu_us[2], percent[2], test_us = pw_iperf3.end_us - pw_iperf3.start_us;
	rte_be32_t length;
	char *text;

	read_cpu(cpu_us);
	for (unsigned i = 0; i < 2; i++)
		percent[i] = test_us > 0 ? 100 * (cpu_us[i] - c->cpu_us[i]) / test_us : 0;
	text = pw_iperf3_results(percent);
	if (text == NULL) {
		pw_tcp_abort(conn);
		return;
	}
	length = rte_cpu_to_be_32(strlen(text));
	if (put(conn, &length, sizeof(length)) && put(conn, text, strlen(text)))
		put_state(conn, PW_IPERF3_DISPLAY_RESULTS);
	free(text);
}

/* Numbers as reals: the client writes some that no integer of 64 bits holds. */
static void
take_json(struct pw_iperf3_conn *c, struct pw_tcp_conn *conn)
{
	json_t *json = json_loadb(
		c->text, c->text_read - sizeof(c->length), JSON_DECODE_INT_AS_REAL, NULL);

	free(c->text);
	c->text = NULL;
	c->text_read = 0;
	c->wants_json = false;
	if (json == NULL)
		refuse(c, conn);
	else if (pw_iperf3_phase() == PW_IPERF3_PARAMS)
		take_params(c, conn, json);
	else
		take_results(c, conn);
	json_decref(json);
}

/* Of the length, then of the text. True when both are there. */
static bool
read_json(struct pw_iperf3_conn *c, struct pw_tcp_conn *conn)
{
	rte_be32_t be_length;
	uint32_t length;

	if (c->text_read < sizeof(c->length))
		c->text_read += pw_tcp_read(
			conn, c->length + c->text_read, sizeof(c->length) - c->text_read);
	if (c->text_read < sizeof(c->length))
		return false;
	memcpy(&be_length, c->length, sizeof(be_length));
	length = rte_be_to_cpu_32(be_length);
	if (c->text == NULL && length > 0 && length <= PW_IPERF3_JSON_MAX)
		c->text = malloc(length);
	if (c->text == NULL) {
		c->text_read = 0;
		refuse(c, conn);
		return false;
	}
	c->text_read += pw_tcp_read(conn, c->text + c->text_read - sizeof(c->length),
		length + sizeof(c->length) - c->text_read);
	return c->text_read == length + sizeof(c->length);
}

static void
tell(void)
{
	double us = pw_iperf3.end_us - pw_iperf3.start_us;
	uint64_t bytes[2] = {0, 0};
	char peer[PW_ADDR_STRLEN];

	for (unsigned i = 0; i < pw_iperf3_streams_expected(); i++) {
		const struct pw_iperf3_stream *s = &pw_iperf3.streams[i];

		bytes[s->sends] += s->count.bytes - s->omitted.bytes;
	}
	pw_notice("iperf3 %s: %s, %u streams, %.2f s, in %.3f Gbit/s, out %.3f Gbit/s",
		pw_addr_format(&pw_iperf3.peer, peer), pw_iperf3.params.udp ? "UDP" : "TCP",
		pw_iperf3_streams_expected(), us / 1e6, us > 0 ? bytes[0] * 8 / us / 1e3 : 0,
		us > 0 ? bytes[1] * 8 / us / 1e3 : 0);
}

static void
end_test(struct pw_iperf3_conn *c, struct pw_tcp_conn *conn)
{
	pw_iperf3.end_us = pw_tcp_now(conn);
	pw_iperf3_set_phase(PW_IPERF3_RESULTS);
	c->deadline_us = pw_tcp_now(conn) + ANSWER_US;
	c->wants_json = true;
	tell();
	put_state(conn, PW_IPERF3_EXCHANGE_RESULTS);
}

static void
take_state(struct pw_iperf3_conn *c, struct pw_tcp_conn *conn, int8_t state)
{
	enum pw_iperf3_phase phase = pw_iperf3_phase();

	if (state == PW_IPERF3_TEST_END && phase == PW_IPERF3_RUNNING)
		end_test(c, conn);
	else if (state == PW_IPERF3_CLIENT_TERMINATE ||
		(state == PW_IPERF3_DONE && phase == PW_IPERF3_RESULTS))
		finish(c, conn);
	else
		pw_tcp_abort(conn);
}

static void
readable(struct pw_tcp_conn *conn, void *app_ctx)
{
	struct pw_iperf3_conn *c = pw_tcp_get_user(conn);
	int8_t state;

	(void)app_ctx;
	while (pw_iperf3_is_current(c)) {
		if (c->wants_json) {
			if (!read_json(c, conn))
				break;
			take_json(c, conn);
		} else {
			if (pw_tcp_read(conn, &state, 1) == 0)
				break;
			take_state(c, conn, state);
		}
	}
	if (!pw_iperf3_is_current(c))
		pw_tcp_app_drop(conn);
	if (pw_tcp_at_end(conn)) {
		finish(c, conn);
		pw_tcp_shutdown(conn);
	}
}

static void
opened(struct pw_tcp_conn *conn, void *app_ctx)
{
	struct pw_iperf3_conn *c = pw_tcp_get_user(conn);

	(void)app_ctx;
	c->wants_json = true;
	c->deadline_us = pw_tcp_now(conn) + ANSWER_US;
	pw_tcp_set_timer(conn, pw_tcp_now(conn) + TICK_US);
	put_state(conn, PW_IPERF3_PARAM_EXCHANGE);
}

static void
start_test(struct pw_iperf3_conn *c, struct pw_tcp_conn *conn)
{
	const struct pw_iperf3_params *params = &pw_iperf3.params;
	uint64_t now_us = pw_tcp_now(conn);
	uint64_t seconds = (params->time_s > 0 ? params->time_s : UNBOUNDED_S) + params->omit_s;

	c->deadline_us = now_us + seconds * 1000000 + ANSWER_US;
	c->idle_us = now_us;
	c->omits = params->omit_s > 0;
	read_cpu(c->cpu_us);
	__atomic_store_n(&pw_iperf3.start_us, now_us, __ATOMIC_RELAXED);
	if (!put_state(conn, PW_IPERF3_TEST_START) || !put_state(conn, PW_IPERF3_TEST_RUNNING))
		return;
	pw_iperf3_set_phase(PW_IPERF3_RUNNING);
}

/* What was counted so far is not. */
static void
omit(struct pw_iperf3_conn *c, uint64_t now_us)
{
	c->omits = false;
	rte_spinlock_lock(&pw_iperf3.lock);
	for (unsigned i = 0; i < pw_iperf3_streams_expected(); i++) {
		pw_iperf3.streams[i].omitted = pw_iperf3.streams[i].count;
		pw_iperf3.streams[i].jitter_us = 0;
	}
	__atomic_store_n(&pw_iperf3.start_us, now_us, __ATOMIC_RELAXED);
	read_cpu(c->cpu_us);
	rte_spinlock_unlock(&pw_iperf3.lock);
}

/* Nothing has come or gone for long. */
static bool
is_idle(struct pw_iperf3_conn *c, uint64_t now_us)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < pw_iperf3_streams_expected(); i++)
		bytes += __atomic_load_n(&pw_iperf3.streams[i].count.bytes, __ATOMIC_RELAXED);
	if (bytes != c->last_bytes)
		c->idle_us = now_us;
	c->last_bytes = bytes;
	return now_us - c->idle_us > IDLE_US;
}

static void
timer(struct pw_tcp_conn *conn, void *app_ctx)
{
	struct pw_iperf3_conn *c = pw_tcp_get_user(conn);
	uint64_t now_us = pw_tcp_now(conn);
	bool running = pw_iperf3_is_current(c) && pw_iperf3_phase() == PW_IPERF3_RUNNING;

	(void)app_ctx;
	if (now_us > c->deadline_us || (running && is_idle(c, now_us))) {
		pw_tcp_abort(conn);
		return;
	}
	if (pw_iperf3_is_current(c) && pw_iperf3_phase() == PW_IPERF3_STREAMS &&
		__atomic_load_n(&pw_iperf3.nb_streams, __ATOMIC_ACQUIRE) ==
			pw_iperf3_streams_expected())
		start_test(c, conn);
	else if (running && c->omits &&
		now_us - pw_iperf3.start_us >= pw_iperf3.params.omit_s * UINT64_C(1000000))
		omit(c, now_us);
	pw_tcp_set_timer(conn, now_us + TICK_US);
}

static void
closed(struct pw_tcp_conn *conn, void *app_ctx)
{
	struct pw_iperf3_conn *c = pw_tcp_get_user(conn);

	(void)app_ctx;
	pw_iperf3_leave(c->generation);
}

const struct pw_tcp_app pw_iperf3_control = {
	.name = "iperf3 control",
	.opened = opened,
	.readable = readable,
	.timer = timer,
	.closed = closed,
};
