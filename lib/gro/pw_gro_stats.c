/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_gro.h"

const struct pw_stat pw_gro_stat_table[] = {
	PW_STAT(pw_gro_stats, rx_packets, "packets"),
	PW_STAT(pw_gro_stats, tx_packets, "packets"),
	PW_STAT(pw_gro_stats, merged, "packets"),
	PW_STAT(pw_gro_stats, held, "packets"),
	PW_STAT(pw_gro_stats, pass_not_ip, "packets"),
	PW_STAT(pw_gro_stats, pass_protocol, "packets"),
	PW_STAT(pw_gro_stats, pass_malformed, "packets"),
	PW_STAT(pw_gro_stats, pass_fragment, "packets"),
	PW_STAT(pw_gro_stats, pass_ip_options, "packets"),
	PW_STAT(pw_gro_stats, pass_mbuf, "packets"),
	PW_STAT(pw_gro_stats, pass_no_payload, "packets"),
	PW_STAT(pw_gro_stats, pass_flags, "packets"),
	PW_STAT(pw_gro_stats, pass_bad_cksum, "packets"),
	PW_STAT(pw_gro_stats, flush_complete, "packets"),
	PW_STAT(pw_gro_stats, flush_seq, "packets"),
	PW_STAT(pw_gro_stats, flush_header, "packets"),
	PW_STAT(pw_gro_stats, flush_ip_id, "packets"),
	PW_STAT(pw_gro_stats, flush_size, "packets"),
	PW_STAT(pw_gro_stats, flush_pass, "packets"),
	PW_STAT(pw_gro_stats, flush_table_full, "packets"),
	PW_STAT(pw_gro_stats, flush_all, "packets"),
	PW_STAT(pw_gro_stats, flush_timeout, "packets"),
	PW_STAT_END,
};
