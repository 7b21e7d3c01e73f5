/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/*
 * The wires to Linux, each test in a network namespace of its own; skipped where that is not
 * allowed. Linux is the peer: its UDP and TCP check what comes, and send what must be right.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/udp.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "bytes.h"
#include "cksum.h"
#include "netdev.h"
#include "tso.h"
#include "wire_spec.h"

#define HOST "198.18.0.1"
#define PEER "198.18.0.2"
#define UDP_PORT 7000
#define TCP_PORT 7001
#define STREAM_BYTES 8000000ull
#define TEST_TYPE 0x88b5 /* for experiments (IEEE 802) */
#define WAIT_NS 2000000000ull

/* What a child process ends with. */
enum { PASSED, FAILED, NOT_POSSIBLE };

static const uint8_t peer_mac[6] = {2, 0, 0, 0, 0, 2};

/* Not cmocka's: the child has no test to end. */
#define CHECK(condition)                                                            \
	do {                                                                        \
		if (!(condition)) {                                                 \
			fprintf(stderr, "line %d: %s (%s)\n", __LINE__, #condition, \
				strerror(errno));                                   \
			_exit(FAILED);                                              \
		}                                                                   \
	} while (0)

static uint64_t
now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* IPv6 would send by itself. */
static void
silence_ip6(void)
{
	int fd = open("/proc/sys/net/ipv6/conf/default/disable_ipv6", O_WRONLY);

	if (fd < 0)
		return;
	CHECK(write(fd, "1", 1) == 1);
	close(fd);
}

/* Run it in a child in an empty network namespace. */
static void
in_a_namespace(int (*run)(void))
{
	int status;
	pid_t child;

	fflush(NULL);
	child = fork();
	assert_return_code(child, errno);
	if (child == 0) {
		if (unshare(CLONE_NEWNET) < 0)
			_exit(NOT_POSSIBLE);
		silence_ip6();
		alarm(60);
		_exit(run());
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == NOT_POSSIBLE)
		skip();
	assert_int_equal(WEXITSTATUS(status), PASSED);
}

static void
ask(const char *name, unsigned long request, struct ifreq *ifr)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	CHECK(fd >= 0);
	snprintf(ifr->ifr_name, sizeof(ifr->ifr_name), "%s", name);
	CHECK(ioctl(fd, request, ifr) == 0);
	close(fd);
}

static void
set_up(const char *name)
{
	struct ifreq ifr = {0};

	ask(name, SIOCGIFFLAGS, &ifr);
	ifr.ifr_flags |= IFF_UP;
	ask(name, SIOCSIFFLAGS, &ifr);
}

/* Until then Linux drops what is sent, and does not tell. */
static void
wait_until_it_runs(const char *name)
{
	const uint64_t end_ns = now() + WAIT_NS;
	struct ifreq ifr = {0};

	while (!(ifr.ifr_flags & IFF_RUNNING) && now() < end_ns)
		ask(name, SIOCGIFFLAGS, &ifr);
	usleep(20000); /* its queues come after the flag */
}

static struct sockaddr_in
address_of(const char *text, uint16_t port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};

	CHECK(inet_pton(AF_INET, text, &address.sin_addr) == 1);
	return address;
}

/* Give the host an address on an interface, and the peer, who is us, a hardware address. */
static void
set_address(const char *name, uint8_t mac[6])
{
	struct sockaddr_in host = address_of(HOST, 0), mask = address_of("255.255.255.0", 0);
	struct sockaddr_in peer = address_of(PEER, 0);
	struct ifreq ifr = {0};
	struct arpreq arp = {.arp_flags = ATF_PERM | ATF_COM};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	memcpy(&ifr.ifr_addr, &host, sizeof(host));
	ask(name, SIOCSIFADDR, &ifr);
	memcpy(&ifr.ifr_netmask, &mask, sizeof(mask));
	ask(name, SIOCSIFNETMASK, &ifr);
	set_up(name);
	memcpy(&arp.arp_pa, &peer, sizeof(peer));
	memcpy(arp.arp_ha.sa_data, peer_mac, 6);
	snprintf(arp.arp_dev, sizeof(arp.arp_dev), "%s", name);
	CHECK(ioctl(fd, SIOCSARP, &arp) == 0);
	close(fd);
	ask(name, SIOCGIFHWADDR, &ifr);
	memcpy(mac, ifr.ifr_hwaddr.sa_data, 6);
}

