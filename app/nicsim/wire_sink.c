/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* A wire that takes what the port sends, and checks it. */

#include <stdlib.h>

#include "check.h"
#include "error.h"
#include "wire.h"

struct sink_config {
	uint64_t check;
};

struct sink_stats {
	struct check_stats check;
};

struct sink {
	struct wire wire;
	struct check *check;
};

static const char *const off_on[] = {"off", "on", NULL};

static const struct sink_config defaults = {.check = 1};

static const struct param params[] = {
	{"check", "on|off", "check frames, or only count them", PARAM_CHOICE,
		offsetof(struct sink_config, check), 0, 0, off_on, NULL},
	{0},
};

static const struct pw_stat stats[] = {CHECK_STAT_ROWS(sink_stats, check), PW_STAT_END};

static struct wire *
sink_open(const struct wire_context *context, const char *arg, const void *config)
{
	const struct sink_config *wanted = config;
	struct sink *sink = malloc(sizeof(*sink));

	(void)context;
	(void)arg;
	if (sink == NULL) {
		nicsim_error("sink: no memory");
		return NULL;
	}
	sink->wire.kind = &wire_sink;
	sink->check = check_create(wanted->check);
	if (sink->check == NULL) {
		nicsim_error("sink: no memory");
		free(sink);
		return NULL;
	}
	return &sink->wire;
}

static unsigned
sink_receive(struct wire *wire, uint64_t now_ns, struct frame *frames, unsigned n)
{
	(void)wire;
	(void)now_ns;
	(void)frames;
	(void)n;
	return 0;
}

static void
sink_send(struct wire *wire, uint64_t now_ns, const struct frame *frames, unsigned n)
{
	(void)now_ns;
	check_frames(((struct sink *)wire)->check, frames, n);
}

static bool
sink_is_done(const struct wire *wire)
{
	(void)wire;
	return true;
}

static const char *
sink_verdict(const struct wire *wire)
{
	return check_verdict(((const struct sink *)wire)->check);
}

static const void *
sink_get_stats(struct wire *wire)
{
	return check_get_stats(((struct sink *)wire)->check);
}

static void
sink_close(struct wire *wire)
{
	struct sink *sink = (struct sink *)wire;

	check_destroy(sink->check);
	free(sink);
}

const struct wire_kind wire_sink = {
	.name = "sink",
	.help = "sends nothing; checks what comes",
	.params = params,
	.defaults = &defaults,
	.config_bytes = sizeof(defaults),
	.open = sink_open,
	.receive = sink_receive,
	.send = sink_send,
	.is_done = sink_is_done,
	.verdict = sink_verdict,
	.stats = stats,
	.get_stats = sink_get_stats,
	.close = sink_close,
};
