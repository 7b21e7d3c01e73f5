/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NICSIM_OPEN_H
#define NICSIM_OPEN_H

/** @file What tests of wires share: open one by its settings, look at a counter, a slow checksum.
 */

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "wire.h"

#define OPEN_PORT_MAC                              \
	{                                          \
		0x02, 0x70, 0x77, 0x00, 0x00, 0x00 \
	}

/** Open a wire with settings as "size=64 flows=2"; NULL when it or a setting is refused. No setting
 * may be kept as text. */
static inline struct wire *
open_wire(const struct wire_kind *kind, unsigned port, uint64_t seed, const char *settings)
{
	const struct wire_context context = {.port = port, .port_mac = OPEN_PORT_MAC, .seed = seed};
	char *text = strdup(settings);
	void *config = malloc(kind->config_bytes);
	struct wire *wire = NULL;
	char *save = NULL;

	memcpy(config, kind->defaults, kind->config_bytes);
	for (char *word = strtok_r(text, " ", &save); word != NULL;
		word = strtok_r(NULL, " ", &save)) {
		char *value = strchr(word, '=');

		*value++ = '\0';
		if (param_set(param_find(kind->params, word), config, kind->name, value) < 0)
			goto out;
	}
	wire = kind->open(&context, NULL, config);
out:
	free(text);
	free(config);
	return wire;
}

/** A counter by its name. */
static inline uint64_t
counter(struct wire *wire, const char *name)
{
	const struct pw_stat *stat = wire->kind->stats;

	while (stat->name != NULL && strcmp(stat->name, name) != 0)
		stat++;
	assert(stat->name != NULL);
	return pw_stat_value(stat, wire->kind->get_stats(wire));
}

/** RFC 1071, word by word: the sum of what is right is 0xffff. */
static inline uint32_t
slow_sum(uint32_t sum, const uint8_t *p, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++) {
		sum += i % 2 == 0 ? (uint32_t)p[i] << 8 : p[i];
		sum = (sum & 0xffff) + (sum >> 16);
	}
	return sum;
}

#endif
