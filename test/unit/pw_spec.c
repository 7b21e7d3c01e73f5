/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_spec.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pw_addr.h"

/* Words of a layer, one after the other. */
struct words {
	char *rest;
};

static char *
next_word(struct words *words)
{
	return strtok_r(NULL, " ", &words->rest);
}

static char *
need_word(struct words *words)
{
	char *word = next_word(words);

	if (word == NULL)
		fail_msg("a word is missing");
	return word;
}

static uint32_t
need_number(struct words *words)
{
	return strtoul(need_word(words), NULL, 0);
}

static void
need_arrow(struct words *words)
{
	assert_string_equal(need_word(words), ">");
}

static struct rte_ether_addr
need_mac(struct words *words)
{
	static const struct {
		const char *name;
		struct rte_ether_addr mac;
	} names[] = {
		{"us", {{2, 0, 10, 0, 0, 1}}},
		{"peer", {{2, 0, 10, 0, 0, 2}}},
		{"gw", {{2, 0, 10, 0, 0, 254}}},
		{"all", {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}}},
		{"nodes", {{0x33, 0x33, 0, 0, 0, 1}}},
		{"sol", {{0x33, 0x33, 0xff, 0, 0, 1}}},
	};
	const char *word = need_word(words);
	struct rte_ether_addr mac;

	for (unsigned i = 0; i < RTE_DIM(names); i++)
		if (strcmp(names[i].name, word) == 0)
			return names[i].mac;
	assert_int_equal(rte_ether_unformat_addr(word, &mac), 0);
	return mac;
}

static struct pw_addr
need_addr(struct words *words)
{
	const char *word = need_word(words);
	struct pw_addr addr;

	if (pw_addr_parse(word, &addr) < 0)
		fail_msg("no address: %s", word);
	return addr;
}

static uint8_t *
append(struct pw_spec *spec, uint32_t bytes)
{
	uint8_t *p = spec->data + spec->len;

	assert_true(spec->len + bytes <= PW_SPEC_MAX);
	spec->len += bytes;
	return memset(p, 0, bytes);
}

static void
append_hex(struct pw_spec *spec, const char *hex)
{
	unsigned byte;

	for (; *hex != '\0'; hex += 2) {
		assert_int_equal(sscanf(hex, "%2x", &byte), 1);
		*append(spec, 1) = byte;
	}
}

static struct pw_spec_layer *
add_layer(struct pw_spec *spec, char kind)
{
	struct pw_spec_layer *layer = &spec->layers[spec->nb_layers++];

	assert_true(spec->nb_layers <= PW_SPEC_LAYERS);
	*layer = (struct pw_spec_layer){.kind = kind, .offset = spec->len, .len = -1};
	return layer;
}

static void
set_type(struct pw_spec *spec, uint16_t ether_type, uint8_t proto)
{
	if (spec->next == 0)
		return;
	if (spec->layers[spec->nb_layers - 1].kind == 'e')
		pw_frame_put(spec->data + spec->next, ether_type, 2);
	else
		spec->data[spec->next] = proto;
}

static void
put_eth(struct pw_spec *spec, struct words *words)
{
	struct rte_ether_addr from = need_mac(words), to;
	uint8_t *eth;

	need_arrow(words);
	to = need_mac(words);
	add_layer(spec, 'e');
	eth = append(spec, 14);
	memcpy(eth, &to, 6);
	memcpy(eth + 6, &from, 6);
	spec->next = spec->len - 2;
}

static void
put_vlan(struct pw_spec *spec, struct words *words)
{
	set_type(spec, 0x8100, 0);
	pw_frame_put(append(spec, 4), need_number(words) << 16, 4);
	spec->next = spec->len - 2;
}

static void
put_arp(struct pw_spec *spec, struct words *words)
{
	static const uint8_t header[] = {0, 1, 8, 0, 6, 4, 0};
	bool request = strcmp(need_word(words), "req") == 0;
	struct pw_addr sender = need_addr(words), target = need_addr(words);
	uint8_t *arp;
	const char *word = next_word(words);

	set_type(spec, 0x0806, 0);
	arp = append(spec, 28);
	memcpy(arp, header, sizeof(header));
	arp[7] = request ? 1 : 2;
	memcpy(arp + 8, spec->data + 6, 6);
	if (word != NULL) {
		struct rte_ether_addr mac = need_mac(words);

		memcpy(arp + 8, &mac, 6);
	}
	memcpy(arp + 14, sender.bytes + 12, 4);
	if (!request)
		memcpy(arp + 18, spec->data, 6);
	memcpy(arp + 24, target.bytes + 12, 4);
}

