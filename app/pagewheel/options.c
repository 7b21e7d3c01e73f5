/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "app.h"
#include "engine.h"
#include "gro_stage.h"
#include "options_net.h"
#include "tcp_app.h"
#include "tcp_rr.h"
#include "udp_client.h"
#include "udp_sender.h"

struct option_row;

/* Reads the value; on error says what would be right. */
typedef int (*parse_t)(struct pw_options *options, const struct option_row *row, const char *value);

struct option_row {
	const char *name;
	char letter;	 /* short form, or 0 */
	const char *arg; /* name of the value in the help; NULL: a flag */
	const char *help;
	parse_t parse;
	pw_option_reader_t read; /* for parse_by_reader() */
	size_t offset;		 /* of the field, for numbers, flags and strings */
	uint32_t min, max;
};

static int
wrong_value(const struct option_row *row, const char *value, const char *expected)
{
	pw_error("--%s=%s: expected %s", row->name, value, expected);
	return -EINVAL;
}

static int
parse_flag(struct pw_options *options, const struct option_row *row, const char *value)
{
	(void)value;
	*(bool *)((char *)options + row->offset) = true;
	return 0;
}

static int
parse_string(struct pw_options *options, const struct option_row *row, const char *value)
{
	if (value[0] == '\0')
		return wrong_value(row, value, "a name");
	memcpy((char *)options + row->offset, &value, sizeof(value));
	return 0;
}

static int
parse_number(struct pw_options *options, const struct option_row *row, const char *value)
{
	unsigned long number;
	char expected[64];

	if (pw_option_read_number(value, row->min, row->max, &number) < 0) {
		snprintf(expected, sizeof(expected), "a number from %u to %u", row->min, row->max);
		return wrong_value(row, value, expected);
	}
	*(uint32_t *)(void *)((char *)options + row->offset) = number;
	return 0;
}

static int
parse_forward_mode(struct pw_options *options, const struct option_row *row, const char *value)
{
	char names[256], expected[300];

	if (pw_engine_find(value) == NULL) {
		snprintf(expected, sizeof(expected), "one of: %s",
			pw_engine_names(names, sizeof(names)));
		return wrong_value(row, value, expected);
	}
	options->forward_mode = value;
	return 0;
}

static int
parse_strategy(struct pw_options *options, const struct option_row *row, const char *value)
{
	char list[256];

	if (value[0] == '\0' || pw_strategy_parse(value, &options->strategy) < 0)
		return wrong_value(row, value, pw_strategy_list(list, sizeof(list)));
	return 0;
}

static int
parse_gro_types(struct pw_options *options, const struct option_row *row, const char *value)
{
	char all[64], expected[96];

	if (pw_gro_types_parse(value, &options->gro_types) == 0)
		return 0;
	snprintf(expected, sizeof(expected), "some of %s",
		pw_gro_types_names(UINT32_MAX, all, sizeof(all)));
	return wrong_value(row, value, expected);
}

/* A value of several parts: the row's reader says what is wrong with it. */
static int
parse_by_reader(struct pw_options *options, const struct option_row *row, const char *value)
{
	char expected[256];

	if (row->read(options, value, expected, sizeof(expected)) == 0)
		return 0;
	return wrong_value(row, value, expected);
}

#define FIELD(name) parse_number, NULL, offsetof(struct pw_options, name)
#define FLAG(name) parse_flag, NULL, offsetof(struct pw_options, name), 0, 0
#define STRING(name) parse_string, NULL, offsetof(struct pw_options, name), 0, 0
#define READER(fn) parse_by_reader, fn, 0, 0, 0

