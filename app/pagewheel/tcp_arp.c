/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include <errno.h>
#include <stdio.h>

#include <rte_errno.h>

#include "app.h"
#include "fwd.h"
#include "tcp_stack.h"

#define RING_SIZE 256 /* more at a time are lost, and asked for again */

/*
 * Rings between lcores rather than learning from IP packets: nothing is added to what every packet
 * costs, and RFC 826 alone says who is believed.
 */
int
pw_tcp_arp_open(struct pw_tcp_stack *stack)
{
	char name[RTE_RING_NAMESIZE];

	if (stack->app->options.rxq == 1)
		return 0;
	snprintf(name, sizeof(name), "pw_arp_%u_%u", stack->stream->rx_port->id,
		stack->stream->rx_queue);
	stack->arps = rte_ring_create_elem(name, sizeof(struct pw_inet_arp), RING_SIZE,
		stack->app->pool->socket_id, RING_F_SC_DEQ);
	return stack->arps == NULL ? -rte_errno : 0;
}

void
pw_tcp_arp_close(struct pw_tcp_stack *stack)
{
	rte_ring_free(stack->arps);
}

void
pw_tcp_arp_tell(void *ctx, const struct pw_inet_arp *arp)
{
	struct pw_tcp_stack *stack = ctx;
	const struct pw_fwd *fwd = stack->app->fwd;

	for (unsigned i = 0; i < pw_fwd_nb_streams(fwd); i++) {
		const struct pw_stream *stream = pw_fwd_stream(fwd, i);
		const struct pw_tcp_stack *other = stream->engine_data;

		if (other != stack && stream->rx_port == stack->stream->rx_port)
			rte_ring_mp_enqueue_elem(other->arps, (void *)(uintptr_t)arp, sizeof(*arp));
	}
}

void
pw_tcp_arp_hear(struct pw_tcp_stack *stack, uint64_t now_us)
{
	struct pw_inet_arp arp;

	if (stack->arps == NULL || rte_ring_empty(stack->arps))
		return;
	while (rte_ring_sc_dequeue_elem(stack->arps, &arp, sizeof(arp)) == 0)
		pw_inet_hear_arp(stack->inet, &arp, now_us);
	pw_tcp_stack_flush(stack);
}
