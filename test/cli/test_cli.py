# SPDX-License-Identifier: BSD-3-Clause
"""The command line: what is refused, what the exit codes say, how it ends."""

import contextlib
import glob
import os
import pty
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest

BINARY = os.environ["PAGEWHEEL"]
FAKE_EVENTS = os.environ["PAGEWHEEL_FAKE_EVENTS"]
EAL = ["--lcores=0@0,1@1", "--no-pci", "--in-memory", "--log-level=4", "--no-telemetry"]
PREFIX = f"pw-cli-{os.getpid()}"
NULL_PORTS = ["--vdev=net_null0", "--vdev=net_null1"]


def run(*options, eal=(*EAL, *NULL_PORTS), stdin=None, timeout=20):
    """Run to the end; a string as standard input comes through a pipe."""
    return subprocess.run([BINARY, *eal, "--", *options], capture_output=True, text=True,
                          input=stdin, stdin=subprocess.DEVNULL if stdin is None else None,
                          timeout=timeout, check=False)


@contextlib.contextmanager
def hugetlbfs(options=""):
    """A hugetlbfs of our own, and EAL's arguments to use it."""
    with tempfile.TemporaryDirectory() as mount:
        subprocess.run(["mount", "-t", "hugetlbfs", "-o", f"pagesize=2M,{options}".rstrip(","),
                        "none", mount], check=True)
        try:
            yield mount, ["--lcores=0@0,1@1", "--no-pci", "--log-level=4", f"--huge-dir={mount}",
                          f"--file-prefix={PREFIX}", *NULL_PORTS]
        finally:
            subprocess.run(["umount", mount], check=True)
            shutil.rmtree(f"/var/run/dpdk/{PREFIX}", ignore_errors=True)


def telemetry(prefix, command):
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as sock:
        sock.settimeout(5)
        sock.connect(f"/var/run/dpdk/{prefix}/dpdk_telemetry.v2")
        sock.recv(1024)
        sock.send(command.encode())
        return sock.recv(65536)


def free_hugepages():
    with open("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages",
              encoding="utf-8") as file:
        return int(file.read())


def one_sentence(done):
    """Our own lines on standard error."""
    return [line for line in done.stderr.split("\n") if line.startswith("pagewheel: ")]


