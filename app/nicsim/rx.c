/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* Receiving: from the line, through MAC, filters and RSS, into the driver's buffers (7.1). */

#include <string.h>

#include "filter.h"
#include "nic.h"
#include "parse.h"
#include "parts.h"
#include "rss.h"
#include "rx_queue.h"

#define MAC_MIN_BYTES 64     /* with CRC; less is a runt (8.2.3.23.29) */
#define MAC_USUAL_BYTES 1518 /* with CRC; a tag may come on top (8.2.3.22.8) */
#define DESCS_PER_LINE 4

/* A frame that passed the filters, with what its descriptors will say. */
struct arrival {
	const struct frame *frame;
	struct rx_queue *queue;
	uint64_t info;
	uint32_t status;
	uint16_t vlan;
	bool strip;
};

static void
read_key(struct nic *nic)
{
	uint8_t key[RSSRK_BYTES];

	memcpy(nic->rx.reta, nic->bar + REG_RETA, RETA_BYTES);
	memcpy(key, nic->bar + REG_RSSRK, RSSRK_BYTES);
	if (memcmp(key, nic->rx.key, RSSRK_BYTES) == 0)
		return;
	memcpy(nic->rx.key, key, RSSRK_BYTES);
	rss_set_key(nic->rss, key);
}

static void
read_settings(struct nic *nic)
{
	uint32_t hlreg0 = reg_read(nic->bar, REG_HLREG0);

	nic->rx.enabled = reg_read(nic->bar, REG_RXCTRL) & RXCTRL_RXEN;
	nic->rx.crc_strip = hlreg0 & HLREG0_RXCRCSTRP;
	nic->rx.mrqc = reg_read(nic->bar, REG_MRQC);
	nic->rx.max_bytes = hlreg0 & HLREG0_JUMBOEN ? reg_read(nic->bar, REG_MAXFRS) >> 16
						    : MAC_USUAL_BYTES;
	filter_control(nic);
	if (nic->rx.mrqc & MRQC_MRQE)
		read_key(nic);
}

void
rx_control(struct nic *nic)
{
	read_settings(nic);
	rx_queue_control(nic);
	if (nic->rx.enabled && nic->nb_rx_running > 0 && !nic->was_enabled) {
		nic->was_enabled = true;
		nic->wire_from_ns = nic->now_ns + nic->wire_wait_ns;
	}
}

/* Copy a piece of the frame into a descriptor's buffer. */
static bool
copy_to_buffer(struct nic *nic, const union rx_desc *desc, const uint8_t *data, uint32_t len_bytes)
{
	uint8_t *buffer = dma_find(nic->dma, desc->read.packet_address, len_bytes, nic->now_ns);

	if (buffer == NULL)
		return false;
	memcpy(buffer, data, len_bytes);
	return true;
}

static void
count_received(struct nic *nic, const struct arrival *arrival)
{
	uint64_t *total = nic->stats.total;
	uint32_t with_crc = arrival->frame->len_bytes + FRAME_CRC_BYTES;
	/* Bytes are counted with CRC only where it goes to memory: the driver allows for it. */
	uint32_t counted = nic->rx.crc_strip ? arrival->frame->len_bytes : with_crc;
	const uint8_t *data = arrival->frame->data;

	arrival->queue->frames++;
	total[STAT_QPRC + arrival->queue->stat]++;
	total[STAT_QBRC + arrival->queue->stat] += counted;
	total[STAT_GPRC]++;
	total[STAT_GORC] += counted;
	total[STAT_PRC + stats_size(with_crc)]++;
	if (data[0] & 1)
		total[stats_group(data, STAT_BPRC, STAT_MPRC)]++;
	if (arrival->status & (RXD_TCPE | RXD_IPE))
		total[STAT_XEC]++;
	nic->counters.rx_frames++;
	nic->counters.rx_bytes += arrival->frame->len_bytes;
}

/*
 * One frame into as many buffers as it takes. Full ones carry DD alone, the last one EOP and all
 * that is known of the frame (7.1.6.2).
 */
static void
deliver(struct nic *nic, const struct arrival *arrival, const uint8_t *data, uint32_t len_bytes)
{
	struct rx_queue *queue = arrival->queue;
	bool lost = false;

	for (;;) {
		const union rx_desc *desc = rx_queue_desc(queue, 0);
		uint32_t piece = len_bytes < queue->buf_bytes ? len_bytes : queue->buf_bytes;
		union rx_desc done = {.done = {.status = RXD_DD, .len_bytes = piece}};

		lost |= !copy_to_buffer(nic, desc, data, piece);
		data += piece;
		len_bytes -= piece;
		if (len_bytes == 0) {
			done.done.info = arrival->info;
			done.done.status = arrival->status | RXD_DD | RXD_EOP;
			done.done.vlan = arrival->vlan;
		}
		rx_queue_write_back(nic, queue, &done);
		if (len_bytes == 0)
			break;
	}
	if (lost)
		nic->counters.rx_dma_errors++;
}

