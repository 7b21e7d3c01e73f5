/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_TCP_H
#define PW_TCP_H

/**
 * @file
 * A TCP endpoint (RFC 9293) that accepts and opens connections over IPv4 and IPv6.
 *
 * Pure: segments come in by pw_tcp_input(), segments go out through a callback, the time is an
 * argument, and the same input gives the same output. One instance belongs to one thread.
 *
 * Received data stays in the buffers it came in until the application takes it, and the receive
 * window follows that. Data to send is copied once, into page fragments, which stay until it is
 * acknowledged.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "pw_frag.h"
#include "pw_inet.h"
#include "pw_stat.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pw_tcp;
struct pw_tcp_conn;

/**
 * What an application does with its connections; any callback may be NULL.
 *
 * They are called from pw_tcp_input(), pw_tcp_error(), pw_tcp_tick() and pw_tcp_destroy(). Only in
 * them, and only for the connection they are called for, may the application call the functions
 * below that take a connection.
 */
struct pw_tcp_app {
	const char *name;
	/** The connection is established. */
	void (*opened)(struct pw_tcp_conn *conn, void *app_ctx);
	/** There is data to take, or the stream has ended. */
	void (*readable)(struct pw_tcp_conn *conn, void *app_ctx);
	/** There may be room to send: the peer acknowledged data, or fragments are free again. */
	void (*writable)(struct pw_tcp_conn *conn, void *app_ctx);
	/** The time of pw_tcp_set_timer() has come. */
	void (*timer)(struct pw_tcp_conn *conn, void *app_ctx);
	/**
	 * The connection is gone; it may not be used any more. Called once for each opened, and for
	 * each one that pw_tcp_connect() began. pw_tcp_get_error() tells why.
	 */
	void (*closed)(struct pw_tcp_conn *conn, void *app_ctx);
};

enum pw_tcp_congestion {
	PW_TCP_CUBIC,	/**< RFC 9438 */
	PW_TCP_NEWRENO, /**< RFC 5681 */
};

struct pw_tcp_params {
	/**
	 * Send a segment, which begins with the TCP header, without checksum; owns it. l4_len is
	 * set. With RTE_MBUF_F_TX_TCP_SEG it has to be cut into pieces of tso_segsz bytes.
	 */
	void (*output)(
		void *ctx, struct rte_mbuf *segment, const struct pw_ip_info *ip, uint64_t now_us);
	void *ctx;
	struct rte_mempool *pool;   /**< for segments; headroom of at least 74 bytes */
	struct pw_frag_pool *frags; /**< for data to send */
	uint32_t max_conns;	    /**< 1 to 1048576 */
	/**
	 * Connections that may be half open, at most max_conns. SYNs beyond them are answered with
	 * SYN cookies (RFC 4987). 0: an eighth of max_conns.
	 */
	uint32_t max_half_open;
	uint32_t rcvbuf_bytes; /**< received data a connection may hold; at least 4096 */
	uint32_t sndbuf_bytes; /**< data to send a connection may hold; at least 4096 */
	/**
	 * Received mbufs that all connections together may hold; half as many again are kept for
	 * those that hold less than a fair share.
	 */
	uint32_t max_held_mbufs;
	/**
	 * Fragments with data to send that all connections together may hold; half as many again
	 * are kept for those that hold less than a fair share. 0: half of the pool.
	 */
	uint64_t max_queued_bytes;
	uint16_t mtu_bytes; /**< of the port, 576 to 65535 */
	/**
	 * The largest IP packet that may be handed to output() to be cut into segments, at most
	 * 65535 bytes, and its mbufs, at least 2. 0 and 0: none.
	 */
	uint32_t tso_max_bytes;
	uint16_t tso_max_mbufs;
	enum pw_tcp_congestion congestion;
	bool ecn; /**< ask for ECN (RFC 3168) when connecting; who asks for it is granted it always
		   */
	/** Probe a peer that was silent so long (RFC 9293 3.8.4), in seconds. 0: never. */
	uint32_t keepalive_s;
	uint8_t secret[16]; /**< for initial sequence numbers (RFC 6528) and cookies: random */
};

