/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/*
 * Cases of our own, beside Linux's (gro_linux_test.c): TCP and UDP, packets sent and what comes out
 * of them.
 */

#include "pw_gro_case.h"

static const struct pw_gro_case tcp_cases[] = {
	{"IDs wrap", CASE_IPV4, "100:id=65534 100:id=65535 100:id=0 100:id=1", "400"},
	{"IDs wrap, DF 0", CASE_IPV4, "100:df0,id=65535 100:df0,id=0", "200"},
	{"IDs wrap, staying", CASE_IPV4, "100:id=65535 100:id=65535 100:id=0", "200 100"},
	{"ID jumps", CASE_IPV4, "100:id=7 100:id=9 100:id=8", "100 100 100"},
	{"ID goes back", CASE_IPV4, "100:id=7 100:id=8 100:id=7", "200 100"},
	{"ID jumps by 256", CASE_IPV4, "100:id=7 100:id=263", "100 100"},
	{"DF differs", CASE_IPV4, "100 100:df0", "100 100"},
	{"DF differs the other way", CASE_IPV4, "100:df0 100", "100 100"},
	{"no IDs in IPv6", CASE_IPV6, "100:id=7 100:id=9 100:id=9 100:id=1", "400"},

	{"65536 bytes", CASE_IPV4, "2729x24", "62767 2729"},
	{"65536 bytes", CASE_IPV6, "1169x56:ts=1", "64295 1169"},
	{"shorter completes", CASE_BOTH, "100 50 50 50", "150 100"},
	{"a longer one begins anew", CASE_BOTH, "100 101 101", "100 202"},
	{"FIN merges and completes", CASE_BOTH, "100 100:F", "200"},
	{"FIN and PSH", CASE_BOTH, "100 100:F,P", "200"},
	{"FIN alone", CASE_BOTH, "100 100 0:F", "200 0"},
	{"FIN on the first", CASE_BOTH, "100:F 100 100", "100 200"},
	{"PSH on the first", CASE_BOTH, "100:P 100 100", "100 200"},
	{"PSH on the second", CASE_BOTH, "100 100:P", "200"},
	{"PSH on all", CASE_BOTH, "100:P 100:P 100:P", "100 100 100"},
	{"PSH on a longer one", CASE_BOTH, "100 101:P 101", "100 101 101"},
	{"ack moves", CASE_BOTH, "100 100 100:ack=1 100:ack=1", "200 200"},
	{"ack moves far", CASE_BOTH, "100 100:ack=0x1000000", "100 100"},
	{"window differs", CASE_BOTH, "100 100:win=9", "100 100"},
	{"ECE differs", CASE_BOTH, "100:E 100:E 100", "200 100"},
	{"CWR on the second", CASE_BOTH, "100 100:C", "100 100"},
	{"reserved bits differ", CASE_BOTH, "100 100:ae", "100 100"},
	{"no ACK flag", CASE_BOTH, "100 100:noack 100", "100 100 100"},
	{"pure ACK in the middle", CASE_BOTH, "100 100 0 100 100", "200 0 200"},
	{"pure ACK, window opens", CASE_BOTH, "100 0:win=9 100", "100 0 100"},
	{"SYN with data", CASE_BOTH, "100 100:S 100", "100 100 100"},
	{"RST with data", CASE_BOTH, "100 100:R 100", "100 100 100"},
	{"urgent data", CASE_BOTH, "100 100:U 100", "100 100 100"},
	{"ip_ecn ce", CASE_BOTH, "100:tos=2 100:tos=3", "100 100"},
	{"ip_ecn ce on all", CASE_BOTH, "100:tos=3 100:tos=3", "200"},
	{"hop limits 64 and 63", CASE_BOTH, "100:ttl=64 100:ttl=63", "100 100"},
	{"MF and hop limits 64, 63", CASE_BOTH, "100:mf,ttl=64 100:ttl=63", "100 100"},
	{"options of all lengths", CASE_BOTH, "100:ts=1 100 100:ws 100:ts=1", "100 100 100 100"},

	{"as many options as fit", CASE_BOTH, "100:nops=40 100:nops=40", "200"},
	{"the longest headers", CASE_IPV6,
		"100:hbh=1,dst=1,rt=1,dst=1,nops=40 100:hbh=1,dst=1,rt=1,dst=1,nops=40", "200"},
	{"the longest headers, the last byte differs", CASE_IPV6,
		"100:hbh=1,dst=1,rt=1,dst=1,nops=40 100:hbh=1,dst=1,rt=1,dst=2,nops=40", "100 100"},

	{"seen again", CASE_BOTH, "100 100 100:back=200 100:back=100", "200 100 100"},
	{"overlap", CASE_BOTH, "100 100:back=1", "100 100"},
	{"before the held one", CASE_BOTH, "100 100:back=200", "100 100"},
	{"sequence numbers wrap", CASE_BOTH, "100:seq=4294967196 100 100", "300"},
	{"sequence numbers wrap inside", CASE_BOTH, "100:seq=4294967246 100 100", "300"},
	{"sequence numbers 64 K away", CASE_BOTH, "100:seq=0 100:seq=65636", "100 100"},

	{"bad checksum between", CASE_BOTH, "100 100 100:csum 100 100", "200 100 200"},
	{"bad checksum first", CASE_BOTH, "100:csum 100 100", "100 200"},
	{"bad IP checksum", CASE_IPV4, "100 100:ipcsum", "100 100"},
	{"bad IP checksum between", CASE_IPV4, "100 100:ipcsum 100", "100 100 100"},
	{"NIC says bad", CASE_BOTH, "100 100:nicbad 100", "100 100 100"},
	{"NIC says bad IP", CASE_IPV4, "100 100:nicipbad 100", "100 100 100"},
	{"NIC says good", CASE_BOTH, "100:nicgood 100:nicgood", "200"},
	{"NIC says good of one", CASE_BOTH, "100:nicgood 100 101 101:nicgood", "200 202"},
	{"NIC vouches, not filled in", CASE_BOTH, "100:nicnone 100:nicnone", "200"},
	{"NIC vouches for the second", CASE_BOTH, "100 100:nicnone", "200"},
	{"NIC vouches for the first", CASE_BOTH, "101:nicnone 101 101", "303"},

	{"NIC vouches for one alone", CASE_BOTH, "100:nicnone 100:nicnone,gap", "100 100"},
	{"NIC vouches, a flag", CASE_BOTH, "100:nicnone,S 100:nicnone,P", "100 100"},
	{"odd sizes", CASE_BOTH, "3 3 3 3 1", "13"},
	{"odd sizes, options", CASE_BOTH, "3:ts=5 3:ts=5 3:ts=5", "9"},
	{"one byte padded, then more", CASE_BOTH, "1:pad=5 100", "1 100"}, /* as data_sml_lrg */
	{"one byte each, padded", CASE_BOTH, "1:pad=5 1:pad=5", "2"},
	{"padded short one last", CASE_BOTH, "100 1:pad=5", "101"},
	{"padded ACK", CASE_BOTH, "100 0:pad=6 100", "100 0 100"},
	{"padded first", CASE_BOTH, "100:pad=9 100:pad=7 50:pad=1", "250"},
	{"padding that looks like payload", CASE_BOTH, "50:pad=50 50", "100"},
	{"many small ones", CASE_BOTH, "1x300", "300"},

	{"offset fragment", CASE_BOTH, "100 100:off 100", "100 100 100"},
	{"first fragment of the next", CASE_BOTH, "100 100 100:mf", "200 100"},
	{"reserved flag", CASE_IPV4, "100 100:rf 100:rf", "100 100 100"},
	{"two first fragments", CASE_BOTH, "100:mf 100:mf", "100 100"},
	{"two last fragments", CASE_BOTH, "100:off 100:off", "100 100"},
	{"fragments that the NIC calls good", CASE_BOTH, "100:nicgood,mf 100:nicgood,off",
		"100 100"},
	{"an atomic fragment", CASE_IPV6, "100 100:atomic 100", "100 100 100"},
	{"a fragment behind options", CASE_IPV6, "100:hbh=1 100:hbh=1,mf 100:hbh=1", "100 100 100"},
	{"IP options on all", CASE_IPV4, "100:ipopt 100:ipopt", "100 100"},

	{"flow label differs", CASE_IPV6, "100 100:label=1", "100 100"},
	{"flow label differs, high bits", CASE_IPV6, "100 100:label=0xf0000", "100 100"},
	{"flow label", CASE_IPV6, "100:label=0xabcde 100:label=0xabcde", "200"},
	{"traffic class", CASE_IPV6, "100:tos=0xff 100:tos=0xff", "200"},
	{"options of all kinds", CASE_IPV6,
		"100:hbh=1,rt=0,dst=1 100:hbh=1,rt=0,dst=1 100:hbh=1,rt=0,dst=2", "200 100"},
	{"routing differs", CASE_IPV6, "100:rt=0 100:rt=1", "100 100"},
	{"options and none", CASE_IPV6, "100 100:dst=1 100 100", "100 100 200"},
	{"other options of that size", CASE_IPV6, "100:dst=1 100:rt=1", "100 100"},
	{"options, odd sizes", CASE_IPV6, "7:dst=1 7:dst=1 7:dst=1", "21"},

	{"other MAC address", CASE_BOTH, "100 100:mac=5", "100 100"},
	{"other source MAC address", CASE_BOTH, "100 100:mac=6", "100 100"},
	{"header and payload apart", CASE_BOTH, "100 100:cut4=20 100:cut4=20", "300"},
	{"chained mbuf", CASE_BOTH, "100 100:cut4=60 100", "300"},
	{"chained first", CASE_BOTH, "100:cut4=61 100 100", "300"},
	{"chain of four", CASE_BOTH, "100:cut4=90,cut4=50,cut4=31 100:cut4=110,cut4=40,cut4=21 50",
		"250"},
	{"chain with padding", CASE_BOTH, "100:pad=9,cut4=60 100:pad=9,cut4=60", "200"},
	{"padding alone in a mbuf", CASE_BOTH, "100:pad=9,cut4=120 100:pad=9,cut4=120 50", "250"},
	{"padding in three mbufs", CASE_BOTH, "10:pad=9,cut4=36,cut4=33,cut4=28 10:pad=9,cut4=37",
		"20"},
	{"an empty mbuf behind", CASE_BOTH, "100:cut4=120 100:cut4=120", "200"},
	{"TCP header split", CASE_BOTH, "100 100:cut4=10 100", "300"},
	{"TCP options split", CASE_BOTH, "100:ts=1 100:ts=1,cut4=24 100:ts=1", "300"},
	{"ports split", CASE_BOTH, "100 100:cut4=2 100", "300"},
	{"IP header split", CASE_BOTH, "100 100:cut3=10 100", "300"},
	{"IP header apart", CASE_BOTH, "100 100:cut4=0 100", "300"},
	{"Ethernet header apart", CASE_BOTH, "100 100:cut3=0 100", "300"},
	{"Ethernet header split", CASE_BOTH, "100 100:cut=5 100", "300"},
	{"an empty mbuf first", CASE_BOTH, "100 100:cut=0 100", "300"},
	{"header in five mbufs", CASE_BOTH, "100 100:cut4=17,cut4=3,cut3=9,cut=7,cut=1 100", "300"},
	/* Its headers will be written to: they have to be in one piece. */
	{"TCP header of the first split", CASE_BOTH, "100:cut4=10 100 100", "100 200"},
	{"TCP options of the first split", CASE_BOTH, "100:ts=1,cut4=24 100:ts=1", "100 100"},
	{"IP header of the first split", CASE_BOTH, "100:cut3=10 100 100", "100 200"},
	{"IP header of the first apart", CASE_BOTH, "100:cut4=0 100 100", "100 200"},
	{"Ethernet header of the first apart", CASE_BOTH, "100:cut3=0 100 100", "100 200"},
	{"an empty mbuf at the first", CASE_BOTH, "100:cut=0 100 100", "100 200"},
	{"split, not contiguous", CASE_BOTH, "100 100:gap,cut4=10 100", "100 100 100"},
	{"split, a flag", CASE_BOTH, "100 100:cut4=10,S 100", "100 100 100"},
	{"split, a fragment", CASE_BOTH, "100 100:mf,cut3=3 100", "100 100 100"},
	{"split, IP options", CASE_IPV4, "100 100:ipopt,cut3=22 100", "100 100 100"},
	{"split, wrong checksum", CASE_BOTH, "100 100:csum,cut4=1 100", "100 100 100"},
	{"split at odd bytes, wrong checksum", CASE_BOTH, "100 100:csum,cut4=71,cut4=33,cut4=9 100",
		"100 100 100"},
	{"shared mbuf", CASE_BOTH, "100 100:shared 100 100", "100 100 200"},
	{"shared first", CASE_BOTH, "100:shared 100 100", "100 200"},
	{"shared mbuf behind", CASE_BOTH, "100 100:cut4=60,shared=1 100", "100 100 100"},
	{"clone", CASE_BOTH, "100 100:clone 100 100", "100 100 200"},
	{"merged by the NIC", CASE_BOTH, "100 100:niclro=50 100", "100 100 100"},
	{"to be cut by the NIC of a guest", CASE_BOTH, "100 100:nictso=50 100", "100 100 100"},
	{"merged by the NIC, first", CASE_BOTH, "100:niclro=50 100 100", "100 200"},
	/* Somebody else would see what is written to its headers. */
	{"external buffer that is shared", CASE_BOTH, "100:lent 100 100", "100 200"},
	{"external buffer that is shared later", CASE_BOTH,
		"100:exact,nicgood 0 100:lent,nicgood 100:nicgood 100:nicgood", "100 0 100 200"},
	{"external buffer", CASE_BOTH, "100:exact 100:exact", "200"},

	{"lengths from elsewhere", CASE_BOTH, "100:lens=1 100:lens=77 50:lens=3", "250"},
	{"packet type from elsewhere", CASE_BOTH, "100:ptype=0x321 100:ptype=0x211", "200"},
	{"fragment that the NIC calls TCP", CASE_BOTH, "100:mf,ptype=0x111 100:mf,ptype=0x111",
		"100 100"},
};

