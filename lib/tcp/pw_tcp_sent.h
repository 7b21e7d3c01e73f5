/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_TCP_SENT_H
#define PW_TCP_SENT_H

/**
 * @file
 * What was sent and is not acknowledged: a record for each segment, or for all that the port cuts
 * from one packet. A connection's records cover snd_una to snd_max without gaps. Internal to
 * lib/tcp.
 *
 * Records come from a pool of the instance. A connection has PW_TCP_SENT_MAX at most, which bounds
 * what an ACK can cost, and fewer than are free, so that none can take them all. The last quarter
 * is for connections that have next to none, its half for cutting records in two.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

struct pw_tcp;
struct pw_tcp_conn;

#define PW_TCP_SENT_MAX 1024

enum pw_tcp_sent_state {
	PW_TCP_IN_FLIGHT,
	PW_TCP_LOST,   /**< to be sent again */
	PW_TCP_SACKED, /**< the peer has it */
};

struct pw_tcp_sent {
	TAILQ_ENTRY(pw_tcp_sent) by_seq;
	TAILQ_ENTRY(pw_tcp_sent) order; /**< in_flight by time sent, or lost by number */
	uint64_t sent_us;		/**< for the last time */
	uint32_t seq, end;		/**< a FIN takes the last number */
	uint16_t piece_bytes;		/**< that it was cut into */
	uint8_t state;
	bool retransmitted;
};
TAILQ_HEAD(pw_tcp_sent_list, pw_tcp_sent);

/** Of an instance. */
struct pw_tcp_sent_pool {
	struct pw_tcp_sent *records;
	struct pw_tcp_sent_list free;
	uint32_t nb, nb_free;
};

/** Of a connection, in its flight: the functions that take the connection need one. */
struct pw_tcp_sent_queue {
	struct pw_tcp_sent_list all, in_flight, lost;
	struct pw_tcp_sent *hint; /**< near where the last SACK block was, or NULL */
	uint32_t nb;
	uint32_t pipe_bytes; /**< in flight: RFC 6675's pipe */
	uint32_t sacked_bytes;
};

size_t pw_tcp_sent_pool_bytes(uint32_t max_conns);
/** @return 0, or -ENOMEM */
int pw_tcp_sent_pool_init(struct pw_tcp *tcp);
void pw_tcp_sent_pool_fini(struct pw_tcp *tcp);

/** Zeroed before. */
void pw_tcp_sent_init(struct pw_tcp_sent_queue *sent);
void pw_tcp_sent_clear(struct pw_tcp_conn *conn);

/** Whether there is a record for new data; no flight is needed. */
bool pw_tcp_sent_has_room(const struct pw_tcp_conn *conn);
/** New data up to the number before end was sent behind snd_max; there is room. */
void pw_tcp_sent_add(struct pw_tcp_conn *conn, uint32_t end, uint64_t now_us);
/** A lost record was sent again. */
void pw_tcp_sent_again(struct pw_tcp_conn *conn, struct pw_tcp_sent *rec, uint64_t now_us);
/** Cut a record in two. False: there is no record for it, nothing changed. */
bool pw_tcp_sent_split(struct pw_tcp_conn *conn, struct pw_tcp_sent *rec, uint32_t seq);
/** Let a lost record take what follows it and is lost too, up to len_bytes. */
void pw_tcp_sent_gather(struct pw_tcp_conn *conn, struct pw_tcp_sent *rec, uint32_t len_bytes);
void pw_tcp_sent_set_lost(struct pw_tcp_conn *conn, struct pw_tcp_sent *rec);
/** A record in flight or lost; it may become one with its neighbours. */
void pw_tcp_sent_set_sacked(struct pw_tcp_conn *conn, struct pw_tcp_sent *rec);
/** Drop what lies before a number, or all of the record. */
void pw_tcp_sent_trim(struct pw_tcp_conn *conn, struct pw_tcp_sent *rec, uint32_t seq);
/** All is lost, also what the peer had (RFC 2018 8): as at a time-out. */
void pw_tcp_sent_set_all_lost(struct pw_tcp_conn *conn);
/** Nothing is lost after all: what waits to be sent again is in flight. */
void pw_tcp_sent_set_none_lost(struct pw_tcp_conn *conn);
/** The first bytes are lost, as far as they are in flight for the first time. True: there are any.
 */
bool pw_tcp_sent_set_first_lost(struct pw_tcp_conn *conn, uint32_t len_bytes);

#endif
