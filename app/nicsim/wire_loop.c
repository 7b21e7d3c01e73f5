/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* A cable from the port to itself, or to another port. */

#include <stdio.h>
#include <stdlib.h>

#include "error.h"
#include "frame_ring.h"
#include "wire.h"

struct loop_stats {
	uint64_t sent;	   /* by the port */
	uint64_t received; /* by the port */
	uint64_t dropped_unjoined, dropped_full, dropped_too_long;
};

struct loop {
	struct wire wire;
	struct loop *peer;	  /* itself, another, or NULL as long as that is not there */
	struct frame_ring *inbox; /* on the way to this port */
	unsigned port, peer_port;
	struct loop_stats stats;
	char verdict[96];
};

static const struct pw_stat stats[] = {
	PW_STAT(loop_stats, sent, "frames"),
	PW_STAT(loop_stats, received, "frames"),
	PW_STAT(loop_stats, dropped_unjoined, "frames"),
	PW_STAT(loop_stats, dropped_full, "frames"),
	PW_STAT(loop_stats, dropped_too_long, "frames"),
	PW_STAT_END,
};

/* Join it with a port that is there already. 0, or -1 after an error was printed. */
static int
join(struct loop *loop, const struct wire_context *context)
{
	struct wire *wire = context->wires[loop->peer_port];
	struct loop *other = (struct loop *)wire;

	if (wire == NULL || wire->kind != &wire_loop) {
		nicsim_error("--wire=loop=%u: port %u has no loop: give it --wire=loop=%u",
			loop->peer_port, loop->peer_port, loop->port);
		return -1;
	}
	if (other->peer_port != loop->port) {
		nicsim_error("--wire=loop=%u: port %u is joined with port %u: give it "
			     "--wire=loop=%u",
			loop->peer_port, loop->peer_port, other->peer_port, loop->port);
		return -1;
	}
	loop->peer = other;
	other->peer = loop;
	return 0;
}

/* With whom to join it. 0, or -1 after an error was printed. */
static int
set_peer(struct loop *loop, const struct wire_context *context, const char *arg)
{
	int used = 0;

	if (arg == NULL) {
		loop->peer = loop;
		loop->peer_port = loop->port;
		return 0;
	}
	if (arg[0] < '0' || arg[0] > '9' || sscanf(arg, "%3u%n", &loop->peer_port, &used) != 1 ||
		arg[used] != '\0') {
		nicsim_error("--wire=loop=%s: expected the number of another port, as in loop=1, "
			     "or loop alone",
			arg);
		return -1;
	}
	if (loop->peer_port == loop->port) {
		nicsim_error("--wire=loop=%s: this is port %u itself: leave out =%s", arg,
			loop->port, arg);
		return -1;
	}
	/* A port that comes later joins this one. */
	return loop->peer_port < loop->port ? join(loop, context) : 0;
}

static void
loop_close(struct wire *wire)
{
	struct loop *loop = (struct loop *)wire;

	if (loop->peer != NULL)
		loop->peer->peer = NULL;
	frame_ring_destroy(loop->inbox);
	free(loop);
}

static struct wire *
loop_open(const struct wire_context *context, const char *arg, const void *config)
{
	struct loop *loop = calloc(1, sizeof(*loop));

	(void)config;
	if (loop != NULL)
		loop->inbox = frame_ring_create();
	if (loop == NULL || loop->inbox == NULL) {
		nicsim_error("--wire=loop: no memory");
		free(loop);
		return NULL;
	}
	loop->wire.kind = &wire_loop;
	loop->port = context->port;
	if (set_peer(loop, context, arg) < 0) {
		loop_close(&loop->wire);
		return NULL;
	}
	return &loop->wire;
}

static unsigned
loop_receive(struct wire *wire, uint64_t now_ns, struct frame *frames, unsigned n)
{
	struct loop *loop = (struct loop *)wire;

	(void)now_ns;
	n = frame_ring_get(loop->inbox, frames, n);
	loop->stats.received += n;
	return n;
}

static unsigned
loop_room(struct wire *wire)
{
	const struct loop *loop = (struct loop *)wire;

	/* Into a cable without another end goes all. */
	return loop->peer != NULL ? frame_ring_room(loop->peer->inbox) : FRAME_BURST;
}

static void
loop_send(struct wire *wire, uint64_t now_ns, const struct frame *frames, unsigned n)
{
	struct loop *loop = (struct loop *)wire;
	unsigned room = loop->peer != NULL ? loop_room(wire) : 0;

	(void)now_ns;
	loop->stats.sent += n;
	for (unsigned i = 0; i < n; i++)
		if (loop->peer == NULL)
			loop->stats.dropped_unjoined++;
		else if (frames[i].len_bytes > FRAME_MAX_BYTES)
			loop->stats.dropped_too_long++;
		else if (i >= room)
			loop->stats.dropped_full++;
		else
			frame_ring_put(loop->peer->inbox, &frames[i]);
}

static const char *
loop_lacks(const struct wire *wire)
{
	struct loop *loop = (struct loop *)(uintptr_t)wire;

	if (loop->peer != NULL)
		return NULL;
	snprintf(loop->verdict, sizeof(loop->verdict),
		"--wire=loop=%u: port %u has no --wire=loop=%u", loop->peer_port, loop->peer_port,
		loop->port);
	return loop->verdict;
}

static const char *
loop_verdict(const struct wire *wire)
{
	return ((const struct loop *)wire)->stats.dropped_unjoined > 0 ? loop_lacks(wire) : NULL;
}

static const void *
loop_get_stats(struct wire *wire)
{
	return &((struct loop *)wire)->stats;
}

const struct wire_kind wire_loop = {
	.name = "loop",
	.arg = "[PORT]",
	.help = "what the port sends comes back, or goes to another port that names this one",
	.open = loop_open,
	.receive = loop_receive,
	.send = loop_send,
	.room = loop_room,
	.verdict = loop_verdict,
	.lacks = loop_lacks,
	.stats = stats,
	.get_stats = loop_get_stats,
	.close = loop_close,
};