/* What is another flow is merged beside this one. */
static const struct pw_gro_case flow_cases[] = {
	{"other port", CASE_BOTH, "100 100:f=1,port 100 100:f=1,port", "200 200"},
	{"other address", CASE_BOTH, "100 100:f=1,addr 100 100:f=1,addr", "200 200"},
	{"other port of the NIC", CASE_BOTH, "100 100:f=1,nicport=1 100 100:f=1,nicport=1",
		"200 200"},
	{"other IP version", CASE_BOTH, "100 100:f=1,ipv6 100 100:f=1,ipv6", "200 200"},
	{"UDP with the same ports", CASE_BOTH, "100 100:f=1,udp 100 100:f=1,udp", "200 200"},
	{"the same RSS hash", CASE_BOTH,
		"100:rss=7 100:f=1,port,rss=7 100:rss=7 100:f=1,port,rss=7", "200 200"},
	{"three in turn", CASE_BOTH, "9 9:f=1,port 9:f=2,addr 9:f=2,addr 9:f=1,port 9 8:f=2,addr",
		"26 18 18"},
	{"one passes, the other does not mind", CASE_BOTH, "9 9:f=1,port 0:f=1,port 9 9:f=1,port",
		"9 0 18 9"},
	{"a fragment flushes all of its hosts", CASE_BOTH, "9:f=1,port 9:f=2,addr 9:mf 9:f=2,addr",
		"9 9 18"},
};

