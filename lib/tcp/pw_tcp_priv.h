/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_TCP_PRIV_H
#define PW_TCP_PRIV_H

/** @file What the files of lib/tcp share. Names of variables are those of RFC 9293 3.3.1. */

#include <sys/queue.h>

#include <rte_hash.h>
#include <rte_mbuf_dyn.h>

#include "pw_frag_buf.h"
#include "pw_tcp.h"
#include "pw_tcp_seg.h"

#define PW_TCP_LISTENERS_MAX 16
#define PW_TCP_OFO_MAX 256     /**< mbufs queued out of order, a connection */
#define PW_TCP_MSS_DEFAULT 536 /**< RFC 9293 3.7.1 */
#define PW_TCP_MSS_MIN 64      /**< floor for what a peer may ask */

#define PW_TCP_RTO_INITIAL_US 1000000 /**< RFC 6298 2.1 */
#define PW_TCP_RTO_MIN_US 200000      /**< Linux's: RFC 6298 2.4 asks for a second */
#define PW_TCP_RTO_MAX_US 60000000
#define PW_TCP_DELACK_US 40000	     /**< RFC 9293 3.8.6.3: below half a second */
#define PW_TCP_TIME_WAIT_US 60000000 /**< as Linux; also for FIN-WAIT-2 */
#define PW_TCP_STARVED_US 10000	     /**< between looks for a free fragment */
#define PW_TCP_SYNACK_RETRIES 5
#define PW_TCP_DATA_RETRIES 8

enum pw_tcp_state {
	PW_TCP_CLOSED, /**< gone; released when the current call ends */
	PW_TCP_SYN_RECEIVED,
	PW_TCP_ESTABLISHED,
	PW_TCP_FIN_WAIT_1,
	PW_TCP_FIN_WAIT_2,
	PW_TCP_CLOSE_WAIT,
	PW_TCP_CLOSING,
	PW_TCP_LAST_ACK,
	PW_TCP_TIME_WAIT,
};

/** Which list a connection is in. */
enum pw_tcp_list {
	PW_TCP_LIST_HALF_OPEN,
	PW_TCP_LIST_OPEN,
	PW_TCP_LIST_TIME_WAIT,
	PW_TCP_LISTS,
};

struct pw_tcp_key {
	rte_be32_t peer;
	rte_be32_t local;
	rte_be16_t peer_port;
	rte_be16_t local_port;
};

/** Packets of received data, linked through a dynamic field of their mbufs. */
struct pw_tcp_queue {
	struct rte_mbuf *first;
	struct rte_mbuf *last;
	uint32_t bytes;
	uint32_t mbufs;
};

/** That field. */
struct pw_tcp_link {
	struct rte_mbuf *next;
	uint32_t seq; /**< of the packet's first byte */
};

/** Data to send: lies at the start of a fragment's data, the bytes behind it. */
struct pw_tcp_chunk {
	TAILQ_ENTRY(pw_tcp_chunk) next;
	struct pw_frag_buf *buf;
	uint32_t seq; /**< of the first byte */
	uint16_t len_bytes;
	char data[];
};

struct pw_tcp_listener {
	uint16_t port; /**< 0: not in use */
	const struct pw_tcp_app *app;
	void *app_ctx;
};

struct pw_tcp_conn {
	TAILQ_ENTRY(pw_tcp_conn) link;
	struct pw_tcp *tcp;
	struct pw_tcp_key key;
	enum pw_tcp_state state;
	enum pw_tcp_list list;
	const struct pw_tcp_listener *listener;
	void *user;
	bool was_opened; /**< opened() was called, so closed() has to be */
	bool aborting;	 /**< to be reset when the current call ends */

	/* send */
	uint32_t iss, snd_una, snd_nxt, snd_max, snd_wnd, snd_wl1;
	uint32_t snd_end; /**< behind the last byte queued */
	uint32_t cwnd, ssthresh, recover;
	uint16_t mss; /**< payload bytes of a full segment, options taken off */
	uint8_t dup_acks;
	uint8_t retries;
	bool in_recovery;
	bool fin_queued;
	bool starved; /**< the application had room to send, but no fragment was free */
	uint8_t snd_wscale;
	TAILQ_HEAD(pw_tcp_chunk_list, pw_tcp_chunk) chunks;

	/* receive */
	uint32_t irs, rcv_nxt;
	uint32_t rcv_adv; /**< right edge of the window offered */
	uint32_t last_ack_sent;
	uint32_t unacked_bytes; /**< received since the last ACK was sent */
	uint32_t fin_seq;	/**< of the peer's FIN, where has_fin */
	bool has_fin;
	bool fin_received; /**< all data before it was received too */
	bool ack_now;
	uint8_t rcv_wscale;
	struct pw_tcp_queue in_order;
	struct pw_tcp_queue out_of_order;

	/* timestamps, RFC 7323 */
	bool ts_ok;
	uint32_t ts_recent;
	uint32_t ts_offset;

	/* round-trip time, RFC 6298 */
	bool has_rtt, timing;
	uint32_t timed_seq;
	uint64_t timed_since_us;
	uint32_t srtt_us, rttvar_us, rto_us;

	/* timers: the time they fire, 0 when off */
	uint64_t rexmit_us, delack_us, linger_us, starved_us;
};
TAILQ_HEAD(pw_tcp_conn_list, pw_tcp_conn);

