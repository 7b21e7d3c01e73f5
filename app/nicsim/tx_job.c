/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "tx_job.h"

#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "cksum.h"

#define VLAN_TPID 0x8100
#define SCTP_CHECKSUM_OFFSET 8
#define TCP_FLAGS_AT 13
#define TCP_FIN_PSH 0x09
#define TCP_CWR 0x80

struct tx_job *
tx_job_create(void)
{
	struct tx_job *job = calloc(1, sizeof(*job));

	if (job != NULL)
		job->packet = malloc(TX_JOB_BYTES);
	if (job != NULL && job->packet == NULL) {
		free(job);
		return NULL;
	}
	return job;
}

void
tx_job_destroy(struct tx_job *job)
{
	if (job != NULL)
		free(job->packet);
	free(job);
}

bool
tx_job_append(struct tx_job *job, const void *data, uint32_t len_bytes)
{
	if (len_bytes > TX_JOB_BYTES - job->len_bytes)
		return false;
	memcpy(job->packet + job->len_bytes, data, len_bytes);
	job->len_bytes += len_bytes;
	return true;
}

static bool
is_segmented(const struct tx_job *job)
{
	return (job->command & TXD_TSE) != 0;
}

static uint32_t
l4_offset(const struct tx_job *job)
{
	return job->context.mac_len + job->context.ip_len;
}

static uint32_t
headers_bytes(const struct tx_job *job)
{
	return l4_offset(job) + job->context.l4_len;
}

static uint32_t
l4_header_min(const struct tx_job *job)
{
	if (job->context.l4_type == TXC_L4T_TCP)
		return sizeof(struct tcphdr);
	return job->context.l4_type == TXC_L4T_UDP ? sizeof(struct udphdr)
						   : SCTP_CHECKSUM_OFFSET + 4;
}

/* The lengths of the context must lie in the packet before anything is written by them. */
static bool
context_fits(const struct tx_job *job)
{
	const struct tx_context *c = &job->context;
	uint32_t ip_min = c->ipv4 ? sizeof(struct iphdr) : sizeof(struct ip6_hdr);

	if ((job->options & (TXD_IXSM | TXD_TXSM)) == 0 && !is_segmented(job))
		return true;
	if (c->mac_len < 14 || c->ip_len < ip_min || l4_offset(job) > job->len_bytes)
		return false;
	/* The fourth type is reserved, and says that nothing is to be done at L4. */
	if (c->l4_type > TXC_L4T_SCTP && ((job->options & TXD_TXSM) || is_segmented(job)))
		return false;
	if ((job->options & TXD_TXSM) && l4_offset(job) + l4_header_min(job) > job->len_bytes)
		return false;
	return !is_segmented(job) ||
		(c->l4_type != TXC_L4T_SCTP && c->l4_len >= l4_header_min(job) && c->mss > 0 &&
			headers_bytes(job) < job->len_bytes &&
			headers_bytes(job) + c->mss + VLAN_BYTES <= FRAME_MAX_BYTES);
}

bool
tx_job_begin(struct tx_job *job)
{
	uint32_t most = FRAME_MAX_BYTES - (job->command & TXD_VLE ? VLAN_BYTES : 0);

	job->done = 0;
	job->active = job->len_bytes >= 14 && context_fits(job) &&
		(is_segmented(job) || job->len_bytes <= most);
	return job->active;
}

/* 7.2.5.1: the IPv4 header's own sum, over the length that the driver gave. */
static void
fill_ip_checksum(const struct tx_job *job, uint8_t *frame)
{
	uint8_t *ip = frame + job->context.mac_len, *field = ip + offsetof(struct iphdr, check);
	uint16_t sum;

	if (!job->context.ipv4 || !(job->options & TXD_IXSM))
		return;
	memset(field, 0, sizeof(sum));
	sum = ~cksum_fold(cksum_add(0, ip, job->context.ip_len));
	memcpy(field, &sum, sizeof(sum));
}

