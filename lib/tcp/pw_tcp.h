/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_TCP_H
#define PW_TCP_H

/**
 * @file
 * A TCP endpoint (RFC 9293) that accepts connections.
 *
 * Pure: segments come in by pw_tcp_input(), segments go out through a callback, the time is an
 * argument, and the same input gives the same output. One instance belongs to one thread.
 *
 * Received data stays in the buffers it came in until the application takes it, and the receive
 * window follows that. Data to send is copied once, into page fragments, which stay until it is
 * acknowledged.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "pw_frag.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pw_tcp;
struct pw_tcp_conn;

/**
 * What an application does with its connections; any callback may be NULL.
 *
 * They are called from pw_tcp_input() and pw_tcp_tick(). Only in them may the application call the
 * functions below that take a connection.
 */
struct pw_tcp_app {
	const char *name;
	/** The connection is established. */
	void (*opened)(struct pw_tcp_conn *conn, void *app_ctx);
	/** There is data to take, or the stream has ended. */
	void (*readable)(struct pw_tcp_conn *conn, void *app_ctx);
	/** There may be room to send: the peer acknowledged data, or fragments are free again. */
	void (*writable)(struct pw_tcp_conn *conn, void *app_ctx);
	/** The connection is gone; it may not be used any more. Called once for each opened. */
	void (*closed)(struct pw_tcp_conn *conn, void *app_ctx);
};

struct pw_tcp_params {
	/**
	 * Send a segment, which begins with the TCP header, without checksum; owns it. l4_len is
	 * set. With RTE_MBUF_F_TX_TCP_SEG it has to be cut into pieces of tso_segsz bytes.
	 */
	void (*output)(void *ctx, struct rte_mbuf *segment, rte_be32_t dst, uint64_t now_us);
	void *ctx;
	struct rte_mempool *pool;   /**< for segments; headroom of at least 54 bytes */
	struct pw_frag_pool *frags; /**< for data to send */
	uint32_t max_conns;	    /**< 1 to 1048576 */
	uint32_t rcvbuf_bytes;	    /**< received data a connection may hold; at least 4096 */
	uint32_t sndbuf_bytes;	    /**< data to send a connection may hold; at least 4096 */
	/**
	 * Received mbufs that all connections together may hold; half as many again are kept for
	 * those that hold less than a fair share.
	 */
	uint32_t max_held_mbufs;
	uint16_t mtu_bytes; /**< of the port, 576 to 65535 */
	/**
	 * The largest IP packet that may be handed to output() to be cut into segments, at most
	 * 65535 bytes, and its mbufs, at least 2. 0 and 0: none.
	 */
	uint32_t tso_max_bytes;
	uint16_t tso_max_mbufs;
	uint64_t secret; /**< for initial sequence numbers (RFC 6528): random */
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
	uint64_t estab_resets; /**< connections reset by the peer or given up */
	uint64_t curr_conns;
	uint64_t curr_estab;
	uint64_t listen_drops;	 /**< SYNs refused: all connections in use */
	uint64_t conns_recycled; /**< half-open or TIME-WAIT connections dropped for a new one */
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
	uint64_t no_mbuf;    /**< segments not sent: pool exhausted */
	uint64_t no_frag;    /**< data not taken from an application: no fragment left */
	uint64_t held_mbufs; /**< received mbufs held now */
};

/** @return NULL with rte_errno EINVAL (a parameter out of range), ENOMEM, ENOENT or ENOSPC (no room
 *	for a field in the mbuf) */
struct pw_tcp *pw_tcp_create(const struct pw_tcp_params *params);

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

/** Take a segment; owns it. It begins with the TCP header and its checksum is right. */
void pw_tcp_input(struct pw_tcp *tcp, struct rte_mbuf *segment, rte_be32_t src, rte_be32_t dst,
	uint64_t now_us);

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

/** A pointer of the application's, NULL at first. */
void pw_tcp_set_user(struct pw_tcp_conn *conn, void *user);
void *pw_tcp_get_user(const struct pw_tcp_conn *conn);

/** Address and port of the peer. */
void pw_tcp_get_peer(const struct pw_tcp_conn *conn, rte_be32_t *addr, uint16_t *port);

#ifdef __cplusplus
}
#endif

#endif