static void
put_ipv4(struct pw_spec *spec, const struct pw_addr *src, const struct pw_addr *dst)
{
	uint8_t *ip;

	set_type(spec, 0x0800, IPPROTO_IPIP);
	add_layer(spec, '4');
	ip = append(spec, 20);
	ip[0] = 0x45;
	ip[8] = 64;
	memcpy(ip + 12, src->bytes + 12, 4);
	memcpy(ip + 16, dst->bytes + 12, 4);
	spec->next = spec->len - 11;
}

static void
put_ipv6(struct pw_spec *spec, const struct pw_addr *src, const struct pw_addr *dst)
{
	uint8_t *ip;

	set_type(spec, 0x86dd, IPPROTO_IPV6);
	add_layer(spec, '6');
	ip = append(spec, 40);
	ip[0] = 0x60;
	ip[6] = IPPROTO_NONE;
	ip[7] = 64;
	memcpy(ip + 8, src->bytes, 16);
	memcpy(ip + 24, dst->bytes, 16);
	spec->next = spec->len - 34;
}

static void
put_ipv4_word(struct pw_spec *spec, uint8_t *ip, const char *word, struct words *words)
{
	if (strcmp(word, "ttl") == 0) {
		ip[8] = need_number(words);
	} else if (strcmp(word, "tos") == 0) {
		ip[1] = need_number(words);
	} else if (strcmp(word, "id") == 0) {
		pw_frame_put(ip + 4, need_number(words), 2);
		spec->has_id |= spec->nb_layers == 2;
	} else if (strcmp(word, "opt") == 0) {
		uint32_t bytes = need_number(words);

		memset(append(spec, bytes), 1, bytes);
		ip[0] += bytes / 4;
	} else if (strcmp(word, "off") == 0) {
		pw_frame_put(ip + 6, pw_frame_get16(ip + 6) | need_number(words) / 8, 2);
	} else if (strcmp(word, "mf") == 0) {
		ip[6] |= 0x20;
	} else if (strcmp(word, "df") == 0) {
		ip[6] |= 0x40;
	} else {
		fail_msg("ip: %s", word);
	}
}

static void
put_ip(struct pw_spec *spec, struct words *words)
{
	struct pw_addr src = need_addr(words), dst;
	uint32_t offset = spec->len;
	bool ipv4 = pw_addr_is_ipv4(&src);
	struct pw_spec_layer *layer;
	const char *word;

	need_arrow(words);
	dst = need_addr(words);
	(ipv4 ? put_ipv4 : put_ipv6)(spec, &src, &dst);
	layer = &spec->layers[spec->nb_layers - 1];
	while ((word = next_word(words)) != NULL) {
		uint8_t *ip = spec->data + offset;

		if (strcmp(word, "len") == 0)
			layer->len = need_number(words);
		else if (strcmp(word, "bad") == 0)
			layer->bad = true;
		else if (strcmp(word, "proto") == 0)
			spec->data[spec->next] = need_number(words);
		else if (ipv4)
			put_ipv4_word(spec, ip, word, words);
		else if (strcmp(word, "ttl") == 0)
			ip[7] = need_number(words);
		else if (strcmp(word, "tos") == 0)
			pw_frame_put(ip, 6u << 28 | need_number(words) << 20, 4);
		else
			fail_msg("ip: %s", word);
	}
}

static void
put_extension(struct pw_spec *spec, uint8_t proto, const char *hex)
{
	uint32_t offset = spec->len;

	set_type(spec, 0, proto);
	append(spec, 2)[0] = IPPROTO_NONE;
	append_hex(spec, hex);
	assert_int_equal((spec->len - offset) % 8, 0);
	spec->data[offset + 1] = (spec->len - offset) / 8 - 1;
	spec->next = offset;
}

static void
put_routing(struct pw_spec *spec, struct words *words)
{
	char hex[13];

	snprintf(hex, sizeof(hex), "04%02x00000000", need_number(words));
	put_extension(spec, IPPROTO_ROUTING, hex);
}

static void
put_fragment(struct pw_spec *spec, struct words *words)
{
	uint32_t offset = need_number(words), id = need_number(words);
	uint8_t *header;

	set_type(spec, 0, IPPROTO_FRAGMENT);
	header = append(spec, 8);
	header[0] = IPPROTO_NONE;
	pw_frame_put(header + 2, offset | (next_word(words) != NULL), 2);
	pw_frame_put(header + 4, id, 4);
	spec->next = spec->len - 8;
}

