/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "gro_stage.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_common.h>
#include <rte_errno.h>

#include "app.h"
#include "engine.h"
#include "fwd.h"
#include "stats.h"

static const struct {
	const char *name;
	uint32_t type;
} type_names[] = {
	{"tcp4", PW_GRO_TCP_IPV4},
	{"tcp6", PW_GRO_TCP_IPV6},
	{"udp4", PW_GRO_UDP_IPV4},
	{"udp6", PW_GRO_UDP_IPV6},
};

int
pw_gro_stage_open(
	struct pw_gro_stage *stage, const struct pw_app *app, struct pw_gro_params *params)
{
	params->socket_id = app->pool->socket_id;
	params->max_flows = app->options.gro_flows;
	stage->options = &app->options;
	stage->types = params->types == 0 ? PW_GRO_TCP : params->types;
	stage->gro = pw_gro_create(params);
	return stage->gro == NULL ? -rte_errno : 0;
}

void
pw_gro_stage_close(struct pw_gro_stage *stage)
{
	pw_gro_destroy(stage->gro);
	stage->gro = NULL;
}

/* Commands change the settings while lcores read them. */

void
pw_gro_stage_receive(
	struct pw_gro_stage *stage, struct rte_mbuf **pkts, uint16_t n, uint64_t now_us)
{
	pw_gro_receive(stage->gro, pkts, n, now_us);
	if (++stage->bursts >= __atomic_load_n(&stage->options->gro_flush, __ATOMIC_RELAXED))
		pw_gro_stage_flush(stage);
}

void
pw_gro_stage_tick(struct pw_gro_stage *stage, uint64_t now_us)
{
	uint32_t timeout_us = __atomic_load_n(&stage->options->gro_timeout_us, __ATOMIC_RELAXED);

	if (pw_gro_held(stage->gro) > 0 && now_us >= timeout_us)
		pw_gro_flush_older(stage->gro, now_us - timeout_us);
}

void
pw_gro_stage_flush(struct pw_gro_stage *stage)
{
	pw_gro_flush(stage->gro);
	stage->bursts = 0;
}

static void
read_gro(const struct pw_app *app, const struct pw_stream *stream, void *stats)
{
	pw_gro_get_stats(pw_fwd_engine(app->fwd)->gro(stream)->gro, stats);
}

int
pw_gro_stage_read(const struct pw_app *app, void *stats)
{
	if (pw_fwd_engine(app->fwd)->gro == NULL)
		return -ENOENT;
	pw_stats_sum_streams(app, stats, sizeof(struct pw_gro_stats), read_gro);
	return 0;
}

static uint32_t
find_type(const char *name, size_t len)
{
	for (unsigned i = 0; i < RTE_DIM(type_names); i++)
		if (strlen(type_names[i].name) == len &&
			strncmp(type_names[i].name, name, len) == 0)
			return type_names[i].type;
	return 0;
}

int
pw_gro_types_parse(const char *text, uint32_t *types)
{
	uint32_t found = 0;

	for (;; text++) {
		size_t len = strcspn(text, ",");
		uint32_t type = find_type(text, len);

		if (type == 0)
			return -EINVAL;
		found |= type;
		text += len;
		if (*text == '\0')
			break;
	}
	*types = found;
	return 0;
}

const char *
pw_gro_types_names(uint32_t types, char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = '\0';
	for (unsigned i = 0; i < RTE_DIM(type_names) && used < size; i++)
		if (types & type_names[i].type)
			used += snprintf(buf + used, size - used, "%s%s", used == 0 ? "" : ",",
				type_names[i].name);
	return buf;
}
