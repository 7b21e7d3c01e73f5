/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "options_net.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "options.h"
#include "tcp_app.h"
#include "udp_sender.h"

__rte_format_printf(3, 4) static int expect(char *expected, size_t size, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(expected, size, format, args);
	va_end(args);
	return -EINVAL;
}

int
pw_option_read_number(const char *text, unsigned long min, unsigned long max, unsigned long *number)
{
	char *end;

	if (text[0] < '0' || text[0] > '9')
		return -EINVAL;
	errno = 0;
	*number = strtoul(text, &end, 10);
	return errno == 0 && *end == '\0' && *number >= min && *number <= max ? 0 : -EINVAL;
}

static int
read_address(const char *text, size_t len, struct pw_addr *addr)
{
	char copy[PW_ADDR_STRLEN];

	if (len >= sizeof(copy))
		return -EINVAL;
	memcpy(copy, text, len);
	copy[len] = '\0';
	return pw_addr_parse(copy, addr);
}

/* That we, or a server, can be configured with. */
static bool
is_host(const struct pw_addr *addr)
{
	return pw_addr_is_unicast(addr) && !pw_addr_is_link_local(addr);
}

/* Of IPv4: not its network's own address, nor the broadcast one. */
static bool
is_host_of(const struct pw_addr *addr, unsigned prefix_len)
{
	uint32_t hosts, ip;

	if (!pw_addr_is_ipv4(addr))
		return prefix_len <= 128;
	if (prefix_len > 30)
		return prefix_len <= 32;
	hosts = UINT32_MAX >> prefix_len;
	ip = rte_be_to_cpu_32(pw_addr_to_ipv4(addr));
	return (ip & hosts) != 0 && (ip & hosts) != hosts;
}

int
pw_option_read_ip(struct pw_options *options, const char *value, char *expected, size_t size)
{
	const char *slash = strchr(value, '/');
	struct pw_addresses *addresses;
	unsigned long prefix_len;
	struct pw_addr addr;

	if (slash == NULL || read_address(value, slash - value, &addr) < 0 ||
		pw_option_read_number(slash + 1, 0, 128, &prefix_len) < 0 || !is_host(&addr) ||
		!is_host_of(&addr, prefix_len))
		return expect(expected, size,
			"the address of a host with its prefix length, as in 198.18.0.2/24 or "
			"2001:db8::2/64");
	addresses = pw_addr_is_ipv4(&addr) ? &options->ipv4 : &options->ipv6;
	if (addresses->count == RTE_DIM(addresses->list))
		return expect(expected, size, "no more addresses than there can be ports, %u",
			addresses->count);
	addresses->list[addresses->count++] = (struct pw_inet_address){addr, prefix_len};
	return 0;
}

int
pw_option_read_eth_peer(struct pw_options *options, const char *value, char *expected, size_t size)
{
	const char *comma = strchr(value, ',');
	unsigned long port;
	char number[8];

	if (comma != NULL) {
		snprintf(number, sizeof(number), "%.*s", (int)RTE_MIN(comma - value, 7), value);
		if (pw_option_read_number(number, 0, RTE_MAX_ETHPORTS - 1, &port) == 0 &&
			rte_ether_unformat_addr(comma + 1, &options->eth_peers[port]) == 0)
			return 0;
	}
	return expect(expected, size,
		"a port from 0 to %u and an Ethernet address, as in 0,02:00:00:00:00:01",
		RTE_MAX_ETHPORTS - 1);
}

int
pw_option_read_gateway(struct pw_options *options, const char *value, char *expected, size_t size)
{
	struct pw_addr addr, *gateway;

	if (read_address(value, strlen(value), &addr) < 0 ||
		!pw_addr_is_unicast(&addr)) /* routers may be link-local */
		return expect(
			expected, size, "the address of a router, as in 198.18.0.1 or 2001:db8::1");
	gateway = pw_addr_is_ipv4(&addr) ? &options->gateway4 : &options->gateway6;
	if (!pw_addr_is_none(gateway))
		return expect(expected, size, "one gateway for each family");
	*gateway = addr;
	return 0;
}

static int
add_listen(struct pw_options *options, const struct pw_tcp_service *service, uint16_t port)
{
	if (options->nb_listens == PW_LISTENS_MAX)
		return -ENOSPC;
	for (unsigned i = 0; i < options->nb_listens; i++)
		if (options->listens[i].port == port)
			return -EADDRINUSE;
	options->listens[options->nb_listens++] = (struct pw_listen){service, port};
	return 0;
}