static struct wire *
open_wire(struct wire_spec *spec, const char *text)
{
	const struct wire_context context = {0};

	CHECK(wire_spec_parse(spec, text) == 0);
	return spec->kind->open(&context, spec->arg, spec->config);
}

static uint64_t
counter(struct wire *wire, const char *name)
{
	const struct pw_stat *stat = wire->kind->stats;

	for (; stat->name != NULL; stat++)
		if (strcmp(stat->name, name) == 0)
			return pw_stat_value(stat, wire->kind->get_stats(wire));
	CHECK(!"a counter of this name");
	return 0;
}

/* Whether a checksum over the frame's end, and what is in front of it for IP, is right. */
static bool
is_l4_right(const uint8_t *ip, uint32_t ip_bytes)
{
	const uint32_t header_bytes = (ip[0] & 15) * 4, l4_bytes = ip_bytes - header_bytes;
	const uint8_t length[4] = {0, ip[9], (uint8_t)(l4_bytes >> 8), (uint8_t)l4_bytes};
	uint64_t sum = cksum_add(0, ip + 12, 8);

	sum = cksum_add(sum, length, 4);
	return cksum_fold(cksum_add(sum, ip + header_bytes, l4_bytes)) == 0xffff;
}

/* The next frame with IPv4 of this protocol, its checksums right; IP begins at ip_at. */
static struct frame
expect_ip4(struct wire *wire, uint8_t protocol, uint32_t ip_at)
{
	const uint64_t end_ns = now() + WAIT_NS;
	struct frame frame;

	while (now() < end_ns) {
		const uint8_t *ip;

		if (wire->kind->receive(wire, now(), &frame, 1) == 0)
			continue;
		CHECK(frame.len_bytes >= FRAME_MIN_BYTES && frame.len_bytes <= FRAME_MAX_BYTES);
		ip = frame.data + ip_at;
		if (get_be16(ip - 2) != ETH_P_IP || ip[9] != protocol)
			continue;
		CHECK(ip_at + get_be16(ip + 2) <= frame.len_bytes);
		CHECK(cksum_fold(cksum_add(0, ip, (ip[0] & 15) * 4)) == 0xffff);
		CHECK(is_l4_right(ip, get_be16(ip + 2)));
		return frame;
	}
	CHECK(!"a frame came");
	return (struct frame){0};
}

static int
udp_socket(const char *interface)
{
	struct sockaddr_in host = address_of(HOST, UDP_PORT), peer = address_of(PEER, UDP_PORT);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);

	CHECK(fd >= 0);
	CHECK(bind(fd, (struct sockaddr *)&host, sizeof(host)) == 0);
	CHECK(setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, interface, strlen(interface)) == 0);
	CHECK(connect(fd, (struct sockaddr *)&peer, sizeof(peer)) == 0);
	return fd;
}

/* The answer to a frame: all addresses turned round. The sums stay the same. */
static uint32_t
turn_round(uint8_t *out, const struct frame *frame, uint32_t ip_at, const uint8_t mac[6])
{
	const uint8_t *ip = frame->data + ip_at;
	uint8_t *to = out + ip_at;

	memcpy(out, frame->data, frame->len_bytes);
	memcpy(out, mac, 6);
	memcpy(out + 6, peer_mac, 6);
	memcpy(to + 12, ip + 16, 4);
	memcpy(to + 16, ip + 12, 4);
	memcpy(to + 20, ip + 22, 2);
	memcpy(to + 22, ip + 20, 2);
	return frame->len_bytes;
}