static const struct option_row table[] = {
	{"interactive", 'i', NULL, "read commands from a prompt, or from standard input",
		FLAG(interactive)},
	{"auto-start", 'a', NULL, "with -i: start forwarding at once", FLAG(auto_start)},
	{"forward-mode", 0, "MODE", "what is done with packets", parse_forward_mode, NULL, 0, 0, 0},
	{"stats-period", 0, "SECONDS", "print statistics again and again; without -i, until Ctrl-C",
		FIELD(stats_period_s), 1, 86400},
	{"cmdline-file", 0, "FILE", "run the commands in a file first; ends at the first error",
		STRING(cmdline_file)},
	{"rxq", 0, "N", "RX queues a port", FIELD(rxq), 1, 128},
	{"txq", 0, "N", "TX queues a port, at least as many as RX queues", FIELD(txq), 1, 128},
	{"rxd", 0, "N", "descriptors of an RX queue", FIELD(rxd), 32, 32768},
	{"txd", 0, "N", "descriptors of a TX queue", FIELD(txd), 32, 32768},
	{"burst", 0, "N", "packets taken from a queue at a time", FIELD(burst), 1, 512},
	{"max-pkt-len", 0, "BYTES", "largest frame, with its CRC of 4 bytes; sets the MTU",
		FIELD(max_pkt_len), 64, 65535},
	{"no-rx-cksum", 0, NULL, "check received checksums here, not in the port",
		FLAG(no_rx_cksum)},
	{"no-tx-cksum", 0, NULL, "fill in checksums and cut TCP segments here, not in the port",
		FLAG(no_tx_cksum)},
	{"no-tso", 0, NULL, "cut TCP segments here, not in the port", FLAG(no_tso)},
	{"enable-scatter", 0, NULL,
		"let the port put a frame into several buffers, even if all would fit one",
		FLAG(enable_scatter)},
	{"enable-hw-vlan-strip", 0, NULL,
		"let the port take VLAN tags off; only the mode gro puts them back",
		FLAG(hw_vlan_strip)},
	{"split", 0, NULL,
		"receive on lcores of their own, every other one of those that poll, and do the rest on "
		"the others",
		FLAG(split)},
	{"no-lsc-interrupt", 0, NULL, "look for link changes each second, instead of by interrupt",
		FLAG(no_lsc_interrupt)},
	{"mbuf-size", 0, "BYTES", "data room of a buffer, headroom of 128 bytes included",
		FIELD(mbuf_size), 256, 65535},
	{"total-num-mbufs", 0, "N", "buffers in the pool", FIELD(total_num_mbufs), 64, 16777216},
	{"mbcache", 0, "N", "buffers that rte_mempool keeps an lcore, in front of the strategy",
		FIELD(mbcache), 0, RTE_MEMPOOL_CACHE_MAX_SIZE},
	{"frag-memory", 0, "MIB", "memory for fragments: data to send, and copies of small packets",
		FIELD(frag_mib), 2, 65536},
	{"copy-break", 0, "BYTES", "copy received packets up to this size into fragments; 0: none",
		FIELD(copy_break), 0, 2048},
	{"strategy", 0, "NAME[:ORDER]", "how buffers are recycled", parse_strategy, NULL, 0, 0, 0},
	{"gro-types", 0, "TYPES",
		"what is merged, some of tcp4,tcp6,udp4,udp6 (default tcp4,tcp6; in the mode gro: "
		"of these what the port can cut again)",
		parse_gro_types, NULL, 0, 0, 0},
	{"gro-flows", 0, "N", "flows held at once by each queue, a power of two", FIELD(gro_flows),
		1, PW_GRO_FLOWS_MAX},
	{"gro-flush", 0, "BURSTS", "let merged packets go after so many bursts", FIELD(gro_flush),
		1, PW_GRO_FLUSH_MAX},
	{"gro-timeout", 0, "US", "let a packet go that was held so many microseconds",
		FIELD(gro_timeout_us), 0, PW_GRO_TIMEOUT_US_MAX},
	{"eth-peer", 0, "PORT,MAC",
		"whom the mode mac sends to out of a port (default 02:00:00:00:00 and the port's "
		"number)",
		READER(pw_option_read_eth_peer)},
	{"ip", 0, "ADDRESS/LEN",
		"our address, for the mode tcp, as in 198.18.0.2/24 or 2001:db8::2/64; of each family "
		"once for each port",
		READER(pw_option_read_ip)},
	{"gateway", 0, "ADDRESS", "the router to other networks; once for each family",
		READER(pw_option_read_gateway)},
	{"listen", 0, "NAME[:PORT]",
		"a service of the mode tcp, at its usual port or another; again for more; without it, "
		"all",
		READER(pw_option_read_listen)},
	{"max-conns", 0, "N", "TCP connections at once, of all queues", FIELD(max_conns), 1,
		PW_MAX_CONNS_MAX},
	{"congestion", 0, "NAME", "congestion control, cubic or newreno (default cubic)",
		READER(pw_option_read_congestion)},
	{"ecn", 0, NULL, "ask for ECN when connecting; who asks for it is always granted it",
		FLAG(ecn)},
	{"keepalive", 0, "SECONDS", "probe peers that were silent so long; 0: never",
		FIELD(keepalive_s), 0, 86400},
	{"digest", 0, NULL, "the service discard prints the SHA-256 of each stream", FLAG(digest)},
	{"discard-copy", 0, NULL,
		"the service discard copies what it gets into memory of its own, as read() does",
		FLAG(discard_copy)},
	{"http-bytes", 0, "BYTES", "the page of the service http", FIELD(http_bytes), 0, 16777216},
	{"connect", 0, "ADDRESS:PORT",
		"open connections in the mode tcp, as in 198.18.0.1:9 or [2001:db8::1]:9",
		READER(pw_option_read_connect)},
	{"connect-app", 0, "NAME",
		"what they do: stream, to a service like discard or chargen; rr or crr, to the "
		"service rr; over UDP udp_rr, to echo, and udp_stream, to discard (default stream)",
		READER(pw_option_read_connect_app)},
	{"connections", 0, "N", "how many are open at once", FIELD(connections), 1,
		PW_MAX_CONNS_MAX},
	{"duration", 0, "SECONDS", "how long they run; 0: until it is stopped", FIELD(duration_s),
		0, 86400},
	{"message-bytes", 0, "BYTES",
		"what stream writes at once (default: what there is room for), or a datagram of "
		"udp_stream (default 65507)",
		FIELD(message_bytes), 1, 65536},
	{"request-bytes", 0, "BYTES", "a request of rr, crr and udp_rr, whose replies are the same",
		FIELD(request_bytes), 1, PW_RR_BYTES_MAX},
	{"reply-bytes", 0, "BYTES", "a reply of rr and crr", FIELD(reply_bytes), 1,
		PW_RR_BYTES_MAX},
	{"stage-cycles", 0, NULL, "count the cycles of each stage, for show stages",
		FLAG(stage_cycles)},
	{"help", 'h', NULL, "this text", FLAG(help)},
};

