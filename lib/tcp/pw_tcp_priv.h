/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_TCP_PRIV_H
#define PW_TCP_PRIV_H

/** @file What the files of lib/tcp share. Names of variables are those of RFC 9293 3.3.1. */

#include <assert.h>
#include <sys/queue.h>

#include <rte_ip.h>
#include <rte_mbuf_dyn.h>

#include "pw_frag_buf.h"
#include "pw_tcp.h"
#include "pw_tcp_cc.h"
#include "pw_tcp_pool.h"
#include "pw_tcp_seg.h"
#include "pw_tcp_sent.h"
#include "pw_tcp_wheel.h"

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
#define PW_TCP_SYN_RETRIES 5	     /* also of a SYN-ACK */
#define PW_TCP_KEEPALIVE_PROBES 9    /* as Linux */
#define PW_TCP_CHALLENGES_MAX 16     /* in a second, a connection: RFC 5961 7 */
#define PW_TCP_DATA_RETRIES 8

enum pw_tcp_state {
	PW_TCP_CLOSED, /**< gone; released when the current call ends */
	PW_TCP_SYN_SENT,
	PW_TCP_SYN_RECEIVED,
	PW_TCP_ESTABLISHED,
	PW_TCP_FIN_WAIT_1,
	PW_TCP_FIN_WAIT_2,
	PW_TCP_CLOSE_WAIT,
	PW_TCP_CLOSING,
	PW_TCP_LAST_ACK,
	PW_TCP_TIME_WAIT,
};

/** Timers of a connection. */
enum pw_tcp_timer {
	PW_TCP_TIMER_REXMIT, /**< retransmission time-out, or window probe */
	PW_TCP_TIMER_DELACK,
	PW_TCP_TIMER_LINGER, /**< the end of TIME-WAIT and FIN-WAIT-2 */
	PW_TCP_TIMER_KEEPALIVE,
	PW_TCP_TIMER_STARVED, /**< look for a free fragment again */
	PW_TCP_TIMER_APP,     /**< the application's */
	PW_TCP_TIMER_REORDER, /**< what is overdue by then is lost, RFC 8985 6.3 */
	PW_TCP_TIMER_PROBE,   /**< tail loss probe, RFC 8985 7 */
	PW_TCP_TIMERS,
};

/** Which list a connection is in. */
enum pw_tcp_list {
	PW_TCP_LIST_HALF_OPEN,
	PW_TCP_LIST_OPEN,
	PW_TCP_LIST_TIME_WAIT,
	PW_TCP_LISTS,
};

