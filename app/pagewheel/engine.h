/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef ENGINE_H
#define ENGINE_H

/**
 * @file
 * Forwarding engines: what is done with received packets. An engine is one file that registers
 * itself with PW_ENGINE_REGISTER.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include <rte_common.h>
#include <rte_mbuf.h>

struct pw_app;
struct pw_gro_stage;
struct pw_stream;

struct pw_engine {
	const char *name;
	const char *help;
	/** It answers with packets of its own, out of the port that the received ones came in by.
	 */
	bool makes_packets;
	/** It leaves checksums and cutting to the port that it sends by, and sends chains. */
	bool needs_offloads;
	/** Make the engine's state for a stream; prints its errors. May be NULL. */
	int (*open)(struct pw_stream *stream, const struct pw_app *app);
	/** Free the state and all packets in it. May be NULL. */
	void (*close)(struct pw_stream *stream);
	/** Take a burst of received packets, at least one; owns them. */
	void (*receive)(
		struct pw_stream *stream, struct rte_mbuf **pkts, uint16_t n, uint64_t now_us);
	/** Called after each poll, empty or not. May be NULL. */
	void (*tick)(struct pw_stream *stream, uint64_t now_us);
	/**
	 * Send what is held: no poll follows for a while. Called when the stream's lcore has
	 * finished. May be NULL.
	 */
	void (*drain)(struct pw_stream *stream, uint64_t now_us);
	/** The stream's GRO. NULL: the engine has none. */
	const struct pw_gro_stage *(*gro)(const struct pw_stream *stream);
	STAILQ_ENTRY(pw_engine) next;
};

void pw_engine_register(struct pw_engine *engine);

#define PW_ENGINE_REGISTER(engine)            \
	RTE_INIT(pw_engine_register_##engine) \
	{                                     \
		pw_engine_register(&engine);  \
	}

/** Find an engine by its name, or NULL. */
const struct pw_engine *pw_engine_find(const char *name);

/** The engine behind another; the first one for NULL; NULL at the end. */
const struct pw_engine *pw_engine_next(const struct pw_engine *engine);

/** All names, with commas. Returns buf. */
const char *pw_engine_names(char *buf, size_t size);

#endif