/* CRC32c, from the L4 header to the end (RFC 9260, appendix A). */
static void
fill_sctp_checksum(uint8_t *l4, uint32_t len_bytes)
{
	uint32_t crc = UINT32_MAX;

	memset(l4 + SCTP_CHECKSUM_OFFSET, 0, 4);
	for (uint32_t i = 0; i < len_bytes; i++) {
		crc ^= l4[i];
		for (unsigned bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
	}
	crc = ~crc;
	memcpy(l4 + SCTP_CHECKSUM_OFFSET, &crc, 4);
}

/*
 * 7.2.5.2: the driver left the pseudo header's sum in the field; the card adds header and payload.
 * In a segment the length is not in it yet (7.2.4.4): the card knows it.
 */
static void
fill_l4_checksum(const struct tx_job *job, uint8_t *frame, uint32_t len_bytes, uint32_t length)
{
	uint8_t *l4 = frame + l4_offset(job);
	bool udp = job->context.l4_type == TXC_L4T_UDP;
	uint8_t *field;
	uint16_t sum;

	if (!(job->options & TXD_TXSM))
		return;
	if (job->context.l4_type == TXC_L4T_SCTP) {
		fill_sctp_checksum(l4, len_bytes);
		return;
	}
	field = l4 + (udp ? offsetof(struct udphdr, check) : offsetof(struct tcphdr, check));
	sum = ~cksum_fold(cksum_add(htonl(length), l4, len_bytes));
	/* A sum of 0 would mean none (RFC 768). */
	if (sum == 0 && udp)
		sum = 0xffff;
	memcpy(field, &sum, sizeof(sum));
}

/* 7.2.4.7: what differs from segment to segment in the headers, and DTXTCPFLG's masks. */
static void
set_segment_headers(const struct tx_job *job, uint8_t *frame, uint32_t payload, bool last)
{
	uint8_t *ip = frame + job->context.mac_len, *l4 = frame + l4_offset(job);
	uint32_t l4_bytes = job->context.l4_len + payload, index = job->done / job->context.mss;
	uint8_t *id = ip + offsetof(struct iphdr, id), *seq = l4 + offsetof(struct tcphdr, seq);

	if (job->context.ipv4) {
		put_be16(ip + offsetof(struct iphdr, tot_len), job->context.ip_len + l4_bytes);
		put_be16(id, (uint16_t)(get_be16(id) + index));
	} else {
		put_be16(ip + offsetof(struct ip6_hdr, ip6_plen),
			job->context.ip_len - sizeof(struct ip6_hdr) + l4_bytes);
	}
	if (job->context.l4_type == TXC_L4T_UDP) {
		put_be16(l4 + offsetof(struct udphdr, len), l4_bytes);
		return;
	}
	put_be32(seq, get_be32(seq) + job->done);
	/* As DTXTCPFLGL and DTXTCPFLGH say unless they are changed (8.2.3.9.3, 8.2.3.9.4). */
	if (!last)
		l4[TCP_FLAGS_AT] &= ~TCP_FIN_PSH;
	if (job->done > 0)
		l4[TCP_FLAGS_AT] &= ~TCP_CWR; /* told once (RFC 3168, 6.1.2) */
}

static uint32_t
next_segment(struct tx_job *job, uint8_t *to)
{
	uint32_t headers = headers_bytes(job), left = job->len_bytes - headers - job->done;
	uint32_t payload = left < job->context.mss ? left : job->context.mss;

	memcpy(to, job->packet, headers);
	memcpy(to + headers, job->packet + headers + job->done, payload);
	set_segment_headers(job, to, payload, payload == left);
	fill_ip_checksum(job, to);
	fill_l4_checksum(job, to, job->context.l4_len + payload, job->context.l4_len + payload);
	job->done += payload;
	job->active = payload < left;
	return headers + payload;
}

/* Where the frame ends for L4: by the IP header, as a short frame may be filled up already. */
static uint32_t
l4_bytes_of(const struct tx_job *job)
{
	const uint8_t *ip = job->packet + job->context.mac_len;
	uint32_t room = job->len_bytes - l4_offset(job), given;

	given = job->context.ipv4
		? (uint32_t)(ip[2] << 8 | ip[3]) - job->context.ip_len
		: (uint32_t)(ip[4] << 8 | ip[5]) + sizeof(struct ip6_hdr) - job->context.ip_len;
	return given < room && given >= l4_header_min(job) ? given : room;
}

static uint32_t
whole_packet(struct tx_job *job, uint8_t *to)
{
	memcpy(to, job->packet, job->len_bytes);
	fill_ip_checksum(job, to);
	if (job->options & TXD_TXSM)
		fill_l4_checksum(job, to, l4_bytes_of(job), 0);
	job->active = false;
	return job->len_bytes;
}

/* 7.2.3.2.4: VLE. */
static uint32_t
insert_tag(const struct tx_job *job, uint8_t *frame, uint32_t len_bytes)
{
	memmove(frame + ADDRESSES_BYTES + VLAN_BYTES, frame + ADDRESSES_BYTES,
		len_bytes - ADDRESSES_BYTES);
	put_be16(frame + ADDRESSES_BYTES, VLAN_TPID);
	put_be16(frame + ADDRESSES_BYTES + 2, job->context.vlan);
	return len_bytes + VLAN_BYTES;
}

uint32_t
tx_job_next(struct tx_job *job, uint8_t *to)
{
	uint32_t len_bytes = is_segmented(job) ? next_segment(job, to) : whole_packet(job, to);

	if (job->command & TXD_VLE)
		len_bytes = insert_tag(job, to, len_bytes);
	if (job->pad && len_bytes < FRAME_MIN_BYTES) {
		memset(to + len_bytes, 0, FRAME_MIN_BYTES - len_bytes);
		len_bytes = FRAME_MIN_BYTES;
	}
	return len_bytes;
}
