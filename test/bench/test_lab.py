# SPDX-License-Identifier: BSD-3-Clause
"""Experiments that run pagewheel, in short form: what they count, and what they refuse. No speed is
judged."""

import glob
import json
import os
import signal
import subprocess
import tempfile
import time
import unittest

from rig import BINARY, Report, TOP, run, said

SHORT = ("--quick", "--rounds=1", "--max-rounds=1", "--json", "--strategies=order0,reuse", "--max-seconds=300")
HUGEPAGES = "/sys/kernel/mm/hugepages/hugepages-2048kB"


def traces():
    """What an experiment could leave: namespaces, hugepages in use, folders, FIFOs."""
    with open(os.path.join(HUGEPAGES, "free_hugepages"), encoding="utf-8") as file:
        free = file.read()
    names = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True,
                           check=True).stdout
    return (free, sorted(names.split("\n")), sorted(glob.glob("/var/run/dpdk/*")),
            sorted(glob.glob("/dev/shm/nicsim-*")), sorted(glob.glob("/dev/uio1??")))


class Lab(unittest.TestCase):
    def setUp(self):
        self.before = traces()

    def tearDown(self):
        self.assertEqual(traces(), self.before)

    def measure(self, *arguments):
        """Run an experiment; returns its report, all cells of which were measured."""
        done = run(*arguments, *SHORT, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        report = Report(done.stdout)
        self.assertFalse(report.json["failed"] or report.json["interrupted"])
        for section in report.sections:
            self.assertEqual(section["columns"][:1], [section["baseline"]])
            first = section["metrics"][0]["key"]
            for cell in section["cells"]:
                self.assertEqual(cell["reason"], "")
                self.assertEqual(cell["metrics"][first]["n"], 1)
                self.assertGreater(min(cell["metrics"][first]["samples"]), 0)
        self.check_strategies(report)
        self.check_environment(report.json["environment"], arguments)
        return report

    def check_strategies(self, report):
        for cell in report.cells:
            if "in_place" in cell["metrics"]:
                in_place = cell["metrics"]["in_place"]["mean"]
                self.assertEqual(in_place > 0, "reuse" in cell["column"])
            if "busy" in cell["metrics"]:
                self.assertLessEqual(max(cell["metrics"]["busy"]["samples"]), 100)

    def check_environment(self, environment, arguments):
        for key in ("cpu", "kernel", "dpdk", "port", "strategies", "date", "driver", "rx_offloads"):
            self.assertIn(key, environment)
        self.assertIn("order0 (4 KiB), reuse (32 KiB)", environment["strategies"])
        self.assertEqual(environment["driver"],
                         "net_af_packet" if "--on=veth" in arguments else "net_ixgbe")


class Stream(Lab):
    def test_on_nicsim(self):
        report = self.measure("stream", "--bytes=32M", "--rate=10G,max")
        self.assertEqual(report.sections[0]["rows"], ["line at 10G", "unpaced"])
        # The same segments each time: 8 flows of 4 MiB, handshakes and ends among them.
        for count in report.samples("packets"):
            self.assertGreaterEqual(count, (32 << 20) / 1448)
        self.assertEqual(len(report.samples("retransmitted")), 4)

    def test_iperf3_on_nicsim(self):
        self.measure("stream", "--bytes=16M", "--sender=iperf3")

    def test_split_on_veth(self):
        """One lcore receives, one does the rest."""
        report = self.measure("stream", "--bytes=16M", "--on=veth", "--split")
        for busy in report.samples("receiving_busy"):
            self.assertTrue(0 < busy <= 100)

    def test_on_veth_beside_linux(self):
        report = self.measure("stream", "--bytes=16M", "--on=veth", "--linux", "--stages", "--copied")
        self.assertEqual(report.sections[0]["columns"], ["order0", "reuse", "linux"])
        for column in ("order0", "reuse"):
            for stage in ("driver", "pool", "gro", "inet", "tcp", "reader"):
                self.assertGreater(min(report.samples(f"stage_{stage}", column)), 0)

    def measure(self, *arguments):
        """Of Linux goodput alone is known."""
        if "--linux" not in arguments:
            return super().measure(*arguments)
        done = run(*arguments, *SHORT, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        report = Report(done.stdout)
        self.assertEqual([len(report.samples("goodput", column))
                          for column in ("order0", "reuse", "linux")], [1, 1, 1])
        return report


class Packets(Lab):
    def test_udp_on_nicsim(self):
        report = self.measure("udp", "--sizes=64,1518", "--seconds=0.2")
        self.assertEqual(report.sections[0]["rows"], ["64 bytes", "1518 bytes"])
        self.assertEqual(set(report.samples("lost")), {0})

    def test_udp_from_testpmd_on_veth(self):
        self.measure("udp", "--on=veth", "--sizes=64", "--seconds=0.2")

    def test_udp_from_testpmd_on_nicsim(self):
        self.measure("udp", "--sender=testpmd-txonly", "--sizes=512", "--seconds=0.2")

    def test_forward_on_nicsim(self):
        self.measure("forward", "--sizes=64", "--seconds=0.2")

    def test_forward_from_testpmd_on_veth(self):
        self.measure("forward", "--on=veth", "--sender=testpmd-flowgen", "--mode=io", "--sizes=64",
                     "--seconds=0.2")

    def test_throughput(self):
        """At a rate that any machine bears, however busy: the search ends where the line does."""
        report = self.measure("throughput", "--sizes=1518", "--trial=0.1", "--resolution=50",
                              "--loss=99")
        self.assertEqual(report.sections[0]["columns"],
                         ["io order0", "io reuse", "tcp order0", "tcp reuse"])
        self.assertEqual(set(report.samples("trials")), {1})
        self.assertEqual({round(value) for value in report.samples("of_line")}, {100})


class Cable(Lab):
    """From port to port of one pagewheel."""

    def test_sizes_on_nicsim(self):
        report = self.measure("sizes", "--on=nicsim", "--sizes=64,16384", "--seconds=1",
                              "--connections=2")
        self.assertEqual(report.sections[0]["rows"], ["64", "16384"])

    def test_sizes_on_veth(self):
        self.measure("sizes", "--on=veth", "--sizes=2048", "--seconds=1")

    def test_udp_stream_on_nicsim(self):
        report = self.measure("udp_stream", "--on=nicsim", "--seconds=1")
        self.assertEqual(report.sections[0]["rows"], ["fresh", "fragmented"])
        self.assertIn("MTU 9000", report.json["environment"]["port"])

    def test_memory_in_pieces(self):
        """Where there are none but small pages, larger ones are asked for in vain."""
        done = run("udp_stream", "--on=nicsim", *SHORT, "--seconds=1", "--strategies=order3",
                   timeout=100)
        self.assertEqual(done.returncode, 0, done.stderr)
        report = Report(done.stdout)
        self.assertEqual(report.samples("page_failures", row="fresh"), [0])
        self.assertGreater(min(report.samples("page_failures", row="fragmented")), 0)

    def test_udp_stream_on_veth(self):
        report = self.measure("udp_stream", "--on=veth", "--seconds=1", "--arenas=fresh")
        self.assertEqual(report.json["environment"]["ip"], "IPv6")


class RoundTrips(Lab):
    def check(self, *arguments):
        report = self.measure("rr", "--seconds=1", *arguments)
        for p50, p99, p999 in zip(*(report.samples(key) for key in ("p50", "p99", "p999"))):
            self.assertTrue(0 < p50 <= p99 <= p999)

    def test_on_nicsim(self):
        self.check("--tests=tcp_rr,udp_rr", "--connections=4")

    def test_on_veth(self):
        self.check("--on=veth", "--tests=tcp_crr", "--request-bytes=100", "--reply-bytes=1000")


class Ends(Lab):
    REFUSED = (
        (["stream", "--on=eth0"], "a PCI address"),
        (["stream", "--on=ff:1f.7"], "dpdk-devbind"),
        (["stream", "--on=ff:1f.7", "--sender=iperf3"], "the sender is yours"),
        (["stream", "--bytes=1M"], "at least 16M"),
        (["stream", "--rate=fast"], "10G"),
        (["stream", "--rate=10G,10G"], "different rates"),
        (["stream", "--flows=0"], "from 1 to"),
        (["stream", "--strategies=reuse,reuse"], "different names"),
        (["stream", "--nosuch"], "--nosuch"),
        (["stream", "word"], "word"),
        (["stream", "--rounds=0"], "from 1 to 1000"),
        (["stream", "--confidence=100"], "below 100"),
        (["stream", "--half-width=0"], "above 0"),
        (["stream", "--out="], "a name"),
        (["stream", "--quick", "--bytes=16M", "--baseline=nosuch"], "order0, reuse:0, reuse"),
        (["stream", "--quick", "--bytes=16M", "--strategies=nosuch"], "order0, order3"),
        (["udp", "--sizes=63"], "from 64 to 9018"),
        (["udp", "--on=veth", "--sender=gen"], "testpmd-txonly"),
        (["udp", "--seconds=0"], "0.1 to 600"),
        (["forward", "--mode=route"], "mac"),
        (["forward", "--sender=testpmd-txonly"], "--on=veth"),
        (["rr", "--tests=tcp"], "tcp_rr"),
        (["rr", "--connections=0"], "from 1 to 65536"),
        (["throughput", "--on=veth"], "only --on=nicsim"),
        (["throughput", "--loss=100"], "below 100"),
        (["throughput", "--resolution=0.001"], "0.01"),
        (["throughput", "--modes=gro"], "io"),
    )

    def test_refused_in_a_sentence(self):
        for arguments, text in self.REFUSED:
            with self.subTest(arguments=arguments):
                done = run(*arguments)
                self.assertEqual(done.returncode, 1)
                self.assertIn(text, done.stderr)
                self.assertNotIn("Traceback", done.stderr)

    def test_help(self):
        for name in ("stream", "udp", "forward", "rr", "throughput"):
            done = run(name, "--help")
            self.assertEqual(done.returncode, 0, done.stderr)
            for word in ("--max-rounds=N", "--confidence=PERCENT", "--out=DIR", "--on PLACE",
                         "--strategies A,B"):
                self.assertIn(word, done.stdout)

    def test_interrupted(self):
        """What was measured is kept, said to be less than wanted, and nothing stays behind."""
        with tempfile.TemporaryDirectory() as folder:
            process = subprocess.Popen(
                [BINARY, "stream", "--bytes=64M", "--rate=10G", "--rounds=50", "--strategies=reuse",
                 "--warm-up=0", f"--out={folder}"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                text=True)
            time.sleep(10)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 130, err)
            self.assertIn("interrupted", err)
            self.assertIn("Interrupted", out)
            with open(os.path.join(folder, "stream.json"), encoding="utf-8") as file:
                report = Report(file.read())
            self.assertTrue(report.json["interrupted"])
            self.assertGreater(len(report.samples("cost")), 0)
            self.assertTrue(os.path.exists(os.path.join(folder, "index.html")))

    def test_interrupted_at_any_time(self):
        for seconds in (0.05, 0.3, 1, 2):
            with self.subTest(seconds=seconds):
                process = subprocess.Popen([BINARY, "stream", "--bytes=8G"],
                                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                time.sleep(seconds)
                process.terminate()
                _, err = process.communicate(timeout=30)
                self.assertIn(process.returncode, (130, -signal.SIGTERM))
                self.assertNotIn("Traceback", err)
                self.assertEqual(traces(), self.before)

    def test_killed(self):
        """The laboratory ends by itself."""
        process = subprocess.Popen([BINARY, "stream", "--bytes=8G"], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        time.sleep(3)
        process.kill()
        process.wait()
        end = time.monotonic() + 20
        while traces() != self.before and time.monotonic() < end:
            time.sleep(0.2)


class Profiles(Lab):
    def test_quick(self):
        """All experiments, one page."""
        with tempfile.TemporaryDirectory() as folder:
            done = run("run", "quick", "--rounds=1", "--max-rounds=1", f"--out={folder}/r",
                       timeout=400)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            names = [os.path.basename(path)[:-5] for path in glob.glob(f"{folder}/r/*.json")]
            self.assertEqual(sorted(names), sorted(
                line.split()[0] for line in (TOP / "config" / "quick").read_text().split("\n")
                if line and not line.startswith("#")))
            for name in names:
                with open(f"{folder}/r/{name}.json", encoding="utf-8") as file:
                    self.assertFalse(json.load(file)["failed"])
                for suffix in ("csv", "txt", "svg", "png"):
                    self.assertGreater(os.path.getsize(f"{folder}/r/{name}.{suffix}"), 0)
            self.assertGreater(os.path.getsize(f"{folder}/r/index.html"), 0)

    def test_options_of_all(self):
        """Each line is understood: only what stands behind it is refused."""
        for path in sorted((TOP / "config").iterdir()):
            with self.subTest(profile=path.name):
                done = run("run", path.name, "--nosuch", "--out=/tmp", timeout=100)
                lines = [line for line in path.read_text().split("\n")
                         if line and not line.startswith("#")]
                self.assertEqual(done.returncode, 1)
                self.assertEqual(sum("--nosuch" in line and "failed" not in line
                                     for line in said(done)), len(lines), done.stderr)

    def test_refused(self):
        for arguments, text in ((("nosuch",), "quick"), ((), "PROFILE"), (("quick", "word"), "word")):
            done = run("run", *arguments)
            self.assertEqual(done.returncode, 2)
            self.assertIn(text, done.stderr)
        done = run("run", "--help")
        self.assertEqual(done.returncode, 0)
        for name in ("quick", "paper", "x520", "veth"):
            self.assertIn(name, done.stdout)


if __name__ == "__main__":
    unittest.main()
