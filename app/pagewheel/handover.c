/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "handover.h"

#include <errno.h>
#include <stdio.h>

#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_ring.h>

#include "fwd.h"

#define PACKETS_MIN 1024 /* as many as an RX ring has: who is held up a while loses nothing */

int
pw_handover_open(struct pw_stream *stream, uint16_t burst)
{
	char name[RTE_RING_NAMESIZE];

	snprintf(name, sizeof(name), "pw_handover_%u_%u", stream->rx_port->id, stream->rx_queue);
	stream->handover = rte_ring_create(name, rte_align32pow2(RTE_MAX(PACKETS_MIN, 4 * burst)),
		rte_lcore_to_socket_id(stream->rx_lcore), RING_F_SP_ENQ | RING_F_SC_DEQ);
	return stream->handover == NULL ? -rte_errno : 0;
}

void
pw_handover_close(struct pw_stream *stream)
{
	struct rte_mbuf *pkts[64];
	unsigned n;

	if (stream->handover == NULL)
		return;
	while ((n = pw_handover_take(stream, pkts, RTE_DIM(pkts))) > 0)
		rte_pktmbuf_free_bulk(pkts, n);
	rte_ring_free(stream->handover);
	stream->handover = NULL;
}

uint16_t
pw_handover_receive(struct pw_stream *stream, uint16_t burst)
{
	struct rte_mbuf *pkts[PW_BURST_MAX];
	uint16_t room = RTE_MIN(rte_ring_free_count(stream->handover), burst);
	uint16_t n = room == 0 ? 0 : pw_stream_receive(stream, pkts, room);

	/* There is room: nobody else puts anything in. */
	if (n > 0)
		rte_ring_sp_enqueue_bulk(stream->handover, (void **)pkts, n, NULL);
	return n;
}

uint16_t
pw_handover_take(struct pw_stream *stream, struct rte_mbuf **pkts, uint16_t burst)
{
	return rte_ring_sc_dequeue_burst(stream->handover, (void **)pkts, burst, NULL);
}
