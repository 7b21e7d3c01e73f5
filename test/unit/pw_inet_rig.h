/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_INET_RIG_H
#define PW_INET_RIG_H

/**
 * @file
 * A host under test in virtual time, driven by scripts of packets, one step a line (pw_spec.h tells
 * how packets are written):
 *
 *	< PACKET		a frame arrives
 *	> PACKET		the next frame that must have been sent; ID as it was, where none is
 *given ^ PACKET		the next segment or datagram handed up: addresses, tos, and all from
 *TCP or UDP on ! KIND MTU PACKET	the next error handed up: unreachable, refused or too_big,
 *about PACKET udp PACKET		UDP sends from UDP on, between these addresses; tcp likewise
 *	+MS			milliseconds go by
 *	= COUNTER N		value of a counter
 *
 * Before a step that makes something happen, and at the end, nothing may be left that was not
 * expected. The host is 10.0.0.1/24 and fd00::1/64 (link-local fe80::aff:fe00:1), its gateways are
 * 10.0.0.254 and fe80::fe; UDP listens on all ports but 9.
 */

#include "pw_inet.h"
#include "pw_spec.h"

#define RIG_TAKEN_MAX 256

/** Bytes of a frame or of a packet handed up. */
struct pw_inet_rig_taken {
	uint8_t *data;
	uint32_t len;
	struct pw_ip_info ip;
	uint8_t proto;
};

struct pw_inet_rig_queue {
	struct pw_inet_rig_taken items[RIG_TAKEN_MAX];
	unsigned n, expected;
};

struct pw_inet_rig {
	struct rte_mempool *pool;
	unsigned base;
	struct pw_inet_params params;
	struct pw_inet *inet;
	uint64_t now_us;
	struct pw_inet_rig_queue frames, packets;
	struct pw_inet_error errors[RIG_TAKEN_MAX];
	unsigned nb_errors, nb_errors_expected;
	bool ignore; /**< keep nothing of what comes out */
};

/** Set-up and tear-down of a test; the latter checks that all mbufs are back. */
int pw_inet_rig_open(void **state);
int pw_inet_rig_close(void **state);

/** Open the host again with other parameters, which the caller has changed in rig->params. */
void pw_inet_rig_reopen(struct pw_inet_rig *rig);

/** Run a script. */
void pw_inet_rig_run(struct pw_inet_rig *rig, const char *script);

/** Run it after it was printed to, of at most 2000 bytes. */
void pw_inet_rig_runf(struct pw_inet_rig *rig, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/** A step "udp" or "tcp" alone: what comes out stays in rig->frames. */
void pw_inet_rig_send(struct pw_inet_rig *rig, const char *step);

/** A frame arrives. */
void pw_inet_rig_input(struct pw_inet_rig *rig, const uint8_t *data, uint32_t len);

/** Forget what came out. */
void pw_inet_rig_forget(struct pw_inet_rig *rig);

/** Value of a counter. */
uint64_t pw_inet_rig_counter(struct pw_inet_rig *rig, const char *name);

/** Frames that are accounted for: as many as arrived. */
uint64_t pw_inet_rig_accounted(struct pw_inet_rig *rig);

/** Mbufs in use. */
unsigned pw_inet_rig_mbufs(const struct pw_inet_rig *rig);

#define RIG_TEST(f) cmocka_unit_test_setup_teardown(f, pw_inet_rig_open, pw_inet_rig_close)

#endif
