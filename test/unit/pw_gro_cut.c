/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_gro_cut.h"

#include <netinet/in.h>
#include <string.h>

#include <rte_ip.h>
#include <rte_tcp.h>

#include "pw_frame.h"
#include "pw_gro.h"

#define IP_BYTES_MAX 65535

/* The flag says that whoever sends it on has to fill in the checksum of layer 4. */
static bool
is_filled(const struct rte_mbuf *m)
{
	return (m->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK) != RTE_MBUF_F_RX_L4_CKSUM_NONE;
}

static const char *
l4_fault(const struct rte_mbuf *m, const uint8_t *data, const struct pw_frame *frame)
{
	const uint8_t *l4 = data + frame->l4;

	if (frame->proto == IPPROTO_UDP) {
		if (m->l4_len != 8)
			return "l4_len of UDP";
		if (pw_frame_get16(l4 + 4) != frame->end - frame->l4)
			return "UDP length";
		if (pw_frame_get16(l4 + 6) == 0) /* none, and none is wanted */
			return frame->version == 4 || !is_filled(m) ? NULL : "no checksum in IPv6";
	} else if (frame->proto != IPPROTO_TCP) {
		return "protocol";
	} else if (m->l4_len != (l4[12] >> 4) * 4 || m->l4_len < 20) {
		return "l4_len of TCP";
	}
	return is_filled(m) ? "not said that the checksum is to be filled in" : NULL;
}

const char *
pw_gro_cut_fault(const struct rte_mbuf *m, const uint8_t *data)
{
	uint32_t header = pw_gro_cut_header_bytes(m);
	struct pw_frame frame;

	if (!pw_frame_read(data, m->pkt_len, &frame))
		return "not IP";
	if (m->l2_len != frame.l3)
		return "l2_len";
	if (m->l3_len != frame.l4 - frame.l3)
		return "l3_len";
	if (frame.end != m->pkt_len)
		return "length of the IP packet";
	if (frame.end - frame.l3 > IP_BYTES_MAX)
		return "larger than an IP packet";
	if (frame.version == 4 && rte_raw_cksum(data + frame.l3, m->l3_len) != 0xffff)
		return "checksum of the IP header";
	if (header >= m->pkt_len || m->tso_segsz == 0 || m->tso_segsz >= m->pkt_len - header)
		return "tso_segsz";
	if (pw_gro_segments(m) != (m->pkt_len - header + m->tso_segsz - 1) / m->tso_segsz)
		return "pw_gro_segments()";
	return l4_fault(m, data, &frame);
}

static void
set_ip(uint8_t *ip, uint32_t ip_bytes, uint16_t id_step)
{
	if (ip[0] >> 4 == 4) {
		pw_frame_put(ip + 2, ip_bytes, 2);
		pw_frame_put(ip + 4, pw_frame_get16(ip + 4) + id_step, 2);
	} else {
		pw_frame_put(ip + 4, ip_bytes - 40, 2);
	}
}

static void
set_tcp(uint8_t *tcp, uint32_t offset, bool last, bool cwr_once)
{
	pw_frame_put(tcp + 4, pw_frame_get32(tcp + 4) + offset, 4);
	if (!last)
		tcp[13] &= ~(RTE_TCP_FIN_FLAG | RTE_TCP_PSH_FLAG);
	if (offset > 0 && cwr_once)
		tcp[13] &= ~RTE_TCP_CWR_FLAG;
}

/* @return it has no checksum */
static bool
set_udp(uint8_t *udp, uint32_t bytes)
{
	pw_frame_put(udp + 4, bytes, 2);
	return pw_frame_get16(udp + 6) == 0;
}

uint32_t
pw_gro_cut_frame(const struct rte_mbuf *m, const uint8_t *data, struct pw_gro_cut how, unsigned i,
	uint8_t *frame)
{
	uint32_t header = pw_gro_cut_header_bytes(m), offset = i * m->tso_segsz;
	uint32_t left = m->pkt_len - header - offset;
	uint32_t n = m->tso_segsz < left ? m->tso_segsz : left;
	uint8_t *l3 = frame + m->l2_len, *l4 = l3 + m->l3_len;
	struct pw_frame read;
	bool no_cksum = false;

	memcpy(frame, data, header);
	memcpy(frame + header, data + header + offset, n);
	set_ip(l3, header - m->l2_len + n, how.ids_stay ? 0 : i);
	pw_frame_read(data, m->pkt_len, &read);
	if (read.proto == IPPROTO_UDP)
		no_cksum = set_udp(l4, m->l4_len + n);
	else
		set_tcp(l4, offset, n == left, how.cwr_once);
	pw_frame_fix_cksums(frame, header + n);
	if (no_cksum)
		pw_frame_put(l4 + 6, 0, 2);
	return header + n;
}