static const struct pw_gro_case udp_cases[] = {
	{"same", CASE_BOTH, "100 100 100", "300"},
	{"a shorter one completes", CASE_BOTH, "100 50 50", "150 50"},
	{"a longer one flushes", CASE_BOTH, "50 100 100", "50 200"},
	{"64 at most", CASE_BOTH, "10x64 10", "640 10"},
	{"64 and again 64", CASE_BOTH, "10x130", "640 640 20"},
	{"the 64th is shorter", CASE_BOTH, "10x63 9 10", "639 10"},
	{"as large as IP", CASE_IPV4, "4036x16 931 931", "65507 931"},
	{"as large as IP", CASE_IPV6, "4036x16 911 911", "65487 911"},
	{"65536 bytes", CASE_IPV4, "1236x53", "64272 1236"},
	{"65536 bytes", CASE_IPV6, "4093x16", "61395 4093"},
	{"larger than IP", CASE_IPV4, "4036x16 932 932", "64576 1864"},
	{"larger than IP", CASE_IPV6, "4036x16 912 912", "64576 1824"},
	{"no checksum", CASE_IPV4, "100:nosum 100:nosum", "200"},
	{"no checksum, odd", CASE_IPV4, "3:nosum 3:nosum 1:nosum", "7"},
	{"no checksum on one", CASE_IPV4, "100 100:nosum 100:nosum 100", "100 200 100"},
	{"no checksum must not be", CASE_IPV6, "100:nosum 100:nosum", "100 100"},
	{"no checksum between", CASE_IPV6, "100 100:nosum 100", "100 100 100"},
	{"no checksum, the NIC calls it good", CASE_IPV6, "100 100:nosum,nicgood 100",
		"100 100 100"},
	{"wrong checksum", CASE_BOTH, "100 100:csum 100", "100 100 100"},
	{"NIC says bad", CASE_BOTH, "100 100:nicbad 100", "100 100 100"},
	{"NIC says good", CASE_BOTH, "100:nicgood 100:nicgood", "200"},
	{"NIC vouches, not filled in", CASE_BOTH, "101:nicnone 101:nicnone 101", "303"},
	{"NIC vouches for one alone", CASE_BOTH, "100:nicnone 101:nicnone", "100 101"},
	{"NIC vouches for one without", CASE_IPV4, "100:nosum,nicgood 100:nicgood", "100 100"},
	{"NIC vouches, the second without", CASE_IPV4,
		"100:nicgood 100:nicgood 100:nosum,nicgood 100:nicgood", "200 100 100"},
	{"NIC vouches, the second without", CASE_IPV6,
		"100:nicgood 100:nicgood 100:nosum,nicgood 100:nicgood", "200 100 100"},
	{"empty", CASE_BOTH, "100 0 0 100", "100 0 0 100"},
	{"odd sizes", CASE_BOTH, "7 7 7 5", "26"},
	{"padding", CASE_BOTH, "10:pad=8 10:pad=8", "20"},
	{"hop limit", CASE_BOTH, "100 100:ttl=7", "100 100"},
	{"tos", CASE_BOTH, "100 100:tos=1", "100 100"},
	{"IDs stay", CASE_IPV4, "100:id=7 100:id=7", "200"},
	{"IDs stay, DF 0", CASE_IPV4, "100:df0,id=7 100:df0,id=7", "100 100"},
	{"IDs jump", CASE_IPV4, "100:id=7 100:id=9", "100 100"},
	{"fragments", CASE_BOTH, "100 100:mf 100:off 100", "100 100 100 100"},
	{"IP options", CASE_IPV4, "100 100:ipopt 100", "100 100 100"},
	{"extension headers", CASE_IPV6, "100:dst=1 100:dst=1 100:dst=2", "200 100"},
	{"chained", CASE_BOTH, "100:cut4=8 100:cut4=30 100:cut4=50,cut4=9 50", "350"},
	{"header split", CASE_BOTH, "100 100:cut4=6 100", "300"},
	{"header of the first split", CASE_BOTH, "100:cut4=6 100 100", "100 200"},
	{"shared", CASE_BOTH, "100 100:shared 100", "100 100 100"},
	{"TCP with the same ports", CASE_BOTH, "100 100:f=1,tcp 100 100:f=1,tcp", "200 200"},
};

