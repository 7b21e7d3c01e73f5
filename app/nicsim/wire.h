/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NICSIM_WIRE_H
#define NICSIM_WIRE_H

/**
 * @file
 * What a port is plugged into. A kind of wire is one file, wire_KIND.c, and a line in wire.c.
 *
 * A wire knows no NIC: frames and the time come in, frames go out, so that a test can run it in
 * virtual time. One thread calls all of it. Directions are the port's: it receives what the wire
 * sends.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frame.h"
#include "param.h"
#include "pw_stat.h"

struct wire;

/** What a wire may want to know when it is opened. */
struct wire_context {
	unsigned port;	     /**< number of its port, from 0 */
	uint8_t port_mac[6]; /**< where frames are sent to */
	uint64_t seed;	     /**< of all that is random on it */
	struct wire **wires; /**< those of the ports before it, by port number */
};

struct wire_kind {
	const char *name;
	const char *arg; /**< what stands behind KIND=, or NULL */
	const char *help;
	const struct param *params; /**< its settings, or NULL */
	const void *defaults;	    /**< the struct that they write, as it is without any */
	size_t config_bytes;	    /**< its size */

	/**
	 * Open it.
	 *
	 * @param arg     the text behind KIND=, or NULL; valid for good
	 * @param config  the settings; copied if needed later
	 * @return NULL after an error was printed
	 */
	struct wire *(*open)(
		const struct wire_context *context, const char *arg, const void *config);
	/**
	 * Frames that reach the port now, at most n (up to FRAME_BURST). They stay valid until
	 * the next call of receive or close.
	 */
	unsigned (*receive)(struct wire *wire, uint64_t now_ns, struct frame *frames, unsigned n);
	/** Take n frames that the port sent. They are valid during the call. */
	void (*send)(struct wire *wire, uint64_t now_ns, const struct frame *frames, unsigned n);
	/** How many frames send() can take without loss. NULL: any number. */
	unsigned (*room)(struct wire *wire);
	/** Whether no frame will ever come any more. NULL: never so. */
	bool (*is_done)(const struct wire *wire);
	/** First thing that was wrong with what came back, or NULL. NULL: does not check. */
	const char *(*verdict)(const struct wire *wire);
	/** What it lacks when all wires are open, or NULL. NULL: lacks nothing. */
	const char *(*lacks)(const struct wire *wire);
	/** Counters, named in the table stats. Both may be NULL. */
	const struct pw_stat *stats;
	const void *(*get_stats)(struct wire *wire);
	void (*close)(struct wire *wire);
};

/** Each kind's own struct begins with this. */
struct wire {
	const struct wire_kind *kind;
};

extern const struct wire_kind wire_gen, wire_tcp, wire_sink, wire_loop, wire_tap, wire_veth,
	wire_pcap;

/** The kind of this name, or NULL. */
const struct wire_kind *wire_kind_find(const char *name);

/** The kinds one after the other; NULL behind the last. */
const struct wire_kind *wire_kind_at(unsigned i);

#endif