/* A datagram to the wire, and back to its sender. */
static void
echo_udp(struct wire *wire, int udp, size_t payload_bytes, const uint8_t mac[6])
{
	uint8_t sent[2000] = {0}, back[2000], answer[FRAME_MAX_BYTES];
	const uint64_t end_ns = now() + WAIT_NS;
	struct frame frame;
	ssize_t n = -1;

	for (size_t i = 0; i < payload_bytes; i++)
		sent[i] = (uint8_t)(i * 11 + payload_bytes);
	CHECK(send(udp, sent, payload_bytes, 0) == (ssize_t)payload_bytes);
	frame = expect_ip4(wire, IPPROTO_UDP, 14);
	CHECK(memcmp(frame.data, peer_mac, 6) == 0);
	CHECK(memcmp(frame.data + 14 + 28, sent, payload_bytes) == 0);
	frame.len_bytes = turn_round(answer, &frame, 14, mac);
	frame.data = answer;
	wire->kind->send(wire, now(), &frame, 1);
	while (n < 0 && now() < end_ns)
		n = recv(udp, back, sizeof(back), 0);
	CHECK(n == (ssize_t)payload_bytes && memcmp(back, sent, payload_bytes) == 0);
}

static void
echo_all_sizes(struct wire *wire, const char *interface, const uint8_t mac[6])
{
	int udp = udp_socket(interface);

	for (size_t bytes = 1; bytes <= 1472; bytes += 103)
		echo_udp(wire, udp, bytes, mac);
	echo_udp(wire, udp, 1472, mac);
	CHECK(counter(wire, "padded") > 0);
	close(udp);
}

static void
send_bad_ones(struct wire *wire)
{
	const uint8_t data[FRAME_MAX_BYTES] = {0};
	const struct frame frames[] = {
		{data, 60, FRAME_BAD_CRC}, {data, 5, 0}, {data, 0, 0}, {data, 13, 0}};
	uint64_t sent = counter(wire, "sent");

	wire->kind->send(wire, now(), frames, 4);
	CHECK(counter(wire, "sent") == sent);
	CHECK(counter(wire, "dropped_bad_crc") == 1);
	CHECK(counter(wire, "dropped_refused") == 3);
}

static int
run_tap(void)
{
	struct wire_spec spec, second_spec;
	struct wire *wire = open_wire(&spec, "tap=pwtap,mtu=9000");
	struct ifreq ifr = {0};
	const struct frame frame = {(const uint8_t[60]){0}, 60, 0};
	uint8_t mac[6];

	if (wire == NULL)
		return NOT_POSSIBLE;
	wire->kind->send(wire, now(), &frame, 1);
	CHECK(counter(wire, "dropped_down") == 1);
	ask("pwtap", SIOCGIFMTU, &ifr);
	CHECK(ifr.ifr_mtu == 9000);
	ifr.ifr_mtu = 1500;
	ask("pwtap", SIOCSIFMTU, &ifr);
	set_address("pwtap", mac);
	ask("pwtap", SIOCGIFFLAGS, &ifr);
	CHECK(ifr.ifr_flags & IFF_RUNNING);
	echo_all_sizes(wire, "pwtap", mac);
	send_bad_ones(wire);
	CHECK(open_wire(&second_spec, "tap=pwtap") == NULL);
	wire_spec_free(&second_spec);
	wire->kind->close(wire);
	wire_spec_free(&spec);
	CHECK(if_nametoindex("pwtap") == 0);
	return PASSED;
}

static void
a_tap_carries_udp_both_ways(void **state)
{
	(void)state;
	in_a_namespace(run_tap);
}

static void
send_raw(const char *interface, const uint8_t *data, size_t bytes)
{
	struct sockaddr_ll to = {.sll_family = AF_PACKET,
		.sll_protocol = htons(TEST_TYPE),
		.sll_halen = 6,
		.sll_ifindex = (int)if_nametoindex(interface)};
	int raw = socket(AF_PACKET, SOCK_RAW, 0);

	CHECK(raw >= 0);
	CHECK(sendto(raw, data, bytes, 0, (const struct sockaddr *)&to, sizeof(to)) ==
		(ssize_t)bytes);
	close(raw);
}

/* An idle port asks all the time: see how often that is a system call, by the time that it takes.
 */
