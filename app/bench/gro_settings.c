/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "gro_settings.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_common.h>
#include <rte_string_fns.h>

const char *const pw_gro_bench_order_words[] = {"robin", "random1", "random4", NULL};
const char *const pw_gro_bench_headers_words[] = {"hot", "cold", NULL};
const char *const pw_gro_bench_cksum_words[] = {"vouched", "software", NULL};
const char *const pw_gro_bench_hash_words[] = {"good", "same", NULL};

static int
find_word(const char *const *words, const char *word)
{
	for (int i = 0; words[i] != NULL; i++)
		if (strcmp(words[i], word) == 0)
			return i;
	return -ENOENT;
}

static int
refuse_word(const struct pw_bench_option *option, const char *word, const char *const *words)
{
	char expected[128];
	size_t used = snprintf(expected, sizeof(expected), "one or more, parted by commas, of:");

	for (; *words != NULL && used < sizeof(expected); words++)
		used += snprintf(expected + used, sizeof(expected) - used, " %s", *words);
	return pw_bench_wrong_value(option, word, expected);
}

/* Words become their indexes. */
static int
parse_words(
	void *values, const struct pw_bench_option *option, char *value, const char *const *words)
{
	const struct pw_bench_option list_option = {.name = option->name};
	struct pw_bench_numbers *chosen = (void *)((char *)values + option->offset);
	struct pw_bench_list list = {0};

	if (pw_bench_parse_list(&list, &list_option, value) < 0)
		return -EINVAL;
	for (unsigned i = 0; i < list.n; i++) {
		int found = find_word(words, list.items[i]);

		if (found < 0)
			return refuse_word(option, list.items[i], words);
		chosen->items[i] = found;
	}
	chosen->n = list.n;
	return 0;
}

static int
parse_order(void *values, const struct pw_bench_option *option, char *value)
{
	return parse_words(values, option, value, pw_gro_bench_order_words);
}

static int
parse_headers(void *values, const struct pw_bench_option *option, char *value)
{
	return parse_words(values, option, value, pw_gro_bench_headers_words);
}

static int
parse_cksum(void *values, const struct pw_bench_option *option, char *value)
{
	return parse_words(values, option, value, pw_gro_bench_cksum_words);
}

static int
parse_hash(void *values, const struct pw_bench_option *option, char *value)
{
	return parse_words(values, option, value, pw_gro_bench_hash_words);
}

/* What is measured unless the user chooses; with --quick, and with --all where that is other. */
#define FLOWS "1,4,8,32,256,4096,65536"
#define FLOWS_QUICK "1,32,4096"
#define ORDER "robin,random1,random4"
#define ORDER_QUICK "robin"
#define PAYLOAD "1448"
#define PAYLOAD_ALL "64,1448"
#define REORDER "0"
#define REORDER_ALL "0,1"
#define HEADERS "hot,cold"
#define FLUSH "1,4"
#define CKSUM "vouched,software"
#define CKSUM_QUICK "vouched"
#define HASH "good"
#define HASH_ALL "good,same"

#define WITH_QUICK(usual, quick) usual ", with --quick " quick
#define WITH_ALL(usual, all) usual ", with --all " all

#define FIELD(name) offsetof(struct pw_gro_bench_options, name)

