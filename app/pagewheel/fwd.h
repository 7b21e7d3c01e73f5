/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef FWD_H
#define FWD_H

/** @file Forwarding: streams of packets, the lcores that poll them, start and stop. */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "engine.h"
#include "port.h"

struct pw_app;
struct pw_fwd;
struct rte_ring;

#define PW_BURST_MAX 512

/** From one RX queue to one TX queue; belongs to one lcore, and with --split to one that receives.
 */
struct pw_stream {
	struct pw_port *rx_port;
	struct pw_port *tx_port;
	uint16_t rx_queue;
	uint16_t tx_queue;
	unsigned lcore;
	unsigned rx_lcore;	   /**< another one with --split */
	struct rte_ring *handover; /**< between the two; NULL: it is one */
	void *engine_data;	   /**< the engine's state */

	/* What the lcore writes is not on a line that another one reads. */
	uint64_t rx_packets __rte_cache_aligned;
	uint64_t tx_packets;
	uint64_t tx_dropped; /**< the TX queue was full, or they could not be made */
};

/** What an lcore did, since the program started. */
struct pw_lcore_stats {
	uint64_t cycles;      /**< spent polling */
	uint64_t busy_cycles; /**< of these, in polls that received or sent packets */
	uint64_t polls;
	uint64_t busy_polls;
	uint64_t rx_packets;
	uint64_t receiving_cycles;	/**< of the cycles, those of lcores that only receive */
	uint64_t receiving_busy_cycles; /**< of these, in polls that brought packets */
};

/** Receive packets of a stream from its port, up to a burst; returns how many. */
uint16_t pw_stream_receive(struct pw_stream *stream, struct rte_mbuf **pkts, uint16_t burst);

/** Send packets of a stream; returns how many the port took. */
uint16_t pw_stream_try_send(struct pw_stream *stream, struct rte_mbuf **pkts, uint16_t n);

/** Send packets of a stream; those that the port does not take are dropped and counted. */
void pw_stream_send(struct pw_stream *stream, struct rte_mbuf **pkts, uint16_t n);

/**
 * Lay out streams over the worker lcores and open the engine on each.
 *
 * @return NULL after an error was printed
 */
struct pw_fwd *pw_fwd_create(const struct pw_app *app);

/** Stop, close the engine, free. NULL is allowed. */
void pw_fwd_destroy(struct pw_fwd *fwd);

/** Change the engine, while stopped. Returns 0, or a negative errno after an error was printed. */
int pw_fwd_set_engine(struct pw_fwd *fwd, const struct pw_app *app, const struct pw_engine *engine);

const struct pw_engine *pw_fwd_engine(const struct pw_fwd *fwd);

/** Start polling; the forwarding statistics begin at 0. Returns 0, -EALREADY, or -EBUSY (an lcore).
 */
int pw_fwd_start(struct pw_fwd *fwd);

/** Let all lcores finish their poll, and send what engines hold. Returns 0, or -EALREADY. */
int pw_fwd_stop(struct pw_fwd *fwd);

/** Stop for a while: statistics go on where they were. False: it was not running. */
bool pw_fwd_pause(struct pw_fwd *fwd);

/** Go on after pw_fwd_pause(). Returns 0, or -EBUSY (an lcore). */
int pw_fwd_resume(struct pw_fwd *fwd);

bool pw_fwd_is_running(const struct pw_fwd *fwd);

unsigned pw_fwd_nb_streams(const struct pw_fwd *fwd);
const struct pw_stream *pw_fwd_stream(const struct pw_fwd *fwd, unsigned i);

/** Sum over all lcores. Any thread; may lag behind a running lcore by one poll. */
void pw_fwd_get_lcore_stats(const struct pw_fwd *fwd, struct pw_lcore_stats *stats);

/** Print packets of each port and of all, and the lcores' load, since they were cleared last. */
void pw_fwd_print_stats(struct pw_fwd *fwd);

/** Count from here. */
void pw_fwd_clear_stats(struct pw_fwd *fwd);

#endif
