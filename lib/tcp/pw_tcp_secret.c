/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include <sodium.h>

#include "pw_tcp_priv.h"

_Static_assert(sizeof(((struct pw_tcp_params *)0)->secret) == crypto_shorthash_KEYBYTES,
	"the secret is the key");

uint64_t
pw_tcp_hash(const struct pw_tcp *tcp, const struct pw_tcp_key *key, enum pw_tcp_hash_use use,
	uint64_t extra)
{
	struct {
		uint64_t extra;
		struct pw_tcp_key key;
		uint32_t use;
	} in = {.extra = extra, .key = *key, .use = use};
	uint64_t hash;

	_Static_assert(sizeof(in) == sizeof(uint64_t) + sizeof(*key) + sizeof(uint32_t),
		"no padding is hashed");
	_Static_assert(sizeof(hash) == crypto_shorthash_BYTES, "all of it is used");
	crypto_shorthash(
		(unsigned char *)&hash, (const unsigned char *)&in, sizeof(in), tcp->params.secret);
	return hash;
}

/* A clock of 4 us, so that numbers of a connection that comes again go on. */
uint32_t
pw_tcp_isn(const struct pw_tcp *tcp, const struct pw_tcp_key *key, uint64_t now_us)
{
	return (uint32_t)pw_tcp_hash(tcp, key, PW_TCP_HASH_ISN, 0) + (uint32_t)(now_us / 4);
}

uint32_t
pw_tcp_ts_offset(const struct pw_tcp *tcp, const struct pw_tcp_key *key)
{
	return (uint32_t)pw_tcp_hash(tcp, key, PW_TCP_HASH_TIMESTAMP, 0);
}
