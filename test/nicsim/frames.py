# SPDX-License-Identifier: BSD-3-Clause
"""Frames and captures, checksums and RSS hashes: slow, and independent of the card's."""

import ipaddress
import struct

TCP, UDP = 6, 17
FIN, PSH, ACK = 1, 8, 16
OUR_MAC = bytes.fromhex("027077000100")
PORT_MAC = bytes.fromhex("027077000000")


def checksum(data):
    """RFC 1071."""
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def pseudo_header(src, dst, protocol, length):
    if len(src) == 4:
        return src + dst + struct.pack("!BBH", 0, protocol, length)
    return src + dst + struct.pack("!IHBB", length, 0, 0, protocol)


def ip(src, dst, protocol, payload, ident=0x1234, right=True, ttl=64, fragment=0):
    """An IPv4 or IPv6 packet; not right: the checksum of the IPv4 header is wrong."""
    src, dst = ipaddress.ip_address(src).packed, ipaddress.ip_address(dst).packed
    if len(src) == 16:
        return struct.pack("!IHBB", 6 << 28, len(payload), protocol, ttl) + src + dst + payload
    header = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(payload), ident, fragment, ttl, protocol, 0)
    value = checksum(header + src + dst) ^ (0 if right else 0x0100)
    return header[:10] + struct.pack("!H", value) + src + dst + payload


def udp(src, dst, sport, dport, data, right=True):
    length = 8 + len(data)
    header = struct.pack("!HHHH", sport, dport, length, 0)
    pseudo = pseudo_header(ipaddress.ip_address(src).packed, ipaddress.ip_address(dst).packed, UDP,
                           length)
    value = (checksum(pseudo + header + data) or 0xffff) ^ (0 if right else 0x0100)
    return header[:6] + struct.pack("!H", value) + data


def tcp(src, dst, sport, dport, data, seq=1, flags=ACK, right=True, ack=1, window=8192, options=b""):
    header = struct.pack("!HHIIBBHHH", sport, dport, seq, ack, (5 + len(options) // 4) << 4, flags,
                         window, 0, 0) + options
    pseudo = pseudo_header(ipaddress.ip_address(src).packed, ipaddress.ip_address(dst).packed, TCP,
                           len(header) + len(data))
    value = checksum(pseudo + header + data) ^ (0 if right else 0x0100)
    return header[:16] + struct.pack("!H", value) + header[18:] + data


def ethernet(packet, mac=PORT_MAC, vlan=None):
    """A frame of at least 60 bytes around a packet, to a MAC."""
    kind = 0x0800 if packet[0] >> 4 == 4 else 0x86dd
    tag = b"" if vlan is None else struct.pack("!HH", 0x8100, vlan)
    return (mac + OUR_MAC + tag + struct.pack("!H", kind) + packet).ljust(60, b"\0")


def udp_frame(src="198.18.0.1", dst="198.18.0.2", sport=1000, dport=9, data=b"", ip_right=True,
              right=True, **kwargs):
    segment = udp(src, dst, sport, dport, data, right)
    return ethernet(ip(src, dst, UDP, segment, right=ip_right), **kwargs)


def tcp_frame(src="198.18.0.1", dst="198.18.0.2", sport=1000, dport=9, data=b"", seq=1, flags=ACK,
              right=True, ident=0x1234, **kwargs):
    segment = tcp(src, dst, sport, dport, data, seq, flags, right)
    return ethernet(ip(src, dst, TCP, segment, ident), **kwargs)


def write_pcap(path, frames):
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 1 << 18, 1))
        for i, frame in enumerate(frames):
            file.write(struct.pack("<IIII", i // 1000, i % 1000, len(frame), len(frame)) + frame)


def read_pcap(path):
    """Frames of a capture in nanoseconds or microseconds."""
    frames = []
    with open(path, "rb") as file:
        magic = struct.unpack("<I", file.read(24)[:4])[0]
        assert magic in (0xa1b2c3d4, 0xa1b23c4d), hex(magic)
        while header := file.read(16):
            _, _, kept, length = struct.unpack("<IIII", header)
            assert kept == length
            frames.append(file.read(length))
    return frames


class Packet:
    """A frame taken apart; right_ip and right_l4 tell whether its checksums are."""

    def __init__(self, frame):
        at = 12
        self.vlan = None
        kind = struct.unpack_from("!H", frame, at)[0]
        if kind == 0x8100:
            self.vlan = struct.unpack_from("!H", frame, at + 2)[0]
            at += 4
            kind = struct.unpack_from("!H", frame, at)[0]
        self.frame_bytes = len(frame)
        packet = frame[at + 2:]
        if kind == 0x0800:
            self._ipv4(packet)
        else:
            self._ipv6(packet)

    def _ipv4(self, packet):
        header = packet[:(packet[0] & 15) * 4]
        self.right_ip = checksum(header) == 0
        self.ip_bytes, self.ident = struct.unpack_from("!HH", packet, 2)
        self.protocol = packet[9]
        self.ip_src, self.ip_dst = (ipaddress.ip_address(packet[i:i + 4]) for i in (12, 16))
        self._l4(packet[len(header):self.ip_bytes])

    def _ipv6(self, packet):
        self.right_ip = True
        length = struct.unpack_from("!H", packet, 4)[0]
        self.ip_bytes, self.ident = 40 + length, None
        self.protocol = packet[6]
        self.ip_src, self.ip_dst = (ipaddress.ip_address(packet[i:i + 16]) for i in (8, 24))
        self._l4(packet[40:40 + length])

    def _l4(self, segment):
        pseudo = pseudo_header(self.ip_src.packed, self.ip_dst.packed, self.protocol, len(segment))
        self.right_l4 = checksum(pseudo + segment) == 0
        self.sport, self.dport = struct.unpack_from("!HH", segment)
        if self.protocol == UDP:
            self.data = segment[8:]
            return
        self.seq, self.ack = struct.unpack_from("!II", segment, 4)
        self.flags = segment[13]
        self.data = segment[(segment[12] >> 4) * 4:]


def toeplitz(key, data):
    """The RSS hash: for each bit of the data that is one, the 32 bits of the key from there."""
    bits = int.from_bytes(key, "big")
    width = len(key) * 8
    value = 0
    for i in range(len(data) * 8):
        if data[i // 8] >> (7 - i % 8) & 1:
            value ^= bits >> (width - 32 - i) & 0xffffffff
    return value


def rss_hash(key, src, dst, sport=None, dport=None):
    """Of addresses, and of ports when they are given."""
    data = ipaddress.ip_address(src).packed + ipaddress.ip_address(dst).packed
    if sport is not None:
        data += struct.pack("!HH", sport, dport)
    return toeplitz(key, data)


def generator_flow(flow, version=4):
    """Source, destination and ports of a flow of nicsim's generator."""
    high, low = flow & 0xf000, flow & 0x0fff
    if version == 4:
        src, dst = ipaddress.ip_address("198.18.0.1"), ipaddress.ip_address("198.18.0.2")
    else:
        src, dst = ipaddress.ip_address("2001:db8::1"), ipaddress.ip_address("2001:db8::2")
    return src + high, dst, 0xa000 | low, 9
