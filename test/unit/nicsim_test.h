/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NICSIM_TEST_H
#define NICSIM_TEST_H

/**
 * @file
 * What tests of the software NIC share: cmocka, chance, and frames with checksums that are worked
 * out slowly, two bytes at a time, and by nothing of what is tested.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "frame.h"
#include "pw_chance.h"

/** A number from least to most. */
uint32_t test_between(uint64_t *seed, uint32_t least, uint32_t most);

void test_fill(uint64_t *seed, void *to, size_t bytes);

#define TEST_EXTENSIONS_MAX 4

/** A packet as it should be. */
struct test_packet {
	unsigned ip;	  /**< 4, 6, or 0: none */
	uint8_t protocol; /**< TCP, UDP and SCTP get a header */
	bool tagged;
	uint16_t tag;
	unsigned option_bytes; /**< of IPv4, in fours up to 40 */
	uint16_t fragment;     /**< flags and offset; with IPv6 in a header of its own, if not 0 */
	uint8_t extensions[TEST_EXTENSIONS_MAX]; /**< IPv6: next header numbers */
	unsigned nb_extensions;
	uint32_t payload_bytes;
	uint32_t pad_bytes; /**< behind the packet */
	bool without_sum;   /**< UDP: the checksum is 0 */
};

/** And what it looks like. */
struct test_frame {
	uint8_t data[FRAME_MAX_BYTES + 512];
	uint32_t len_bytes;
	uint32_t l3, l4, end; /**< offsets; end is without what is behind the packet */
	uint32_t l4_header_bytes;
};

/** Make a frame: addresses, ports and payload at random, all sums right. */
void test_make(struct test_frame *frame, const struct test_packet *packet, uint64_t *seed);

/** Some packet of any kind, at most so large. */
struct test_packet test_any_packet(uint64_t *seed, uint32_t payload_max);

/** Work out the checksums of a frame, after it was changed. */
void test_set_sums(struct test_frame *frame, const struct test_packet *packet);

/** Add to a one's complement sum; only the last piece may have an odd length. */
uint32_t test_sum(uint32_t sum, const uint8_t *data, uint32_t len_bytes);

/** Sum of the pseudo header; l4_bytes 0: as if without a length. */
uint32_t test_pseudo_sum(const uint8_t *ip, unsigned version, uint8_t protocol, uint32_t l4_bytes);

/** Where TCP's or UDP's checksum stands in the L4 header. */
uint32_t test_sum_offset(uint8_t protocol);

uint16_t test_get16(const uint8_t *at);
void test_put16(uint8_t *at, uint32_t value);
uint32_t test_get32(const uint8_t *at);
void test_put32(uint8_t *at, uint32_t value);

#endif
