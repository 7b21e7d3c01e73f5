/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NICSIM_DESC_H
#define NICSIM_DESC_H

/** @file Descriptors in the driver's memory (datasheet 7.1.6, 7.2.3). Little endian, as x86 is. */

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

/** Advanced receive descriptor: what the driver gives, and what it finds written back. */
union rx_desc {
	struct {
		uint64_t packet_address;
		uint64_t header_address; /**< bit 0 is DD in what is written back: written as 0 */
	} read;
	struct {
		uint64_t info;	 /**< RSS type 3:0, packet type 16:4, RSS hash 63:32 */
		uint32_t status; /**< status 19:0, errors 31:20 */
		uint16_t len_bytes;
		uint16_t vlan;
	} done;
	struct {
		uint64_t low, high;
	} words;
};

static_assert(sizeof(union rx_desc) == 16, "7.1.6: 16 bytes");
static_assert(offsetof(union rx_desc, done.status) == 8, "7.1.6.2: status in the third dword");
static_assert(offsetof(union rx_desc, done.len_bytes) == 12, "7.1.6.2: length in the fourth");
static_assert(offsetof(union rx_desc, done.vlan) == 14, "7.1.6.2: VLAN tag behind it");

#define RXD_DD (1u << 0)
#define RXD_EOP (1u << 1)
#define RXD_VP (1u << 3)    /* VLAN tag stripped */
#define RXD_UDPCS (1u << 4) /* UDP checksum looked at */
#define RXD_L4CS (1u << 5)  /* TCP or UDP checksum looked at */
#define RXD_IPCS (1u << 6)  /* IPv4 checksum looked at */
#define RXD_PIF (1u << 7)   /* passed an inexact filter: the driver should look */
#define RXD_UDPV (1u << 10)
#define RXD_TCPE (1u << 30) /* TCP or UDP checksum wrong */
#define RXD_IPE (1u << 31)  /* IPv4 checksum wrong */

#define RXD_TYPE_IPV4 (1u << 4)
#define RXD_TYPE_IPV4_OPTIONS (1u << 5)
#define RXD_TYPE_IPV6 (1u << 6)
#define RXD_TYPE_IPV6_EXT (1u << 7)
#define RXD_TYPE_TCP (1u << 8)
#define RXD_TYPE_UDP (1u << 9)
#define RXD_TYPE_SCTP (1u << 10)

/** Transmit descriptor: data or context, told apart by its type. */
union tx_desc {
	struct {
		uint64_t address;
		uint32_t command; /**< DTALEN 15:0, DTYP 23:20, DCMD 31:24 */
		uint32_t options; /**< STA 3:0, IDX 6:4, CC 7, POPTS 13:8, PAYLEN 31:14 */
	} data;
	struct {
		uint16_t ip_mac_len; /**< IPLEN 8:0, MACLEN 15:9 */
		uint16_t vlan;
		uint32_t security;
		uint32_t command; /**< TUCMD 19:9, DTYP 23:20 */
		uint32_t mss;	  /**< IDX 6:4, L4LEN 15:8, MSS 31:16 */
	} context;
	struct {
		uint64_t low, high;
	} words;
};

static_assert(sizeof(union tx_desc) == 16, "7.2.3: 16 bytes");
static_assert(offsetof(union tx_desc, data.command) == 8, "7.2.3.2.4: command in the third dword");
static_assert(offsetof(union tx_desc, data.options) == 12, "7.2.3.2.4: options in the fourth");
static_assert(offsetof(union tx_desc, context.command) == 8, "7.2.3.2.3: TUCMD in the third dword");
static_assert(offsetof(union tx_desc, context.mss) == 12, "7.2.3.2.3: MSS in the fourth");

#define TXD_LEN(command) ((command)&0xffff)
#define TXD_DEXT (1u << 29)
#define TXD_DTYP(command) ((command) >> 20 & 0xf)
#define TXD_DTYP_CONTEXT 2
#define TXD_DTYP_DATA 3
#define TXD_EOP (1u << 24)
#define TXD_RS (1u << 27)
#define TXD_VLE (1u << 30)
#define TXD_TSE (1u << 31)
#define TXD_DD (1u << 0) /* in the status, where options were */
#define TXD_IDX(options) ((options) >> 4 & 1)
#define TXD_CC (1u << 7)
#define TXD_IXSM (1u << 8)
#define TXD_TXSM (1u << 9)
#define TXD_PAYLEN(options) ((options) >> 14)

#define TXC_IPLEN(context) ((context)->ip_mac_len & 0x1ff)
#define TXC_MACLEN(context) ((context)->ip_mac_len >> 9)
#define TXC_IPV4 (1u << 10)
#define TXC_L4T(command) ((command) >> 11 & 3)
#define TXC_L4T_UDP 0
#define TXC_L4T_TCP 1
#define TXC_L4T_SCTP 2
#define TXC_L4LEN(mss) ((mss) >> 8 & 0xff)
#define TXC_MSS(mss) ((mss) >> 16)

#endif
