/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_TCP_RIG_H
#define PW_TCP_RIG_H

/**
 * @file
 * A TCP endpoint under test, with an application, in virtual time; driven by scripts that read as
 * the packets on the wire, after packetdrill's manner. One step a line:
 *
 *	< S 0:0(0) win 1000 <mss 1460,ws 7,ts 100 0>	a segment from the peer
 *	> S. 0:0(0) ack 1 win 1000 <mss 1460>		the next segment we must send
 *	+40						milliseconds go by
 *
 * Before "<" and "+" and at the end of a script nothing may be left that was sent but not expected.
 * In a "+" timers run; what they send must lie in its last millisecond, unless "+*" allows all.
 * An ECN field may stand before the flags, as in "> [ect0] . 1:2(1) ack 1" and "< [ce] ...".
 * Options are mss, ws, ts, sackOK and sack, as in <sack 1001:2001 3001:4001>; <> wants none.
 *
 * Flags are S F R P U E W, "." for ACK and "-" for none. Numbers count from both initial ones. In
 * ">" window and options are compared only when written; P does not have to be. "> *" takes
 * whatever was sent.
 */

#include "pw_packet.h"
#include "pw_tcp.h"
#include "pw_test.h"

#define RIG_PORT 80
#define RIG_SENT_MAX 4096

/** Of the peer's segments. */
extern const struct pw_ip_info pw_tcp_rig_ip;

struct pw_tcp_rig {
	struct rte_mempool *pool;
	unsigned base;
	struct pw_frag_pool *frags;
	struct pw_tcp_params params;
	struct pw_tcp *tcp;
	struct pw_tcp_app app;
	uint64_t now_us;

	/* the peer */
	uint32_t peer_isn, our_isn;
	uint16_t peer_port, our_port;

	/* what we sent, as it is on the wire, and was not expected yet */
	uint32_t output_dst;
	uint8_t output_tos;
	struct pw_packet sent[RIG_SENT_MAX];
	uint64_t sent_us[RIG_SENT_MAX];
	unsigned nb_sent, nb_expected;

	/* the application: what it is to do at its next call, and what it saw */
	bool hold;	     /**< read nothing */
	bool echo;	     /**< send what was read */
	bool close_at_end;   /**< shut down when the peer does */
	uint32_t send_bytes; /**< to be sent */
	bool close, abort;
	unsigned opened, closed, at_end;
	unsigned failed;	   /**< ours that were never established */
	int error;		   /**< why the last one is gone */
	uint32_t received, queued; /**< bytes read, and taken by pw_tcp_send() */
};

/** Set-up and tear-down of a test, whose state is the rig; pool and fragments must be as before. */
int pw_tcp_rig_set_up(void **state);
/** The same with a port that cuts segments (TSO): on the wire all must be as without. */
int pw_tcp_rig_set_up_tso(void **state);
int pw_tcp_rig_tear_down(void **state);

/** A test, with either. */
#define RIG_TEST(f)                                                                       \
	cmocka_unit_test_setup_teardown(f, pw_tcp_rig_set_up, pw_tcp_rig_tear_down),      \
	{                                                                                 \
		.name = #f "_tso", .test_func = (f), .setup_func = pw_tcp_rig_set_up_tso, \
		.teardown_func = pw_tcp_rig_tear_down                                     \
	}

/** Begin again with the rig's parameters, after a test changed them. */
void pw_tcp_rig_restart(struct pw_tcp_rig *rig);

/** Run a script; several lines. */
void pw_tcp_rig_run(struct pw_tcp_rig *rig, const char *script);

/** A line with a number in it. */
__rte_format_printf(2, 3) void pw_tcp_rig_runf(struct pw_tcp_rig *rig, const char *format, ...);

/**
 * Connect: window 65535, MSS 1460, no other options. What the application sends at once is left for
 * the next script.
 */
void pw_tcp_rig_connect(struct pw_tcp_rig *rig);

/** Open a connection to the peer: the next segment is our SYN. */
void pw_tcp_rig_open(struct pw_tcp_rig *rig);

/** Move the time on so that a new connection's initial number would be this one. */
void pw_tcp_rig_set_isn(struct pw_tcp_rig *rig, uint32_t isn);

/** No connection is left, and all buffers are back. */
void pw_tcp_rig_expect_all_home(struct pw_tcp_rig *rig);

/** A segment of the peer, numbers as they are, with its addresses filled in. */
void pw_tcp_rig_input(struct pw_tcp_rig *rig, struct pw_packet *packet);

void pw_tcp_rig_tick(struct pw_tcp_rig *rig, uint64_t us);

struct pw_tcp_stats pw_tcp_rig_stats(struct pw_tcp_rig *rig);

#endif
