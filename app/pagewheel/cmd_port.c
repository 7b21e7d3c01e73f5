/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* show port info, stats, xstats; clear port stats */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <rte_ethdev.h>

#include "app.h"
#include "cli.h"
#include "port.h"

struct port_args {
	cmdline_fixed_string_t show;
	cmdline_fixed_string_t clear;
	cmdline_fixed_string_t port;
	cmdline_fixed_string_t info;
	cmdline_fixed_string_t stats;
	cmdline_fixed_string_t xstats;
	cmdline_fixed_string_t id;
};

PW_CLI_WORD(show, port_args, "show");
PW_CLI_WORD(clear, port_args, "clear");
PW_CLI_WORD(port, port_args, "port");
PW_CLI_WORD(info, port_args, "info");
PW_CLI_WORD(stats, port_args, "stats");
PW_CLI_WORD(xstats, port_args, "xstats");
PW_CLI_WORD(id, port_args, NULL);

static void
for_ports(struct pw_app *app, const struct port_args *args, int (*run)(struct pw_port *port))
{
	uint16_t first, last;

	if (!pw_cli_ports(app, args->id, &first, &last))
		return;
	for (uint16_t i = first; i <= last; i++) {
		int rc = run(app->ports[i]);

		if (rc < 0)
			pw_cli_fail(app, "port %u: %s", i, strerror(-rc));
	}
}

static void
print_link(const struct pw_port *p, const struct pw_link *link)
{
	static const char *const states[] = {
		[PW_PORT_STOPPED] = "stopped", [PW_PORT_STARTED] = "started"};

	printf("Port state: %s\n", states[p->state]);
	printf("Link status: %s\n", link->up ? "up" : "down");
	if (link->mbps == UINT32_MAX)
		printf("Link speed: unknown\n");
	else
		printf("Link speed: %u Mbit/s\n", link->mbps);
	printf("Link events: by %s; went down %" PRIu64 " times\n",
		p->tells_link ? "interrupt" : "a look each second", p->link_downs);
}

static void
print_offloads(const struct pw_port_info *i)
{
	char names[512];

	printf("RX offloads: %s\n",
		pw_port_offload_names(
			i->rx_offloads, rte_eth_dev_rx_offload_name, names, sizeof(names)));
	printf("TX offloads: %s\n",
		pw_port_offload_names(
			i->tx_offloads, rte_eth_dev_tx_offload_name, names, sizeof(names)));
	printf("RSS types: %s\n",
		pw_port_offload_names(i->rss_types, pw_port_rss_name, names, sizeof(names)));
}

static int
show_info(struct pw_port *p)
{
	char mac[RTE_ETHER_ADDR_FMT_SIZE];
	struct pw_port_info i;
	int rc = p->ops->get_info(p, &i);

	if (rc < 0)
		return rc;
	rte_ether_format_addr(mac, sizeof(mac), &i.mac);
	printf("\n********************* Infos for port %-2u *********************\n", p->id);
	printf("MAC address: %s\nDevice name: %s\nDriver name: %s\n", mac, i.name, i.driver);
	printf("Connect to socket: %d\nMTU: %u bytes\n", i.socket_id, i.mtu_bytes);
	print_link(p, &i.link);
	printf("Promiscuous mode: %s\n", i.promiscuous ? "enabled" : "disabled");
	printf("RX queues: %u of %u, %u descriptors each\n", i.nb_rxq, i.max_rxq, i.nb_rxd);
	printf("TX queues: %u of %u, %u descriptors each\n", i.nb_txq, i.max_txq, i.nb_txd);
	print_offloads(&i);
	return 0;
}

static int
show_stats(struct pw_port *p)
{
	struct pw_port_stats s;
	int rc = p->ops->get_stats(p, &s);

	if (rc < 0)
		return rc;
	printf("\n  ######################## NIC statistics for port %-2u ########################\n",
		p->id);
	printf("  RX-packets: %-14" PRIu64 " RX-missed: %-14" PRIu64 " RX-bytes: %" PRIu64 "\n",
		s.rx_packets, s.rx_missed, s.rx_bytes);
	printf("  RX-errors:  %-14" PRIu64 " RX-nombuf: %-14" PRIu64 "\n", s.rx_errors,
		s.rx_nombuf);
	printf("  TX-packets: %-14" PRIu64 " TX-errors: %-14" PRIu64 " TX-bytes: %" PRIu64 "\n",
		s.tx_packets, s.tx_errors, s.tx_bytes);
	return 0;
}

static void
print_xstat(const char *name, uint64_t value)
{
	printf("%s: %" PRIu64 "\n", name, value);
}

static int
show_xstats(struct pw_port *p)
{
	printf("###### NIC extended statistics for port %u\n", p->id);
	return p->ops->visit_xstats(p, print_xstat);
}

static int
clear_stats(struct pw_port *p)
{
	return p->ops->clear_stats(p);
}

static void
run_info(void *args, struct cmdline *cl, void *data)
{
	(void)cl;
	for_ports(data, args, show_info);
}

static void
run_stats(void *args, struct cmdline *cl, void *data)
{
	(void)cl;
	for_ports(data, args, show_stats);
}

static void
run_xstats(void *args, struct cmdline *cl, void *data)
{
	(void)cl;
	for_ports(data, args, show_xstats);
}

static void
run_clear(void *args, struct cmdline *cl, void *data)
{
	(void)cl;
	for_ports(data, args, clear_stats);
}

static cmdline_parse_inst_t cmd_info = {
	.f = run_info,
	.help_str = "show port info PORT|all:name, address, link, queues",
	.tokens = {(void *)&show, (void *)&port, (void *)&info, (void *)&id, NULL},
};

static cmdline_parse_inst_t cmd_stats = {
	.f = run_stats,
	.help_str =
		"show port stats PORT|all:packets and bytes (without CRC) since they were cleared",
	.tokens = {(void *)&show, (void *)&port, (void *)&stats, (void *)&id, NULL},
};

static cmdline_parse_inst_t cmd_xstats = {
	.f = run_xstats,
	.help_str = "show port xstats PORT|all:the port's own counters",
	.tokens = {(void *)&show, (void *)&port, (void *)&xstats, (void *)&id, NULL},
};

static cmdline_parse_inst_t cmd_clear = {
	.f = run_clear,
	.help_str = "clear port stats PORT|all:set the port's counters to zero",
	.tokens = {(void *)&clear, (void *)&port, (void *)&stats, (void *)&id, NULL},
};

static cmdline_parse_ctx_t commands[] = {&cmd_info, &cmd_stats, &cmd_xstats, &cmd_clear, NULL};

PW_CLI_REGISTER(ports, commands)