class Options(unittest.TestCase):
    REFUSED = (
        (["--nosuch"], "--nosuch"),
        (["--nosuch=1"], "--nosuch"),
        (["-z"], "-z"),
        (["--rxq=1", "-zi"], "option -z"),
        (["-iz"], "option -z"),
        (["word"], "word"),
        (["--rxq"], "needs a value"),
        (["--interactive=yes"], "takes no value"),
        (["--rxq=0"], "from 1 to 128"),
        (["--rxq=-1"], "from 1 to 128"),
        (["--rxq=4294967297"], "from 1 to 128"),
        (["--rxq=99999999999999999999999"], "from 1 to 128"),
        (["--rxq=1x"], "from 1 to 128"),
        (["--rxq="], "from 1 to 128"),
        (["--rxq= 1"], "from 1 to 128"),
        (["--rxq=2"], "--txq=1"),
        (["--burst=513"], "from 1 to 512"),
        (["--stats-period=0"], "from 1 to 86400"),
        (["--stats-period=abc"], "from 1 to 86400"),
        (["--forward-mode=nosuch"], "one of: io"),
        (["--strategy=nosuch"], "order0, order3"),
        (["--strategy="], "order0, order3"),
        (["--strategy=reuse:10"], "order0, order3"),
        (["--ip=198.18.0.2"], "198.18.0.2/24"),
        (["--ip=198.18.0/24"], "198.18.0.2/24"),
        (["--ip=198.18.0.2/33"], "198.18.0.2/24"),
        (["--ip=198.18.0.2/"], "198.18.0.2/24"),
        (["--ip=224.0.0.1/24"], "198.18.0.2/24"),
        (["--ip=127.0.0.1/8"], "198.18.0.2/24"),
        (["--ip=198.18.0.255/24"], "198.18.0.2/24"),
        (["--ip=198.18.0.0/24"], "198.18.0.2/24"),
        (["--ip=2001:db8::1/129"], "2001:db8::2/64"),
        (["--ip=2001:db8::1"], "2001:db8::2/64"),
        (["--ip=ff02::1/64"], "2001:db8::2/64"),
        (["--ip=fe80::1/64"], "2001:db8::2/64"),
        (["--ip=::1/128"], "2001:db8::2/64"),
        (["--ip=::ffff:198.18.0.2/64"], "198.18.0.2/24"),
        (["--ip=" + "1" * 100 + "/24"], "198.18.0.2/24"),
        (["--mbcache=500", "--total-num-mbufs=64"], "--total-num-mbufs=64"),
        (["--gro-types="], "some of tcp4,tcp6,udp4,udp6"),
        (["--gro-types=tcp4,"], "some of tcp4,tcp6,udp4,udp6"),
        (["--gro-types=tcp4,,tcp6"], "some of tcp4,tcp6,udp4,udp6"),
        (["--gro-types=tcp"], "some of tcp4,tcp6,udp4,udp6"),
        (["--gro-types=tcp45"], "some of tcp4,tcp6,udp4,udp6"),
        (["--forward-mode=gro", "--gro-types=tcp4,udp6"], "--gro-types=tcp4,udp6: in the mode gro"),
        (["--gro-flows=0"], "from 1 to 32768"),
        (["--gro-flows=65536"], "from 1 to 32768"),
        (["--gro-flows=100"], "a power of two, such as 128"),
        (["--gro-flush=0"], "from 1 to 64"),
        (["--gro-flush=65"], "from 1 to 64"),
        (["--gro-timeout=1000001"], "from 0 to 1000000"),
        (["--gro-timeout=-1"], "from 0 to 1000000"),
        (["--max-pkt-len=63"], "from 64 to 65535"),
        (["--max-pkt-len=64"], "port 0 takes 86 to"),
        (["--max-pkt-len=9018"], "--mbuf-size=9154"),
        (["--enable-scatter"], "several buffers"),
        (["--enable-hw-vlan-strip"], "VLAN tags"),
        (["--forward-mode=tcp"], "an address for each port"),
        (["--forward-mode=tcp", "--ip=198.18.0.2/24", "--ip=198.18.1.2/24", "--rxq=4", "--txq=4"],
         "--total-num-mbufs=65536"),
        (["--ip=198.18.0.2/24"] * 33, "more addresses"),
        (["--ip=2001:db8::1/64"] * 33, "more addresses"),
        (["--gateway=198.18.0.1/24"], "198.18.0.1 or 2001:db8::1"),
        (["--gateway=0.0.0.0"], "198.18.0.1 or 2001:db8::1"),
        (["--gateway=198.18.0.1", "--gateway=198.18.0.3"], "one gateway for each family"),
        (["--gateway=2001:db8::1", "--gateway=fe80::1"], "one gateway for each family"),
        (["--listen="], "chargen, discard, echo, http, iperf3, rr"),
        (["--listen=telnet"], "chargen, discard, echo, http, iperf3, rr"),
        (["--listen=ec"], "chargen, discard, echo, http, iperf3, rr"),
        (["--listen=echo:"], "as in echo:7"),
        (["--listen=echo:0"], "as in echo:7"),
        (["--listen=echo:65536"], "as in echo:7"),
        (["--listen=echo:7x"], "as in echo:7"),
        (["--listen=echo", "--listen=http:7"], "there is a service at 7"),
        ([f"--listen=echo:{port}" for port in range(1, 18)], "at most 16 services"),
        (["--max-conns=0"], "from 1 to 1048576"),
        (["--max-conns=1048577"], "from 1 to 1048576"),
        (["--congestion=vegas"], "cubic or newreno"),
        (["--keepalive=86401"], "from 0 to 86400"),
        (["--http-bytes=16777217"], "from 0 to 16777216"),
        (["--connect=198.18.0.1"], "198.18.0.1:9 or [2001:db8::1]:9"),
        (["--connect=198.18.0.1:"], "198.18.0.1:9 or [2001:db8::1]:9"),
        (["--connect=198.18.0.1:65536"], "198.18.0.1:9 or [2001:db8::1]:9"),
        (["--connect=[198.18.0.1:9"], "198.18.0.1:9 or [2001:db8::1]:9"),
        (["--connect=2001:db8::1:9"], "198.18.0.1:9 or [2001:db8::1]:9"),
        (["--connect=[]:9"], "198.18.0.1:9 or [2001:db8::1]:9"),
        (["--connect=]:9"], "198.18.0.1:9 or [2001:db8::1]:9"),
        (["--connect=[:9"], "198.18.0.1:9 or [2001:db8::1]:9"),
        (["--connect=224.0.0.1:9"], "198.18.0.1:9 or [2001:db8::1]:9"),
        (["--connect=198.18.0.1:9", "--rxq=2", "--txq=2"], "--rxq=1"),
        (["--connect=198.18.0.1:9", "--connections=5000"], "--max-conns=4096"),
        (["--connect-app=echo"], "stream, rr, crr"),
        (["--connections=0"], "from 1 to 1048576"),
        (["--duration=86401"], "from 0 to 86400"),
        (["--request-bytes=0"], "from 1 to 1048576"),
        (["--reply-bytes=1048577"], "from 1 to 1048576"),
    )

    def test_refused_in_one_sentence(self):
        for options, text in self.REFUSED:
            with self.subTest(options=options):
                done = run(*options)
                self.assertNotEqual(done.returncode, 0)
                self.assertEqual(len(one_sentence(done)), 1, done.stderr)
                self.assertIn(text, done.stderr)

    def test_help_names_every_option_and_mode(self):
        done = run("--help", eal=())
        self.assertEqual(done.returncode, 0)
        for word in ("--rxq=N", "--strategy=", "--ip=", "--max-pkt-len=BYTES", "--no-rx-cksum",
                     "--no-tx-cksum", "--no-tso", "--enable-scatter", "--enable-hw-vlan-strip",
                     "--no-lsc-interrupt", "--gro-types=TYPES", "--gro-flows=N",
                     "--gro-flush=BURSTS", "--gro-timeout=US", "--gateway=ADDRESS",
                     "--listen=NAME[:PORT]", "--max-conns=N", "--congestion=NAME", "--ecn",
                     "--keepalive=SECONDS", "--http-bytes=BYTES", "--connect=ADDRESS:PORT",
                     "--connect-app=NAME", "--connections=N", "--duration=SECONDS",
                     "--request-bytes=BYTES", "--reply-bytes=BYTES", "discard:9", "echo:7",
                     "chargen:19", "http:80", "iperf3:5201", "rr:5000", "io", "rxonly", "tcp", "gro",
                     "order0", "reuse"):
            self.assertIn(word, done.stdout)

    def test_no_port(self):
        done = run(eal=EAL)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("--vdev=net_af_packet0", done.stderr)

    def test_one_lcore(self):
        done = run(eal=("--lcores=0@0", *EAL[1:], *NULL_PORTS))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("at least two", done.stderr)

    def test_service_lcores_do_not_count(self):
        done = run(eal=(*EAL, *NULL_PORTS, "-s", "0x2"))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("service lcores", done.stderr)

    def test_split_needs_a_third(self):
        done = run("--split")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("at least three", done.stderr)

    def test_split_shares_out(self):
        """Three of five poll: one receives for all, two have the streams in turns."""
        done = run("--split", "-i", eal=("--lcores=0@0,1@0,2@1,3@1", *EAL[1:], *NULL_PORTS),
                   stdin="show config fwd\nstart\nstop\nstart\nshow lcores\nquit\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        for port, lcore in ((0, 2), (1, 3)):
            self.assertIn(f"lcore {lcore}: RX port {port} queue 0 -> TX port {1 - port} queue 0, "
                          "received by lcore 1", done.stdout)
        self.assertIn("of lcores that only receive", done.stdout)

    def test_too_many_queues_for_the_port(self):
        done = run("--rxq=128", "--txq=128", eal=(*EAL, "--vdev=net_ring0"))
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"port 0 has \d+ RX queues")

    def test_more_memory_than_there_is(self):
        before = free_hugepages()
        begin = time.monotonic()
        done = run("--total-num-mbufs=16777216")
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"about \d+ hugepages of 2 MiB are needed, \d+ of \d+ are free")
        self.assertIn("hugeadm --pool-pages-min 2MB:", done.stderr)
        self.assertLess(time.monotonic() - begin, 8)
        self.assertEqual(free_hugepages(), before)

    def test_hugepages_that_eal_cannot_get_at(self):
        """A file system without room, and files of another user."""
        for size, owner in (("0", None), ("64M", 65534)):
            with self.subTest(size=size), hugetlbfs(f"size={size}") as (mount, eal):
                command = [BINARY, *eal, "--"]
                if owner is not None:
                    for i in range(32):
                        with open(f"{mount}/{PREFIX}map_{i}", "w", encoding="utf-8"):
                            pass
                    os.chmod(mount, 0o1777)  # sticky: they cannot be removed
                    command = ["setpriv", f"--reuid={owner}", "--clear-groups", *command]
                done = subprocess.run(command, capture_output=True, text=True, timeout=20,
                                      stdin=subprocess.DEVNULL, check=False)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn("--in-memory", done.stderr)

    def test_buffer_larger_than_a_page(self):
        done = run("--strategy=order0", "--mbuf-size=9216")
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, "9344 bytes .* 4096 bytes")


