/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* The counters of an ethdev port, which go on where they were when the device is reset. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "port_ethdev.h"

int
pw_ethdev_get_stats(struct pw_port *base, struct pw_port_stats *stats)
{
	const struct pw_ethdev *port = pw_ethdev(base);
	const struct rte_eth_stats *before = &port->stats_base;
	struct rte_eth_stats eth;
	int rc = rte_eth_stats_get(port->dev, &eth);

	if (rc < 0)
		return rc;
	*stats = (struct pw_port_stats){
		.rx_packets = before->ipackets + eth.ipackets,
		.rx_bytes = before->ibytes + eth.ibytes,
		.rx_missed = before->imissed + eth.imissed,
		.rx_errors = before->ierrors + eth.ierrors,
		.rx_nombuf = before->rx_nombuf + eth.rx_nombuf,
		.tx_packets = before->opackets + eth.opackets,
		.tx_bytes = before->obytes + eth.obytes,
		.tx_errors = before->oerrors + eth.oerrors,
	};
	return 0;
}

static void
forget_bases(struct pw_ethdev *port)
{
	memset(&port->stats_base, 0, sizeof(port->stats_base));
	free(port->xstats_base);
	port->xstats_base = NULL;
	port->nb_xstats = 0;
}

int
pw_ethdev_clear_stats(struct pw_port *base)
{
	struct pw_ethdev *port = pw_ethdev(base);
	int rc = rte_eth_stats_reset(port->dev);

	if (rc < 0)
		return rc;
	forget_bases(port);
	return rte_eth_xstats_reset(port->dev);
}

/* Returns their number, or a negative errno; the array is the caller's. */
static int
read_xstats(const struct pw_ethdev *port, struct rte_eth_xstat **values)
{
	int count = rte_eth_xstats_get_names(port->dev, NULL, 0);

	if (count < 0)
		return count;
	*values = calloc(count + 1, sizeof(**values));
	if (*values == NULL)
		return -ENOMEM;
	return rte_eth_xstats_get(port->dev, *values, count);
}

static uint64_t
xstat_base(const struct pw_ethdev *port, uint64_t id)
{
	return id < (uint64_t)port->nb_xstats ? port->xstats_base[id] : 0;
}

int
pw_ethdev_visit_xstats(struct pw_port *base, pw_port_xstat_t visit)
{
	const struct pw_ethdev *port = pw_ethdev(base);
	struct rte_eth_xstat *values = NULL;
	int count = read_xstats(port, &values);
	struct rte_eth_xstat_name *names = NULL;

	if (count >= 0)
		names = calloc(count + 1, sizeof(*names));
	if (names != NULL && rte_eth_xstats_get_names(port->dev, names, count) == count)
		for (int i = 0; i < count; i++)
			visit(names[values[i].id].name,
				values[i].value + xstat_base(port, values[i].id));
	free(names);
	free(values);
	return RTE_MIN(count, 0);
}

/* The sums of what is counted now and what was kept before; NULL: none, or no memory. */
static uint64_t *
sum_xstats(const struct pw_ethdev *port, int *count)
{
	struct rte_eth_xstat *values = NULL;
	uint64_t *sums = NULL;

	*count = read_xstats(port, &values);
	if (*count > 0)
		sums = calloc(*count, sizeof(*sums));
	for (int i = 0; sums != NULL && i < *count; i++)
		if (values[i].id < (uint64_t)*count)
			sums[values[i].id] = values[i].value + xstat_base(port, values[i].id);
	free(values);
	return sums;
}

static void
keep_xstats(struct pw_ethdev *port, uint64_t *sums, int count)
{
	if (sums == NULL || rte_eth_xstats_reset(port->dev) < 0) {
		free(sums);
		return;
	}
	free(port->xstats_base);
	port->xstats_base = sums;
	port->nb_xstats = count;
}

/* Both are set to zero here, so that it does not matter whether the device does it again. */
void
pw_ethdev_keep_stats(struct pw_ethdev *port)
{
	struct rte_eth_stats eth;
	int count, rc = rte_eth_stats_get(port->dev, &eth);
	uint64_t *sums = sum_xstats(port, &count);

	if (rc == 0)
		rc = rte_eth_stats_reset(port->dev);
	if (rc < 0) {
		free(sums);
		return;
	}
	keep_xstats(port, sums, count);
	port->stats_base.ipackets += eth.ipackets;
	port->stats_base.ibytes += eth.ibytes;
	port->stats_base.imissed += eth.imissed;
	port->stats_base.ierrors += eth.ierrors;
	port->stats_base.rx_nombuf += eth.rx_nombuf;
	port->stats_base.opackets += eth.opackets;
	port->stats_base.obytes += eth.obytes;
	port->stats_base.oerrors += eth.oerrors;
}