/** No padding: it is hashed as bytes. */
struct pw_tcp_key {
	struct pw_addr peer;
	struct pw_addr local;
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

/** What an ACK told: filled step by step. */
struct pw_tcp_ack {
	const struct pw_tcp_seg *seg;
	uint64_t now_us;
	uint32_t prior_una;
	uint32_t prior_fack;
	uint32_t delivered_bytes;  /**< acknowledged or SACKed now for the first time */
	uint64_t first_sent_us;	   /**< of what was acknowledged and sent once; 0: none was */
	bool acked_retransmission; /**< it covers something that was sent again */
	bool dsack;
	bool duplicate; /**< RFC 5681 2 */
};

/** Which delivered segment was sent last, RFC 8985 6; the names are its own. */
struct pw_tcp_rack {
	uint64_t xmit_us;
	uint32_t end_seq;
	uint32_t rtt_us;
	uint32_t fack; /**< highest number delivered */
	uint32_t dsack_round;
	bool in_dsack_round;
};

/** How far packets of a path overtake each other, RFC 8985 6.2. */
struct pw_tcp_reordering {
	uint64_t min_rtt_since_us; /**< 0: none yet */
	uint32_t min_rtt_us;
	uint8_t reo_wnd_mult, reo_wnd_persist;
	bool seen;
};

/** Tail loss probe, RFC 8985 7. */
struct pw_tcp_probe {
	uint32_t end_seq;
	bool is_out, is_retrans;
};

/** What to go back to when a loss was none, RFC 3522 and 2883. */
struct pw_tcp_undo {
	struct pw_tcp_cc_state cc;
	uint32_t cwnd, ssthresh;
	uint32_t start, end;   /**< numbers it is about */
	uint32_t resent_bytes; /**< and not reported as duplicate yet */
	uint32_t first_resent_ts;
	bool can;
	bool has_resent;
};

/** Proportional rate reduction, RFC 6937. */
struct pw_tcp_prr {
	uint32_t flight_bytes; /**< as recovery began */
	uint32_t delivered_bytes, out_bytes;
};

/**
 * What a connection has to know as long as something is in flight; at other times it has none.
 * pw_tcp_flight.c takes it from the instance and gives it back.
 */
struct pw_tcp_flight {
	struct pw_tcp_sent_queue sent;
	struct pw_tcp_rack rack;
	uint32_t round_end, round_flight; /**< most in flight until round_end is acknowledged */
	uint32_t dup_acked_bytes;	  /**< without SACK: what duplicate ACKs stand for */
	uint8_t dup_acks;
	uint8_t nb_peer_sacks;
	bool cwnd_limited; /**< the window, not the application, held sending up */
	bool in_recovery;
	bool in_loss; /**< since a time-out, until what was out then is acknowledged */
	bool rests;   /**< nothing is in flight */
	struct pw_tcp_sack peer_sacks[PW_TCP_SACKS_MAX]; /**< of the last ACK */
	struct pw_tcp_probe probe;
	struct pw_tcp_prr prr;
	struct pw_tcp_undo undo;
	TAILQ_ENTRY(pw_tcp_flight) resting;
	struct pw_tcp_conn *conn;
};
TAILQ_HEAD(pw_tcp_flight_list, pw_tcp_flight);

/**
 * What a connection has to know as long as it holds data out of order, or has to tell of data that
 * came twice; at other times it has none. pw_tcp_reassembly.c takes it and gives it back.
 */
struct pw_tcp_reassembly {
	struct pw_tcp_queue queue;
	struct pw_tcp_sack dsack;		    /**< what came twice, not told yet, RFC 2883 */
	struct pw_tcp_sack sacks[PW_TCP_SACKS_MAX]; /**< the one that changed last is first */
	uint8_t nb_sacks;
	bool has_dsack;
};

/**
 * Ordered by cache lines: a segment of data in order touches the first three and the wheel's node.
 * An idle connection costs this, and its link in the table.
 */
struct pw_tcp_conn {
	/* line 0: to find it */
	struct pw_tcp_key key;
	uint32_t next_in_bucket; /**< of pw_tcp_table.c */
	struct pw_tcp *tcp;
	const struct pw_tcp_app *app;
	void *app_ctx;

	/* line 1: data in */
	struct pw_tcp_queue in_order;
	struct pw_tcp_reassembly *reassembly; /**< NULL: nothing to reassemble, nothing to tell */
	uint64_t in_bytes;
	uint32_t rcv_nxt;
	uint32_t rcv_adv; /**< right edge of the window offered */
	uint32_t last_ack_sent;
	uint32_t unacked_bytes; /**< received since the last ACK was sent */
	uint32_t ts_recent;
	uint32_t ts_recent_s; /**< when it came */

	/* line 2: ACKs in, data out */
	struct pw_tcp_flight *flight; /**< NULL: nothing is in flight, not even a number */
	uint32_t snd_una, snd_max, snd_wnd, snd_wl1;
	uint32_t snd_end; /**< behind the last byte queued */
	uint32_t cwnd;
	uint32_t heard_ms; /**< the last segment of the peer's */
	uint16_t mss;	   /**< payload bytes of a full segment, options taken off */
	uint8_t retries;
	uint8_t keepalives; /**< probes not answered yet */
	uint8_t snd_wscale : 4, rcv_wscale : 4;
	enum pw_tcp_state state : 8;
	enum pw_tcp_list list : 8;
	bool is_active : 1; /**< we opened it */
	bool fin_queued : 1;
	bool fin_received : 1; /**< all data before it was received too */
	bool has_fin : 1;      /**< it may lie behind a gap */
	bool ack_now : 1;
	bool starved : 1;     /**< there is data, or room for it, but no memory to send it */
	bool in_callback : 1; /**< of its own: it may not be freed */
	bool tell_closed : 1; /**< the application knows of it: closed() has to be called */
	bool aborting : 1;    /**< to be reset when the current call ends */
	bool sack_ok : 1;     /**< both sides take SACK blocks, RFC 2018 */
	bool ts_ok : 1;	      /**< timestamps, RFC 7323 */
	bool wscale_ok : 1;
	bool probe_due : 1;   /**< a tail loss probe is to be scheduled when the call ends */
	bool ecn_ok : 1;      /**< both sides can, RFC 3168 6.1 */
	bool ecn_echo : 1;    /**< a segment came with CE: ACKs carry ECE until the peer's CWR */
	bool ecn_cwr : 1;     /**< the window was reduced for ECE: the next new data carries CWR */
	bool ecn_reduced : 1; /**< until more than ecn_end is acknowledged */
	bool timing : 1;      /**< the SYN, from born_us on */
	bool has_rtt : 1;