class Commands(unittest.TestCase):
    def test_every_command(self):
        commands = ("help\nshow config fwd\nport stop all\nport start all\nstart\nport reset 0\nshow port info all\nshow port stats 0\n"
                    "show port xstats 1\nclear port stats all\nshow fwd stats all\n"
                    "clear fwd stats all\nshow pool\nshow lcores\nstop\nset fwd rxonly\nstart\n"
                    "# a comment\n\nstop\nset fwd io\nquit\n")
        done = run("-i", stdin=commands)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_help_is_complete(self):
        out = run("-i", stdin="help\n").stdout
        for command in ("start", "stop", "quit", "help", "show port info", "show port stats",
                        "show port xstats", "clear port stats", "show fwd stats all",
                        "show config fwd", "set fwd", "show pool",
                        "port start|stop|reset|close", "set link-up|link-down",
                        "set gro flush", "set gro timeout"):
            self.assertIn(command, out)

    def test_wrong_commands_name_their_line(self):
        for command, text in (("nosuch", "unknown command"), ("set fwd nosuch", "one of io"),
                              ("show port stats 2", "0 to 1"), ("show port stats -1", "0 to 1"),
                              ("show port stats 4294967296", "0 to 1"),
                              ("show port stats abc", "0 to 1"), ("show port stats", "line 2"),
                              ("show port", "line 2"), ("stop", "not started"),
                              ("start\nstart", "already started"),
                              ("start\nset fwd rxonly", "stop first"),
                              ("show gro", "set fwd tcp, or gro"),
                              ("show gso", "set fwd gro"),
                              ("set gro flush 0", "from 1 to 64"),
                              ("set gro flush 65", "from 1 to 64"),
                              ("set gro flush", "wrong arguments"),
                              ("set gro flush x", "wrong arguments"),
                              ("set gro timeout 1000001", "from 0 to 1000000"),
                              ("set gro timeout 4294967296", "wrong arguments"),
                              ("port start 0", "started already"),
                              ("port stop 0\nport stop 0", "stopped already"),
                              ("port stop 2", "0 to 1"), ("port stop", "wrong arguments"),
                              ("port hop 0", "wrong arguments"), ("start\nport stop 0", "stop first"),
                              ("start\nport close all", "stop first"),
                              ("port close 0\nport start 0", "closed, for good"),
                              ("port close 0\nport reset 0", "closed, for good"),
                              ("port close 0\nshow port info 0", "port 0"),
                              ("port stop 0\nstart", "port start all"),
                              ("port close 1\nstart", "port 1 is closed"),
                              ("set link-down port 0", "no such switch"),
                              ("port stop 0\nset link-up port 0", "not started"),
                              ("set link-down port 7", "0 to 1"), ("start\0x", "unknown"), ("x" * 5000, "longer than")):
            with self.subTest(command=command), tempfile.NamedTemporaryFile("w") as file:
                file.write(f"show config fwd\n{command}\nshow pool\n")
                file.flush()
                for done in (run(f"--cmdline-file={file.name}"),
                             run("-i", stdin=f"show config fwd\n{command}\nshow pool\n")):
                    self.assertNotEqual(done.returncode, 0)
                    self.assertIn(text, done.stderr)
                    self.assertRegex(done.stderr, r"line [23]")
                    self.assertEqual(len(one_sentence(done)), 1, done.stderr)
                    self.assertNotIn("pool:", done.stdout)  # it ended at the error

    def test_ports_stop_and_start(self):
        done = run("-i", stdin="port stop all\nport stop all\nshow port info 0\nport start 0\n"
                   "port start all\nshow port info 0\nport reset all\nstart\nstop\n"
                   "port stop 1\nport reset 1\nport start 1\nport close all\nport close all\n")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout.count("Port 0: started"), 1)
        self.assertEqual(done.stdout.count("Port 1: started"), 2)
        self.assertRegex(done.stdout, r"(?s)Port state: stopped.*Port state: started")
        self.assertEqual(done.stdout.count("Port 1: reset"), 2)

    def test_counts_go_on_over_a_reset(self):
        """Those of the port are those of the streams, while both go on."""
        for mode in ("io", "rxonly"):
            done = run("-i", f"--forward-mode={mode}",
                       stdin="start\nport reset 0\nport reset all\nport reset 1\nstop\n"
                             "show port stats all\nshow port xstats all\nport reset all\n"
                             "show port stats all\nclear port stats all\nshow port stats all\n")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            streams, *ports = (re.findall(r"RX-packets: +(\d+)", part) for part in
                               re.split("NIC statistics for port 0", done.stdout))
            self.assertGreater(int(streams[0]), 0)
            self.assertEqual(ports[0], streams[:2])
            self.assertEqual(re.findall(r"rx_good_packets: (\d+)", done.stdout), streams[:2])
            self.assertEqual(ports[1:], [streams[:2], ["0", "0"]])

    def test_link_goes_down_and_up(self):
        done = run("-i", eal=(*EAL, "--vdev=net_ring0"),
                   stdin="start\nset link-down port 0\nshow port info 0\nset link-down port 0\n"
                         "set link-up port all\nshow port info 0\n")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"(?s)link up, 10000 Mbit/s.*Port 0: link down\n.*went down 1 "
                         r"times.*Port 0: link up, 10000 Mbit/s\n.*went down 1 times")
        self.assertEqual(done.stdout.count("Port 0: link down"), 1)

    def test_tcp_on_two_ports_with_two_queues(self):
        done = run("-i", "--forward-mode=tcp", "--rxq=2", "--txq=2", "--ip=198.18.0.2/24",
                   "--ip=198.18.1.2/24", "--total-num-mbufs=32768",
                   stdin="start\nshow config fwd\nshow tcp\nshow inet\nport reset all\nstop\n")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("RX port 1 queue 1 -> TX port 1 queue 1", done.stdout)

    def test_connections_and_client_are_shown(self):
        """In the mode tcp; in another, and without --connect, it is said what is missing."""
        both = ("--ip=198.18.0.2/24", "--ip=198.18.1.2/24")
        done = run("-i", "--forward-mode=tcp", *both, "--connect=198.18.0.1:9",
                   "--connections=3", stdin="start\nshow tcp connections\nshow tcp client\n"
                                           "show tcp\nstop\n")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"local +peer +state +app ")
        self.assertRegex(done.stdout, r"(?m)^\d connections?$")
        self.assertRegex(done.stdout, r"(?s)tcp/client: .*opened: 0 connections")
        done = run("-i", *both, stdin="show tcp connections\n")
        self.assertIn("show tcp connections: the mode is not tcp", done.stderr)
        done = run("-i", "--forward-mode=tcp", *both, stdin="show tcp client\n")
        self.assertIn("--connect=ADDRESS:PORT", done.stderr)

    def test_a_run_of_the_client_ends_the_program(self):
        done = run("--forward-mode=tcp", "--ip=198.18.0.2/24", "--ip=198.18.1.2/24",
                   "--connect=198.18.0.1:9", "--duration=1")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"(?s)client: 1 s are over.*tcp/client: .*failed")
        self.assertEqual(done.stdout.count("tcp/client: "), 1)

    def test_memory_for_a_million_connections(self):
        done = run("-i", "--forward-mode=tcp", "--ip=198.18.0.2/24", "--max-conns=1048576",
                   eal=(*EAL, "--vdev=net_null0", "--socket-limit=256"), stdin="start\n")
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(len(one_sentence(done)), 1, done.stderr)
        self.assertRegex(done.stderr, r"--max-conns=1048576 needs up to \d+ MiB of hugepages")

    def test_gro_settings(self):
        """They can change while forwarding; both modes that merge have them."""
        done = run("-i", "--gro-types=tcp4", "--gro-flows=256", "--ip=198.18.0.2/24",
                   "--ip=198.18.1.2/24",
                   stdin="show config fwd\nset fwd gro\nset gro timeout 0\nstart\nset gro flush 64\n"
                         "set gro timeout 1000000\nshow config fwd\nshow gro\nshow gso\n"
                         "port reset all\nstop\nshow gro\nset fwd tcp\nstart\nset gro flush 2\n"
                         "show config fwd\nshow gro\nstop\nset fwd io\nshow config fwd\n")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(re.findall(r"256 flows a stream, which go after (\d+) bursts? or (\d+) us",
                                    done.stdout),
                         [("64", "1000000"), ("2", "1000000")])
        self.assertEqual(done.stdout.count("merges tcp4\n"), 4)

    def test_mode_stays_when_another_cannot_be(self):
        done = run("-i", "--gro-types=udp4", stdin="set fwd gro\n")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("the mode stays io", done.stderr)

    def test_last_line_without_an_end(self):
        for line, code in (("nosuch", 1), ("show pool", 0)):
            with tempfile.NamedTemporaryFile("w") as file:
                file.write(f"show config fwd\n{line}")
                file.flush()
                for done in (run(f"--cmdline-file={file.name}"),
                             run("-i", stdin=f"show config fwd\n{line}")):
                    self.assertEqual(done.returncode, code)
                    self.assertIn("line 2" if code else "pool:", done.stderr + done.stdout)

    def test_missing_command_file(self):
        done = run("--cmdline-file=/nosuch/file")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("/nosuch/file", done.stderr)

    def test_counts_are_never_negative(self):
        for commands in ("start\nclear port stats all\nclear fwd stats all\nstop\n",
                         "start\nclear fwd stats all\nclear port stats all\nstop\n",
                         "clear port stats all\nstart\nstop\nshow fwd stats all\n"):
            done = run("-i", stdin=commands)
            self.assertEqual(done.returncode, 0, done.stderr)
            numbers = [int(n) for n in re.findall(r"(?:packets|dropped|total): +(\d+)",
                                                  done.stdout)]
            self.assertLess(max(numbers), 1 << 40)

    def test_lines_add_up(self):
        out = run("-i", stdin="start\nshow config fwd\nstop\n").stdout
        for column in ("RX-packets", "RX-dropped", "RX-total", "TX-packets", "TX-dropped",
                       "TX-total"):
            numbers = [int(n) for n in re.findall(rf"{column}: +(\d+)", out)]
            self.assertEqual(len(numbers), 3)
            self.assertEqual(sum(numbers[:2]), numbers[2])

    def test_fifty_cycles_leak_nothing(self):
        """Start and stop, modes with a state opened and closed; descriptors and EAL's heap."""
        prefix = f"{PREFIX}-cycles"
        eal = ["--lcores=0@0,1@1", "--no-pci", "--in-memory", "--log-level=4",
               f"--file-prefix={prefix}", "--vdev=net_null0"]
        process = subprocess.Popen([BINARY, *eal, "--", "-i"], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True)

        def cycle(count):
            process.stdin.write("start\nstop\nset fwd tcp\nstart\nstop\nset fwd gro\nstart\nstop\nset fwd io\n" * count +
                                "show config fwd\n")
            process.stdin.flush()
            while "buffers of" not in process.stdout.readline():
                pass
            fds = len(os.listdir(f"/proc/{process.pid}/fd"))
            return fds, telemetry(prefix, "/eal/memzone_list"), telemetry(prefix, "/eal/heap_info,0")

        try:
            before = cycle(1)
            self.assertEqual(cycle(50), before)
            process.communicate("quit\n", timeout=10)
            self.assertEqual(process.returncode, 0)
        finally:
            process.kill()
            process.communicate()
            shutil.rmtree(f"/var/run/dpdk/{prefix}", ignore_errors=True)


