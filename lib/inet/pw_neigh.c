/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_neigh.h"

#include <string.h>

#include <rte_jhash.h>

static struct pw_neigh *
find_set(struct pw_neigh_table *table, rte_be32_t ip)
{
	return table->entries[rte_jhash_1word(ip, 0) % PW_NEIGH_SETS];
}

struct pw_neigh *
pw_neigh_find(struct pw_neigh_table *table, rte_be32_t ip)
{
	struct pw_neigh *set = find_set(table, ip);

	for (unsigned i = 0; i < PW_NEIGH_WAYS; i++)
		if (set[i].state != PW_NEIGH_FREE && set[i].ip == ip)
			return &set[i];
	return NULL;
}

struct pw_neigh *
pw_neigh_add(struct pw_neigh_table *table, rte_be32_t ip, struct rte_mbuf **evicted)
{
	struct pw_neigh *set = find_set(table, ip);
	struct pw_neigh *victim = &set[0];

	for (unsigned i = 0; i < PW_NEIGH_WAYS && victim->state != PW_NEIGH_FREE; i++)
		if (set[i].state == PW_NEIGH_FREE || set[i].confirmed_us < victim->confirmed_us)
			victim = &set[i];

	*evicted = victim->queue;
	memset(victim, 0, sizeof(*victim));
	victim->ip = ip;
	victim->state = PW_NEIGH_ASKED;
	return victim;
}

void
pw_neigh_clear(struct pw_neigh_table *table)
{
	for (unsigned i = 0; i < PW_NEIGH_SETS; i++)
		for (unsigned j = 0; j < PW_NEIGH_WAYS; j++)
			rte_pktmbuf_free(table->entries[i][j].queue);
	memset(table, 0, sizeof(*table));
}