static const struct pw_options defaults = {
	.rxq = 1,
	.txq = 1,
	.rxd = 1024,
	.txd = 1024,
	.burst = 32,
	.mbuf_size = 2176,
	.total_num_mbufs = 16384,
	.frag_mib = 32,
	.gro_flows = PW_GRO_FLOWS_DEFAULT,
	.gro_flush = 1,
	.gro_timeout_us = 100,
	.forward_mode = "io",
	.max_conns = 4096,
	.http_bytes = 64,
	.connections = 1,
	.duration_s = 10,
	.request_bytes = 1,
	.reply_bytes = 1,
};

/* What getopt_long() wants, from the table. */
static void
fill_getopt(struct option *longs, char *shorts)
{
	*shorts++ = ':'; /* errors are told apart, and told by us */
	for (unsigned i = 0; i < RTE_DIM(table); i++) {
		longs[i] = (struct option){
			.name = table[i].name,
			.has_arg = table[i].arg == NULL ? no_argument : required_argument,
			.val = 256 + i,
		};
		if (table[i].letter != 0)
			*shorts++ = table[i].letter;
	}
	*shorts = '\0';
}

static const struct option_row *
find_row(int found)
{
	if (found >= 256)
		return &table[found - 256];
	for (unsigned i = 0; i < RTE_DIM(table); i++)
		if (table[i].letter == found)
			return &table[i];
	return NULL;
}

static int
refuse(int found, char **argv)
{
	const char *arg = argv[optind - 1];

	if (found == ':')
		pw_error("option %s needs a value", arg);
	else if (optopt >= 256)
		pw_error("option %s takes no value", arg);
	else if (optopt != 0) /* one of several letters */
		pw_error("unknown option -%c; --help lists them all", optopt);
	else
		pw_error("unknown option %s; --help lists them all", arg);
	return -EINVAL;
}