/* With its tag taken out, or its CRC behind it: a copy, as the wire's bytes are not ours. */
static uint32_t
edit_frame(const struct nic *nic, const struct arrival *arrival, uint8_t *to)
{
	const uint8_t *data = arrival->frame->data;
	uint32_t len_bytes = arrival->frame->len_bytes, skip = arrival->strip ? VLAN_BYTES : 0;

	memcpy(to, data, ADDRESSES_BYTES);
	memcpy(to + ADDRESSES_BYTES, data + ADDRESSES_BYTES + skip,
		len_bytes - ADDRESSES_BYTES - skip);
	len_bytes -= skip;
	if (!nic->rx.crc_strip) {
		uint32_t crc = frame_crc(to, len_bytes);

		memcpy(to + len_bytes, &crc, FRAME_CRC_BYTES);
		len_bytes += FRAME_CRC_BYTES;
	}
	return len_bytes;
}

static uint32_t
bytes_in_memory(const struct nic *nic, const struct arrival *arrival)
{
	return arrival->frame->len_bytes - (arrival->strip ? VLAN_BYTES : 0) +
		(nic->rx.crc_strip ? 0 : FRAME_CRC_BYTES);
}

/* Into its queue. False: no descriptors for it, and the queue wants to wait. */
static bool
place(struct nic *nic, const struct arrival *arrival)
{
	struct rx_queue *queue = arrival->queue;
	uint32_t len_bytes = bytes_in_memory(nic, arrival);
	uint8_t edited[FRAME_MAX_BYTES + FRAME_CRC_BYTES];
	const uint8_t *data = arrival->frame->data;
	uint32_t wanted;

	wanted = (len_bytes + queue->buf_bytes - 1) / queue->buf_bytes;
	if (rx_queue_available(nic, queue, wanted) < wanted) {
		if (!queue->drop)
			return false;
		/* 7.1.3.3: DROP_EN lets one queue not hold up the others. */
		nic->counters.rx_no_descriptor++;
		nic->stats.total[STAT_QPRDC + queue->stat]++;
		return true;
	}
	if (len_bytes != arrival->frame->len_bytes || arrival->strip) {
		len_bytes = edit_frame(nic, arrival, edited);
		data = edited;
	}
	deliver(nic, arrival, data, len_bytes);
	count_received(nic, arrival);
	return true;
}

/* The MAC: what is no good frame ends here (8.2.3.23). */
static bool
pass_mac(struct nic *nic, const struct frame *frame)
{
	uint32_t with_crc = frame->len_bytes + FRAME_CRC_BYTES;
	bool tagged = frame->len_bytes > 13 && frame->data[12] == 0x81 && frame->data[13] == 0;
	uint64_t *total = nic->stats.total;

	total[STAT_TPR]++;
	total[STAT_TOR] += with_crc;
	if (frame->flags & FRAME_BAD_CRC) {
		total[STAT_CRCERRS]++;
		nic->counters.rx_crc_errors++;
		return false;
	}
	if (with_crc < MAC_MIN_BYTES) {
		total[STAT_RUC]++;
		nic->counters.rx_undersize++;
		return false;
	}
	if (with_crc > nic->rx.max_bytes + (tagged ? VLAN_BYTES : 0) ||
		frame->len_bytes > FRAME_MAX_BYTES) {
		total[STAT_ROC]++;
		nic->counters.rx_oversize++;
		return false;
	}
	return true;
}

/* All that is known of a frame before it has a buffer. False: it goes no further, and is counted.
 */
static bool
examine(struct nic *nic, const struct frame *frame, struct arrival *arrival)
{
	enum filter_verdict verdict;
	struct rss_result rss;
	struct parsed parsed;

	parse_frame(&parsed, frame->data, frame->len_bytes);
	verdict = filter_frame(nic, &parsed, frame->data);
	if (verdict == FILTER_ADDRESS || verdict == FILTER_VLAN) {
		if (verdict == FILTER_ADDRESS)
			nic->counters.rx_filtered++;
		else
			nic->counters.rx_vlan_filtered++;
		return false;
	}
	rss = rss_classify(nic->rss, nic->rx.mrqc, nic->rx.reta, &parsed, frame->data);
	arrival->queue = &nic->rxq[rss.queue];
	if (arrival->queue->ring.descs == NULL) {
		nic->counters.rx_disabled++;
		return false;
	}
	arrival->frame = frame;
	arrival->info = rss.type | parsed.type | (uint64_t)rss.hash << 32;
	arrival->status = parse_checksums(&parsed, frame->data);
	if (verdict == FILTER_PASS_INEXACT)
		arrival->status |= RXD_PIF;
	arrival->strip = parsed.has_vlan && arrival->queue->strip_vlan;
	arrival->vlan = arrival->strip ? parsed.vlan : 0;
	if (arrival->strip)
		arrival->status |= RXD_VP;
	return true;
}

