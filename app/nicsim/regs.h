/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NICSIM_REGS_H
#define NICSIM_REGS_H

/**
 * @file
 * Registers of the 82599 that the model minds, named and numbered as in the datasheet, section 8.2.
 * All others are plain memory: what the driver writes, it reads back.
 */

#include <stdint.h>

#define BAR_BYTES (512 << 10)

/* General (8.2.3.1) */
#define REG_CTRL 0x00000
#define CTRL_LRST (1u << 3)
#define CTRL_RST (1u << 26)
#define REG_STATUS 0x00008

/* EEPROM and Flash (8.2.3.2) */
#define REG_EERD 0x10014
#define EERD_START (1u << 0)
#define EERD_DONE (1u << 1)
#define EERD_ADDR(v) (((v) >> 2) & 0x3fff)
#define REG_EEC 0x10010
#define EEC_PRES (1u << 8)
#define EEC_AUTO_RD (1u << 9)
#define EEC_SIZE(v) ((v) << 11)
#define REG_SWSM 0x10140
#define REG_FWSM 0x10148

/* Link and MDIO (8.2.3.22) */
#define REG_AUTOC 0x042a0
#define AUTOC_AN_RESTART (1u << 12)
#define AUTOC_LMS_10G (1u << 13)
#define REG_LINKS 0x042a4
#define LINKS_UP_10G 0xf0000000u
#define REG_AUTOC2 0x042a8
#define REG_ANLP1 0x042b0
#define REG_MSCA 0x0425c
#define MSCA_COMMAND (1u << 30)
#define REG_MSRWD 0x04260
#define REG_MMNGC 0x042d0

/* Interrupts (8.2.3.5) */
#define REG_EICR 0x00800
#define REG_EIMS 0x00880
#define REG_EIMC 0x00888
#define EICR_LSC (1u << 20)
#define EICR_MASK 0x7fffffffu

/* Receive filters (8.2.3.7) */
#define REG_FCTRL 0x05080
#define FCTRL_SBP (1u << 1)
#define FCTRL_MPE (1u << 8)
#define FCTRL_UPE (1u << 9)
#define FCTRL_BAM (1u << 10)
#define REG_VLNCTRL 0x05088
#define VLNCTRL_VFE (1u << 30)
#define REG_MCSTCTRL 0x05090
#define MCSTCTRL_MO 3u
#define MCSTCTRL_MFE (1u << 2)
#define REG_RXCSUM 0x05000
#define RXCSUM_PCSD (1u << 13)
#define REG_MTA(n) (0x05200 + 4 * (n))
#define NB_MTA 128
#define REG_VFTA(n) (0x0a000 + 4 * (n))
/* The first 16 receive addresses stand apart from the others (8.2.3.7.9). */
#define NB_RA 128
#define REG_RAL(n) ((n) < 16 ? 0x05400 + 8 * (n) : 0x0a200 + 8 * (n))
#define REG_RAH(n) (REG_RAL(n) + 4)
#define RAH_AV (1u << 31)
#define REG_MRQC 0x05818
#define MRQC_MRQE 0xfu
#define MRQC_RSS 1u
#define MRQC_IPV4_TCP (1u << 16)
#define MRQC_IPV4 (1u << 17)
#define MRQC_IPV6 (1u << 20)
#define MRQC_IPV6_TCP (1u << 21)
#define MRQC_IPV4_UDP (1u << 22)
#define MRQC_IPV6_UDP (1u << 23)
#define REG_RETA 0x05c00
#define RETA_BYTES 128
#define REG_RSSRK 0x05c80
#define RSSRK_BYTES 40

/* Receive DMA (8.2.3.8) */
#define NB_QUEUES 128 /* 128 of each kind; RSS spreads over 16 */
#define RXQ_BASE(q) ((q) < 64 ? 0x01000 + 0x40 * (q) : 0x0d000 + 0x40 * ((q)-64))
#define REG_RDBAL(q) RXQ_BASE(q)
#define REG_RDBAH(q) (RXQ_BASE(q) + 0x04)
#define REG_RDLEN(q) (RXQ_BASE(q) + 0x08)
#define REG_RDH(q) (RXQ_BASE(q) + 0x10)
#define REG_RDT(q) (RXQ_BASE(q) + 0x18)
#define REG_RXDCTL(q) (RXQ_BASE(q) + 0x28)
#define RXDCTL_ENABLE (1u << 25)
#define RXDCTL_VME (1u << 30)
#define REG_SRRCTL(q) ((q) < 16 ? 0x02100 + 4 * (q) : RXQ_BASE(q) + 0x14)
#define SRRCTL_BSIZEPACKET 0x1fu
#define SRRCTL_DROP_EN (1u << 28)
#define REG_RXCTRL 0x03000
#define RXCTRL_RXEN (1u << 0)
#define REG_RDRXCTL 0x02f00
#define RDRXCTL_DMAIDONE (1u << 3)

