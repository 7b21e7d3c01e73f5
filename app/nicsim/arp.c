/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "arp.h"

#include <netinet/if_ether.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "bytes.h"

#define ARP_AT sizeof(struct ether_header)

static struct arphdr
ether_ipv4(uint16_t operation)
{
	return (struct arphdr){
		.ar_hrd = htons(ARPHRD_ETHER),
		.ar_pro = htons(ETHERTYPE_IP),
		.ar_hln = ETHER_ADDR_LEN,
		.ar_pln = sizeof(struct in_addr),
		.ar_op = htons(operation),
	};
}

static bool
is_arp(const struct frame *frame, uint16_t operation)
{
	const struct arphdr wanted = ether_ipv4(operation);

	return frame->len_bytes >= ARP_AT + sizeof(struct ether_arp) &&
		get_be16(frame->data + offsetof(struct ether_header, ether_type)) ==
		ETHERTYPE_ARP &&
		memcmp(frame->data + ARP_AT, &wanted, sizeof(wanted)) == 0;
}

uint32_t
arp_asked_for(const struct frame *frame)
{
	return is_arp(frame, ARPOP_REQUEST)
		? get_be32(frame->data + ARP_AT + offsetof(struct ether_arp, arp_tpa))
		: 0;
}

uint32_t
arp_answered_by(const struct frame *frame)
{
	return is_arp(frame, ARPOP_REPLY)
		? get_be32(frame->data + ARP_AT + offsetof(struct ether_arp, arp_spa))
		: 0;
}

static void
write_frame(const struct ether_arp *arp, const uint8_t *to, const uint8_t *mac, uint8_t *frame)
{
	struct ether_header ether = {.ether_type = htons(ETHERTYPE_ARP)};

	memcpy(ether.ether_shost, mac, ETHER_ADDR_LEN);
	memcpy(ether.ether_dhost, to, ETHER_ADDR_LEN);
	memset(frame, 0, FRAME_MIN_BYTES);
	memcpy(frame, &ether, sizeof(ether));
	memcpy(frame + ARP_AT, arp, sizeof(*arp));
}

void
arp_ask(const uint8_t mac[6], uint32_t address, uint32_t asked_for, uint8_t *request)
{
	static const uint8_t everybody[ETHER_ADDR_LEN] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	struct ether_arp arp = {.ea_hdr = ether_ipv4(ARPOP_REQUEST)};

	memcpy(arp.arp_sha, mac, ETHER_ADDR_LEN);
	put_be32(arp.arp_spa, address);
	put_be32(arp.arp_tpa, asked_for);
	write_frame(&arp, everybody, mac, request);
}

void
arp_answer(const struct frame *request, const uint8_t mac[6], uint8_t *answer)
{
	struct ether_arp asked, arp;

	memcpy(&asked, request->data + ARP_AT, sizeof(asked));
	arp.ea_hdr = asked.ea_hdr;
	arp.ea_hdr.ar_op = htons(ARPOP_REPLY);
	memcpy(arp.arp_sha, mac, ETHER_ADDR_LEN);
	memcpy(arp.arp_spa, asked.arp_tpa, sizeof(arp.arp_spa));
	memcpy(arp.arp_tha, asked.arp_sha, ETHER_ADDR_LEN);
	memcpy(arp.arp_tpa, asked.arp_spa, sizeof(arp.arp_tpa));
	write_frame(&arp, asked.arp_sha, mac, answer);
}
