/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* A wire on the command line: what is read, and what is refused with a list of what there is. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "wire_spec.h"

static void
a_kind_alone_has_its_defaults(void **state)
{
	struct wire_spec spec;

	(void)state;
	assert_int_equal(wire_spec_parse(&spec, "loop"), 0);
	assert_ptr_equal(spec.kind, &wire_loop);
	assert_null(spec.arg);
	assert_int_equal(spec.seed, 1);
	for (unsigned way = 0; way < LINE_WAYS; way++)
		assert_memory_equal(
			&spec.line[way], &line_config_default, sizeof(line_config_default));
	wire_spec_free(&spec);
	assert_int_equal(wire_spec_parse(&spec, "pcap=a=b"), 0);
	assert_string_equal(spec.arg, "a=b");
	assert_memory_equal(spec.config, wire_pcap.defaults, wire_pcap.config_bytes);
	wire_spec_free(&spec);
}

static void
keys_are_of_the_kind_or_of_the_line(void **state)
{
	struct wire_spec spec;

	(void)state;
	assert_int_equal(wire_spec_parse(&spec,
				 "pcap=x,loop=0,seed=7,delay=20us,rx-loss=5,"
				 "tx-rate=1G,tx-delay=1ms,gap=9"),
		0);
	assert_memory_not_equal(spec.config, wire_pcap.defaults, wire_pcap.config_bytes);
	assert_int_equal(spec.seed, 7);
	assert_int_equal(spec.line[LINE_RX].delay_ns, 20000);
	assert_int_equal(spec.line[LINE_TX].delay_ns, 1000000);
	assert_true(spec.line[LINE_RX].loss > 0.0499 && spec.line[LINE_RX].loss < 0.0501);
	assert_true(spec.line[LINE_TX].loss == 0);
	assert_int_equal(spec.line[LINE_RX].rate_bps, 10000000000);
	assert_int_equal(spec.line[LINE_TX].rate_bps, 1000000000);
	assert_int_equal(spec.line[LINE_RX].reorder_gap, 9);
	assert_int_equal(spec.line[LINE_TX].reorder_gap, 9);
	wire_spec_free(&spec);
}

static void
check_rate(const char *value, uint64_t bps, uint64_t fps)
{
	struct line_config config[LINE_WAYS] = {{.rate_bps = 1, .rate_fps = 2}, {0}};
	char text[64];

	snprintf(text, sizeof(text), "rx-rate=%s", value);
	assert_int_equal(wire_spec_set_line(config, text, "test"), 0);
	assert_int_equal(config[LINE_RX].rate_bps, bps);
	assert_int_equal(config[LINE_RX].rate_fps, fps);
	assert_int_equal(config[LINE_TX].rate_bps, 0);
}

static void
rates_are_of_bits_or_frames(void **state)
{
	(void)state;
	check_rate("10G", 10000000000, 2);
	check_rate("2.5G", 2500000000, 2);
	check_rate("100M", 100000000, 2);
	check_rate("64K", 64000, 2);
	check_rate("1000", 1000, 2);
	check_rate("14.88Mpps", 1, 14880000);
	check_rate("1000pps", 1, 1000);
	check_rate("max", 0, 0);
}

static void
a_line_can_be_changed_later(void **state)
{
	static const char *const wrong[] = {"", "loss", "=5", "rx-", "rx-=1", "seed=3", "rx-loss",
		"rx-loss=", "rx-loss=101", "xx-loss=5", "tx-rx-loss=1", "loop=1", "gap=0",
		"gap=1000", "delay=11s", "rate=", "rate=0", "rate=999", "rate=0.5pps", "rate=1e9",
		"rate=-1G", "rate=10g", "rate=10Gx", "rate=2000G", "rate=pps", "rate=1 G",
		"rate=0x10G", "rate=1.5.2G", "rate=nan", "rate=Mpps"};
	struct line_config config[LINE_WAYS] = {{0}}, before[LINE_WAYS] = {{0}};

	(void)state;
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (wire_spec_set_line(config, wrong[i], "test") == 0)
			fail_msg("%s was taken", wrong[i]);
	assert_memory_equal(config, before, sizeof(config));
	assert_int_equal(wire_spec_set_line(config, "rx-loss=50", "test"), 0);
	assert_true(config[LINE_RX].loss == 0.5 && config[LINE_TX].loss == 0);
	assert_int_equal(wire_spec_set_line(config, "loss=25", "test"), 0);
	assert_true(config[LINE_RX].loss == 0.25 && config[LINE_TX].loss == 0.25);
}

/* What a run of wire_spec_parse() says on stderr. */
static const char *
complaint(const char *text)
{
	static char said[2048];
	struct wire_spec spec;
	FILE *file = tmpfile();
	int before = dup(STDERR_FILENO), rc;
	size_t n;

	assert_non_null(file);
	dup2(fileno(file), STDERR_FILENO);
	rc = wire_spec_parse(&spec, text);
	dup2(before, STDERR_FILENO);
	close(before);
	if (rc == 0)
		fail_msg("%s was taken", text);
	rewind(file);
	n = fread(said, 1, sizeof(said) - 1, file);
	said[n] = '\0';
	fclose(file);
	return said;
}

static void
what_is_wrong_is_told_with_what_is_right(void **state)
{
	/* What was asked, and words that the answer must have. */
	static const char *const wrong[][3] = {
		{"", "no such kind", "pcap"},
		{"lop", "lop", "loop"},
		{"=1", "no such kind", "tap"},
		{"loop=", "[PORT]", "loop"},
		{"loop,", "key=value", "--wire=loop"},
		{"loop,,loss=1", "key=value", "--wire=loop"},
		{"loop,loss", "key=value", "loss"},
		{"loop,=1", "key=value", "=1"},
		{"loop,mtu=1", "mtu", "seed"},
		{"pcap=x,timings=1", "timing", "reorder"},
		{"pcap=x,rx-loop=1", "rx-loop", "timing"},
		{"pcap=x,rx-seed=1", "rx-seed", "seed"},
		{"pcap=x,timing=slow", "timing=slow", "line file"},
		{"pcap=x,out=", "out", "FILE"},
		{"tap=x,mtu=67", "68", "15850"},
		{"tap=x,mtu=15851", "68", "15850"},
		{"loop,seed=-1", "seed", "number"},
		{"loop,rx-loss=x", "loss=x", "percent"},
		{"loop,rate=fast", "rate=fast", "Mpps"},
		{"loop,dup=5,dup=500", "dup=500", "100"},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		for (unsigned j = 1; j < 3; j++)
			if (strstr(complaint(wrong[i][0]), wrong[i][j]) == NULL)
				fail_msg("%s: no \"%s\" in: %s", wrong[i][0], wrong[i][j],
					complaint(wrong[i][0]));
}

static void
long_words_are_no_danger(void **state)
{
	char text[10000];

	(void)state;
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	complaint(text);
	memcpy(text, "loop,", 5);
	complaint(text);
	text[5000] = '=';
	complaint(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kind_alone_has_its_defaults),
		cmocka_unit_test(keys_are_of_the_kind_or_of_the_line),
		cmocka_unit_test(rates_are_of_bits_or_frames),
		cmocka_unit_test(a_line_can_be_changed_later),
		cmocka_unit_test(what_is_wrong_is_told_with_what_is_right),
		cmocka_unit_test(long_words_are_no_danger),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
