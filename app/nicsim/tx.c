/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* Sending: from the driver's descriptors to the line (datasheet 7.2). */

#include <string.h>

#include "nic.h"
#include "parts.h"
#include "tx_job.h"

#define QUANTUM FRAME_BURST

/* Frames on their way to the line: in the driver's memory, or in ours after work on them. */
struct batch {
	struct frame frames[FRAME_BURST];
	unsigned n, room;
	unsigned made; /* in our own memory */
};

/* Not the frames: they are many bytes to clear for each poll. */
static void
batch_init(struct batch *batch, unsigned room)
{
	batch->n = batch->made = 0;
	batch->room = room;
}

static uint8_t made[FRAME_BURST][(FRAME_MAX_BYTES + 63) & ~63];

static void
list_running(struct nic *nic)
{
	nic->nb_tx_running = 0;
	for (unsigned q = 0; q < NB_QUEUES; q++)
		if (nic->txq[q].ring.descs != NULL)
			nic->tx_running[nic->nb_tx_running++] = q;
}

static void
control_queue(struct nic *nic, struct tx_queue *queue)
{
	unsigned q = queue->number;
	bool enabled = ring_is_enabled(nic, &queue->ring);

	if (!enabled && queue->ring.descs != NULL)
		ring_stop(nic, &queue->ring);
	if (enabled && queue->ring.descs == NULL)
		ring_start(nic, &queue->ring);
	queue->stat = reg_read(nic->bar, REG_TQSM(q / 4)) >> (8 * (q % 4)) & 0xf;
	if (queue->ring.descs != NULL)
		ring_show_head(nic, &queue->ring, queue->ring.head);
}

void
tx_control(struct nic *nic)
{
	/* A queue that is stopped while nothing is sent has stopped, too. */
	for (unsigned q = 0; q < NB_QUEUES; q++)
		control_queue(nic, &nic->txq[q]);
	list_running(nic);
	if (!(reg_read(nic->bar, REG_DMATXCTL) & DMATXCTL_TE))
		nic->nb_tx_running = 0;
}

static union tx_desc *
descs(const struct tx_queue *queue)
{
	return queue->ring.descs;
}

static void
count_sent(struct nic *nic, struct tx_queue *queue, const struct frame *frame)
{
	uint32_t with_crc = frame->len_bytes + FRAME_CRC_BYTES;
	uint64_t *total = nic->stats.total;

	queue->frames++;
	total[STAT_QPTC + queue->stat]++;
	total[STAT_QBTC + queue->stat] += with_crc;
	total[STAT_GPTC]++;
	total[STAT_TPT]++;
	total[STAT_GOTC] += with_crc;
	total[STAT_PTC + stats_size(with_crc)]++;
	if (frame->data[0] & 1)
		total[stats_group(frame->data, STAT_BPTC, STAT_MPTC)]++;
	nic->counters.tx_frames++;
	nic->counters.tx_bytes += frame->len_bytes;
}

/* Onto the line; or nowhere, while the link is down: the card sends into the void. */
static void
flush(struct nic *nic, struct tx_queue *queue, struct batch *batch)
{
	if (batch->n == 0)
		return;
	if (nic->link_up) {
		for (unsigned i = 0; i < batch->n; i++)
			count_sent(nic, queue, &batch->frames[i]);
		line_send(nic->line, nic->now_ns, batch->frames, batch->n);
	} else {
		nic->counters.tx_link_down += batch->n;
	}
	batch->room -= batch->n;
	batch->n = batch->made = 0;
}

static void *
memory_of(struct nic *nic, const union tx_desc *desc)
{
	uint32_t len_bytes = TXD_LEN(desc->data.command);
	void *data = dma_find(nic->dma, desc->data.address, len_bytes, nic->now_ns);

	if (data == NULL)
		nic->counters.tx_dma_errors++;
	return data;
}

/* 7.2.3.2.3 */
static void
take_context(struct tx_queue *queue, const union tx_desc *desc)
{
	queue->contexts[TXD_IDX(desc->context.mss)] = (struct tx_context){
		.mac_len = TXC_MACLEN(&desc->context),
		.ip_len = TXC_IPLEN(&desc->context),
		.l4_len = TXC_L4LEN(desc->context.mss),
		.mss = TXC_MSS(desc->context.mss),
		.vlan = desc->context.vlan,
		.ipv4 = desc->context.command & TXC_IPV4,
		.l4_type = TXC_L4T(desc->context.command),
	};
}

static bool
is_context(const union tx_desc *desc)
{
	return (desc->data.command & TXD_DEXT) && TXD_DTYP(desc->data.command) == TXD_DTYP_CONTEXT;
}

/* One buffer, and nothing to do to it: the usual case, sent from where it is. */
static bool
is_plain(const union tx_desc *desc)
{
	uint32_t command = desc->data.command;

	return (command & (TXD_EOP | TXD_TSE | TXD_VLE)) == TXD_EOP &&
		(desc->data.options & (TXD_IXSM | TXD_TXSM)) == 0 &&
		TXD_LEN(command) >= FRAME_MIN_BYTES && TXD_LEN(command) <= FRAME_MAX_BYTES;
}

/* All buffers of a packet in one piece. Returns how many descriptors; 0: its end is not there yet.
 */
