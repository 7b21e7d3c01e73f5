# SPDX-License-Identifier: BSD-3-Clause
"""The experiment udp_stream with --on: large messages in IP fragments, over a cable (2014).

MTU 9000, which cards have, instead of the loopback's 16436. net_af_packet has no more than 1500, and
lets Linux put IPv4 fragments together, of which it cuts off what is longer than a frame: on veth
messages are smaller, over IPv6.
"""

import pwlab
from pwlab import cable, counters, lab, traffic
from pwlab.lab import Metric

DISCARD = 9
MBUFS_OF_MESSAGE = 48
ARENAS = ["fresh", "fragmented"]


def bytes_taken(run):
    return run["inet"]["rx_udp"] * run["message_bytes"]


METRICS = [
    Metric("throughput", "received", "10^6bits/s", 1, "more",
           lambda r: bytes_taken(r) * 8 / r["seconds"] / 1e6),
    *counters.cost_metrics("byte", bytes_taken, 4),
    Metric("messages", "messages sent", "1/s", 0, "more",
           lambda r: r["tcp/client"]["transactions"] / r["seconds"]),
    Metric("lost", "messages lost", "%", 2, "less",
           lambda r: 100 * r["lost"] / r["client"]["transactions"]),
    *(Metric(key, title, "1/1000 messages", 1, "less",
             lambda r, key=key: 1e3 * r["frags"][key] / r["tcp/client"]["transactions"])
      for key, title in (("fallbacks", "small pages instead"), ("page_failures", "failed gets"))),
    *counters.POOL_METRICS,
]


class UdpStream(cable.Cable):
    """Port 1 sends datagrams, which are copied into fragments; port 0 reads them."""

    metrics = METRICS
    rows_are = "arena"
    strategies = ["order0", "order3", "cached", "reuse"]

    @staticmethod
    def add_options(parser):
        cable.Cable.add_options(parser)
        parser.add_argument("--message-bytes", type=lab.bounded(1, 65507), metavar="BYTES",
                            help="of a datagram (default 65507, on veth 8192)")
        parser.add_argument("--arenas", type=lab.parse_list(lab.choice(*ARENAS), "arenas"),
                            metavar="LIST", default=ARENAS,
                            help="the sender's memory. fresh: pages of all orders are there; "
                                 "fragmented: others take each one that is free and larger than 4 "
                                 "KiB (default fresh,fragmented)")

    def __init__(self, args, progress):
        super().__init__(args, progress)
        self.ipv6 = args.on == "veth"
        self.mtu = 1500 if args.on == "veth" else 9000
        args.message_bytes = args.message_bytes or (8192 if args.on == "veth" else 65507)
        self.rows = args.arenas
        self.title = (f"UDP_STREAM, messages of {args.message_bytes} bytes over MTU {self.mtu}, "
                      f"{args.seconds} s a measurement")

    def environment(self):
        return super().environment() | {
            "message_bytes": self.args.message_bytes, "ip": "IPv6" if self.ipv6 else "IPv4"}

    def client(self, row):
        return (self.connect(DISCARD), "--connect-app=udp_stream",
                f"--message-bytes={self.args.message_bytes}", "--listen=discard", "--discard-copy")

    def disturb(self, row, wheel):
        """Who else has memory takes each large page that has become free."""
        if self.rows[row] == "fragmented":
            wheel.command("fragment pages 0")

    def check(self, row, wheel, run):
        """A message is lost only with a frame of it."""
        traffic.wait_until_quiet(wheel)
        sent, inet = wheel.stats("tcp/client")["transactions"], wheel.stats("inet")
        lost_frames = inet["tx_frames"] - inet["rx_frames"]
        lost = sent - inet["rx_udp"]
        # The rest of a message stays for 30 s, should the frame still come (RFC 791).
        run |= {"lost": lost, "message_bytes": self.args.message_bytes,
                "held_mbufs": lost * MBUFS_OF_MESSAGE}
        if lost < 0 or (lost > 0) != (lost_frames > 0) or lost > lost_frames:
            raise pwlab.LabError(f"{sent} messages sent, {inet['rx_udp']} received, "
                                 f"{lost_frames} frames lost on the way")