static const struct pw_gro_case exact_cases[] = {
	{"IDs stay", CASE_IPV4, "100:id=7 100:id=7", "100 100"},
	{"IDs count", CASE_IPV4, "100:id=65535 100:id=0", "200"},
	{"IDs count, DF 0", CASE_IPV4, "100:df0 100:df0", "200"},
	{"IDs count, then stay", CASE_IPV4, "100:id=7 100:id=8 100:id=8", "200 100"},
	{"no IDs", CASE_IPV6, "100:id=7 100:id=7", "200"},
	{"extension headers", CASE_IPV6, "100 100:dst=1 100:dst=1 100", "100 100 100 100"},
	{"CWR", CASE_BOTH, "100 100:C 100:C 100 100", "100 100 100 200"},
	{"CWR first", CASE_BOTH, "100:C 100", "100 100"},
	{"ECE", CASE_BOTH, "100:E 100:E", "200"},
	{"FIN", CASE_BOTH, "100 50:F", "150"},
};

static const struct pw_gro_case four_mbufs_cases[] = {
	{"four", CASE_BOTH, "100x4 100", "400 100"},
	{"in pairs", CASE_BOTH, "100:cut4=50 100:cut4=50 100:cut4=50 100", "200 200"},
	{"three and two", CASE_BOTH, "100x3 100:cut4=50 100 100", "300 300"},
	{"five in one", CASE_BOTH, "100:cut4=90,cut4=80,cut4=70,cut4=60 100", "100 100"},
	{"a shorter one as the fourth", CASE_BOTH, "100x3 50 50", "350 50"},
};