static int
run_idle_tap(void)
{
	struct wire_spec spec;
	struct wire *wire = open_wire(&spec, "tap=pwtap");
	uint8_t data[60] = {0};
	struct frame frame;

	if (wire == NULL)
		return NOT_POSSIBLE;
	set_up("pwtap");
	wait_until_it_runs("pwtap");
	for (unsigned i = 0; i < 100; i++)
		wire->kind->receive(wire, i, &frame, 1);
	CHECK(wire->kind->receive(wire, 100000, &frame, 1) == 0);
	put_be16(data + 12, TEST_TYPE);
	send_raw("pwtap", data, sizeof(data));
	/* It is there, and nobody looks before the 10 us are over. */
	CHECK(wire->kind->receive(wire, 109999, &frame, 1) == 0);
	CHECK(wire->kind->receive(wire, 110000, &frame, 1) == 1);
	wire->kind->close(wire);
	wire_spec_free(&spec);
	return PASSED;
}

static void
an_idle_tap_is_not_asked_each_time(void **state)
{
	(void)state;
	in_a_namespace(run_idle_tap);
}

/* One end is the wire's, the other one the host's. */
static bool
make_veth(void)
{
	if (system("ip link add pwwire type veth peer name pwhost 2>/dev/null") != 0)
		return false;
	set_up("pwwire");
	set_up("pwhost");
	wait_until_it_runs("pwwire");
	wait_until_it_runs("pwhost");
	return true;
}

static int
run_veth(void)
{
	struct wire_spec spec;
	struct wire *wire;
	uint8_t mac[6];

	if (!make_veth())
		return NOT_POSSIBLE;
	wire = open_wire(&spec, "veth=pwwire");
	CHECK(wire != NULL);
	set_address("pwhost", mac);
	echo_all_sizes(wire, "pwhost", mac);
	CHECK(counter(wire, "checksums") > 0); /* Linux had left them to the hardware */
	send_bad_ones(wire);
	wire->kind->close(wire);
	wire_spec_free(&spec);
	return PASSED;
}

static void
a_veth_carries_udp_both_ways(void **state)
{
	(void)state;
	in_a_namespace(run_veth);
}

/* Linux takes the tag off before a socket sees the frame. */
static int
run_vlan(void)
{
	struct wire_spec spec;
	struct wire *wire;
	struct frame frame;
	uint8_t data[100];

	if (!make_veth())
		return NOT_POSSIBLE;
	wire = open_wire(&spec, "veth=pwwire");
	CHECK(wire != NULL);
	for (unsigned i = 0; i < 2; i++) {
		const uint64_t end_ns = now() + WAIT_NS;
		bool has_come = false;

		for (unsigned j = 0; j < sizeof(data); j++)
			data[j] = (uint8_t)(2 * j);
		put_be16(data + 12, i == 0 ? ETH_P_8021Q : ETH_P_8021AD);
		put_be16(data + 14, 0xa005);
		put_be16(data + 16, TEST_TYPE);
		send_raw("pwhost", data, sizeof(data));
		while (!has_come && now() < end_ns)
			has_come = wire->kind->receive(wire, now(), &frame, 1) == 1 &&
				frame.len_bytes == sizeof(data) &&
				memcmp(frame.data, data, sizeof(data)) == 0;
		CHECK(has_come);
	}
	wire->kind->close(wire);
	wire_spec_free(&spec);
	return PASSED;
}

static void
vlan_tags_are_put_back(void **state)
{
	(void)state;
	in_a_namespace(run_vlan);
}

/* The other end of a stream, in a namespace of its own: reads it all, and looks at it. */
static void
run_reader(int ready)
{
	static uint8_t data[65536];
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(TCP_PORT)};
	int listener = -1, fd;
	uint64_t got = 0;
	ssize_t n;

	CHECK(unshare(CLONE_NEWNET) == 0);
	CHECK(write(ready, "", 1) == 1);
	while (if_nametoindex("pwhost2") == 0)
		usleep(1000);
	CHECK(system("ip addr add " PEER "/24 dev pwhost2 && ip link set pwhost2 up") == 0);
	listener = socket(AF_INET, SOCK_STREAM, 0);
	CHECK(bind(listener, (struct sockaddr *)&address, sizeof(address)) == 0);
	CHECK(listen(listener, 1) == 0);
	wait_until_it_runs("pwhost2");
	CHECK(write(ready, "", 1) == 1);
	fd = accept(listener, NULL, NULL);
	CHECK(fd >= 0);
	while ((n = read(fd, data, sizeof(data))) > 0)
		for (ssize_t i = 0; i < n; i++, got++)
			CHECK(data[i] == (uint8_t)(got * 7 + got / 1000));
	CHECK(n == 0 && got == STREAM_BYTES);
	_exit(PASSED);
}

