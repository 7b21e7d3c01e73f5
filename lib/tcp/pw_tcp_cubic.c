/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* CUBIC, RFC 9438: C is 0.4, beta 0.7; times in milliseconds, windows in bytes. */

#include "pw_tcp_priv.h"

#define TIME_MAX_MS 1000000 /* its cube fits 64 bits */
#define EST_SHIFT 16

/* Cube root, rounded down: three bits of the number make one of the root. */
static uint32_t
cube_root(uint64_t n)
{
	uint64_t root = 0;

	for (int shift = 63; shift >= 0; shift -= 3) {
		uint64_t next;

		root *= 2;
		next = 3 * root * (root + 1) + 1;
		if (n >> shift >= next) {
			n -= next << shift;
			root++;
		}
	}
	return root;
}

/* 4.2: K. */
static uint32_t
time_to_origin_ms(uint32_t bytes_below, uint32_t mss)
{
	uint64_t cube_ms3 = (uint64_t)bytes_below * 2500000000 / mss; /* 1e9 / C */

	return cube_root(cube_ms3);
}

/* C * t^3, in bytes; at most what the window can be. */
static uint32_t
curve_bytes(uint64_t t_ms, uint32_t mss)
{
	uint64_t milli_segments;

	t_ms = RTE_MIN(t_ms, (uint64_t)TIME_MAX_MS);
	milli_segments = t_ms * t_ms * t_ms / 2500000;
	return RTE_MIN(milli_segments * mss / 1000, (uint64_t)PW_TCP_CWND_MAX);
}

/* 4.2, figure 1. */
static uint32_t
w_cubic(const struct pw_tcp_conn *conn, uint64_t t_ms)
{
	const struct pw_tcp_cubic *cubic = &conn->cc_state.cubic;
	uint32_t d;

	if (t_ms >= cubic->k_ms)
		return cubic->origin + curve_bytes(t_ms - cubic->k_ms, conn->mss);
	d = curve_bytes(cubic->k_ms - t_ms, conn->mss);
	return cubic->origin - RTE_MIN(d, cubic->origin);
}

static void
begin_epoch(struct pw_tcp_conn *conn, uint64_t now_us)
{
	struct pw_tcp_cubic *cubic = &conn->cc_state.cubic;

	cubic->epoch_us = now_us;
	cubic->origin = RTE_MAX(cubic->w_max, conn->cwnd);
	cubic->k_ms = time_to_origin_ms(cubic->origin - conn->cwnd, conn->mss);
	cubic->w_est = (uint64_t)conn->cwnd << EST_SHIFT;
	conn->cc_state.count = 0;
}

/* 4.3: what Reno would have; alpha is 3 * (1 - beta) / (1 + beta), then 1. */
static uint32_t
reno_friendly(struct pw_tcp_conn *conn, uint32_t acked_bytes)
{
	struct pw_tcp_cubic *cubic = &conn->cc_state.cubic;
	uint64_t step = (((uint64_t)acked_bytes * conn->mss) << EST_SHIFT) / conn->cwnd;

	if (cubic->w_est >> EST_SHIFT < cubic->cwnd_prior)
		step = step * 9 / 17;
	cubic->w_est = RTE_MIN(cubic->w_est + step, (uint64_t)PW_TCP_CWND_MAX << EST_SHIFT);
	return cubic->w_est >> EST_SHIFT;
}

static void
cubic_on_ack(struct pw_tcp_conn *conn, uint32_t acked_bytes, uint64_t now_us)
{
	struct pw_tcp_cubic *cubic = &conn->cc_state.cubic;
	uint32_t est, target;
	uint64_t t_ms;

	if (cubic->epoch_us == 0)
		begin_epoch(conn, now_us);
	t_ms = (now_us - cubic->epoch_us) / 1000;
	est = reno_friendly(conn, acked_bytes);
	if (w_cubic(conn, t_ms) < est) {
		conn->cwnd = RTE_MAX(conn->cwnd, est);
		return;
	}
	/* 4.4 and 4.5. */
	target = w_cubic(conn, t_ms + conn->srtt_us / 1000);
	target = RTE_MIN(RTE_MAX(target, conn->cwnd), conn->cwnd + conn->cwnd / 2);
	conn->cc_state.count += (uint64_t)(target - conn->cwnd) * acked_bytes;
	acked_bytes = conn->cc_state.count / conn->cwnd;
	conn->cc_state.count %= conn->cwnd;
	conn->cwnd += acked_bytes;
}

/* 4.6, and 4.7: who had less than the last time leaves more to others. */
static uint32_t
cubic_on_loss(struct pw_tcp_conn *conn)
{
	struct pw_tcp_cubic *cubic = &conn->cc_state.cubic;
	uint32_t cwnd = conn->cwnd;

	cubic->w_max = cwnd < cubic->w_max ? (uint64_t)cwnd * 17 / 20 : cwnd;
	cubic->cwnd_prior = cwnd;
	cubic->epoch_us = 0;
	return RTE_MAX((uint32_t)((uint64_t)cwnd * 7 / 10), 2U * conn->mss);
}

/* 4.8: the curve begins where slow start ends. */
static void
cubic_on_restart(struct pw_tcp_conn *conn)
{
	conn->cc_state.cubic.epoch_us = 0;
	conn->cc_state.cubic.w_max = 0;
}

const struct pw_tcp_cc pw_tcp_cc_cubic = {
	.on_ack = cubic_on_ack,
	.on_loss = cubic_on_loss,
	.on_restart = cubic_on_restart,
};
