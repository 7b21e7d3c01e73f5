/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef TCP_STACK_H
#define TCP_STACK_H

/** @file The stages of the engine tcp for one stream: an RX queue, and the TX queue beside it. */

#include <rte_mbuf.h>
#include <rte_ring.h>

#include "gro_stage.h"
#include "options.h"
#include "pw_inet.h"
#include "pw_tcp.h"
#include "tcp_timed.h"

struct pw_app;
struct pw_stream;
struct pw_tcp_client;
struct pw_tcp_service;

#define PW_TCP_STACK_TX_MAX 64

struct pw_tcp_stack {
	struct pw_stream *stream;
	const struct pw_app *app;
	struct pw_gro_stage gro;
	struct pw_inet *inet;
	struct pw_tcp *tcp;
	uint32_t max_conns;	      /**< slots of tcp */
	struct pw_tcp_client *client; /**< opens connections; NULL: nobody does */
	struct rte_ring *news; /**< what other queues of the port heard; NULL: it has one queue */
	unsigned nb_ticking;
	const struct pw_tcp_service *ticking[PW_LISTENS_MAX]; /**< those that have a tick() */
	struct pw_tcp_timed timed[PW_LISTENS_MAX];	      /**< with --stage-cycles */
	uint64_t now_us;
	uint64_t next_tick_us;
	uint16_t nb_tx; /**< frames that wait to be sent, the oldest first */
	struct rte_mbuf *tx[PW_TCP_STACK_TX_MAX];
};

/**
 * Make the stack of a stream, which has it as engine_data then.
 *
 * @return 0, or a negative errno after an error was printed
 */
int pw_tcp_stack_open(struct pw_stream *stream, const struct pw_app *app);

/** Free it and all packets in it. */
void pw_tcp_stack_close(struct pw_stream *stream);

/** Send what it has collected; what the port does not take now waits for the next call. */
void pw_tcp_stack_flush(struct pw_tcp_stack *stack);

/** Drop what waits to be sent. */
void pw_tcp_stack_drop(struct pw_tcp_stack *stack);

/* tcp_news.c: what ARP, ND and ICMP say arrives at one of a port's queues, but concerns others. */

/** Make the ring, if the port has several queues. Returns 0 or a negative errno. */
int pw_tcp_news_open(struct pw_tcp_stack *stack);
void pw_tcp_news_close(struct pw_tcp_stack *stack);

/** Tell the stacks of the port's other queues; the heard() of struct pw_inet_ops. */
void pw_tcp_news_heard(void *ctx, const struct pw_inet_heard *heard);

/** Tell TCP here, or the others if no connection here is meant; its error_input(). */
void pw_tcp_news_error(void *ctx, const struct pw_inet_error *error, uint64_t now_us);

/** Hear what others told. */
void pw_tcp_news_read(struct pw_tcp_stack *stack, uint64_t now_us);

#endif
