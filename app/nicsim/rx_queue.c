/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "rx_queue.h"

#include <stdlib.h>

#include "parts.h"

static union rx_desc *
descs(const struct rx_queue *queue)
{
	return queue->ring.descs;
}

static void
forget_late(struct rx_queue *queue)
{
	free(queue->late);
	free(queue->late_until_ns);
	queue->late = NULL;
	queue->late_until_ns = NULL;
}

static void
start_queue(struct nic *nic, struct rx_queue *queue)
{
	uint32_t srrctl = reg_read(nic->bar, REG_SRRCTL(queue->number));

	/* A ring that went with its memory may have left some, of its own size. */
	forget_late(queue);
	queue->buf_bytes = (srrctl & SRRCTL_BSIZEPACKET) << 10;
	queue->drop = srrctl & SRRCTL_DROP_EN;
	queue->written = queue->nb_done = 0;
	if (queue->buf_bytes > 0)
		ring_start(nic, &queue->ring);
}

static void
stop_queue(struct nic *nic, struct rx_queue *queue)
{
	forget_late(queue);
	queue->nb_done = 0;
	ring_stop(nic, &queue->ring);
}

static void
list_running(struct nic *nic)
{
	nic->nb_rx_running = 0;
	for (unsigned q = 0; q < NB_QUEUES; q++)
		if (nic->rxq[q].ring.descs != NULL)
			nic->rx_running[nic->nb_rx_running++] = q;
}

static void
control_queue(struct nic *nic, struct rx_queue *queue)
{
	unsigned q = queue->number;

	if (!ring_is_enabled(nic, &queue->ring)) {
		if (queue->ring.descs != NULL)
			stop_queue(nic, queue);
		return;
	}
	if (queue->ring.descs == NULL)
		start_queue(nic, queue);
	queue->strip_vlan = reg_read(nic->bar, REG_RXDCTL(q)) & RXDCTL_VME;
	queue->stat = reg_read(nic->bar, REG_RQSMR(q / 4)) >> (8 * (q % 4)) & 0xf;
	if (queue->ring.descs != NULL)
		ring_show_head(nic, &queue->ring, queue->written);
}

void
rx_queue_control(struct nic *nic)
{
	for (unsigned q = 0; q < NB_QUEUES; q++)
		control_queue(nic, &nic->rxq[q]);
	list_running(nic);
}

uint32_t
rx_queue_available(const struct nic *nic, struct rx_queue *queue, uint32_t wanted)
{
	if (ring_used(&queue->ring) < wanted)
		ring_read_tail(nic, &queue->ring);
	return ring_used(&queue->ring);
}

const union rx_desc *
rx_queue_desc(const struct rx_queue *queue, uint32_t n)
{
	uint32_t at = queue->ring.head + n;

	return &descs(queue)[at < queue->ring.nb_desc ? at : at - queue->ring.nb_desc];
}

/* Data and address first, DD with the rest last: the driver reads DD first (7.1.5). */
static void
publish_desc(union rx_desc *to, const union rx_desc *from)
{
	__atomic_store_n(&to->words.low, from->words.low, __ATOMIC_RELAXED);
	__atomic_store_n(&to->words.high, from->words.high, __ATOMIC_RELEASE);
}

/* Fault: keep it back for a while. */
static bool
hold_back(struct nic *nic, struct rx_queue *queue, const union rx_desc *desc)
{
	if (queue->late == NULL) {
		queue->late = calloc(queue->ring.nb_desc, sizeof(*queue->late));
		queue->late_until_ns = calloc(queue->ring.nb_desc, sizeof(*queue->late_until_ns));
	}
	if (queue->late == NULL || queue->late_until_ns == NULL)
		return false;
	queue->late[queue->ring.head] = *desc;
	queue->late_until_ns[queue->ring.head] = fault_write_back_at(nic);
	return true;
}

void
rx_queue_flush(struct rx_queue *queue)
{
	for (uint32_t i = 0; i < queue->nb_done; i++) {
		publish_desc(&descs(queue)[queue->written], &queue->done[i]);
		queue->written = ring_next(&queue->ring, queue->written);
	}
	queue->nb_done = 0;
}

void
rx_queue_write_back(struct nic *nic, struct rx_queue *queue, const union rx_desc *desc)
{
	/* Order is kept: behind one that is held back, all are. */
	bool late = fault_delays_write_back(&nic->faults) || queue->late != NULL;

	if (late)
		rx_queue_flush(queue);
	if (!late || !hold_back(nic, queue, desc))
		queue->done[queue->nb_done++] = *desc;
	queue->ring.head = ring_next(&queue->ring, queue->ring.head);
	if (queue->nb_done == RX_DONE_MAX)
		rx_queue_flush(queue);
}

static void
release_late(struct nic *nic, struct rx_queue *queue)
{
	while (queue->written != queue->ring.head &&
		(queue->late_until_ns[queue->written] <= nic->now_ns ||
			!fault_delays_write_back(&nic->faults))) {
		publish_desc(&descs(queue)[queue->written], &queue->late[queue->written]);
		queue->written = ring_next(&queue->ring, queue->written);
	}
	if (queue->written == queue->ring.head)
		forget_late(queue);
}

void
rx_tick(struct nic *nic)
{
	for (unsigned i = 0; i < nic->nb_rx_running; i++) {
		struct rx_queue *queue = &nic->rxq[nic->rx_running[i]];

		if (queue->late != NULL)
			release_late(nic, queue);
	}
}

void
rx_reset(struct nic *nic)
{
	for (unsigned q = 0; q < NB_QUEUES; q++)
		stop_queue(nic, &nic->rxq[q]);
	nic->nb_rx_running = 0;
	nic->rx.enabled = false;
	nic->counters.rx_lost_in_reset += nic->packets.frames;
	while (!packet_buffer_is_empty(&nic->packets))
		packet_buffer_drop(&nic->packets);
	nic->counters.rx_buffered = 0;
}

void
rx_remap(struct nic *nic)
{
	for (unsigned q = 0; q < NB_QUEUES; q++)
		if (nic->rxq[q].ring.descs != NULL)
			ring_remap(nic, &nic->rxq[q].ring);
	list_running(nic);
}
