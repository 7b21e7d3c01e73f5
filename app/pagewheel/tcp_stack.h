/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef TCP_STACK_H
#define TCP_STACK_H

/** @file The stages of the engine tcp for one stream: an RX queue, and the TX queue beside it. */

#include <rte_mbuf.h>
#include <rte_ring.h>

#include "gro_stage.h"
#include "pw_inet.h"
#include "pw_tcp.h"

struct pw_app;
struct pw_stream;

#define PW_TCP_STACK_TX_MAX 64

struct pw_tcp_stack {
	struct pw_stream *stream;
	const struct pw_app *app;
	struct pw_gro_stage gro;
	struct pw_inet *inet;
	struct pw_tcp *tcp;
	struct rte_ring *arps; /**< what other queues of the port heard; NULL: it has one queue */
	uint64_t now_us;
	uint64_t next_tick_us;
	uint16_t nb_tx;
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

/** Send what it has collected. */
void pw_tcp_stack_flush(struct pw_tcp_stack *stack);

/* tcp_arp.c: ARP packets arrive at one of a port's queues, but concern the stacks of all. */

/** Make the ring, if the port has several queues. Returns 0 or a negative errno. */
int pw_tcp_arp_open(struct pw_tcp_stack *stack);
void pw_tcp_arp_close(struct pw_tcp_stack *stack);

/** Tell the stacks of the port's other queues; the arp_input of struct pw_inet_ops. */
void pw_tcp_arp_tell(void *ctx, const struct pw_inet_arp *arp);

/** Hear what they told. */
void pw_tcp_arp_hear(struct pw_tcp_stack *stack, uint64_t now_us);

#endif
