/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "stats.h"

#include <string.h>

#include "nic.h"

#define PUBLISH_GAP_NS 1000000
#define READING_MAX_NS 50000000
#define WIDE 1 /* 64 bits in two registers, the high one at + 4 */

/* Which register shows a total. The driver reads on in the order of this table, more or less. */
static const struct {
	uint16_t stat, count;
	uint32_t reg, step;
	uint32_t flags;
} registers[] = {
	{STAT_MPC, 1, REG_MPC0, 0, 0},
	{STAT_QPRC, NB_QUEUE_STATS, REG_QPRC(0), 0x40, 0},
	{STAT_QPTC, NB_QUEUE_STATS, REG_QPTC(0), 0x40, 0},
	{STAT_QPRDC, NB_QUEUE_STATS, REG_QPRDC(0), 0x40, 0},
	{STAT_QBRC, NB_QUEUE_STATS, REG_QBRC_L(0), 0x40, WIDE},
	{STAT_QBTC, NB_QUEUE_STATS, REG_QBTC_L(0), 8, WIDE},
	{STAT_RLEC, 1, REG_RLEC, 0, 0},
	{STAT_GPRC, 1, REG_GPRC, 0, 0},
	{STAT_GORC, 1, REG_GORCL, 0, WIDE},
	{STAT_GOTC, 1, REG_GOTCL, 0, WIDE},
	{STAT_TOR, 1, REG_TORL, 0, WIDE},
	{STAT_TPR, 1, REG_TPR, 0, 0},
	{STAT_TPT, 1, REG_TPT, 0, 0},
	{STAT_GPTC, 1, REG_GPTC, 0, 0},
	{STAT_BPRC, 1, REG_BPRC, 0, 0},
	{STAT_MPRC, 1, REG_MPRC, 0, 0},
	{STAT_PRC, NB_SIZES, REG_PRC64, 4, 0},
	{STAT_MPTC, 1, REG_MPTC, 0, 0},
	{STAT_PTC, NB_SIZES, REG_PTC64, 4, 0},
	{STAT_RUC, 1, REG_RUC, 0, 0},
	{STAT_ROC, 1, REG_ROC, 0, 0},
	{STAT_BPTC, 1, REG_BPTC, 0, 0},
	{STAT_XEC, 1, REG_XEC, 0, 0},
	/* The driver reads it first, and is held up for a moment by it: watch.h. */
	{STAT_CRCERRS, 1, REG_CRCERRS, 0, 0},
};

/* What is new, as far as it fits the register; the rest waits for the next reading. */
static uint64_t
unread(const struct stats *stats, unsigned i, bool wide)
{
	uint64_t most = wide ? (UINT64_C(1) << 36) - 1 : UINT32_MAX;
	int64_t fresh = (int64_t)(stats->total[i] - stats->read[i]);

	if (fresh < 0)
		return 0;
	return (uint64_t)fresh > most ? most : (uint64_t)fresh;
}

static void
publish(struct nic *nic, unsigned i, uint32_t reg, bool wide)
{
	uint64_t value = unread(&nic->stats, i, wide);

	if (value == nic->stats.published[i])
		return;
	nic->stats.published[i] = value;
	reg_write(nic->bar, reg, (uint32_t)value);
	if (wide)
		reg_write(nic->bar, reg + 4, (uint32_t)(value >> 32));
}

static void
publish_all(struct nic *nic)
{
	for (unsigned r = 0; r < sizeof(registers) / sizeof(registers[0]); r++)
		for (unsigned k = 0; k < registers[r].count; k++)
			publish(nic, registers[r].stat + k,
				registers[r].reg + k * registers[r].step,
				registers[r].flags & WIDE);
}

void
stats_publish(struct nic *nic)
{
	/* Who begins and does not end reads a few registers only: ixgbe_clear_hw_cntrs_generic().
	 */
	if (nic->stats.frozen && nic->now_ns < nic->stats.frozen_until_ns)
		return;
	if (nic->now_ns < nic->stats.next_publish_ns)
		return;
	nic->stats.frozen = false;
	nic->stats.next_publish_ns = nic->now_ns + PUBLISH_GAP_NS;
	publish_all(nic);
}

void
stats_reading_began(struct nic *nic)
{
	nic->stats.frozen = true;
	nic->stats.frozen_until_ns = nic->now_ns + READING_MAX_NS;
}

void
stats_was_read(struct nic *nic, unsigned times)
{
	/* Read again before we looked: the driver counts too much until so much has come anew. */
	bool hasty = false;

	for (unsigned i = 0; i < NB_STATS; i++) {
		hasty |= times > 1 && nic->stats.published[i] > 0;
		nic->stats.read[i] += (uint64_t)times * nic->stats.published[i];
	}
	nic->counters.hasty_readings += hasty;
	nic->stats.frozen = false;
	publish_all(nic);
}

void
stats_reset(struct nic *nic)
{
	memcpy(nic->stats.read, nic->stats.total, sizeof(nic->stats.read));
	nic->stats.frozen = false;
	publish_all(nic);
}
