#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Send malformed frames out of an interface: short, cut, random, and nearly right ones."""

import random
import socket
import struct
import sys
import time

OUR_MAC = bytes.fromhex("020000000001")


def ipv4_tcp(rng, dst_mac, src, dst):
    """A TCP segment with one random byte of its headers changed: mostly a wrong checksum."""
    payload = rng.randbytes(rng.randrange(0, 100))
    ip = bytearray(struct.pack("!BBHHHBBH4s4s", 0x45, 0, 40 + len(payload), rng.randrange(65536),
                               0x4000, 64, 6, 0, socket.inet_aton(src), socket.inet_aton(dst)))
    tcp = bytearray(struct.pack("!HHIIBBHHH", rng.randrange(65536), rng.choice([7, 9, 80]),
                                rng.randrange(1 << 32), rng.randrange(1 << 32),
                                rng.randrange(256), rng.randrange(256), 1000, 0, 0))
    headers = ip + tcp
    headers[rng.randrange(len(headers))] = rng.randrange(256)
    return dst_mac + OUR_MAC + b"\x08\x00" + headers + payload


def arp(rng, dst_mac):
    body = bytearray(struct.pack("!HHBBH", 1, 0x0800, 6, 4, 1) + rng.randbytes(20))
    body[rng.randrange(8)] = rng.randrange(256)
    return dst_mac + OUR_MAC + b"\x08\x06" + body[:rng.randrange(len(body) + 1)]


def frame(rng, dst_mac, src, dst):
    kind = rng.randrange(5)
    if kind == 0:
        return dst_mac + OUR_MAC + rng.randbytes(2 + rng.randrange(60))
    if kind == 1:
        return dst_mac + OUR_MAC + b"\x08\x00" + rng.randbytes(rng.randrange(1486))
    if kind == 2:
        return arp(rng, dst_mac)
    whole = ipv4_tcp(rng, dst_mac, src, dst)
    return whole if kind == 3 else whole[:rng.randrange(14, len(whole) + 1)]


def main():
    dev, mac, src, dst, count, seed = sys.argv[1:]
    rng = random.Random(int(seed))
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sock:
        sock.bind((dev, 0))
        for i in range(int(count)):
            if i % 1000 == 0:
                time.sleep(0.01)  # the port's ring holds 4096
            sock.send(frame(rng, bytes.fromhex(mac.replace(":", "")), src, dst))


if __name__ == "__main__":
    main()