static const struct pw_gro_case off_cases[] = {
	{"off", CASE_BOTH, "100 100 50", "100 100 50"},
};

/* A counter by its name, and packets that make it count one. */
static const struct {
	const char *counter;
	unsigned versions;
	const char *sent;
} reasons[] = {
	{"pass_protocol", CASE_BOTH, "100:udp"},
	{"pass_fragment", CASE_BOTH, "100:mf"},
	{"pass_fragment", CASE_BOTH, "100 100:off"},
	{"pass_ip_options", CASE_IPV4, "100 100:ipopt"},
	{"pass_mbuf", CASE_BOTH, "100:cut4=10 100"},
	{"pass_mbuf", CASE_BOTH, "100 100:shared"},
	{"pass_mbuf", CASE_BOTH, "100 100:clone"},
	{"pass_no_payload", CASE_BOTH, "100 0"},
	{"pass_no_payload", CASE_BOTH, "0:pad=6"},
	{"pass_flags", CASE_BOTH, "100 100:S"},
	{"pass_flags", CASE_BOTH, "100 100:R"},
	{"pass_flags", CASE_BOTH, "100 100:U"},
	{"pass_flags", CASE_BOTH, "100 100:noack"},
	{"pass_flags", CASE_BOTH, "100:F"},
	{"pass_flags", CASE_BOTH, "100:P 100"},
	{"pass_bad_cksum", CASE_BOTH, "100 100:csum"},
	{"pass_bad_cksum", CASE_IPV4, "100 100:ipcsum"},
	{"pass_bad_cksum", CASE_BOTH, "100 100:nicbad"},
	{"flush_complete", CASE_BOTH, "100 100:F"},
	{"flush_complete", CASE_BOTH, "100 100:P"},
	{"flush_complete", CASE_BOTH, "100 50"},
	{"flush_seq", CASE_BOTH, "100 100:gap"},
	{"flush_seq", CASE_BOTH, "100 100:back=100"},
	{"flush_header", CASE_BOTH, "100 100:ack=1"},
	{"flush_header", CASE_BOTH, "100 100:win=1"},
	{"flush_header", CASE_BOTH, "100 100:ws"},
	{"flush_header", CASE_BOTH, "100 100:E"},
	{"flush_header", CASE_BOTH, "100 100:ttl=9"},
	{"flush_header", CASE_BOTH, "100 100:tos=9"},
	{"flush_header", CASE_IPV4, "100 100:df0"},
	{"flush_header", CASE_BOTH, "100 100:mac=0"},
	{"flush_header", CASE_IPV6, "100 100:dst=1"},
	{"flush_header", CASE_IPV6, "100:dst=1 100:dst=2"},
	{"flush_header", CASE_IPV6, "100 100:label=1"},
	{"flush_ip_id", CASE_IPV4, "100:id=7 100:id=9"},
	{"flush_ip_id", CASE_IPV4, "100:id=7 100:id=7 100:id=8"},
	{"flush_size", CASE_BOTH, "50 100"},
	{"flush_size", CASE_BOTH, "4036x16 1000"},
	{"flush_pass", CASE_BOTH, "100 0"},
	{"flush_pass", CASE_BOTH, "100 100:S"},
	{"flush_pass", CASE_BOTH, "100 100:mf"},
	{"flush_pass", CASE_BOTH, "100 100:csum"},
	{"flush_pass", CASE_IPV4, "100 100:ipopt"},
	{"flush_all", CASE_BOTH, "100 100"},
};