static uint32_t
gather(struct nic *nic, struct tx_queue *queue, bool *good)
{
	struct tx_job *job = nic->job;
	uint32_t n = 0, at = queue->ring.head;

	job->len_bytes = 0;
	*good = true;
	while (at != queue->ring.tail) {
		const union tx_desc *desc = &descs(queue)[at];
		uint32_t len_bytes = TXD_LEN(desc->data.command);
		void *data = len_bytes == 0 ? NULL : memory_of(nic, desc);

		*good &= data != NULL && tx_job_append(job, data, len_bytes);
		at = ring_next(&queue->ring, at);
		n++;
		if (desc->data.command & TXD_EOP)
			return n;
	}
	/* A ring full of descriptors without an end would never have one. */
	*good = false;
	return n + 1 >= queue->ring.nb_desc ? n : 0;
}

static void
make_frames(struct nic *nic, struct tx_queue *queue, struct batch *batch)
{
	while (nic->job->active && batch->n < batch->room) {
		uint8_t *to = made[batch->made++];

		batch->frames[batch->n++] = (struct frame){to, tx_job_next(nic->job, to), 0};
		if (batch->n == FRAME_BURST)
			flush(nic, queue, batch);
	}
}

/* Gather a packet and begin to work on it. Returns how many descriptors it took. */
static uint32_t
take_packet(struct nic *nic, struct tx_queue *queue, struct batch *batch)
{
	const union tx_desc *first = &descs(queue)[queue->ring.head];
	struct tx_job *job = nic->job;
	uint32_t n;
	bool good;

	n = gather(nic, queue, &good);
	if (n == 0)
		return 0;
	job->command = first->data.command;
	job->options = first->data.options;
	job->context = queue->contexts[TXD_IDX(first->data.options)];
	job->pad = reg_read(nic->bar, REG_HLREG0) & HLREG0_TXPADEN;
	if (!good || !tx_job_begin(job)) {
		nic->counters.tx_bad++;
		return n;
	}
	if (job->command & TXD_TSE)
		nic->counters.tx_tso_packets++;
	make_frames(nic, queue, batch);
	return n;
}

/* Descriptors done: where RS asks for it, DD says so (7.2.3.2.4). */
static void
complete(struct tx_queue *queue, uint32_t n)
{
	for (; n > 0; n--) {
		union tx_desc *desc = &descs(queue)[queue->ring.head];

		if (desc->data.command & TXD_RS)
			__atomic_store_n(&desc->data.options, TXD_DD, __ATOMIC_RELEASE);
		queue->ring.head = ring_next(&queue->ring, queue->ring.head);
	}
}

/* Plain frames are the driver's memory: they are done when the line has taken them. */
static uint32_t
take_plain(struct nic *nic, struct tx_queue *queue, struct batch *batch)
{
	uint32_t n = 0, at = queue->ring.head;

	while (at != queue->ring.tail && batch->n < batch->room && is_plain(&descs(queue)[at])) {
		const union tx_desc *desc = &descs(queue)[at];
		void *data = memory_of(nic, desc);

		if (data == NULL)
			nic->counters.tx_bad++;
		else
			batch->frames[batch->n++] = (struct frame){
				data, TXD_LEN(desc->data.command), 0};
		at = ring_next(&queue->ring, at);
		n++;
		if (batch->n == FRAME_BURST)
			break;
	}
	flush(nic, queue, batch);
	return n;
}

static unsigned
serve_queue(struct nic *nic, struct tx_queue *queue, unsigned room)
{
	struct batch batch;
	uint32_t n;

	batch_init(&batch, room);
	ring_read_tail(nic, &queue->ring);
	while (queue->ring.head != queue->ring.tail && batch.n < batch.room && !nic->job->active) {
		const union tx_desc *desc = &descs(queue)[queue->ring.head];

		if (is_context(desc)) {
			take_context(queue, desc);
			n = 1;
		} else if (is_plain(desc)) {
			flush(nic, queue, &batch);
			n = take_plain(nic, queue, &batch);
		} else {
			n = take_packet(nic, queue, &batch);
			nic->job_queue = queue;
		}
		if (n == 0)
			break;
		complete(queue, n);
	}
	flush(nic, queue, &batch);
	return room - batch.room;
}

/* Segments of a packet that did not all fit the line last time. */
static unsigned
resume_job(struct nic *nic, unsigned room)
{
	struct batch batch;

	if (!nic->job->active)
		return 0;
	batch_init(&batch, room);
	make_frames(nic, nic->job_queue, &batch);
	flush(nic, nic->job_queue, &batch);
	return room - batch.room;
}

unsigned
tx_poll(struct nic *nic)
{
	unsigned room, sent;

	/* A packet that was taken from its queue goes out, even if the queue has stopped since. */
	if ((nic->nb_tx_running == 0 && !nic->job->active) ||
		nic->now_ns < nic->faults.tx_hang_until_ns)
		return 0;
	room = line_room(nic->line, nic->now_ns);
	sent = resume_job(nic, room);
	/* Queues take turns (7.2.1.2.2). */
	for (unsigned i = 0; i < nic->nb_tx_running && sent < room; i++) {
		unsigned turn = (nic->next_tx + i) % nic->nb_tx_running;

		sent += serve_queue(nic, &nic->txq[nic->tx_running[turn]], room - sent);
	}
	nic->next_tx++;
	return sent;
}

void
tx_reset(struct nic *nic)
{
	for (unsigned q = 0; q < NB_QUEUES; q++)
		ring_stop(nic, &nic->txq[q].ring);
	nic->nb_tx_running = 0;
	nic->job->active = false;
}

void
tx_remap(struct nic *nic)
{
	for (unsigned q = 0; q < NB_QUEUES; q++)
		if (nic->txq[q].ring.descs != NULL)
			ring_remap(nic, &nic->txq[q].ring);
	list_running(nic);
}