static void
keep(struct nic *nic, const struct frame *frame)
{
	if (packet_buffer_put(&nic->packets, frame))
		return;
	nic->counters.rx_missed++;
	nic->stats.total[STAT_MPC]++;
}

static bool
is_stalled(const struct nic *nic)
{
	return nic->now_ns < nic->faults.rx_stall_until_ns;
}

/* Frames that waited go first. False: the oldest still waits. */
static bool
drain_packet_buffer(struct nic *nic)
{
	struct arrival arrival;
	struct frame frame;

	for (unsigned n = 0; n < FRAME_BURST; n++) {
		if (!packet_buffer_peek(&nic->packets, &frame))
			return true;
		if (examine(nic, &frame, &arrival) && !place(nic, &arrival))
			return false;
		packet_buffer_drop(&nic->packets);
	}
	return packet_buffer_is_empty(&nic->packets);
}

/* How many frames of any size all queues have room for. */
static unsigned
count_room(struct nic *nic)
{
	uint32_t least = FRAME_BURST;

	if (nic->nb_rx_running == 0 || !packet_buffer_is_empty(&nic->packets) || is_stalled(nic))
		return 0;
	for (unsigned i = 0; i < nic->nb_rx_running; i++) {
		struct rx_queue *queue = &nic->rxq[nic->rx_running[i]];
		uint32_t most = nic->rx.max_bytes + VLAN_BYTES + queue->buf_bytes - 1;
		uint32_t per_frame = most / queue->buf_bytes;
		uint32_t room = rx_queue_available(nic, queue, least * per_frame) / per_frame;

		least = room < least ? room : least;
	}
	return least;
}

/* How many of the next n frames may go to one queue: all queues alike is the best guess. */
static uint32_t
share(const struct nic *nic, const struct rx_queue *queue, unsigned n)
{
	uint32_t each = n / nic->nb_rx_running + 1;

	return each < queue->ring.nb_desc ? each : queue->ring.nb_desc;
}

/* The driver has the lines of descriptors and buffers: ask for them before they are needed. */
static void
prefetch_descriptors(const struct nic *nic, unsigned n)
{
	for (unsigned i = 0; i < nic->nb_rx_running; i++) {
		const struct rx_queue *queue = &nic->rxq[nic->rx_running[i]];

		for (uint32_t k = 0; k < share(nic, queue, n); k += DESCS_PER_LINE)
			__builtin_prefetch(rx_queue_desc(queue, k), 1);
	}
}

static void
prefetch_buffers(const struct nic *nic, unsigned n)
{
	for (unsigned i = 0; i < nic->nb_rx_running; i++) {
		const struct rx_queue *queue = &nic->rxq[nic->rx_running[i]];

		for (uint32_t k = 0; k < share(nic, queue, n); k++) {
			const void *buffer = dma_at(
				nic->dma, rx_queue_desc(queue, k)->read.packet_address, 1);

			if (buffer != NULL)
				__builtin_prefetch(buffer, 1);
		}
	}
}

static void
receive(struct nic *nic, const struct frame *frames, unsigned n)
{
	bool waiting = is_stalled(nic) || !drain_packet_buffer(nic);
	struct arrival arrivals[FRAME_BURST];
	unsigned good = 0, i;

	prefetch_descriptors(nic, n);
	for (i = 0; i < n; i++) {
		if (!pass_mac(nic, &frames[i]))
			continue;
		if (waiting)
			keep(nic, &frames[i]);
		else if (examine(nic, &frames[i], &arrivals[good]))
			good++;
	}
	prefetch_buffers(nic, good);
	for (i = 0; i < good && place(nic, &arrivals[i]); i++)
		;
	for (; i < good; i++)
		keep(nic, arrivals[i].frame);
	for (i = 0; i < nic->nb_rx_running; i++)
		rx_queue_flush(&nic->rxq[nic->rx_running[i]]);
}

unsigned
rx_poll(struct nic *nic)
{
	struct frame frames[FRAME_BURST];
	bool listens = nic->rx.enabled && nic->nb_rx_running > 0;
	unsigned most = 0, n;

	if (nic->was_enabled && nic->link_up && !nic->wire_held && nic->now_ns >= nic->wire_from_ns)
		most = line_is_paced(nic->line) ? FRAME_BURST : count_room(nic);
	else
		line_rest(nic->line);
	n = most == 0 ? 0 : line_receive(nic->line, nic->now_ns, frames, most);
	if (n == 0 && packet_buffer_is_empty(&nic->packets))
		return 0;
	if (listens)
		receive(nic, frames, n);
	else
		nic->counters.rx_disabled += n;
	return n;
}