/** Counters; where Linux has the same one in /proc/net/snmp or netstat, it has the same name. */
struct pw_tcp_stats {
	uint64_t in_segs;
	uint64_t in_bytes;  /**< bytes handed to applications' queues, in order */
	uint64_t in_errs;   /**< malformed segments */
	uint64_t out_segs;  /**< as on the wire, also where the port cuts them */
	uint64_t out_tso;   /**< packets handed out to be cut */
	uint64_t out_bytes; /**< bytes sent, those sent again not counted */
	uint64_t out_rsts;
	uint64_t retrans_segs;
	uint64_t passive_opens;
	uint64_t active_opens;
	uint64_t attempt_fails; /**< connections that were never established */
	uint64_t estab_resets;	/**< connections reset by the peer or given up */
	uint64_t curr_conns;
	uint64_t curr_estab;
	uint64_t curr_half_open;
	uint64_t listen_drops;	    /**< SYNs refused: all connections in use */
	uint64_t syncookies_sent;   /**< SYNs answered without remembering them */
	uint64_t syncookies_recv;   /**< connections opened by the ACK of such an answer */
	uint64_t syncookies_failed; /**< ACKs that no such answer can have asked for */
	uint64_t conns_recycled;    /**< half-open or TIME-WAIT connections dropped for a new one */
	uint64_t delayed_acks;
	uint64_t ofo_queue;    /**< segments queued out of order */
	uint64_t ofo_drop;     /**< segments out of order dropped: too many, or no memory */
	uint64_t rcv_mem_drop; /**< segments in order dropped: applications hold too much */
	uint64_t rcv_old;      /**< segments without anything new */
	uint64_t rcv_beyond_window;
	uint64_t paws_drop;	 /**< timestamp too old (RFC 7323) */
	uint64_t challenge_acks; /**< RFC 5961 */
	uint64_t window_updates;
	uint64_t zero_windows; /**< segments sent that closed the window */
	uint64_t timeouts;     /**< retransmission timer */
	uint64_t fast_retrans;
	uint64_t window_probes;
	uint64_t no_mbuf;	    /**< segments not sent: pool exhausted */
	uint64_t no_frag;	    /**< data not taken from an application: no fragment left */
	uint64_t held_mbufs;	    /**< received mbufs held now */
	uint64_t rcv_coalesce;	    /**< small segments copied into a buffer held already */
	uint64_t sack_sent;	    /**< ACKs with SACK blocks */
	uint64_t dsack_sent;	    /**< of them with a D-SACK block (RFC 2883): TCPDSACKOldSent */
	uint64_t challenge_limited; /**< challenge ACKs not sent: too many for a connection */
	uint64_t keepalives;	    /**< probes */
	uint64_t sack_recoveries;   /**< fast recoveries with SACK */
	uint64_t lost_retransmits;  /**< retransmissions that RACK found lost */
	uint64_t dsack_recv;	    /**< D-SACK blocks from the peer */
	uint64_t spurious_undo;	    /**< window reductions undone: the loss was none */
	uint64_t loss_probes;	    /**< tail loss probes (RFC 8985 7) */
	uint64_t loss_probe_recoveries; /**< losses that one repaired */
	uint64_t reorder_seen;		/**< times that packets were seen to overtake */
	uint64_t ecn_ce;		/**< segments received with CE */
	uint64_t ecn_reductions;	/**< window reductions for ECE */
	uint64_t pmtu_reductions;	/**< by ICMP */
	uint64_t pmtu_blackholes;	/**< by lack of ACKs (RFC 4821) */
	uint64_t icmp_ignored;		/**< ICMP errors not believed */
};

/** Describes struct pw_tcp_stats; ends as pw_stat.h says. */
extern const struct pw_stat pw_tcp_stat_table[];

/** @return NULL with rte_errno EINVAL (a parameter out of range), ENOMEM, ENOENT or ENOSPC (no room
 *	for a field in the mbuf) */
struct pw_tcp *pw_tcp_create(const struct pw_tcp_params *params);

/**
 * Heap that an instance needs, in bytes, beside its fragment cache: an idle connection takes 448,
 * and its link in a table at most 8.
 *
 * @param active  of its connections: so many have data in flight, and data out of order, at the
 *	same time. 0: what pw_tcp_create() takes. The rest is taken as it is needed; where there is
 *	none, data waits, or is dropped and comes again
 */
size_t pw_tcp_memory(const struct pw_tcp_params *params, uint32_t active);

/** Free the instance, all connections (closed() is called) and buffers; sends nothing. */
void pw_tcp_destroy(struct pw_tcp *tcp);

/**
 * Accept connections on a port.
 *
 * @param port  1 to 65535
 * @param app   must outlive the instance
 * @return 0, or -EINVAL, -EADDRINUSE, -ENOSPC (16 ports)
 */
int pw_tcp_listen(struct pw_tcp *tcp, uint16_t port, const struct pw_tcp_app *app, void *app_ctx);

/**
 * Open a connection.
 *
 * @param local  an address of ours, of the peer's family
 * @param local_port  0: one that is free, of 49152 to 65535 (RFC 6056)
 * @param app  must outlive the instance
 * @param user  the connection's pw_tcp_get_user() from the first
 * @return 0: opened() or closed() follows, not before this function returns. -EADDRINUSE: there is
 *	such a connection, or no port is free. -ENOMEM: max_conns are in use
 */
int pw_tcp_connect(struct pw_tcp *tcp, const struct pw_addr *local, uint16_t local_port,
	const struct pw_addr *peer, uint16_t peer_port, const struct pw_tcp_app *app, void *app_ctx,
	void *user, uint64_t now_us);