static void
put_l4(struct pw_spec *spec, struct words *words, uint8_t proto)
{
	uint16_t src = need_number(words), dst;
	struct pw_spec_layer *layer;
	const char *word;
	uint8_t *header;

	need_arrow(words);
	dst = need_number(words);
	set_type(spec, 0, proto);
	layer = add_layer(spec, proto == IPPROTO_TCP ? 't' : 'u');
	header = append(spec, proto == IPPROTO_TCP ? 20 : 8);
	pw_frame_put(header, src, 2);
	pw_frame_put(header + 2, dst, 2);
	if (proto == IPPROTO_TCP)
		pw_frame_put(header + 12, 0x5010, 2);
	while ((word = next_word(words)) != NULL) {
		if (strcmp(word, "len") == 0)
			layer->len = need_number(words);
		layer->bad |= strcmp(word, "bad") == 0;
		layer->zero |= strcmp(word, "zero") == 0;
	}
}

static bool
is_in_ipv6(const struct pw_spec *spec)
{
	unsigned i = spec->nb_layers;

	while (spec->layers[i - 1].kind != '4' && spec->layers[i - 1].kind != '6')
		i--;
	return spec->layers[i - 1].kind == '6';
}

static struct pw_spec_layer *
put_icmp_header(struct pw_spec *spec, uint8_t type, uint8_t code, uint32_t word)
{
	struct pw_spec_layer *layer;
	uint8_t *icmp;

	set_type(spec, 0, is_in_ipv6(spec) ? IPPROTO_ICMPV6 : IPPROTO_ICMP);
	layer = add_layer(spec, 'i');
	icmp = append(spec, 8);
	icmp[0] = type;
	icmp[1] = code;
	pw_frame_put(icmp + 4, word, 4);
	spec->next = 0;
	return layer;
}

static void
put_icmp(struct pw_spec *spec, struct words *words)
{
	uint8_t type = need_number(words), code = need_number(words);
	struct pw_spec_layer *layer = put_icmp_header(spec, type, code, need_number(words));

	layer->bad = next_word(words) != NULL;
}

static void
put_nd(struct pw_spec *spec, struct words *words, uint8_t type)
{
	struct pw_addr target = need_addr(words);
	struct pw_spec_layer *layer = put_icmp_header(spec, type, 0, 0);
	const char *word;

	memcpy(append(spec, 16), target.bytes, 16);
	while ((word = next_word(words)) != NULL) {
		uint8_t *icmp = spec->data + layer->offset;

		if (strcmp(word, "lla") == 0) {
			struct rte_ether_addr mac = need_mac(words);
			uint8_t *option = append(spec, 8);

			option[0] = type == 135 ? 1 : 2;
			option[1] = 1;
			memcpy(option + 2, &mac, 6);
		} else if (strcmp(word, "hex") == 0) {
			append_hex(spec, need_word(words));
		} else if (strcmp(word, "code") == 0) {
			icmp[1] = need_number(words);
		} else {
			icmp[4] |= *word == 'r' ? 0x80
				: *word == 's'	? 0x40
				: *word == 'o'	? 0x20
						: 0;
			layer->bad |= *word == 'b';
		}
	}
}

static void
put_bytes(struct pw_spec *spec, struct words *words)
{
	uint32_t n = need_number(words), from = next_word(words) != NULL ? need_number(words) : 0;
	uint8_t *data = append(spec, n);

	for (uint32_t i = 0; i < n; i++)
		data[i] = pw_packet_byte(from + i);
}

static void
put_layer(struct pw_spec *spec, char *text)
{
	struct words words;
	const char *name = strtok_r(text, " ", &words.rest);

	if (strcmp(name, "eth") == 0)
		put_eth(spec, &words);
	else if (strcmp(name, "vlan") == 0)
		put_vlan(spec, &words);
	else if (strcmp(name, "arp") == 0)
		put_arp(spec, &words);
	else if (strcmp(name, "ip") == 0)
		put_ip(spec, &words);
	else if (strcmp(name, "hbh") == 0)
		put_extension(spec, IPPROTO_HOPOPTS, need_word(&words));
	else if (strcmp(name, "dst") == 0)
		put_extension(spec, IPPROTO_DSTOPTS, need_word(&words));
	else if (strcmp(name, "rt") == 0)
		put_routing(spec, &words);
	else if (strcmp(name, "frag") == 0)
		put_fragment(spec, &words);
	else if (strcmp(name, "tcp") == 0 || strcmp(name, "udp") == 0)
		put_l4(spec, &words, *name == 't' ? IPPROTO_TCP : IPPROTO_UDP);
	else if (strcmp(name, "icmp") == 0)
		put_icmp(spec, &words);
	else if (strcmp(name, "ns") == 0 || strcmp(name, "na") == 0)
		put_nd(spec, &words, name[1] == 's' ? 135 : 136);
	else if (strcmp(name, "bytes") == 0)
		put_bytes(spec, &words);
	else if (strcmp(name, "hex") == 0)
		append_hex(spec, need_word(&words));
	else if (strcmp(name, "cut") == 0 || strcmp(name, "pad") == 0)
		spec->final_len = need_number(&words);
	else
		fail_msg("no such layer: %s", name);
}