	/* when timers fire, and up to line 3; 0: off */
	uint64_t timers_us[PW_TCP_TIMERS];
	uint64_t mtu_raise_us; /**< when to try it again; 0: mss is mss_max */
	void *user;

	/* line 4: sending */
	struct pw_tcp_wheel_node node; /**< at the earliest timer, or before */
	TAILQ_HEAD(pw_tcp_chunk_list, pw_tcp_chunk) chunks;
	uint64_t last_sent_us;
	uint32_t srtt_us, rttvar_us, rto_us; /**< RFC 6298 */
	uint32_t recover;

	/* line 5: congestion */
	struct pw_tcp_cc_state cc_state;
	struct pw_tcp_reordering reordering;
	uint32_t ssthresh;
	uint32_t ts_offset;

	/* line 6: the rest */
	TAILQ_ENTRY(pw_tcp_conn) link;
	uint64_t born_us;
	uint64_t out_bytes;
	uint32_t retrans_segs;
	uint32_t iss;
	uint32_t ecn_end;
	uint32_t fin_seq;      /**< of the peer's FIN, where has_fin */
	uint32_t challenges_s; /**< the second in which so many challenge ACKs were sent */
	uint8_t challenges;
	uint8_t error;	    /**< why it is gone: pw_tcp_get_error() */
	uint8_t soft_error; /**< an ICMP error said so: the reason if it times out, RFC 5461 4.1 */
	uint16_t mss_max;   /**< before the path was found to take less */
	uint16_t rcv_mss;   /**< the largest segment seen */
	uint32_t snd_wnd_max; /**< the largest window the peer offered */
} __rte_cache_aligned;
static_assert(sizeof(struct pw_tcp_conn) == 7 * 64, "as documented for pw_tcp_memory()");
static_assert(offsetof(struct pw_tcp_conn, in_order) == 64, "line 1");
static_assert(offsetof(struct pw_tcp_conn, flight) == 128, "line 2");
static_assert(offsetof(struct pw_tcp_conn, node) == 256, "line 4");
TAILQ_HEAD(pw_tcp_conn_list, pw_tcp_conn);

struct pw_tcp {
	struct pw_tcp_params params;
	struct pw_tcp_stats stats;
	struct pw_tcp_listener listeners[PW_TCP_LISTENERS_MAX];
	uint32_t *buckets; /**< of pw_tcp_table.c */
	uint32_t buckets_mask;
	struct pw_tcp_conn *conns;
	bool is_ending; /**< what closes now may not open others */
	struct pw_tcp_conn_list free_conns;
	struct pw_tcp_conn_list lists[PW_TCP_LISTS];
	struct pw_frag_cache *frags;
	const struct pw_tcp_cc *cc;
	struct pw_tcp_sent_pool sent_pool;
	struct pw_tcp_pool flights;
	struct pw_tcp_flight_list resting;
	uint32_t nb_resting;
	struct pw_tcp_pool reassemblies;
	struct pw_tcp_wheel wheel;
	uint64_t now_us;	   /**< of the current call */
	uint64_t cookies_until_us; /**< an ACK may answer a SYN cookie until then */
	uint32_t ofo_mbufs;
	uint64_t queued_bytes, max_queued_bytes; /**< in fragments of data to send */
	uint32_t next_ephemeral;		 /**< RFC 6056 3.3.3 */
	int link_offset;
};

static inline struct pw_tcp_link *
pw_tcp_link(const struct pw_tcp *tcp, struct rte_mbuf *m)
{
	return RTE_MBUF_DYNFIELD(m, tcp->link_offset, struct pw_tcp_link *);
}

/** The largest payload of a segment without options (RFC 6691). */
static inline uint16_t
pw_tcp_mss_of_mtu(const struct pw_tcp_key *key, uint32_t mtu_bytes)
{
	return mtu_bytes - sizeof(struct rte_tcp_hdr) -
		(pw_addr_is_ipv4(&key->peer) ? sizeof(struct rte_ipv4_hdr)
					     : sizeof(struct rte_ipv6_hdr));
}

/* pw_tcp_table.c: connections by their key. */

size_t pw_tcp_table_bytes(uint32_t max_conns);
int pw_tcp_table_create(struct pw_tcp *tcp);
void pw_tcp_table_free(struct pw_tcp *tcp);
struct pw_tcp_conn *pw_tcp_conn_find(struct pw_tcp *tcp, const struct pw_tcp_key *key);
void pw_tcp_table_add(struct pw_tcp_conn *conn);
void pw_tcp_table_remove(struct pw_tcp_conn *conn);

/* pw_tcp_secret.c: what nobody can foresee. */

/** What a keyed hash is for: so no use of it tells of another. */
enum pw_tcp_hash_use {
	PW_TCP_HASH_TABLE,
	PW_TCP_HASH_ISN,
	PW_TCP_HASH_TIMESTAMP,
	PW_TCP_HASH_PORT,
	PW_TCP_HASH_COOKIE,
};

/** SipHash-2-4 with params.secret. */
uint64_t pw_tcp_hash(const struct pw_tcp *tcp, const struct pw_tcp_key *key,
	enum pw_tcp_hash_use use, uint64_t extra);
/** Initial sequence number, RFC 6528. */
uint32_t pw_tcp_isn(const struct pw_tcp *tcp, const struct pw_tcp_key *key, uint64_t now_us);
/** What is added to the milliseconds of our timestamps, RFC 7323 5.4. */
uint32_t pw_tcp_ts_offset(const struct pw_tcp *tcp, const struct pw_tcp_key *key);

/* pw_tcp_conn.c: the life of a connection. */

/** Which connections may make room for a new one when all are in use. */
enum pw_tcp_room {
	PW_TCP_ROOM_TIME_WAIT,
	PW_TCP_ROOM_HALF_OPEN, /**< those too: the new one's peer is no forged address */
};

/** A connection without an application, in SYN-RECEIVED or SYN-SENT. NULL: none to be had. */
struct pw_tcp_conn *pw_tcp_conn_new(
	struct pw_tcp *tcp, const struct pw_tcp_key *key, bool is_active, enum pw_tcp_room room);
/** It is established: count, and tell the application. */
void pw_tcp_conn_opened(struct pw_tcp_conn *conn, uint64_t now_us);
/** It is gone, for this reason. */
void pw_tcp_conn_fail(struct pw_tcp_conn *conn, int error);
void pw_tcp_conn_set_state(struct pw_tcp_conn *conn, enum pw_tcp_state state);
/** Call one of the application's callbacks, if it has it. */
void pw_tcp_conn_tell(
	struct pw_tcp_conn *conn, void (*callback)(struct pw_tcp_conn *conn, void *app_ctx));
/** The end of each call for a connection: sends what is due, and releases it if it is gone. */
void pw_tcp_conn_finish(struct pw_tcp_conn *conn, uint64_t now_us);
/** Free the connection and what it holds; calls closed(). */
void pw_tcp_conn_release(struct pw_tcp_conn *conn);

/* pw_tcp_listen.c */

/**
 * A segment that belongs to no connection. The caller frees it, unless it opened a connection with
 * the ACK of a SYN cookie: then it is for this one, which is returned.
 */
struct pw_tcp_conn *pw_tcp_listen_input(struct pw_tcp *tcp, const struct pw_tcp_key *key,
	const struct pw_tcp_seg *seg, uint64_t now_us);
bool pw_tcp_is_listening(const struct pw_tcp *tcp, const struct pw_tcp_key *key);
/** A SYN, on a port that is listened on, in the place of a connection that was in TIME-WAIT. */
void pw_tcp_listen_again(struct pw_tcp *tcp, const struct pw_tcp_key *key,
	const struct pw_tcp_seg *syn, uint32_t old_snd_max, uint64_t now_us);
/** Sequence numbers and windows from the peer's SYN, and from ours at iss. */
void pw_tcp_set_numbers(struct pw_tcp_conn *conn, uint32_t iss, const struct pw_tcp_seg *syn);
/** What both SYNs agree on. */
void pw_tcp_accept_options(struct pw_tcp_conn *conn, const struct pw_tcp_seg *syn);

/** RFC 3168 6.1.1. */
static inline bool
pw_tcp_syn_asks_ecn(const struct pw_tcp_seg *syn)
{
	return (syn->flags & RTE_TCP_ECE_FLAG) != 0 && (syn->flags & RTE_TCP_CWR_FLAG) != 0;
}

/** The smallest shift with which the whole receive buffer can be offered. */
uint8_t pw_tcp_wscale(const struct pw_tcp *tcp);

/* pw_tcp_cookie.c: connections that are only remembered by the peer, RFC 4987 3.6. */

/** Answer a SYN. */
void pw_tcp_cookie_send(struct pw_tcp *tcp, const struct pw_tcp_key *key,
	const struct pw_tcp_seg *syn, uint64_t now_us);
/** The SYN that an ACK's cookie stands for, and our number. False: it is no cookie of ours. */
bool pw_tcp_cookie_check(struct pw_tcp *tcp, const struct pw_tcp_key *key,
	const struct pw_tcp_seg *ack, struct pw_tcp_seg *syn, uint64_t now_us);

/* pw_tcp_connect.c */

/** A segment for a connection in SYN-SENT (RFC 9293 3.10.7.3). */
void pw_tcp_syn_sent_input(struct pw_tcp_conn *conn, const struct pw_tcp_seg *seg, uint64_t now_us);

/* pw_tcp_in.c */

/** A segment of a connection; owns m, whose data is the payload. */
void pw_tcp_conn_input(
	struct pw_tcp_conn *conn, struct rte_mbuf *m, struct pw_tcp_seg *seg, uint64_t now_us);

/* pw_tcp_ack.c: what the peer acknowledges, RFC 5681, 6298. */

/** The ACK field, SACK blocks and window of an acceptable segment. */
void pw_tcp_ack_input(struct pw_tcp_conn *conn, const struct pw_tcp_seg *seg, uint64_t now_us);
/** Slow start again after a time-out. */
void pw_tcp_ack_timeout(struct pw_tcp_conn *conn);
/** The time-out, without back-off. */
void pw_tcp_ack_set_rto(struct pw_tcp_conn *conn);
/** Start values, once the MSS is known. */
void pw_tcp_ack_init(struct pw_tcp_conn *conn);

/* pw_tcp_flight.c: what there is to know of data in flight. */

/** New data is to be sent: see to it that there is a flight, at work. False: no memory. */
bool pw_tcp_flight_begin(struct pw_tcp_conn *conn);
/** Nothing is in flight any more; no flight may have been begun. */
void pw_tcp_flight_end(struct pw_tcp_conn *conn);
/** The connection goes. */
void pw_tcp_flight_clear(struct pw_tcp_conn *conn);

/* pw_tcp_sack.c: SACK blocks that come in, RFC 2018 and 2883. */

void pw_tcp_sack_input(struct pw_tcp_conn *conn, struct pw_tcp_ack *ack);

/* pw_tcp_rack.c: which segments are lost, RFC 8985 6. */

/** A record was delivered, up to the number before end. */
void pw_tcp_rack_delivered(struct pw_tcp_conn *conn, const struct pw_tcp_ack *ack,
	const struct pw_tcp_sent *rec, uint32_t end);
/** Mark what is lost. True: there was something. */
bool pw_tcp_rack_detect(struct pw_tcp_conn *conn, uint64_t now_us);
/** The peer received something twice. */
void pw_tcp_rack_dsack(struct pw_tcp_conn *conn);
/** A recovery ended. */
void pw_tcp_rack_recovered(struct pw_tcp_conn *conn);
void pw_tcp_rack_sample(struct pw_tcp_conn *conn, uint32_t rtt_us, uint64_t now_us);
void pw_tcp_rack_timeout(struct pw_tcp_conn *conn, uint64_t now_us);

/* pw_tcp_probe.c: tail loss probes, RFC 8985 7. */

void pw_tcp_probe_schedule(struct pw_tcp_conn *conn, uint64_t now_us);
void pw_tcp_probe_ack(struct pw_tcp_conn *conn, const struct pw_tcp_ack *ack);
void pw_tcp_probe_timeout(struct pw_tcp_conn *conn, uint64_t now_us);

/* pw_tcp_recover.c: what a loss does to the congestion window. */

/** In flight as far as is known. */
static inline uint32_t
pw_tcp_pipe(const struct pw_tcp_conn *conn)
{
	const struct pw_tcp_flight *flight = conn->flight;

	if (flight == NULL)
		return 0;
	return flight->sent.pipe_bytes - RTE_MIN(flight->sent.pipe_bytes, flight->dup_acked_bytes);
}

/** The timestamp that a segment sent then had. */
static inline uint32_t
pw_tcp_ts_at(const struct pw_tcp_conn *conn, uint64_t sent_us)
{
	return (uint32_t)(sent_us / 1000) + conn->ts_offset;
}

/** Since a loss, until all that was in flight then is acknowledged. */
static inline bool
pw_tcp_is_recovering(const struct pw_tcp_conn *conn)
{
	return conn->flight != NULL && (conn->flight->in_recovery || conn->flight->in_loss);
}

void pw_tcp_recover_enter(struct pw_tcp_conn *conn);
void pw_tcp_recover_timeout(struct pw_tcp_conn *conn);
/** After an ACK, losses marked; found: there were any. */
void pw_tcp_recover_ack(struct pw_tcp_conn *conn, const struct pw_tcp_ack *ack, bool found);
/** The ECE flag of an ACK; pw_tcp_recover_ack() calls it where something was in flight. */
void pw_tcp_recover_ecn(struct pw_tcp_conn *conn, const struct pw_tcp_ack *ack);
/** Send less, as after a loss that is repaired already. */
void pw_tcp_recover_reduce(struct pw_tcp_conn *conn);
/** Bytes sent again. */
void pw_tcp_recover_resent(struct pw_tcp_conn *conn, uint32_t bytes, uint64_t now_us);
/** A D-SACK block. */
void pw_tcp_recover_dsack(struct pw_tcp_conn *conn, const struct pw_tcp_sack *block);

/* pw_tcp_mtu.c: the path takes less than we send, RFC 1191, 8201 and 4821. */

/**
 * A router reports the largest packet it forwards, 0 if it does not say; the report was checked.
 * What is in flight and larger is sent again at once.
 */
void pw_tcp_mtu_too_big(struct pw_tcp_conn *conn, uint32_t mtu_bytes, uint64_t now_us);
/** Time-outs of full segments, one after the other, look like a black hole. */
void pw_tcp_mtu_timeout(struct pw_tcp_conn *conn);
/** Try larger segments again when it is time. */
void pw_tcp_mtu_raise(struct pw_tcp_conn *conn, uint64_t now_us);

/* pw_tcp_recv.c: data in. */

/** Queue payload, trimmed to what is new; owns m. */
void pw_tcp_recv_data(struct pw_tcp_conn *conn, struct rte_mbuf *m, uint32_t seq);
void pw_tcp_queue_clear(struct pw_tcp *tcp, struct pw_tcp_queue *queue);

/* pw_tcp_reassembly.c: data out of order, and what else a reassembly is for. */

/** See to it that there is a reassembly. False: there is no memory. */
bool pw_tcp_reassembly_begin(struct pw_tcp_conn *conn);
/** Give it back if nothing needs it any more. */
void pw_tcp_reassembly_end(struct pw_tcp_conn *conn);
/** Drop all data out of order; how many mbufs it was. */
uint32_t pw_tcp_reassembly_clear(struct pw_tcp_conn *conn);
/** The connection goes. */
void pw_tcp_reassembly_release(struct pw_tcp_conn *conn);

/* pw_tcp_blocks.c: SACK blocks for the peer. */

/** These bytes came, and are held out of order. */
void pw_tcp_sack_add(struct pw_tcp_conn *conn, uint32_t start, uint32_t end);
/** These bytes came twice. */
void pw_tcp_sack_twice(struct pw_tcp_conn *conn, uint32_t start, uint32_t end);
/** rcv_nxt moved. */
void pw_tcp_sack_advance(struct pw_tcp_conn *conn);
/**
 * The SACK blocks of the next ACK: first a D-SACK block if one is due (RFC 2883), which is told
 * once, then the latest that changed (RFC 2018 4).
 */
unsigned pw_tcp_recv_sacks(struct pw_tcp_conn *conn, struct pw_tcp_sack blocks[PW_TCP_SACKS_MAX]);

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

/* pw_tcp_window.c: the receive window, RFC 9293 3.8.6. */

/** The window field of a segment that is to go out now; the edge moves with it. */
uint16_t pw_tcp_window_offer(struct pw_tcp_conn *conn);
/** An ACK is due at once: two full segments, or more room for the peer (RFC 9293 3.8.6.3). */
bool pw_tcp_window_ack_due(const struct pw_tcp_conn *conn);

/* pw_tcp_build.c: segments, from their header to output(). */

/** What a SYN of ours says. */
struct pw_tcp_syn {
	uint32_t seq, ack; /**< ack: of a SYN-ACK */
	uint8_t flags;
	bool has_sack_ok, has_ts, has_wscale;
	uint8_t wscale;
	uint32_t ts_val, ts_ecr;
};

/** Segments on the wire of so much payload; 0 as piece_bytes: it is not cut. */
static inline uint32_t
pw_tcp_pieces(uint32_t payload_bytes, uint32_t piece_bytes)
{
	if (piece_bytes == 0 || payload_bytes <= piece_bytes)
		return 1;
	return (payload_bytes + piece_bytes - 1) / piece_bytes;
}

/** Send queued bytes from seq on, with an ACK and these flags. False: no mbuf, nothing is sent. */
bool pw_tcp_send_segment(
	struct pw_tcp_conn *conn, uint32_t seq, uint32_t len_bytes, uint8_t flags, uint64_t now_us);
/** Our SYN, or SYN-ACK, as the state asks. */
void pw_tcp_send_syn(struct pw_tcp_conn *conn, uint64_t now_us);
/** A SYN of no connection. False: no mbuf, nothing is sent. */
bool pw_tcp_build_syn(struct pw_tcp *tcp, const struct pw_tcp_key *key,
	const struct pw_tcp_syn *syn, uint64_t now_us);
void pw_tcp_send_ack(struct pw_tcp_conn *conn, uint64_t now_us);
void pw_tcp_send_rst(struct pw_tcp_conn *conn, uint64_t now_us);
/** Ask a peer with a closed window where it stands. */
void pw_tcp_send_probe(struct pw_tcp_conn *conn, uint64_t now_us);
/** The RST that answers a segment of no connection (RFC 9293 3.10.7.1). */
void pw_tcp_reset_reply(struct pw_tcp *tcp, const struct pw_tcp_key *key,
	const struct pw_tcp_seg *seg, uint64_t now_us);

/* pw_tcp_out.c: what to send, and when. */

/** Send what can be sent now: data, FIN, or an ACK that is due. */
void pw_tcp_output(struct pw_tcp_conn *conn, uint64_t now_us);
/** Send a segment of new data, whatever the congestion window says. False: there is none. */
bool pw_tcp_send_new(struct pw_tcp_conn *conn, uint32_t usable_bytes, uint64_t now_us);
/** Send as much as is usable of a lost record again. False: nothing. */
bool pw_tcp_resend(
	struct pw_tcp_conn *conn, struct pw_tcp_sent *rec, uint32_t usable_bytes, uint64_t now_us);

/* pw_tcp_timer.c */

/** Let a timer fire at this time; 0 stops it. */
void pw_tcp_timer_set(struct pw_tcp_conn *conn, enum pw_tcp_timer timer, uint64_t fire_us);

static inline bool
pw_tcp_timer_is_on(const struct pw_tcp_conn *conn, enum pw_tcp_timer timer)
{
	return conn->timers_us[timer] != 0;
}

#endif
