/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef IPERF3_H
#define IPERF3_H

/**
 * @file
 * A server for the clients of iperf3, one test at a time in the program.
 *
 * A test has a control connection, whose bytes are states and JSON texts, and streams: connections
 * that begin with the same cookie, or UDP flows. They may belong to different lcores. What they
 * share is the session below. It lives as long as the program does: a stream that outlives its test
 * sees that by the generation, and ends.
 */

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>
#include <rte_spinlock.h>

#include "tcp_app.h"

#define PW_IPERF3_COOKIE_BYTES 37 /**< with its end */
#define PW_IPERF3_PARALLEL_MAX 128
#define PW_IPERF3_STREAMS_MAX (2 * PW_IPERF3_PARALLEL_MAX) /**< both ways at once */
#define PW_IPERF3_JSON_MAX 65536			   /**< bytes */

/** States, as bytes on the control connection. */
enum pw_iperf3_state {
	PW_IPERF3_TEST_START = 1,
	PW_IPERF3_TEST_RUNNING = 2,
	PW_IPERF3_TEST_END = 4,
	PW_IPERF3_PARAM_EXCHANGE = 9,
	PW_IPERF3_CREATE_STREAMS = 10,
	PW_IPERF3_CLIENT_TERMINATE = 12,
	PW_IPERF3_EXCHANGE_RESULTS = 13,
	PW_IPERF3_DISPLAY_RESULTS = 14,
	PW_IPERF3_DONE = 16,
	PW_IPERF3_ACCESS_DENIED = -1,
	PW_IPERF3_SERVER_ERROR = -2,
};

/** What the server does. */
enum pw_iperf3_phase {
	PW_IPERF3_IDLE,
	PW_IPERF3_PARAMS,  /**< waits for the parameters */
	PW_IPERF3_STREAMS, /**< waits for the streams */
	PW_IPERF3_RUNNING,
	PW_IPERF3_RESULTS, /**< the test is over */
};

struct pw_iperf3_params {
	bool udp;
	bool reverse; /**< the server sends */
	bool bidir;   /**< both do */
	bool counters64;
	uint32_t parallel;
	uint32_t time_s; /**< 0: until the client says so */
	uint32_t omit_s;
	uint32_t len_bytes;
	uint64_t rate_bits; /**< a second and stream; 0: no limit */
};

/** What is counted of a stream. */
struct pw_iperf3_count {
	uint64_t bytes;
	uint64_t packets;
	uint64_t lost;
	uint64_t retrans;
};

struct pw_iperf3_stream {
	bool sends; /**< the server does */
	struct pw_iperf3_count count, omitted;
	/* UDP */
	struct pw_tcp_stack *stack; /**< where it is received, and sent from */
	struct pw_addr peer, local;
	rte_be16_t peer_port, local_port;
	int64_t transit_us; /**< of the last packet, RFC 1889 A.8 */
	double jitter_us;
};

struct pw_iperf3_session {
	rte_spinlock_t lock;	   /**< for what is neither atomic nor a stream's own */
	uint32_t phase;		   /**< atomic */
	uint32_t generation;	   /**< atomic; another one for each test */
	uint32_t nb_streams;	   /**< atomic; that are there */
	uint64_t start_us, end_us; /**< of the test; start_us behind what is omitted */
	struct pw_addr peer;
	char cookie[PW_IPERF3_COOKIE_BYTES];
	struct pw_iperf3_params params; /**< fixed from PW_IPERF3_STREAMS on */
	struct pw_iperf3_stream streams[PW_IPERF3_STREAMS_MAX];
};

extern struct pw_iperf3_session pw_iperf3;

static inline enum pw_iperf3_phase
pw_iperf3_phase(void)
{
	return __atomic_load_n(&pw_iperf3.phase, __ATOMIC_ACQUIRE);
}

static inline void
pw_iperf3_set_phase(enum pw_iperf3_phase phase)
{
	__atomic_store_n(&pw_iperf3.phase, phase, __ATOMIC_RELEASE);
}

/** Counters have one writer; others read them meanwhile. */
static inline void
pw_iperf3_add(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

static inline unsigned
pw_iperf3_streams_expected(void)
{
	return pw_iperf3.params.parallel * (pw_iperf3.params.bidir ? 2 : 1);
}

/** May a stream of rate_bits send more? Tells how many bytes, at this time. */
uint64_t pw_iperf3_due(const struct pw_iperf3_stream *stream, uint64_t now_us);

/** Fill in the place of the next stream. NULL: none is expected. With the lock held. */
struct pw_iperf3_stream *pw_iperf3_add_stream(void);

/** That stream is there: others may look at it. With the lock held. */
static inline void
pw_iperf3_stream_is_there(void)
{
	__atomic_store_n(&pw_iperf3.nb_streams, pw_iperf3.nb_streams + 1, __ATOMIC_RELEASE);
}

/** The test of this generation is over, if it is not already; another may begin. */
void pw_iperf3_leave(uint32_t generation);

/** A connection. Its role is known when its cookie has come. */
struct pw_iperf3_conn {
	const struct pw_tcp_app *role;
	uint32_t generation;
	char cookie[PW_IPERF3_COOKIE_BYTES];
	uint32_t cookie_read;
	/* a stream */
	struct pw_iperf3_stream *stream;
	/* the control connection */
	bool wants_json;
	uint8_t length[4]; /**< of the text */
	char *text;
	uint32_t text_read;   /**< with the length before it */
	uint64_t deadline_us; /**< for the phase */
	uint64_t last_bytes;  /**< of all streams, when it changed */
	uint64_t idle_us;     /**< since then */
	bool omits;	      /**< the time that is omitted is not over */
	double cpu_us[2];     /**< user and system, when the test began */
};

/** Its test is the one that runs. */
static inline bool
pw_iperf3_is_current(const struct pw_iperf3_conn *c)
{
	return __atomic_load_n(&pw_iperf3.generation, __ATOMIC_ACQUIRE) == c->generation;
}

/* iperf3_control.c and iperf3_stream.c: the roles. Their opened() is called with the cookie. */
extern const struct pw_tcp_app pw_iperf3_control, pw_iperf3_data;

/* iperf3_json.c */

/** Read the parameters. False: they are wrong, or not for us. */
bool pw_iperf3_read_params(const json_t *json, struct pw_iperf3_params *params);

/** The results as a text, to be freed. NULL: out of memory. */
char *pw_iperf3_results(const double cpu_percent[2]);

/* iperf3_udp.c */

bool pw_iperf3_udp_input(struct pw_tcp_stack *stack, struct rte_mbuf *datagram,
	const struct pw_ip_info *ip, uint64_t now_us);
void pw_iperf3_udp_tick(struct pw_tcp_stack *stack, uint64_t now_us);

#endif