struct pw_tcp {
	struct pw_tcp_params params;
	struct pw_tcp_stats stats;
	struct pw_tcp_listener listeners[PW_TCP_LISTENERS_MAX];
	struct rte_hash *by_key;
	struct pw_tcp_conn *conns;
	struct pw_tcp_conn_list free_conns;
	struct pw_tcp_conn_list lists[PW_TCP_LISTS];
	struct pw_frag_cache *frags;
	uint64_t next_timer_us; /**< no timer fires before it */
	uint32_t ofo_mbufs;
	int link_offset;
};

static inline struct pw_tcp_link *
pw_tcp_link(const struct pw_tcp *tcp, struct rte_mbuf *m)
{
	return RTE_MBUF_DYNFIELD(m, tcp->link_offset, struct pw_tcp_link *);
}

/* pw_tcp_conn.c: the life of a connection. */

struct pw_tcp_conn *pw_tcp_conn_find(struct pw_tcp *tcp, const struct pw_tcp_key *key);
/** A connection in SYN-RECEIVED; recycles one when all are in use. NULL: none to be had. */
struct pw_tcp_conn *pw_tcp_conn_new(struct pw_tcp *tcp, const struct pw_tcp_key *key);
void pw_tcp_conn_set_state(struct pw_tcp_conn *conn, enum pw_tcp_state state);
/** Call one of the application's callbacks, if it has it. */
void pw_tcp_conn_tell(
	struct pw_tcp_conn *conn, void (*callback)(struct pw_tcp_conn *conn, void *app_ctx));
/** The end of each call for a connection: sends what is due, and releases it if it is gone. */
void pw_tcp_conn_finish(struct pw_tcp_conn *conn, uint64_t now_us);
/** Free the connection and what it holds; calls closed(). */
void pw_tcp_conn_release(struct pw_tcp_conn *conn);

/* pw_tcp_listen.c */

/** A segment that belongs to no connection. The caller frees it. */
void pw_tcp_listen_input(struct pw_tcp *tcp, const struct pw_tcp_key *key,
	const struct pw_tcp_seg *seg, uint64_t now_us);

/* pw_tcp_in.c */

/** A segment of a connection; owns m, whose data is the payload. */
void pw_tcp_conn_input(
	struct pw_tcp_conn *conn, struct rte_mbuf *m, struct pw_tcp_seg *seg, uint64_t now_us);

/* pw_tcp_ack.c: what the peer acknowledges, RFC 5681, 6298, 6582. */

/** The ACK field and window of an acceptable segment. */
void pw_tcp_ack_input(struct pw_tcp_conn *conn, const struct pw_tcp_seg *seg, uint64_t now_us);
/** Slow start again after a time-out. */
void pw_tcp_ack_timeout(struct pw_tcp_conn *conn);
/** Start values, once the MSS is known. */
void pw_tcp_ack_init(struct pw_tcp_conn *conn);

/* pw_tcp_recv.c: data in. */

/** Queue payload, trimmed to what is new; owns m. */
void pw_tcp_recv_data(struct pw_tcp_conn *conn, struct rte_mbuf *m, uint32_t seq);
void pw_tcp_queue_clear(struct pw_tcp *tcp, struct pw_tcp_queue *queue);

/* pw_tcp_send.c: data that waits to be sent or acknowledged. */

/** Free what lies before snd_una. */
void pw_tcp_send_acked(struct pw_tcp_conn *conn);
void pw_tcp_send_clear(struct pw_tcp_conn *conn);
/** How many of len_bytes queued bytes from seq on so many chunks hold. */
uint32_t pw_tcp_send_reach(
	const struct pw_tcp_conn *conn, uint32_t seq, uint32_t len_bytes, unsigned chunks);
/** Let m point at queued bytes; with more mbufs where chunks meet. 0, or -ENOMEM. */
int pw_tcp_send_attach(
	struct pw_tcp_conn *conn, struct rte_mbuf *m, uint32_t seq, uint32_t len_bytes);

/* pw_tcp_out.c: segments out. */

/** Send what can be sent now: data, FIN, or an ACK that is due. */
void pw_tcp_output(struct pw_tcp_conn *conn, uint64_t now_us);
void pw_tcp_send_syn_ack(struct pw_tcp_conn *conn, uint64_t now_us);
void pw_tcp_send_ack(struct pw_tcp_conn *conn, uint64_t now_us);
void pw_tcp_send_rst(struct pw_tcp_conn *conn, uint64_t now_us);
/** Send the first unacknowledged segment again. */
void pw_tcp_retransmit(struct pw_tcp_conn *conn, uint64_t now_us);
/** Ask a peer with a closed window where it stands. */
void pw_tcp_send_probe(struct pw_tcp_conn *conn, uint64_t now_us);
/** The RST that answers a segment of no connection (RFC 9293 3.10.7.1). */
void pw_tcp_reset_reply(struct pw_tcp *tcp, const struct pw_tcp_key *key,
	const struct pw_tcp_seg *seg, uint64_t now_us);

/* pw_tcp_timer.c */

void pw_tcp_timer_set(struct pw_tcp_conn *conn, uint64_t *timer, uint64_t fire_us);

#endif