static int
check(const struct pw_options *options)
{
	if (options->txq < options->rxq) {
		pw_error(
			"--txq=%u: expected at least as many as --rxq=%u, so that no two lcores share one",
			options->txq, options->rxq);
		return -EINVAL;
	}
	if (!rte_is_power_of_2(options->gro_flows)) {
		pw_error("--gro-flows=%u: expected a power of two, such as %u", options->gro_flows,
			rte_align32pow2(options->gro_flows));
		return -EINVAL;
	}
	if (options->mbcache * 3 / 2 > options->total_num_mbufs) {
		pw_error("--mbcache=%u: expected at most two thirds of --total-num-mbufs=%u",
			options->mbcache, options->total_num_mbufs);
		return -EINVAL;
	}
	if (!pw_addr_is_none(&options->connect_addr) && options->rxq > 1) {
		pw_error("--connect with --rxq=%u: expected --rxq=1, the ports of connections are "
			 "not chosen for several queues yet",
			options->rxq);
		return -EINVAL;
	}
	if (!pw_addr_is_none(&options->connect_addr) && options->connections > options->max_conns) {
		pw_error("--connections=%u: expected at most --max-conns=%u", options->connections,
			options->max_conns);
		return -EINVAL;
	}
	if (options->connect_kind == PW_CLIENT_UDP_RR &&
		RTE_MAX(options->connections, options->request_bytes) > PW_UDP_FLOWS_MAX) {
		pw_error("--connect-app=udp_rr: expected at most %u --connections, and as many "
			 "--request-bytes",
			PW_UDP_FLOWS_MAX);
		return -EINVAL;
	}
	if (options->connect_kind == PW_CLIENT_UDP_STREAM &&
		options->message_bytes > PW_UDP_MESSAGE_MAX) {
		pw_error("--message-bytes=%u: expected at most %u with --connect-app=udp_stream",
			options->message_bytes, PW_UDP_MESSAGE_MAX);
		return -EINVAL;
	}
	return 0;
}

int
pw_options_parse(struct pw_options *options, int argc, char **argv)
{
	struct option longs[RTE_DIM(table) + 1] = {0};
	char shorts[RTE_DIM(table) + 2];
	int found;

	*options = defaults;
	pw_strategy_parse(NULL, &options->strategy);
	fill_getopt(longs, shorts);

	optind = 0; /* EAL has used getopt too */
	while ((found = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		const struct option_row *row = find_row(found);

		if (row == NULL)
			return refuse(found, argv);
		if (row->parse(options, row, optarg) < 0)
			return -EINVAL;
	}
	if (optind < argc) {
		pw_error("unknown argument %s; --help lists the options", argv[optind]);
		return -EINVAL;
	}
	pw_options_net_defaults(options);
	return check(options);
}

static void
print_row(const struct option_row *row)
{
	char left[48];

	snprintf(left, sizeof(left), "%c%c%s --%s%s%s", row->letter ? '-' : ' ',
		row->letter ? row->letter : ' ', row->letter ? "," : " ", row->name,
		row->arg ? "=" : "", row->arg ? row->arg : "");
	printf("  %-32s %s", left, row->help);
	if (row->parse == parse_number) {
		uint32_t value = *(
			const uint32_t *)(const void *)((const char *)&defaults + row->offset);

		printf(" (%u to %u", row->min, row->max);
		if (value > 0 || row->min == 0)
			printf("; default %u", value);
		printf(")");
	}
	printf("\n");
}

void
pw_options_usage(const char *program)
{
	const char *help, *name;
	char left[48];

	printf("Usage: %s [EAL options] -- [options]\n\nOptions:\n", program);
	for (unsigned i = 0; i < RTE_DIM(table); i++)
		print_row(&table[i]);

	printf("\nModes (default %s):\n", defaults.forward_mode);
	for (const struct pw_engine *e = pw_engine_next(NULL); e != NULL; e = pw_engine_next(e))
		printf("  %-32s %s\n", e->name, e->help);

	printf("\nServices of the mode tcp, with their usual ports:\n");
	for (const struct pw_tcp_service *s = pw_tcp_service_next(NULL); s != NULL;
		s = pw_tcp_service_next(s)) {
		snprintf(left, sizeof(left), "%s:%u", s->app.name, s->port);
		printf("  %-32s %s\n", left, s->help);
	}

	printf("\nStrategies (default " PW_STRATEGY_DEFAULT
	       "), each with an optional page order, as in reuse:0:\n");
	for (unsigned i = 0; (help = pw_strategy_help(i, &name)) != NULL; i++)
		printf("  %-32s %s\n", name, help);
	printf("\nThe address is 198.18.0.2/24 unless --ip says otherwise.\n");
}