const struct pw_bench_option pw_gro_bench_option_table[] = {
	{"flows", "LIST", "flows that send", WITH_QUICK(FLOWS, FLOWS_QUICK), pw_bench_parse_numbers,
		FIELD(flows), 1, PW_GRO_BENCH_FLOWS_MAX},
	{"order", "LIST",
		"whose packet is next: the next flow's, a flow's at random, four of a flow at random",
		WITH_QUICK(ORDER, ORDER_QUICK), parse_order, FIELD(order), 0, 0},
	{"payload", "LIST", "bytes of payload", WITH_ALL(PAYLOAD, PAYLOAD_ALL),
		pw_bench_parse_numbers, FIELD(payload), 1, PW_GRO_BENCH_PAYLOAD_MAX},
	{"reorder", "LIST", "percent of packets that change places with the next of their flow",
		WITH_ALL(REORDER, REORDER_ALL), pw_bench_parse_numbers, FIELD(reorder), 0, 100},
	{"headers", "LIST", "where headers are: in L1, or where a NIC puts them, out of L1 and L2",
		HEADERS, parse_headers, FIELD(headers), 0, 0},
	{"flush", "LIST", "bursts of 32 packets from flush to flush", FLUSH, pw_bench_parse_numbers,
		FIELD(flush), 1, PW_GRO_BENCH_FLUSH_MAX},
	{"cksum", "LIST", "who verifies checksums: the NIC, or software",
		WITH_QUICK(CKSUM, CKSUM_QUICK), parse_cksum, FIELD(cksum), 0, 0},
	{"hash", "LIST", "the NIC's RSS hash: of each flow, or the same for all",
		WITH_ALL(HASH, HASH_ALL), parse_hash, FIELD(hash), 0, 0},
	{"all", NULL, "all values of the lists not chosen: 192 groups, give it --max-seconds=900",
		NULL, pw_bench_parse_flag, FIELD(all), 0, 0},
	{0},
};

/* As if the user had chosen it; an option beyond these is a flag. */
static const struct {
	const char *usual, *quick, *all;
} presets[] = {
	{FLOWS, FLOWS_QUICK, FLOWS},
	{ORDER, ORDER_QUICK, ORDER},
	{PAYLOAD, PAYLOAD, PAYLOAD_ALL},
	{REORDER, REORDER, REORDER_ALL},
	{HEADERS, HEADERS, HEADERS},
	{FLUSH, FLUSH, FLUSH},
	{CKSUM, CKSUM_QUICK, CKSUM},
	{HASH, HASH, HASH_ALL},
};

void
pw_gro_bench_set_defaults(struct pw_gro_bench_options *options, bool quick)
{
	for (unsigned i = 0; i < RTE_DIM(presets); i++) {
		const struct pw_bench_option *option = &pw_gro_bench_option_table[i];
		const struct pw_bench_numbers *chosen = (void *)((char *)options + option->offset);
		const char *preset = presets[i].usual;
		char value[64];

		if (chosen->n > 0)
			continue;
		if (options->all)
			preset = presets[i].all;
		else if (quick)
			preset = presets[i].quick;
		rte_strscpy(value, preset, sizeof(value));
		option->parse(options, option, value);
	}
}

unsigned
pw_gro_bench_count_settings(const struct pw_gro_bench_options *options)
{
	return options->order.n * options->payload.n * options->reorder.n * options->headers.n *
		options->flush.n * options->cksum.n * options->hash.n;
}

/* The last digit of a number whose base is the list's length; the others are left. */
static uint32_t
pick(const struct pw_bench_numbers *list, unsigned *number)
{
	unsigned digit = *number % list->n;

	*number /= list->n;
	return list->items[digit];
}

struct pw_gro_bench_settings
pw_gro_bench_settings_of(const struct pw_gro_bench_options *options, unsigned i)
{
	struct pw_gro_bench_settings settings;

	settings.flush_bursts = pick(&options->flush, &i);
	settings.order = pick(&options->order, &i);
	settings.headers = pick(&options->headers, &i);
	settings.payload_bytes = pick(&options->payload, &i);
	settings.cksum = pick(&options->cksum, &i);
	settings.reorder_percent = pick(&options->reorder, &i);
	settings.hash = pick(&options->hash, &i);
	return settings;
}

void
pw_gro_bench_settings_print(const struct pw_gro_bench_settings *settings, char *text, size_t size)
{
	snprintf(text, size,
		"order %s, flush %u, headers %s, payload %u, cksum %s, reorder %u, hash %s",
		pw_gro_bench_order_words[settings->order], settings->flush_bursts,
		pw_gro_bench_headers_words[settings->headers], settings->payload_bytes,
		pw_gro_bench_cksum_words[settings->cksum], settings->reorder_percent,
		pw_gro_bench_hash_words[settings->hash]);
}