/** Take a segment; owns it. It begins with the TCP header and its checksum is right. */
void pw_tcp_input(
	struct pw_tcp *tcp, struct rte_mbuf *segment, const struct pw_ip_info *ip, uint64_t now_us);

/**
 * Take an ICMP error about a TCP segment. What it says is believed only where the sequence number
 * in it is one in flight (RFC 5927).
 *
 * @return 0, or -ENOENT: no connection here sent it
 */
int pw_tcp_error(struct pw_tcp *tcp, const struct pw_inet_error *error, uint64_t now_us);

/** Run the timers that are due. Costs a comparison when none is. */
void pw_tcp_tick(struct pw_tcp *tcp, uint64_t now_us);

/** Read the counters. Exact when read by the owner. */
void pw_tcp_get_stats(const struct pw_tcp *tcp, struct pw_tcp_stats *stats);

/**
 * Take received data: the next packet of the stream.
 *
 * @return an mbuf chain of at least one byte, now the caller's; NULL when there is none
 */
struct rte_mbuf *pw_tcp_recv(struct pw_tcp_conn *conn);

/** Copy received data; tells how many bytes: fewer than len_bytes when there are no more. */
uint32_t pw_tcp_read(struct pw_tcp_conn *conn, void *data, uint32_t len_bytes);

/**
 * Look at received data without taking it: the next bytes that lie together.
 *
 * @param len_bytes  how many there are, at least one
 * @return NULL when there is none; else they stay until they are consumed
 */
const void *pw_tcp_front(const struct pw_tcp_conn *conn, uint32_t *len_bytes);

/** Be done with some of the bytes that pw_tcp_front() told of. */
void pw_tcp_consume(struct pw_tcp_conn *conn, uint32_t len_bytes);

/** True once the peer has ended its stream and all of it was taken. */
bool pw_tcp_at_end(const struct pw_tcp_conn *conn);

/** Bytes that pw_tcp_send() would take now. */
uint32_t pw_tcp_send_room(const struct pw_tcp_conn *conn);

/** Copy data into the send queue; tells how many bytes were taken, 0 after pw_tcp_shutdown(). */
uint32_t pw_tcp_send(struct pw_tcp_conn *conn, const void *data, uint32_t len_bytes);

/** End our stream once all data in the send queue is sent. */
void pw_tcp_shutdown(struct pw_tcp_conn *conn);

/** Reset the connection. */
void pw_tcp_abort(struct pw_tcp_conn *conn);

/** Call timer() at this time; 0: never mind. One timer a connection, of a millisecond's grain. */
void pw_tcp_set_timer(struct pw_tcp_conn *conn, uint64_t fire_us);

/** The time of the call that the application is in. */
uint64_t pw_tcp_now(const struct pw_tcp_conn *conn);

/** A pointer of the application's, NULL at first. */
void pw_tcp_set_user(struct pw_tcp_conn *conn, void *user);
void *pw_tcp_get_user(const struct pw_tcp_conn *conn);

/**
 * Why a connection is gone.
 *
 * @return 0: both sides ended their streams, or we reset it. ECONNRESET, ECONNREFUSED, ETIMEDOUT,
 *	EHOSTUNREACH (no answer, and an ICMP error said so)
 */
int pw_tcp_get_error(const struct pw_tcp_conn *conn);

/** What is known of a connection. */
struct pw_tcp_conn_info {
	struct pw_addr local, peer;
	uint16_t local_port, peer_port;
	const char *state; /**< as RFC 9293 3.3.2 spells it */
	const char *app;   /**< its name; may be NULL */
	uint64_t age_us;
	uint64_t in_bytes;  /**< in order */
	uint64_t out_bytes; /**< sent for the first time */
	uint32_t retrans_segs;
	uint32_t rcv_queue_bytes; /**< for the application to take */
	uint32_t snd_queue_bytes; /**< not acknowledged yet */
	uint32_t srtt_us, rttvar_us, rto_us;
	uint32_t cwnd_bytes, ssthresh_bytes, snd_wnd_bytes, rcv_wnd_bytes;
	uint16_t mss_bytes;
	bool sack, timestamps, ecn;
};

/** Address and port of the peer. */
void pw_tcp_get_peer(const struct pw_tcp_conn *conn, struct pw_addr *addr, uint16_t *port);

void pw_tcp_conn_get_info(const struct pw_tcp_conn *conn, struct pw_tcp_conn_info *info);

/**
 * Look at the connections from any thread, one slot after the other.
 *
 * @param slot  0 to max_conns - 1
 * @return 0, or -ENOENT: nothing is in that slot. Values may be torn while the owner runs
 */
int pw_tcp_peek(const struct pw_tcp *tcp, uint32_t slot, struct pw_tcp_conn_info *info);

#ifdef __cplusplus
}
#endif

#endif
