/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include <pcap/pcap.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

#include "capture.h"
#include "error.h"

struct capture_writer {
	pcap_t *pcap;
	pcap_dumper_t *dumper;
};

static void
writer_free(struct capture_writer *writer)
{
	if (writer->dumper != NULL)
		pcap_dump_close(writer->dumper);
	if (writer->pcap != NULL)
		pcap_close(writer->pcap);
	free(writer);
}

struct capture_writer *
capture_writer_open(const char *file)
{
	struct capture_writer *writer = calloc(1, sizeof(*writer));

	if (writer != NULL)
		writer->pcap = pcap_open_dead_with_tstamp_precision(
			DLT_EN10MB, FRAME_MAX_BYTES, PCAP_TSTAMP_PRECISION_NANO);
	if (writer == NULL || writer->pcap == NULL) {
		nicsim_error("--wire=pcap: no memory");
		free(writer);
		return NULL;
	}
	/* libpcap takes "-" for stdout, where others write too. */
	if (strcmp(file, "-") == 0) {
		nicsim_error("--wire=pcap,out=-: expected a file");
		writer_free(writer);
		return NULL;
	}
	writer->dumper = pcap_dump_open(writer->pcap, file);
	if (writer->dumper == NULL)
		nicsim_error("--wire=pcap: out=%s", pcap_geterr(writer->pcap));
	else if (flock(fileno(pcap_dump_file(writer->dumper)), LOCK_EX | LOCK_NB) < 0)
		nicsim_error("--wire=pcap: out=%s: another wire writes it", file);
	else
		return writer;
	writer_free(writer);
	return NULL;
}

int
capture_write(struct capture_writer *writer, uint64_t now_ns, const struct frame *frame)
{
	const struct pcap_pkthdr header = {
		.ts = {(time_t)(now_ns / 1000000000), (suseconds_t)(now_ns % 1000000000)},
		.caplen = frame->len_bytes,
		.len = frame->len_bytes,
	};

	if (ferror(pcap_dump_file(writer->dumper)))
		return -1;
	pcap_dump((u_char *)writer->dumper, &header, frame->data);
	return ferror(pcap_dump_file(writer->dumper)) ? -1 : 0;
}

void
capture_writer_close(struct capture_writer *writer, const char *file)
{
	if (pcap_dump_flush(writer->dumper) != 0 || ferror(pcap_dump_file(writer->dumper)))
		nicsim_error("--wire=pcap,out=%s: it could not be written to the end: is the disk "
			     "full?",
			file);
	writer_free(writer);
}