/* A second pair, its other end in the reader's namespace. */
static pid_t
start_reader(void)
{
	char command[160], byte;
	int ready[2];
	pid_t reader;

	CHECK(pipe(ready) == 0);
	reader = fork();
	CHECK(reader >= 0);
	if (reader == 0) {
		alarm(60);
		run_reader(ready[1]);
	}
	CHECK(read(ready[0], &byte, 1) == 1);
	snprintf(command, sizeof(command),
		"ip link add pwwire2 type veth peer name pwhost2 netns %d &&"
		" ip link set pwwire2 up",
		(int)reader);
	CHECK(system(command) == 0);
	CHECK(read(ready[0], &byte, 1) == 1);
	close(ready[0]);
	close(ready[1]);
	wait_until_it_runs("pwwire2");
	return reader;
}

static void
forward(struct wire *from, struct wire *to)
{
	struct frame frames[FRAME_BURST];
	unsigned n = from->kind->receive(from, now(), frames, FRAME_BURST);

	for (unsigned i = 0; i < n; i++)
		CHECK(frames[i].len_bytes <= 1514);
	if (n > 0)
		to->kind->send(to, now(), frames, n);
}

/* Write as much of the stream as goes; the end of it when all is written. */
static void
write_stream(int *tcp, uint64_t *written)
{
	uint8_t data[60000];
	size_t n = STREAM_BYTES - *written;
	ssize_t taken;

	if (*tcp < 0)
		return;
	n = n < sizeof(data) ? n : sizeof(data);
	for (size_t i = 0; i < n; i++)
		data[i] = (uint8_t)((*written + i) * 7 + (*written + i) / 1000);
	taken = n > 0 ? send(*tcp, data, n, MSG_DONTWAIT) : 0;
	CHECK(taken >= 0 || errno == EAGAIN || errno == EINPROGRESS);
	*written += taken > 0 ? (uint64_t)taken : 0;
	if (*written == STREAM_BYTES) {
		close(*tcp);
		*tcp = -1;
	}
}

/* Linux's TCP to Linux's TCP over two wires: long frames are cut on the way. */
static int
run_tcp(void)
{
	struct sockaddr_in peer = address_of(PEER, TCP_PORT);
	struct wire_spec specs[2];
	struct wire *wires[2];
	uint64_t written = 0;
	pid_t reader;
	int tcp, status;

	if (!make_veth())
		return NOT_POSSIBLE;
	CHECK(system("ip addr add " HOST "/24 dev pwhost") == 0);
	reader = start_reader();
	wires[0] = open_wire(&specs[0], "veth=pwwire");
	wires[1] = open_wire(&specs[1], "veth=pwwire2");
	CHECK(wires[0] != NULL && wires[1] != NULL);
	tcp = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	CHECK(connect(tcp, (struct sockaddr *)&peer, sizeof(peer)) < 0 && errno == EINPROGRESS);
	while (waitpid(reader, &status, WNOHANG) == 0) {
		write_stream(&tcp, &written);
		forward(wires[0], wires[1]);
		forward(wires[1], wires[0]);
	}
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == PASSED);
	CHECK(counter(wires[0], "segmented") > STREAM_BYTES / 1514 / 2);
	for (unsigned i = 0; i < 2; i++) {
		wires[i]->kind->close(wires[i]);
		wire_spec_free(&specs[i]);
	}
	return PASSED;
}

static void
a_stream_of_tcp_passes_two_veths(void **state)
{
	(void)state;
	in_a_namespace(run_tcp);
}

