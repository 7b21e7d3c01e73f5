/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_SPEC_H
#define PW_SPEC_H

/**
 * @file
 * Ethernet frames out of their words, after scapy's manner: layers with " / " in between. Lengths
 * and checksums are filled in, by code of its own. Layers:
 *
 *	eth FROM > TO			MAC addresses: us, peer, gw, all, nodes, sol, or with colons
 *	vlan TCI
 *	arp req|rep SPA TPA [mac M]	M: of the sender
 *	ip SRC > DST			either family; then any of: ttl N, tos N, id N, opt N (bytes
 *of NOPs), off BYTES, mf, df, proto N, len N (instead of the right one), bad (checksum) hbh|dst HEX
 *extension header with these bytes, 6 or 14 and so on rt LEFT				routing
 *header frag BYTES ID [mf]		IPv6 fragment header
 *	tcp A > B | udp A > B		then any of: len N, zero, bad (checksum)
 *	icmp TYPE CODE WORD		of the family of the ip in front; bad (checksum)
 *	ns|na TARGET			then any of: r, s, o (flags), lla M, code N, hex HEX
 *(options), bad bytes N [from K]		of the stream of pw_packet_byte() hex HEX cut N |
 *pad N			the frame's length, at the end
 */

#include "pw_packet.h"

#define PW_SPEC_MAX 66000
#define PW_SPEC_LAYERS 12

struct pw_spec_layer {
	char kind; /**< 4, 6, t, u, i, e: IP, TCP, UDP, ICMP, all others */
	uint32_t offset;
	int len; /**< to be written instead of the right one, or -1 */
	bool bad, zero;
};

struct pw_spec {
	uint8_t data[PW_SPEC_MAX];
	uint32_t len;
	struct pw_spec_layer layers[PW_SPEC_LAYERS];
	unsigned nb_layers;
	uint32_t next; /**< offset of the field that tells the next layer's type */
	bool has_id;   /**< the first IP header's ID was given */
	int final_len; /**< of cut or pad, or -1 */
};

/**
 * Build a frame. Without a layer eth it goes from the peer to us, or with from_us the other way.
 * Fails the test where the words are wrong.
 */
void pw_spec_build(struct pw_spec *spec, const char *text, bool from_us);

/** Offset of the first layer of this kind. */
uint32_t pw_spec_find(const struct pw_spec *spec, char kind);

/** Fill in lengths and checksums once more. */
void pw_spec_finish(struct pw_spec *spec);

#endif
