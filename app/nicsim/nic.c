/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "nic.h"

#include <errno.h>
#include <stdlib.h>
#include <x86intrin.h>

#include "parts.h"
#include "rss.h"
#include "tx_job.h"

#define CONTROL_GAP_NS 100000 /* while frames come; at each poll while there are none */

/* clang-format off */
const struct pw_stat nic_counters_table[] = {
	PW_STAT(nic_counters, rx_frames, "frames"),
	PW_STAT(nic_counters, rx_bytes, "bytes"),
	PW_STAT(nic_counters, rx_missed, "frames"),
	PW_STAT(nic_counters, rx_no_descriptor, "frames"),
	PW_STAT(nic_counters, rx_filtered, "frames"),
	PW_STAT(nic_counters, rx_vlan_filtered, "frames"),
	PW_STAT(nic_counters, rx_crc_errors, "frames"),
	PW_STAT(nic_counters, rx_undersize, "frames"),
	PW_STAT(nic_counters, rx_oversize, "frames"),
	PW_STAT(nic_counters, rx_disabled, "frames"),
	PW_STAT(nic_counters, rx_lost_in_reset, "frames"),
	PW_STAT(nic_counters, rx_buffered, "frames"),
	PW_STAT(nic_counters, rx_dma_errors, "frames"),
	PW_STAT(nic_counters, tx_frames, "frames"),
	PW_STAT(nic_counters, tx_bytes, "bytes"),
	PW_STAT(nic_counters, tx_tso_packets, "packets"),
	PW_STAT(nic_counters, tx_bad, "packets"),
	PW_STAT(nic_counters, tx_dma_errors, "buffers"),
	PW_STAT(nic_counters, tx_link_down, "frames"),
	PW_STAT(nic_counters, resets, ""),
	PW_STAT(nic_counters, interrupts, ""),
	PW_STAT(nic_counters, hasty_readings, ""),
	PW_STAT_END,
};
/* clang-format on */

int
nic_init(struct nic *nic)
{
	nic->rss = malloc(sizeof(*nic->rss));
	nic->job = tx_job_create();
	if (nic->rss == NULL || nic->job == NULL || packet_buffer_init(&nic->packets) < 0) {
		nic_fini(nic);
		return -ENOMEM;
	}
	rss_set_key(nic->rss, nic->rx.key);
	for (unsigned q = 0; q < NB_QUEUES; q++) {
		nic->rxq[q].number = nic->txq[q].number = q;
		nic->rxq[q].ring.reg = RXQ_BASE(q);
		nic->txq[q].ring.reg = TXQ_BASE(q);
	}
	nic->link_up = true;
	reset_all(nic);
	return 0;
}

void
nic_fini(struct nic *nic)
{
	/* What the driver sees of a card that is gone: no link, no queue. */
	nic->link_up = false;
	if (nic->bar != NULL && nic->rss != NULL && nic->job != NULL)
		reset_all(nic);
	free(nic->rss);
	nic->rss = NULL;
	tx_job_destroy(nic->job);
	nic->job = NULL;
	packet_buffer_fini(&nic->packets);
}

/* Registers by which the driver asks for something. */
static void
poll_control(struct nic *nic)
{
	reset_poll(nic);
	irq_poll(nic);
	rx_control(nic);
	tx_control(nic);
	fault_tick(nic);
	nic->counters.rx_buffered = nic->packets.frames;
}

unsigned
nic_poll(struct nic *nic, uint64_t now_ns)
{
	uint64_t begin = __rdtsc(), middle;
	unsigned sent, received;

	nic->now_ns = now_ns;
	sent = tx_poll(nic);
	middle = __rdtsc();
	received = rx_poll(nic);
	if (sent > 0)
		nic->tx_cycles += middle - begin;
	if (received > 0)
		nic->rx_cycles += __rdtsc() - middle;
	line_tick(nic->line, now_ns);
	rx_tick(nic);
	if (sent + received == 0 || now_ns >= nic->next_control_ns) {
		nic->next_control_ns = now_ns + CONTROL_GAP_NS;
		poll_control(nic);
	}
	return sent + received;
}

void
nic_set_link(struct nic *nic, bool up)
{
	if (nic->link_up == up)
		return;
	nic->link_up = up;
	reg_write(nic->bar, REG_LINKS, up ? LINKS_UP_10G : 0);
	irq_raise(nic, EICR_LSC);
}

void
nic_remap(struct nic *nic)
{
	rx_remap(nic);
	tx_remap(nic);
}

bool
nic_is_idle(const struct nic *nic)
{
	for (unsigned i = 0; i < nic->nb_rx_running; i++) {
		const struct rx_queue *queue = &nic->rxq[nic->rx_running[i]];

		if (queue->written != queue->ring.head)
			return false;
	}
	return packet_buffer_is_empty(&nic->packets) && !nic->job->active &&
		line_get_stats(nic->line, LINE_RX)->held == 0 &&
		line_get_stats(nic->line, LINE_TX)->held == 0;
}

bool
nic_adds_up(const struct nic *nic, int64_t *left)
{
	const struct nic_counters *c = &nic->counters;
	const struct line_stats *line = line_get_stats(nic->line, LINE_RX);
	uint64_t known = c->rx_frames + c->rx_missed + c->rx_no_descriptor + c->rx_filtered +
		c->rx_vlan_filtered + c->rx_crc_errors + c->rx_undersize + c->rx_oversize +
		c->rx_disabled + c->rx_lost_in_reset + nic->packets.frames;
	int64_t difference = (int64_t)(line->frames - known);

	if (left != NULL)
		*left = difference;
	return difference == 0;
}
