/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "capture.h"

#include <pcap/pcap.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "error.h"

#define BYTES_MAX ((size_t)1 << 30)
#define ETHER_HEADER_BYTES 14

/* Make room for one more of size bytes, in an array that doubles. */
static void *
grow(void *array, size_t used, size_t *max, size_t more, size_t size)
{
	size_t wanted = *max > 0 ? *max : 1024;
	void *grown;

	if (used + more <= *max)
		return array;
	while (wanted < used + more)
		wanted *= 2;
	grown = realloc(array, wanted * size);
	if (grown != NULL)
		*max = wanted;
	return grown;
}

/* Room for one more frame. */
static int
make_room(struct capture *capture, uint32_t len_bytes)
{
	struct capture_record *records = grow(
		capture->records, capture->nb_records, &capture->max_records, 1, sizeof(*records));
	uint8_t *bytes;

	if (records == NULL)
		return -1;
	capture->records = records;
	bytes = grow(capture->bytes, capture->nb_bytes, &capture->max_bytes, len_bytes, 1);
	if (bytes == NULL)
		return -1;
	capture->bytes = bytes;
	return 0;
}

/* Since the first frame; what was captured out of order is played in the order of the file. */
static uint64_t
time_after(struct capture *capture, const struct timeval *stamp)
{
	/* Nanosecond precision was asked for, whatever the field is called. */
	uint64_t ns = (uint64_t)stamp->tv_sec * 1000000000 + (uint64_t)stamp->tv_usec;
	uint64_t before, after;

	if (capture->nb_records == 0)
		capture->first_ns = ns;
	after = ns - capture->first_ns;
	before = capture->nb_records > 0 ? capture->records[capture->nb_records - 1].after_ns : 0;
	return (int64_t)after > (int64_t)before ? after : before;
}

/* 0, or -1 when there is no memory. */
static int
append(struct capture *capture, const struct pcap_pkthdr *header, const uint8_t *data,
	struct capture_stats *stats)
{
	uint32_t len = header->len < FRAME_MIN_BYTES ? FRAME_MIN_BYTES : header->len;
	uint32_t known = header->caplen < header->len ? header->caplen : header->len;
	uint8_t *to;

	if (make_room(capture, len) < 0)
		return -1;
	to = capture->bytes + capture->nb_bytes;
	memcpy(to, data, known);
	memset(to + known, 0, len - known);
	capture->records[capture->nb_records] = (struct capture_record){
		time_after(capture, &header->ts), capture->nb_bytes, len};
	capture->nb_records++;
	capture->nb_bytes += len;
	stats->frames++;
	stats->padded += len > header->len;
	stats->cut += known < header->len;
	return 0;
}

/* 0, or -1 after an error was printed. */
static int
read_all(struct capture *capture, pcap_t *pcap, const char *file, struct capture_stats *stats)
{
	struct pcap_pkthdr *header;
	const uint8_t *data;
	int rc;

	while ((rc = pcap_next_ex(pcap, &header, &data)) == 1) {
		if (header->len < ETHER_HEADER_BYTES)
			stats->skipped_short++;
		else if (header->len > FRAME_MAX_BYTES)
			stats->skipped_long++;
		else if (capture->nb_bytes > BYTES_MAX) {
			nicsim_error("--wire=pcap=%s: more than 1 GiB of frames: play a part, cut "
				     "out by \"tcpdump -r FILE -c N -w PART\"",
				file);
			return -1;
		} else if (append(capture, header, data, stats) < 0) {
			nicsim_error("--wire=pcap=%s: no memory", file);
			return -1;
		}
	}
	if (rc != PCAP_ERROR_BREAK) {
		nicsim_error("--wire=pcap=%s: %s, after %llu frames: \"tcpdump -r FILE -w WHOLE\" "
			     "saves those",
			file, pcap_geterr(pcap), (unsigned long long)stats->frames);
		return -1;
	}
	return 0;
}

static int
check_link_type(pcap_t *pcap, const char *file)
{
	const char *name = pcap_datalink_val_to_name(pcap_datalink(pcap));

	if (pcap_datalink(pcap) == DLT_EN10MB)
		return 0;
	nicsim_error("--wire=pcap=%s: frames of type %s, and a port takes Ethernet (EN10MB): "
		     "capture on an Ethernet interface, not on \"any\"",
		file, name != NULL ? name : "unknown");
	return -1;
}

/* A pipe could be read once only, and stop the program. */
static bool
is_regular(const char *file)
{
	struct stat stat_of;

	if (stat(file, &stat_of) == 0 && !S_ISREG(stat_of.st_mode)) {
		nicsim_error("--wire=pcap=%s: not a regular file", file);
		return false;
	}
	if (strcmp(file, "-") == 0) {
		nicsim_error("--wire=pcap=-: expected a file");
		return false;
	}
	return true;
}

int
capture_load(struct capture *capture, const char *file, struct capture_stats *stats)
{
	char error[PCAP_ERRBUF_SIZE] = "";
	pcap_t *pcap;
	int rc;

	if (!is_regular(file))
		return -1;
	pcap = pcap_open_offline_with_tstamp_precision(file, PCAP_TSTAMP_PRECISION_NANO, error);
	if (pcap == NULL) {
		nicsim_error("--wire=pcap=%s: %s", file, error);
		return -1;
	}
	rc = check_link_type(pcap, file);
	if (rc == 0)
		rc = read_all(capture, pcap, file, stats);
	pcap_close(pcap);
	if (rc == 0 && capture->nb_records == 0) {
		nicsim_error("--wire=pcap=%s: there is no frame of %u to %u bytes in it", file,
			ETHER_HEADER_BYTES, FRAME_MAX_BYTES);
		rc = -1;
	}
	return rc;
}

void
capture_free(struct capture *capture)
{
	free(capture->records);
	free(capture->bytes);
	*capture = (struct capture){0};
}
