/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "wire.h"

#include <string.h>

/* The kinds, in the order of the help. */
static const struct wire_kind *const kinds[] = {
	&wire_gen,
	&wire_tcp,
	&wire_sink,
	&wire_loop,
	&wire_tap,
	&wire_veth,
	&wire_pcap,
	NULL,
};

const struct wire_kind *
wire_kind_at(unsigned i)
{
	return kinds[i];
}

const struct wire_kind *
wire_kind_find(const char *name)
{
	for (unsigned i = 0; kinds[i] != NULL; i++)
		if (strcmp(kinds[i]->name, name) == 0)
			return kinds[i];
	return NULL;
}