int
pw_option_read_listen(struct pw_options *options, const char *value, char *expected, size_t size)
{
	const char *colon = strchrnul(value, ':');
	const struct pw_tcp_service *service;
	char names[128], name[32];
	unsigned long port;

	snprintf(name, sizeof(name), "%.*s", (int)RTE_MIN(colon - value, 31), value);
	service = pw_tcp_service_find(name);
	if (service == NULL)
		return expect(expected, size, "one of %s, with a port as in http:8080 or without",
			pw_tcp_service_names(names, sizeof(names)));
	port = service->port;
	if (*colon == ':' && pw_option_read_number(colon + 1, 1, UINT16_MAX, &port) < 0)
		return expect(
			expected, size, "a port from 1 to 65535, as in %s:%u", name, service->port);
	switch (add_listen(options, service, port)) {
	case -ENOSPC:
		return expect(expected, size, "at most %u services", PW_LISTENS_MAX);
	case -EADDRINUSE:
		return expect(expected, size, "another port: there is a service at %lu", port);
	}
	return 0;
}

int
pw_option_read_congestion(
	struct pw_options *options, const char *value, char *expected, size_t size)
{
	if (strcmp(value, "cubic") == 0)
		options->congestion = PW_TCP_CUBIC;
	else if (strcmp(value, "newreno") == 0)
		options->congestion = PW_TCP_NEWRENO;
	else
		return expect(expected, size, "cubic or newreno");
	return 0;
}

/* An IPv6 address stands in brackets (RFC 3986 3.2.2). */
int
pw_option_read_connect(struct pw_options *options, const char *value, char *expected, size_t size)
{
	const char *colon = strrchr(value, ':');
	bool brackets = value[0] == '[';
	struct pw_addr addr;
	unsigned long port;
	size_t len;

	if (colon == NULL || pw_option_read_number(colon + 1, 1, UINT16_MAX, &port) < 0)
		goto wrong;
	len = colon - value;
	if (brackets && (len < 2 || value[len - 1] != ']'))
		goto wrong;
	if (read_address(value + brackets, len - 2 * brackets, &addr) < 0 ||
		(!brackets && !pw_addr_is_ipv4(&addr)) || !is_host(&addr))
		goto wrong;
	options->connect_addr = addr;
	options->connect_port = port;
	return 0;
wrong:
	return expect(expected, size,
		"the address and port of a server, as in 198.18.0.1:9 or [2001:db8::1]:9");
}

int
pw_option_read_connect_app(
	struct pw_options *options, const char *value, char *expected, size_t size)
{
	static const char *const names[] = {[PW_CLIENT_STREAM] = "stream",
		[PW_CLIENT_RR] = "rr",
		[PW_CLIENT_CRR] = "crr",
		[PW_CLIENT_UDP_RR] = "udp_rr",
		[PW_CLIENT_UDP_STREAM] = "udp_stream"};

	for (unsigned i = 0; i < RTE_DIM(names); i++) {
		if (strcmp(value, names[i]) == 0) {
			options->connect_kind = i;
			return 0;
		}
	}
	return expect(expected, size, "one of stream, rr, crr, udp_rr, udp_stream");
}

void
pw_options_net_defaults(struct pw_options *options)
{
	const struct pw_tcp_service *service = NULL;

	if (options->connect_kind == PW_CLIENT_UDP_STREAM && options->message_bytes == 0)
		options->message_bytes = PW_UDP_MESSAGE_MAX;
	/* As testpmd has them. */
	for (unsigned i = 0; i < RTE_MAX_ETHPORTS; i++)
		if (rte_is_zero_ether_addr(&options->eth_peers[i]))
			options->eth_peers[i] = (struct rte_ether_addr){{0x02, 0, 0, 0, 0, i}};
	/* 198.18.0.2: RFC 2544's own network */
	if (options->ipv4.count == 0 && options->ipv6.count == 0)
		options->ipv4.list[options->ipv4.count++] = (struct pw_inet_address){
			pw_addr_from_ipv4(RTE_BE32(0xc6120002)), 24};
	if (options->nb_listens > 0)
		return;
	while ((service = pw_tcp_service_next(service)) != NULL)
		add_listen(options, service, service->port);
}