/* RFC 1071, the slow way. */
static uint32_t
sum(const uint8_t *data, uint32_t len)
{
	uint32_t s = 0;

	for (uint32_t i = 0; i < len; i++)
		s += i % 2 == 0 ? data[i] << 8 : data[i];
	while (s >> 16)
		s = (s >> 16) + (s & 0xffff);
	return s;
}

static uint16_t
fold(uint32_t s)
{
	while (s >> 16)
		s = (s >> 16) + (s & 0xffff);
	return ~s;
}

static uint32_t
pseudo_sum(const struct pw_spec *spec, unsigned i, uint8_t proto)
{
	const uint8_t *ip;
	uint32_t len = spec->len - spec->layers[i].offset;

	while (spec->layers[i].kind != '4' && spec->layers[i].kind != '6')
		i--;
	ip = spec->data + spec->layers[i].offset;
	return len + proto + (spec->layers[i].kind == '4' ? sum(ip + 12, 8) : sum(ip + 8, 32));
}

static void
finish_l4(struct pw_spec *spec, unsigned i, uint8_t proto)
{
	const struct pw_spec_layer *layer = &spec->layers[i];
	uint8_t *l4 = spec->data + layer->offset;
	uint8_t *field = l4 + (proto == IPPROTO_TCP ? 16 : proto == IPPROTO_UDP ? 6 : 2);
	uint32_t len = spec->len - layer->offset;
	uint16_t cksum;

	if (proto == IPPROTO_UDP)
		pw_frame_put(l4 + 4, layer->len >= 0 ? (uint32_t)layer->len : len, 2);
	pw_frame_put(field, 0, 2);
	if (layer->zero)
		return;
	cksum = fold(sum(l4, len) + (proto == IPPROTO_ICMP ? 0 : pseudo_sum(spec, i, proto)));
	if (proto == IPPROTO_UDP && cksum == 0)
		cksum = 0xffff;
	pw_frame_put(field, cksum ^ layer->bad, 2);
}

static void
finish_ipv4(struct pw_spec *spec, const struct pw_spec_layer *layer)
{
	uint8_t *ip = spec->data + layer->offset;

	pw_frame_put(ip + 2, layer->len >= 0 ? (uint32_t)layer->len : spec->len - layer->offset, 2);
	pw_frame_put(ip + 10, 0, 2);
	pw_frame_put(ip + 10, fold(sum(ip, (ip[0] & 15) * 4)) ^ layer->bad, 2);
}

static bool
is_of_ipv6(const struct pw_spec *spec, unsigned i)
{
	while (spec->layers[i].kind != '4' && spec->layers[i].kind != '6')
		i--;
	return spec->layers[i].kind == '6';
}

void
pw_spec_finish(struct pw_spec *spec)
{
	for (unsigned i = spec->nb_layers; i-- > 0;) {
		const struct pw_spec_layer *layer = &spec->layers[i];

		switch (layer->kind) {
		case '4':
			finish_ipv4(spec, layer);
			break;
		case '6':
			pw_frame_put(spec->data + layer->offset + 4,
				layer->len >= 0 ? (uint32_t)layer->len
						: spec->len - layer->offset - 40,
				2);
			break;
		case 't':
			finish_l4(spec, i, IPPROTO_TCP);
			break;
		case 'u':
			finish_l4(spec, i, IPPROTO_UDP);
			break;
		case 'i':
			finish_l4(spec, i, is_of_ipv6(spec, i) ? IPPROTO_ICMPV6 : IPPROTO_ICMP);
			break;
		default:
			break;
		}
	}
}

uint32_t
pw_spec_find(const struct pw_spec *spec, char kind)
{
	unsigned i = 0;

	while (i < spec->nb_layers && spec->layers[i].kind != kind)
		i++;
	assert_true(i < spec->nb_layers);
	return spec->layers[i].offset;
}

void
pw_spec_build(struct pw_spec *spec, const char *text, bool from_us)
{
	char copy[1024], eth[] = "eth peer > us", reply[] = "eth us > peer";
	char *rest = copy;

	spec->len = spec->nb_layers = spec->next = 0;
	spec->has_id = false;
	spec->final_len = -1;
	snprintf(copy, sizeof(copy), "%s", text);
	if (strncmp(text, "eth", 3) != 0)
		put_layer(spec, from_us ? reply : eth);
	while (rest != NULL) {
		char *end = strstr(rest, " / ");

		if (end != NULL)
			*end = '\0';
		put_layer(spec, rest);
		rest = end == NULL ? NULL : end + 3;
	}
	pw_spec_finish(spec);
	if (spec->final_len >= 0 && (uint32_t)spec->final_len > spec->len)
		append(spec, spec->final_len - spec->len);
	else if (spec->final_len >= 0)
		spec->len = spec->final_len;
}