/* UDP with GSO (udp(7), UDP_SEGMENT) is no TCP: dropped, counted, told once. */
static int
run_gso(void)
{
	struct wire_spec spec;
	struct wire *wire;
	uint8_t mac[6], data[5000] = {0};
	const int segment = 1000;
	struct frame frames[FRAME_BURST];
	uint64_t end_ns;
	int udp;

	if (!make_veth())
		return NOT_POSSIBLE;
	wire = open_wire(&spec, "veth=pwwire");
	CHECK(wire != NULL);
	set_address("pwhost", mac);
	udp = udp_socket("pwhost");
	CHECK(setsockopt(udp, IPPROTO_UDP, UDP_SEGMENT, &segment, sizeof(segment)) == 0);
	CHECK(send(udp, data, sizeof(data), 0) == sizeof(data));
	for (end_ns = now() + WAIT_NS; counter(wire, "dropped_gso") == 0 && now() < end_ns;)
		wire->kind->receive(wire, now(), frames, FRAME_BURST);
	CHECK(counter(wire, "dropped_gso") == 1);
	close(udp);
	wire->kind->close(wire);
	wire_spec_free(&spec);
	return PASSED;
}

static void
what_cannot_be_cut_is_counted(void **state)
{
	(void)state;
	in_a_namespace(run_gso);
}

static void
must_be_refused(const char *text)
{
	struct wire_spec spec;

	if (open_wire(&spec, text) != NULL)
		fail_msg("%s was taken", text);
	wire_spec_free(&spec);
}

static void
names_that_are_none_are_refused(void **state)
{
	int fds, fds_after;

	(void)state;
	fds = dup(0);
	close(fds);
	must_be_refused("tap");
	must_be_refused("veth");
	must_be_refused("tap=a_name_that_is_too_long");
	must_be_refused("tap=x,netns=../../proc/1/ns/net");
	must_be_refused("tap=x,netns=pw_no_such_namespace");
	must_be_refused("veth=x,netns=pw_no_such_namespace");
	must_be_refused("veth=pw_none");
	must_be_refused("veth=lo");
	must_be_refused("tap=lo");
	fds_after = dup(0);
	close(fds_after);
	assert_int_equal(fds, fds_after); /* nothing is left open */
}

/* A frame of TCP of this much payload. */
static uint32_t
make_tcp(uint8_t *data, bool is_ip6, bool has_vlan, uint32_t payload_bytes)
{
	uint32_t ip_at = has_vlan ? 18 : 14, tcp_at = ip_at + (is_ip6 ? 40 : 24);
	uint32_t len_bytes = tcp_at + 32 + payload_bytes;

	memset(data, 0, tcp_at + 32);
	put_be16(data + 12, 0x8100);
	put_be16(data + ip_at - 2, is_ip6 ? ETH_P_IPV6 : ETH_P_IP);
	data[ip_at] = is_ip6 ? 0x60 : 0x46;
	data[ip_at + (is_ip6 ? 6 : 9)] = IPPROTO_TCP;
	memset(data + ip_at + (is_ip6 ? 8 : 12), 0xa5, is_ip6 ? 32 : 8);
	put_be16(data + ip_at + 4, 0xfffe); /* IPv4: the identification wraps */
	put_be32(data + tcp_at + 4, 0xffffff00);
	data[tcp_at + 12] = 8 << 4;
	data[tcp_at + 13] = 0x99; /* CWR, ACK, PSH, FIN */
	for (uint32_t i = 0; i < payload_bytes; i++)
		data[tcp_at + 32 + i] = (uint8_t)(i * 13);
	return len_bytes;
}

static bool
is_tcp6_right(const uint8_t *ip, uint32_t tcp_bytes)
{
	const uint8_t length[4] = {0, IPPROTO_TCP, (uint8_t)(tcp_bytes >> 8), (uint8_t)tcp_bytes};
	uint64_t sum = cksum_add(cksum_add(0, ip + 8, 32), length, 4);

	return cksum_fold(cksum_add(sum, ip + 40, tcp_bytes)) == 0xffff;
}