static void
tcp_merges(void **state)
{
	pw_gro_case_run(*state, tcp_cases, RTE_DIM(tcp_cases), false);
}

static void
flows_merge_apart(void **state)
{
	pw_gro_rig_open(*state, (struct pw_gro_params){.types = PW_GRO_TCP | PW_GRO_UDP});
	pw_gro_case_run(*state, flow_cases, RTE_DIM(flow_cases), false);
}

static void
udp_merges(void **state)
{
	pw_gro_rig_open(*state, (struct pw_gro_params){.types = PW_GRO_TCP | PW_GRO_UDP});
	pw_gro_case_run(*state, udp_cases, RTE_DIM(udp_cases), true);
	pw_gro_rig_open(*state, (struct pw_gro_params){.types = PW_GRO_UDP});
	pw_gro_case_run(*state, udp_cases, RTE_DIM(udp_cases) - 1, true);
}

static void
what_is_off_passes(void **state)
{
	static const uint32_t types[] = {
		PW_GRO_TCP_IPV4, PW_GRO_TCP_IPV6, PW_GRO_UDP_IPV4, PW_GRO_UDP_IPV6};

	pw_gro_rig_open(*state, (struct pw_gro_params){0});
	pw_gro_case_run(*state, off_cases, 1, true);
	pw_gro_rig_open(*state, (struct pw_gro_params){.types = PW_GRO_UDP});
	pw_gro_case_run(*state, off_cases, 1, false);
	for (unsigned i = 0; i < RTE_DIM(types); i++) {
		bool udp = types[i] & PW_GRO_UDP, ipv6 = i % 2;
		struct pw_gro_case one = off_cases[0], on = udp_cases[0];

		pw_gro_rig_open(*state, (struct pw_gro_params){.types = types[i]});
		one.versions = ipv6 ? CASE_IPV4 : CASE_IPV6;
		on.versions = ipv6 ? CASE_IPV6 : CASE_IPV4;
		pw_gro_case_run(*state, &one, 1, udp);
		pw_gro_case_run(*state, &one, 1, !udp);
		pw_gro_case_run(*state, &on, 1, udp);
	}
}