class Events(unittest.TestCase):
    """What happens to ports, raised by fake_events.c."""

    def start(self, *options):
        files = self.enterContext(tempfile.TemporaryDirectory())
        fifo = os.path.join(files, "events")
        os.mkfifo(fifo)
        # env hands it to pagewheel alone.
        process = subprocess.Popen(
            ["env", f"LD_PRELOAD={FAKE_EVENTS}", f"FAKE_EVENTS={fifo}", BINARY, *EAL, *NULL_PORTS,
             "--", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        events = self.enterContext(open(fifo, "w", buffering=1, encoding="utf-8"))
        while "packet forwarding" not in process.stdout.readline():
            pass
        return process, events

    def read_until(self, process, text):
        log = ""
        while text not in log:
            line = process.stdout.readline()
            self.assertNotEqual(line, "", log)
            log += line
        return log

    def test_every_flap_is_said_in_its_order(self):
        process, events = self.start("-i", "-a")
        for _ in range(20):
            events.write("0 down\n0 up\n1 down\n1 up\n")
        events.write("0 down\n")
        log = ""
        while log.count("Port 0: link down") < 21:
            log += self.read_until(process, "Port 0: link down")
        out, err = process.communicate("show port info all\nquit\n", timeout=10)
        self.assertEqual((process.returncode, err), (0, ""))
        for port, count in ((0, 21), (1, 20)):
            changes = re.findall(rf"Port {port}: link (up|down)", log)
            self.assertEqual(changes[:2 * count], ["down", "up"] * 20 + ["down"] * (count - 20))
            self.assertIn(f"went down {count} times", out)
        self.assertRegex(out, r"(?s)Link status: down.*Link status: up")

    def test_link_that_tells_nothing_is_looked_at(self):
        process, events = self.start("-i", "-a", "--no-lsc-interrupt")
        events.write("0 down\n")
        self.read_until(process, "Port 0: link down")
        out, _ = process.communicate("show port info 0\n", timeout=10)
        self.assertIn("a look each second; went down 1 times", out)

    def test_device_that_asks_for_a_reset_gets_it(self):
        process, events = self.start("-i", "-a")
        for _ in range(3):
            events.write("0 reset\n")
            log = self.read_until(process, "Port 0: reset")
            self.assertIn("Port 0: the device asks for a reset", log)
        out, err = process.communicate("stop\nquit\n", timeout=10)
        self.assertEqual((process.returncode, err), (0, ""))
        streams = re.findall(r"RX-packets: +(\d+)", out)
        self.assertGreater(int(streams[0]), 0)

    def test_device_that_goes_away(self):
        process, events = self.start("-i", "-a")
        events.write("1 removed\n1 removed\n1 down\n")
        self.read_until(process, "Accumulated forward statistics")
        out, err = process.communicate("show port info 0\nstart\n", timeout=10)
        self.assertNotEqual(process.returncode, 0)
        self.assertIn("port 1: the device was removed", err)
        self.assertIn("port 1 is closed, for good", err)
        self.assertIn("Port state: started", out)
        self.assertNotIn("missing", err)

    def test_device_that_goes_away_from_nobody(self):
        """Without commands there is nothing to go on with."""
        process, events = self.start()
        events.write("0 removed\n")
        process.wait(timeout=10)  # its input is open
        out, err = process.communicate()
        self.assertNotEqual(process.returncode, 0)
        self.assertIn("port 0: the device was removed", err)
        self.assertEqual(out.count("Accumulated forward statistics"), 1)


class Ends(unittest.TestCase):
    """One summary, exit code 0, soon, and no hugepage files."""

    def assert_ended(self, code, out):
        self.assertEqual(code, 0)
        self.assertEqual(out.count("Accumulated forward statistics"), 1)

    def test_end_of_input(self):
        for stdin in ("", "\n", None):
            done = run(stdin=stdin)
            self.assert_ended(done.returncode, done.stdout)
        done = run("-i", "-a", stdin="")
        self.assert_ended(done.returncode, done.stdout)

    def signalled(self, *signals, gap=0.0, eal=(*EAL, *NULL_PORTS)):
        process = subprocess.Popen([BINARY, *eal, "--"], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True)
        while "Press Enter" not in process.stdout.readline():
            pass
        begin = time.monotonic()
        for number in signals:
            process.send_signal(number)
            time.sleep(gap)
        out, _ = process.communicate(timeout=10)
        self.assertLess(time.monotonic() - begin, 5)
        return process.returncode, out

    def test_signals(self):
        self.assert_ended(*self.signalled(signal.SIGINT))
        self.assert_ended(*self.signalled(signal.SIGTERM))
        self.assert_ended(*self.signalled(signal.SIGINT, signal.SIGINT, gap=0.01))
        self.assert_ended(*self.signalled(signal.SIGWINCH, signal.SIGTERM, gap=0.1))

    def test_signal_while_a_command_file_is_read(self):
        with tempfile.TemporaryDirectory() as files:
            fifo = os.path.join(files, "fifo")
            os.mkfifo(fifo)
            process = subprocess.Popen(
                [BINARY, *EAL, *NULL_PORTS, "--", f"--cmdline-file={fifo}"],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            time.sleep(1.5)
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=10)

    def test_signal_in_the_middle_of_a_long_command_file(self):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("start\n" + "show pool\n" * 3_000_000)
            file.flush()
            process = subprocess.Popen(
                [BINARY, *EAL, *NULL_PORTS, "--", f"--cmdline-file={file.name}"],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
            time.sleep(2)
            self.assertIsNone(process.poll())
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(timeout=10), 0)

    def test_signal_while_nobody_reads_the_output(self):
        process = subprocess.Popen([BINARY, *EAL, *NULL_PORTS, "--", "-i", "-a"],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, text=True)
        process.stdin.write("help\n" * 3000)
        process.stdin.flush()
        time.sleep(2)
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(timeout=10)
        finally:
            process.kill()
            process.communicate()

    def test_counts_are_right_while_it_forwards(self):
        """A pool's buffers in use are never below 0, however often it is asked."""
        for strategy in ("order0", "reuse"):
            done = run("-i", f"--strategy={strategy}", stdin="start\n" + "show pool\n" * 5000)
            in_use = [int(n) for n in re.findall(r"buffers in use: (\d+)", done.stdout)]
            self.assertEqual(len(in_use), 5000)
            self.assertLess(max(in_use), 16384)

    def test_periodic_report_on_a_pipe(self):
        done = subprocess.run(["timeout", "-s", "INT", "4", BINARY, *EAL, *NULL_PORTS, "--",
                               "--stats-period=1"], capture_output=True, text=True, check=False)
        self.assertGreaterEqual(done.stdout.count("port 0: RX"), 2)
        self.assertIn("Mbit/s", done.stdout)

    def test_without_standard_descriptors(self):
        for closed in ("<&-", ">&- 2>&- <&-"):
            with self.subTest(closed=closed):
                command = " ".join([BINARY, *EAL, *NULL_PORTS, "--"])
                done = subprocess.run(["sh", "-c", f"exec {command} {closed}"], timeout=20,
                                      capture_output=True, check=False)
                self.assertEqual(done.returncode, 0)

    def test_output_that_cannot_be_written(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([BINARY, *EAL, *NULL_PORTS, "--", "--stats-period=1"],
                                  stdout=full, stderr=subprocess.PIPE, timeout=20, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(b"could not be written", done.stderr)

    def test_terminal(self):
        """A prompt, a wrong command, Ctrl-D."""
        master, slave = pty.openpty()
        process = subprocess.Popen([BINARY, *EAL, *NULL_PORTS, "--", "-i"], stdin=slave,
                                   stdout=slave, stderr=slave, start_new_session=True)
        os.close(slave)
        out = b""
        while b"pagewheel> " not in out:
            out += os.read(master, 4096)
        os.write(master, b"nosuch\nshow port stats 7\nstart\n")
        while out.count(b"pagewheel> ") < 4:
            out += os.read(master, 4096)
        os.write(master, b"\x04")
        self.assertEqual(process.wait(timeout=10), 0)
        os.close(master)
        self.assertIn(b"Command not found", out)
        self.assertIn(b"expected 0 to 1", out)

    def test_secondary_processes(self):
        """A pagewheel is none: it is refused, and leaves the primary's hugepage files alone."""
        with hugetlbfs() as (mount, eal):
            primary = subprocess.Popen([BINARY, *eal, "--"], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, text=True)
            try:
                while "Press Enter" not in primary.stdout.readline():
                    pass
                files = sorted(glob.glob(f"{mount}/*"))
                done = run(eal=(*eal[:-2], "--proc-type=secondary"))
                self.assertNotEqual(done.returncode, 0)
                self.assertIn("primary process only", done.stderr)
                self.assertNotEqual(files, [])
                self.assertEqual(sorted(glob.glob(f"{mount}/*")), files)
                primary.communicate("\n", timeout=10)
                self.assertEqual(primary.returncode, 0)
            finally:
                primary.kill()
                primary.communicate()

    def test_hugepage_files_are_removed(self):
        """After Enter, after a signal, and after a start that fails."""
        with hugetlbfs() as (mount, eal):
            done = run(eal=eal, stdin="\n")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(glob.glob(f"{mount}/*"), [])
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                self.assert_ended(*self.signalled(number, eal=eal))
                self.assertEqual(glob.glob(f"{mount}/*"), [])
            for wrong in (("--rxq=64", "--txq=64", "--forward-mode=tcp"),
                          ("--total-num-mbufs=16777216",)):
                self.assertNotEqual(run(*wrong, eal=eal).returncode, 0)
                self.assertEqual(glob.glob(f"{mount}/*"), [])


if __name__ == "__main__":
    unittest.main()
