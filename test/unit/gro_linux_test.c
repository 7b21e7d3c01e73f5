/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/*
 * Linux's own cases (tools/testing/selftests, gro) by their names there, with the payload sizes
 * that have to come out; all of them with each kind of VLAN tags too.
 */

#include "pw_gro_case.h"

static const struct pw_gro_case cases[] = {
	{"data_same", CASE_BOTH, "100 100", "200"},
	{"data_lrg_sml", CASE_BOTH, "100 50", "150"},
	{"data_sml_lrg", CASE_BOTH, "50 100", "50 100"},
	{"ack", CASE_BOTH, "0 0 0:ack=1", "0 0 0"},
	{"flags_psh", CASE_BOTH, "100 100 100:P 100 100", "300 200"},
	{"flags_syn", CASE_BOTH, "100 100 0:S 100 100", "200 0 200"},
	{"flags_rst", CASE_BOTH, "100 100 0:R 100 100", "200 0 200"},
	{"flags_urg", CASE_BOTH, "100 100 0:U 100 100", "200 0 200"},
	{"flags_cwr", CASE_BOTH, "100 100:C 100:C 100 100", "100 200 200"},
	{"tcp_csum", CASE_BOTH, "100 100:csum", "100 100"},
	{"tcp_seq", CASE_BOTH, "100 100:gap", "100 100"},
	{"tcp_ts", CASE_BOTH, "100:ts=0 100:ts=0 100:ts=100 100:tsnop=100 100:tsend=100",
		"200 100 100 100"},
	{"tcp_opt", CASE_BOTH, "100:ts=0 100:ts=0 100:ws", "200 100"},
	{"ip_ecn", CASE_BOTH, "100 100:tos=2", "100 100"},
	{"ip_tos", CASE_BOTH, "100 100:tos=1", "100 100"},
	{"ip_tos class", CASE_BOTH, "100 100:tos=0xf0", "100 100"},
	{"ip_ttl", CASE_BOTH, "100 100:ttl=7", "100 100"},
	{"ip_opt", CASE_IPV4, "100 100:ipopt 100", "100 100 100"},
	{"ip_frag4", CASE_IPV4, "100 100:mf", "100 100"},
	{"ip_id_df1_inc", CASE_IPV4, "100:id=7 100:id=8", "200"},
	{"ip_id_df1_fixed", CASE_IPV4, "100:id=7 100:id=7", "200"},
	{"ip_id_df0_inc", CASE_IPV4, "100:df0,id=7 100:df0,id=8", "200"},
	{"ip_id_df0_fixed", CASE_IPV4, "100:df0,id=7 100:df0,id=7", "100 100"},
	{"ip_id_df1_inc_fixed", CASE_IPV4, "100:id=7 100:id=8 100:id=8", "200 100"},
	{"ip_id_df1_fixed_inc", CASE_IPV4, "100:id=7 100:id=7 100:id=8", "200 100"},
	{"ip_frag6", CASE_IPV6, "100 100 100:mf", "200 100"},
	{"ip_v6ext_same", CASE_IPV6, "100:hbh=1 100:hbh=1", "200"},
	{"ip_v6ext_diff", CASE_IPV6, "100:hbh=1 100:hbh=2", "100 100"},
	/* 65535 bytes of IP: tags are no part of them. */
	{"large_max", CASE_IPV4, "4036x16 919 919", "65495 919"},
	{"large_max", CASE_IPV6, "4036x16 899 899", "65475 899"},
	{"large_rem", CASE_IPV4, "4036x16 920 920:gap", "64576 920 920"},
	{"large_rem", CASE_IPV6, "4036x16 900 900:gap", "64576 900 900"},
};

static void
linux_cases(void **state)
{
	pw_gro_case_run(*state, cases, RTE_DIM(cases), false);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {RIG_TEST(linux_cases)};

	return cmocka_run_group_tests_name("gro_linux", tests, pw_test_eal, NULL);
}