static void
exact_tso_is_exact(void **state)
{
	pw_gro_rig_open(*state, (struct pw_gro_params){.exact_tso = true});
	pw_gro_case_run(*state, exact_cases, RTE_DIM(exact_cases), false);
}

static void
merged_packets_have_no_more_mbufs(void **state)
{
	pw_gro_rig_open(*state, (struct pw_gro_params){.max_mbufs = 4});
	pw_gro_case_run(*state, four_mbufs_cases, RTE_DIM(four_mbufs_cases), false);
	pw_gro_rig_open(*state, (struct pw_gro_params){.max_mbufs = 1});
	pw_gro_case_run(*state, off_cases, 1, false);
}

/* What is added up for it carries over in one of so many only. */
static void
ip_checksums_of_all_values_are_right(void **state)
{
	struct pw_gro_rig *rig = *state;
	struct pw_packet packet = pw_gro_case_packet(false, false, &pw_gro_case_tags[0]);

	packet.payload_bytes = 1;
	for (unsigned i = 0; i <= UINT16_MAX; i++) {
		for (unsigned k = 0; k < 2; k++, packet.seq++) {
			struct rte_mbuf *m;

			packet.ip_id = i + k;
			m = pw_packet_frame(rig->pool, &packet);
			pw_gro_rig_expect(rig, 0, m, &packet);
			pw_gro_rig_receive(rig, &m, 1);
		}
		pw_gro_rig_flush(rig);
	}
	assert_int_equal(pw_gro_rig_counter(rig, "merged"), UINT16_MAX + 1);
}

static void
count_reason(struct pw_gro_rig *rig, unsigned i, bool ipv6)
{
	struct pw_packet first = pw_gro_case_packet(ipv6, false, &pw_gro_case_tags[0]);

	pw_gro_rig_open(rig, (struct pw_gro_params){0});
	pw_gro_case_send(rig, &first, &pw_gro_case_tags[0], reasons[i].sent);
	pw_gro_rig_flush(rig);
	if (pw_gro_rig_counter(rig, reasons[i].counter) != 1)
		fail_msg("IPv%d: \"%s\" is not one in %s", ipv6 ? 6 : 4, reasons[i].sent,
			reasons[i].counter);
}

static void
reasons_are_counted(void **state)
{
	for (unsigned i = 0; i < RTE_DIM(reasons); i++) {
		if (reasons[i].versions & CASE_IPV4)
			count_reason(*state, i, false);
		if (reasons[i].versions & CASE_IPV6)
			count_reason(*state, i, true);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(tcp_merges),
		RIG_TEST(flows_merge_apart),
		RIG_TEST(udp_merges),
		RIG_TEST(what_is_off_passes),
		RIG_TEST(exact_tso_is_exact),
		RIG_TEST(merged_packets_have_no_more_mbufs),
		RIG_TEST(ip_checksums_of_all_values_are_right),
		RIG_TEST(reasons_are_counted),
	};

	return cmocka_run_group_tests_name("gro", tests, pw_test_eal, NULL);
}
