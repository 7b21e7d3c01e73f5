/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "arp.h"

#include <netinet/if_ether.h>
#include <stddef.h>
#include <string.h>

#include "bytes.h"

#define ARP_AT sizeof(struct ether_header)

uint32_t
arp_asked_for(const struct frame *frame)
{
	const uint8_t *arp = frame->data + ARP_AT;
	const struct arphdr ether_ipv4_request = {
		.ar_hrd = htons(ARPHRD_ETHER),
		.ar_pro = htons(ETHERTYPE_IP),
		.ar_hln = ETHER_ADDR_LEN,
		.ar_pln = sizeof(struct in_addr),
		.ar_op = htons(ARPOP_REQUEST),
	};

	if (frame->len_bytes < ARP_AT + sizeof(struct ether_arp) ||
		get_be16(frame->data + offsetof(struct ether_header, ether_type)) !=
			ETHERTYPE_ARP ||
		memcmp(arp, &ether_ipv4_request, sizeof(ether_ipv4_request)) != 0)
		return 0;
	return get_be32(arp + offsetof(struct ether_arp, arp_tpa));
}

void
arp_answer(const struct frame *request, const uint8_t mac[6], uint8_t *answer)
{
	struct ether_header ether = {.ether_type = htons(ETHERTYPE_ARP)};
	struct ether_arp asked, arp;

	memcpy(&asked, request->data + ARP_AT, sizeof(asked));
	arp.ea_hdr = asked.ea_hdr;
	arp.ea_hdr.ar_op = htons(ARPOP_REPLY);
	memcpy(arp.arp_sha, mac, ETHER_ADDR_LEN);
	memcpy(arp.arp_spa, asked.arp_tpa, sizeof(arp.arp_spa));
	memcpy(arp.arp_tha, asked.arp_sha, ETHER_ADDR_LEN);
	memcpy(arp.arp_tpa, asked.arp_spa, sizeof(arp.arp_tpa));
	memcpy(ether.ether_shost, mac, ETHER_ADDR_LEN);
	memcpy(ether.ether_dhost, asked.arp_sha, ETHER_ADDR_LEN);
	memset(answer, 0, FRAME_MIN_BYTES);
	memcpy(answer, &ether, sizeof(ether));
	memcpy(answer + ARP_AT, &arp, sizeof(arp));
}
