#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A TCP client for a Linux peer: many connections at once to an echo, or to what only takes.

All connections are open before the first byte is sent. Each one sends data of its own and ends its
stream; what comes back is compared byte by byte. Prints a line of JSON:

    right           connections whose stream was whole, both ways
    wrong           what happened to the others, and to how many
    seconds         from the first SYN to the last FIN
    longest_gap_s   the longest time in which no connection moved a byte
"""

import argparse
import asyncio
import collections
import json
import random
import resource
import socket
import time

PART_BYTES = 1 << 16


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    parser.add_argument("--connections", type=int, default=1)
    parser.add_argument("--bytes", type=int, default=1_000_000, help="that each one sends")
    parser.add_argument("--take-only", action="store_true", help="nothing comes back but the FIN")
    parser.add_argument("--rcvbuf", type=int, help="SO_RCVBUF: the window that is offered")
    parser.add_argument("--mss", type=int, help="TCP_MAXSEG")
    parser.add_argument("--congestion", help="TCP_CONGESTION: reno, cubic")
    parser.add_argument("--read-bytes", type=int, default=PART_BYTES, help="at a time")
    parser.add_argument("--read-every", type=float, default=0, metavar="SECONDS")
    parser.add_argument("--idle", type=float, default=0, metavar="SECONDS",
                        help="say nothing, in the middle of the data")
    parser.add_argument("--keepalive", action="store_true",
                        help="probe each second, give up after two without an answer")
    parser.add_argument("--timeout", type=float, default=30, metavar="SECONDS")
    return parser.parse_args()


def open_socket(args):
    family = socket.AF_INET6 if ":" in args.host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    sock.setblocking(False)
    if args.rcvbuf:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, args.rcvbuf)
    if args.mss:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, args.mss)
    if args.congestion:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, args.congestion.encode())
    if args.keepalive:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in ((socket.TCP_KEEPIDLE, 1), (socket.TCP_KEEPINTVL, 1),
                            (socket.TCP_KEEPCNT, 2)):
            sock.setsockopt(socket.IPPROTO_TCP, name, value)
    return sock


def stream(number, size):
    """What connection number sends: each one's data begins a byte later."""
    return random.Random(1).randbytes(number + size)[number:]


class Client:
    """All connections, in one thread."""

    def __init__(self, args):
        self.args = args
        self.loop = asyncio.get_running_loop()
        self.all_open = asyncio.Event()
        self.to_open = args.connections
        self.begin = self.moved = time.monotonic()
        self.longest_gap = 0.0
        self.block = memoryview(stream(0, args.bytes + args.connections))

    def progress(self):
        now = time.monotonic()
        self.longest_gap = max(self.longest_gap, now - self.moved)
        self.moved = now

    async def send_part(self, sock, data):
        for at in range(0, len(data), PART_BYTES):
            await self.loop.sock_sendall(sock, data[at:at + PART_BYTES])
            self.progress()

    async def send(self, sock, data):
        half = len(data) // 2
        await self.send_part(sock, data[:half])
        if self.args.idle:
            await asyncio.sleep(self.args.idle)
            self.progress()
        await self.send_part(sock, data[half:])
        sock.shutdown(socket.SHUT_WR)

    async def receive(self, sock, data):
        received = 0
        while part := await self.loop.sock_recv(sock, self.args.read_bytes):
            self.progress()
            if part != data[received:received + len(part)]:
                raise ValueError("other bytes came back")
            received += len(part)
            if self.args.read_every:
                await asyncio.sleep(self.args.read_every)
        if received != len(data):
            raise ValueError(f"it ended after {received} bytes")

    def opened(self):
        self.progress()
        self.to_open -= 1
        if self.to_open == 0:
            self.all_open.set()

    async def run_one(self, number):
        data = self.block[number:number + self.args.bytes]
        with open_socket(self.args) as sock:
            try:
                await self.loop.sock_connect(sock, (self.args.host, self.args.port))
            finally:
                self.opened()
            await self.all_open.wait()
            await asyncio.gather(self.send(sock, data),
                                 self.receive(sock, b"" if self.args.take_only else data))

    async def run(self):
        tasks = [asyncio.create_task(self.run_one(i)) for i in range(self.args.connections)]
        _, late = await asyncio.wait(tasks, timeout=self.args.timeout)
        for task in late:
            task.cancel()
        ends = await asyncio.gather(*tasks, return_exceptions=True)
        self.progress()
        wrong = collections.Counter(
            "timeout" if isinstance(end, asyncio.CancelledError) else f"{end}" for end in ends
            if end is not None)
        return {"right": ends.count(None), "wrong": dict(wrong),
                "seconds": round(time.monotonic() - self.begin, 3),
                "longest_gap_s": round(self.longest_gap, 3)}


async def run(args):
    return await Client(args).run()


def main():
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    print(json.dumps(asyncio.run(run(parse()))))


if __name__ == "__main__":
    main()
