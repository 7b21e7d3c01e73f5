# SPDX-License-Identifier: BSD-3-Clause
"""The experiment throughput: the highest rate without loss, as RFC 2544, 26.1 defines it, by halving.

Trials are of seconds, not of the 60 that the RFC asks for: --trial=60 does that.
"""

import time

import pwlab
from pwlab import counters, lab, traffic
from pwlab.lab import Metric

LINE_BPS = 10e9
# Preamble and gap (IEEE 802.3, 4.2.3).
FRAME_GAP_BYTES = 20
# RFC 2544, 9.1.
SIZES = [64, 128, 256, 512, 1024, 1280, 1518]
MODES = {"io": ("io", 2, []), "mac": ("mac", 2, []),
         "tcp": ("tcp", 1, ["--listen=discard"])}

METRICS = [
    Metric("throughput", "throughput", "Mpps", 3, "more", lambda r: r["fps"] / 1e6),
    Metric("of_line", "of the line", "%", 1, "more", lambda r: 100 * r["fps"] / r["line_fps"]),
    Metric("goodput", "frames", "Gbit/s", 2, "more", lambda r: r["fps"] * r["size"] * 8 / 1e9),
    Metric("cost", "cost at it", "cycles/packet", 1, "less", lambda r: r["cost"]),
    Metric("trials", "trials", "", 1, "neither", lambda r: r["trials"]),
    Metric("least_loss", "least loss where there was any", "ppm", 1, "neither",
           lambda r: r["least_loss_ppm"]),
]


def line_fps(size):
    return LINE_BPS / 8 / (size + FRAME_GAP_BYTES)


class Throughput(lab.Experiment):
    """A search for each frame size, mode and strategy, on nicsim."""

    metrics = METRICS
    rows_are = "frame with CRC"

    @staticmethod
    def add_options(parser):
        parser.set_defaults(strategies=["order0", "reuse"])
        parser.add_argument("--sizes", type=lab.parse_list(lab.bounded(64, 9018), "sizes"),
                            metavar="LIST", help="of frames with CRC, in bytes (default those of RFC "
                            "2544: 64,128,256,512,1024,1280,1518, with --quick 64,1518)")
        parser.add_argument("--modes", type=lab.parse_list(lab.choice(*MODES), "modes"),
                            metavar="LIST", default=["io", "tcp"],
                            help="io, mac: sent out of a second port; tcp: UDP taken by the service "
                                 "discard, through GRO and inet (default io,tcp)")
        parser.add_argument("--trial", type=lab.parse_seconds, default=None, metavar="SECONDS",
                            help="at a rate (default 1, with --quick 0.2)")
        parser.add_argument("--loss", type=float, default=0, metavar="PERCENT",
                            help="that is borne (default 0, as in RFC 2544)")
        parser.add_argument("--resolution", type=float, default=None, metavar="PERCENT",
                            help="of the line's rate, at which the search ends (default 1, with "
                                 "--quick 10)")

    def __init__(self, args, progress):
        super().__init__(args, progress)
        if args.on != "nicsim":
            raise pwlab.LabError(f"--on={args.on}: a search needs a sender whose rate we set: only "
                                 "--on=nicsim has one")
        if not 0 <= args.loss < 100:
            raise pwlab.LabError(f"--loss={args.loss:g}: expected a number from 0 to below 100")
        args.sender, args.flows = None, 8
        args.sizes = args.sizes or ([64, 1518] if args.quick else SIZES)
        args.trial = args.trial or (0.2 if args.quick else 1)
        args.resolution = args.resolution or (10 if args.quick else 1)
        if not 0.01 <= args.resolution <= 50:
            raise pwlab.LabError(f"--resolution={args.resolution:g}: expected a number from 0.01 "
                                 "to 50")
        self.source = traffic.make(args)
        self.rows = [f"{size}" for size in args.sizes]
        self.cases = [(mode, strategy) for mode in args.modes for strategy in args.strategies]
        self.columns = [f"{mode} {strategy}" for mode, strategy in self.cases]
        self.title = (f"highest rate with at most {args.loss:g} % loss, {args.trial:g} s a trial, to "
                      f"{args.resolution:g} % of the line")

    def environment(self):
        return {"rfc": "2544, 26.1", "trial_s": self.args.trial, "loss_percent": self.args.loss,
                "line": "10G"}

    def measure(self, row, column, title):
        size = self.args.sizes[row]
        name, strategy = self.cases[column]
        mode, ports, options = MODES[name]
        with self.source.wheel(f"--strategy={strategy}", f"--total-num-mbufs={self.args.mbufs}",
                               *options, mode=mode, size=size, ports=ports, rate="10G") as wheel:
            self.look(wheel)
            run = self.search(wheel, ports, size, title)
            if wheel.stop() != 0:
                raise pwlab.LabError(f"{title}: pagewheel failed:\n{wheel.log}")
        return run

    def search(self, wheel, ports, size, title):
        """Between a rate that is borne and one that is not; the line's is tried first."""
        line = line_fps(size)
        step = line * self.args.resolution / 100
        good, bad, rate = 0, line + step, line
        found = {"cost": 0}
        trials, least_loss = 0, float("inf")
        while bad - good > step:
            self.progress(f"{title}: {rate / 1e6:.3f} Mpps")
            trial = self.trial(wheel, ports, rate, title)
            trials += 1
            if trial["loss_percent"] <= self.args.loss:
                good, found = rate, trial
            else:
                bad = rate
                least_loss = min(least_loss, trial["loss_percent"] * 1e4)
            rate = (good + min(bad, line)) / 2 if good < line else line
            if good >= line:
                break
        run = {"fps": good, "line_fps": line, "size": size, "trials": trials,
               "cost": found["cost"]}
        return run | ({"least_loss_ppm": least_loss} if least_loss < float("inf") else {})

    def trial(self, wheel, ports, rate, title):
        """Frames at a rate, for a time; then what was lost on any way, and what a packet cost."""
        self.source.set_rate(f"{rate:.0f}pps")
        lost = self.lost(wheel, ports)
        before = wheel.stats("lcores")
        self.source.start()
        time.sleep(self.args.trial)
        sent = self.source.stop()
        traffic.wait_until_quiet(wheel)
        if sent == 0:
            raise pwlab.LabError(f"{title}: nothing was sent at {rate:.0f} frames/s")
        after = wheel.stats("lcores")
        counters.check_buffers(wheel, title, self.args.place.posted * ports)
        packets = max(after["rx_packets"] - before["rx_packets"], 1)
        return {"loss_percent": 100 * (self.lost(wheel, ports) - lost) / sent,
                "cost": (after["busy_cycles"] - before["busy_cycles"]) / packets}

    def lost(self, wheel, ports):
        """On the way in, in pagewheel, and on the way out."""
        lost = self.source.lost()
        received = wheel.stats("lcores")["rx_packets"]
        if ports == 2:
            return lost + received - self.source.came_back()
        inet = wheel.stats("inet")
        return lost + received - inet["rx_udp"]