/* Transmit DMA (8.2.3.9) */
#define TXQ_BASE(q) (0x06000 + 0x40 * (q))
#define REG_TDBAL(q) TXQ_BASE(q)
#define REG_TDBAH(q) (TXQ_BASE(q) + 0x04)
#define REG_TDLEN(q) (TXQ_BASE(q) + 0x08)
#define REG_TDH(q) (TXQ_BASE(q) + 0x10)
#define REG_TDT(q) (TXQ_BASE(q) + 0x18)
#define REG_TXDCTL(q) (TXQ_BASE(q) + 0x28)
#define TXDCTL_ENABLE (1u << 25)
#define REG_DMATXCTL 0x04a80
#define DMATXCTL_TE (1u << 0)

/* Security blocks: only their ready bits (8.2.3.13) */
#define REG_SECTXSTAT 0x08804
#define REG_SECRXSTAT 0x08d04

/* MAC (8.2.3.22) */
#define REG_HLREG0 0x04240
#define HLREG0_RXCRCSTRP (1u << 1)
#define HLREG0_JUMBOEN (1u << 2)
#define HLREG0_TXPADEN (1u << 10)
#define REG_MAXFRS 0x04268

/* Statistics (8.2.3.23) */
#define REG_CRCERRS 0x04000
#define REG_MPC0 0x03fa0
#define REG_RLEC 0x04040
#define REG_PRC64 0x0405c
#define REG_GPRC 0x04074
#define REG_BPRC 0x04078
#define REG_MPRC 0x0407c
#define REG_GPTC 0x04080
#define REG_GORCL 0x04088
#define REG_GORCH 0x0408c
#define REG_GOTCL 0x04090
#define REG_GOTCH 0x04094
#define REG_RUC 0x040a4
#define REG_ROC 0x040ac
#define REG_TORL 0x040c0
#define REG_TORH 0x040c4
#define REG_TPR 0x040d0
#define REG_TPT 0x040d4
#define REG_PTC64 0x040d8
#define REG_MPTC 0x040f0
#define REG_BPTC 0x040f4
#define REG_XEC 0x04120
#define NB_QUEUE_STATS 16
#define REG_RQSMR(n) (0x02300 + 4 * (n))
#define REG_TQSM(n) (0x08600 + 4 * (n))
#define REG_QPRC(i) (0x01030 + 0x40 * (i))
#define REG_QBRC_L(i) (0x01034 + 0x40 * (i))
#define REG_QBRC_H(i) (0x01038 + 0x40 * (i))
#define REG_QPRDC(i) (0x01430 + 0x40 * (i))
#define REG_QPTC(i) (0x06030 + 0x40 * (i))
#define REG_QBTC_L(i) (0x08700 + 8 * (i))
#define REG_QBTC_H(i) (0x08704 + 8 * (i))
/* The last register that ixgbe reads for statistics: a MACsec counter. */
#define REG_LSECRXNUSA 0x08f80

/** A register as it is now; what the driver wrote before it is seen as well. */
static inline uint32_t
reg_read(const uint8_t *bar, uint32_t reg)
{
	return __atomic_load_n((const uint32_t *)(const void *)(bar + reg), __ATOMIC_ACQUIRE);
}

static inline void
reg_write(uint8_t *bar, uint32_t reg, uint32_t value)
{
	__atomic_store_n((uint32_t *)(void *)(bar + reg), value, __ATOMIC_RELEASE);
}

/** Take what the driver wrote, and leave 0. */
static inline uint32_t
reg_take(uint8_t *bar, uint32_t reg)
{
	return __atomic_exchange_n((uint32_t *)(void *)(bar + reg), 0, __ATOMIC_ACQ_REL);
}

#endif