static void
check_cutting(bool is_ip6, bool has_vlan, uint32_t payload_bytes, uint32_t segment_bytes)
{
	static uint8_t data[70000], segment[FRAME_MAX_BYTES];
	uint32_t ip_at = has_vlan ? 18 : 14, tcp_at = ip_at + (is_ip6 ? 40 : 24), done = 0;
	uint32_t len_bytes = make_tcp(data, is_ip6, has_vlan, payload_bytes), got, i = 0;
	struct tso tso;

	assert_true(tso_begin(&tso, data, len_bytes, segment_bytes));
	for (; !tso_is_done(&tso); i++) {
		const uint8_t *ip = segment + ip_at, *tcp = segment + tcp_at;
		uint32_t bytes = payload_bytes - done < segment_bytes ? payload_bytes - done
								      : segment_bytes;
		bool is_last = done + bytes == payload_bytes;

		got = tso_next(&tso, segment);
		assert_int_equal(got, tcp_at + 32 + bytes);
		assert_memory_equal(tcp + 32, data + tcp_at + 32 + done, bytes);
		assert_int_equal(get_be32(tcp + 4), (uint32_t)(0xffffff00 + done));
		assert_int_equal(tcp[13], 0x10 | (i == 0 ? 0x80 : 0) | (is_last ? 0x09 : 0));
		if (is_ip6) {
			assert_int_equal(get_be16(ip + 4), 32 + bytes);
			assert_true(is_tcp6_right(ip, 32 + bytes));
		} else {
			assert_int_equal(get_be16(ip + 2), 24 + 32 + bytes);
			assert_int_equal(get_be16(ip + 4), (uint16_t)(0xfffe + i));
			assert_int_equal(cksum_fold(cksum_add(0, ip, 24)), 0xffff);
			assert_true(is_l4_right(ip, 24 + 32 + bytes));
		}
		done += bytes;
	}
	assert_int_equal(done, payload_bytes);
}

static void
long_tcp_is_cut_into_right_segments(void **state)
{
	(void)state;
	for (unsigned kind = 0; kind < 4; kind++) {
		check_cutting(kind & 1, kind & 2, 65000, 1448);
		check_cutting(kind & 1, kind & 2, 2896, 1448);
		check_cutting(kind & 1, kind & 2, 1449, 1448);
		check_cutting(kind & 1, kind & 2, 1, 1448);
		check_cutting(kind & 1, kind & 2, 500, 1);
		check_cutting(kind & 1, kind & 2, 60000, 9000);
	}
}

/* Each length, and each byte of the headers: memory ends where the frame ends. */
static void
no_frame_leads_the_cutter_astray(void **state)
{
	uint8_t whole[300], segment[FRAME_MAX_BYTES], *data;
	struct tso tso;

	(void)state;
	for (unsigned kind = 0; kind < 4; kind++)
		for (uint32_t len = make_tcp(whole, kind & 1, kind & 2, 50); len > 0; len--)
			for (unsigned at = 12; at < len && at < 75; at += 3) {
				data = malloc(len);
				assert_non_null(data);
				memcpy(data, whole, len);
				data[at] ^= (uint8_t)(0x55 + len);
				if (tso_begin(&tso, data, len, 20))
					while (!tso_is_done(&tso))
						tso_next(&tso, segment);
				tso_fill_cksum(data, len, at, len - at);
				tso_fill_cksum(data, len, len - 1, 0);
				tso_fill_cksum(data, len, UINT16_MAX, UINT16_MAX);
				free(data);
			}
	make_tcp(whole, false, false, 50);
	assert_false(tso_begin(&tso, whole, 124, 0));
	assert_false(tso_begin(&tso, whole, 124, FRAME_MAX_BYTES));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tap_carries_udp_both_ways),
		cmocka_unit_test(an_idle_tap_is_not_asked_each_time),
		cmocka_unit_test(a_veth_carries_udp_both_ways),
		cmocka_unit_test(vlan_tags_are_put_back),
		cmocka_unit_test(a_stream_of_tcp_passes_two_veths),
		cmocka_unit_test(what_cannot_be_cut_is_counted),
		cmocka_unit_test(names_that_are_none_are_refused),
		cmocka_unit_test(long_tcp_is_cut_into_right_segments),
		cmocka_unit_test(no_frame_leads_the_cutter_astray),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
