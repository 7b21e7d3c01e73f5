/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* Merge what comes, cut it again, and forward it: what goes out is, flow by flow, what came in. */

#include <errno.h>
#include <string.h>

#include <rte_malloc.h>

#include "app.h"
#include "engine.h"
#include "engine_gro.h"
#include "fwd.h"
#include "gro_stage.h"
#include "gso.h"
#include "stats.h"

#define TX_MAX 64

struct state {
	struct pw_stream *stream;
	struct pw_gro_stage gro;
	struct pw_gso gso;
	uint16_t nb_tx;
	struct rte_mbuf *tx[TX_MAX + PW_GSO_PIECES_MAX];
};

static void
send_all(struct state *state)
{
	if (state->nb_tx > 0)
		pw_stream_send(state->stream, state->tx, state->nb_tx);
	state->nb_tx = 0;
}

static void
gro_output(void *ctx, struct rte_mbuf **pkts, uint16_t n)
{
	struct state *state = ctx;
	uint64_t dropped = state->gso.stats.dropped;

	for (uint16_t i = 0; i < n; i++) {
		state->nb_tx += pw_gso_cut(&state->gso, pkts[i], &state->tx[state->nb_tx]);
		if (state->nb_tx >= TX_MAX)
			send_all(state);
	}
	state->stream->tx_dropped += state->gso.stats.dropped - dropped;
}

static void
receive(struct pw_stream *stream, struct rte_mbuf **pkts, uint16_t n, uint64_t now_us)
{
	struct state *state = stream->engine_data;

	pw_gro_stage_receive(&state->gro, pkts, n, now_us);
	send_all(state);
}

static void
tick(struct pw_stream *stream, uint64_t now_us)
{
	struct state *state = stream->engine_data;

	pw_gro_stage_tick(&state->gro, now_us);
	send_all(state);
}

static void
drain(struct pw_stream *stream, uint64_t now_us)
{
	struct state *state = stream->engine_data;

	(void)now_us;
	pw_gro_stage_flush(&state->gro);
	send_all(state);
}

static void
close_stream(struct pw_stream *stream)
{
	struct state *state = stream->engine_data;

	pw_gro_stage_close(&state->gro);
	rte_free(state);
	stream->engine_data = NULL;
}

/* Of the types asked for, all must be such as can be cut again; without an option, all that can. */
static int
check_types(const struct state *state, uint32_t types)
{
	char asked[64], possible[64];

	if ((types & ~state->gso.types) == 0)
		return 0;
	pw_error(
		"--gro-types=%s: in the mode gro port %u cannot send all of these as they came; it "
		"can: %s",
		pw_gro_types_names(types, asked, sizeof(asked)), state->stream->tx_port->id,
		pw_gro_types_names(state->gso.types, possible, sizeof(possible)));
	return -EINVAL;
}

static int
open_stages(struct state *state, const struct pw_app *app)
{
	uint32_t types = app->options.gro_types;
	struct pw_gro_params params = {
		.output = gro_output,
		.ctx = state,
		.exact_tso = true,
	};
	int rc = pw_gso_open(&state->gso, app, state->stream->tx_port);

	if (rc == 0) {
		params.types = types == 0 ? state->gso.types : types;
		params.max_mbufs = state->gso.mbufs_max;
		rc = pw_gro_stage_open(&state->gro, app, &params);
	}
	if (rc == 0)
		return check_types(state, types);
	pw_error("the mode gro does not start, from port %u to port %u, with %u flows: %s",
		state->stream->rx_port->id, state->stream->tx_port->id, app->options.gro_flows,
		strerror(-rc));
	return rc;
}

static int
open_stream(struct pw_stream *stream, const struct pw_app *app)
{
	struct state *state = rte_zmalloc("pw_gro_state", sizeof(*state), RTE_CACHE_LINE_SIZE);
	int rc;

	if (state == NULL) {
		pw_error("the mode gro: out of memory");
		return -ENOMEM;
	}
	state->stream = stream;
	stream->engine_data = state;
	rc = open_stages(state, app);
	if (rc < 0)
		close_stream(stream);
	return rc;
}

static const struct pw_gro_stage *
gro(const struct pw_stream *stream)
{
	return &((const struct state *)stream->engine_data)->gro;
}

static struct pw_engine engine = {
	.name = "gro",
	.help = "merge received packets, cut them again, and send them out of the other port",
	.needs_offloads = true,
	.open = open_stream,
	.close = close_stream,
	.receive = receive,
	.tick = tick,
	.drain = drain,
	.gro = gro,
};

PW_ENGINE_REGISTER(engine)

static void
read_gso(const struct pw_app *app, const struct pw_stream *stream, void *stats)
{
	(void)app;
	*(struct pw_gso_stats *)stats = ((const struct state *)stream->engine_data)->gso.stats;
}

int
pw_engine_gro_read_gso(const struct pw_app *app, void *stats)
{
	if (pw_fwd_engine(app->fwd) != &engine)
		return -ENOENT;
	pw_stats_sum_streams(app, stats, sizeof(struct pw_gso_stats), read_gso);
	return 0;
}
