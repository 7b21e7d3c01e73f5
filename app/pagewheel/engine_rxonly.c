/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* Receive and drop. */

#include "engine.h"

static void
receive(struct pw_stream *stream, struct rte_mbuf **pkts, uint16_t n, uint64_t now_us)
{
	(void)stream;
	(void)now_us;
	rte_pktmbuf_free_bulk(pkts, n);
}

static struct pw_engine rxonly = {
	.name = "rxonly",
	.help = "receive packets and drop them",
	.receive = receive,
};

PW_ENGINE_REGISTER(rxonly)
