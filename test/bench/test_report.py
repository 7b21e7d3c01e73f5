# SPDX-License-Identifier: BSD-3-Clause
"""The files of --out=DIR: JSON against its schema, plots, and the page in a browser."""

import copy
import csv
import json
import os
import subprocess
import tempfile
import unittest

import jsonschema

from rig import TOP, run

SCHEMA = json.loads((TOP / "docs" / "report.schema.json").read_text(encoding="utf-8"))
NASTY = "<script>alert('1')</script> & \"quoted\" \\ `ls` $x\n±é"


def figure(*samples):
    mean = sum(samples) / len(samples)
    return {"n": len(samples), "mean": mean, "half_width": None, "half_width_percent": None,
            "confident": False, "percent_of_baseline": 100.0, "median": mean, "q1": mean, "q3": mean,
            "samples": list(samples)}


def made_up(rows=("64", "1500"), columns=("a", "b"), **more):
    """A report of two metrics."""
    metrics = [{"key": "cost", "title": "cost", "unit": "cycles/byte", "digits": 2, "better": "less"},
               {"key": "count", "title": "count", "unit": "", "digits": 0, "better": "neither"}]
    cells = [{"row": row, "column": column, "reason": "",
              "metrics": {"cost": figure(1.0, 2.0), "count": figure(3.0)}}
             for row in rows for column in columns]
    return {"format": "pagewheel-report-1", "experiment": "made_up", "title": "made up",
            "confidence_percent": 99.0, "half_width_max_percent": 2.5, "interrupted": False,
            "failed": False, "environment": {"cpu": "some", "kernel": "k", "dpdk": "d", "date": "now"},
            "profiles": [], "sections": [
                {"title": "section", "rows_are": "bytes", "rows": list(rows), "columns": list(columns),
                 "baseline": columns[0], "metrics": metrics, "cells": cells}]} | more


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def text(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def write(self, report, name="made_up.json"):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(report if isinstance(report, str) else json.dumps(report))

    def report(self):
        return run("report", self.folder)

    def refused(self, *words):
        done = self.report()
        self.assertEqual(done.returncode, 1)
        self.assertNotIn("Traceback", done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertFalse(os.path.exists(self.path("index.html")))


class Real(Folder):
    def test_files(self):
        """Of parts with several sections, and of one that is compared with nothing."""
        for arguments in (("gro", "--quick", "--flows=1,8"), ("tcp", "--quick", "--idle=0,10"),
                          ("frag", "--quick", "--sizes=64,256", "--patterns=now")):
            done = run(*arguments, "--rounds=2", f"--out={self.folder}", timeout=120)
            self.assertEqual(done.returncode, 0, done.stderr)
            name = arguments[0]
            report = json.loads(self.text(f"{name}.json"))
            jsonschema.validate(report, SCHEMA)
            samples = sum(len(f["samples"]) for s in report["sections"] for c in s["cells"]
                          for f in c["metrics"].values())
            with open(self.path(f"{name}.csv"), newline="", encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
            self.assertEqual(len(rows), samples)
            self.assertGreater(min(float(row["value"]) for row in rows), 0)
            self.assertIn("half-width at 99 % confidence", self.text(f"{name}.txt"))
            self.assertIn("<svg", self.text(f"{name}.svg"))
            with open(self.path(f"{name}.png"), "rb") as file:
                self.assertEqual(file.read(4), b"\x89PNG")
        page = self.text("index.html")
        for name in ("gro", "tcp", "frag"):
            self.assertIn(f'<section id="{name}">', page)
        self.browse(3)

    def browse(self, plots):
        """No error, no request but for the page itself, and its tables and plots are there."""
        done = subprocess.run(
            ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-extensions",
             f"--user-data-dir={self.path('profile')}", "--enable-logging=stderr", "--v=0",
             "--host-resolver-rules=MAP * ~NOTFOUND", "--virtual-time-budget=2000",
             "--dump-dom", f"file://{self.path('index.html')}"],
            capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
        self.assertEqual(console, [])
        self.assertEqual(done.stdout.count("<figure>"), plots)
        self.assertEqual(done.stdout.count("<svg"), plots)
        self.assertIn("</table>", done.stdout)
        for attribute in ('src="http', 'href="http', "url(http", "@import"):
            self.assertNotIn(attribute, done.stdout)


class Page(Folder):
    def test_nasty_texts(self):
        report = made_up(rows=(NASTY, "b"), columns=(NASTY, "b"), experiment="x" + NASTY, title=NASTY,
                         interrupted=True, failed=True,
                         profiles=[{"title": NASTY, "lines": [NASTY]}])
        report["environment"]["cpu"] = NASTY
        report["sections"][0]["title"] = NASTY
        report["sections"][0]["cells"][0] |= {"reason": NASTY, "metrics": {}}
        jsonschema.validate(report, SCHEMA)
        self.write(report)
        done = self.report()
        self.assertEqual(done.returncode, 0, done.stderr)
        page = self.text("index.html")
        self.assertNotIn("<script", page)
        self.assertIn("&lt;script&gt;", page)
        self.assertIn("interrupted", page)
        self.assertIn("failed", page)

    def test_nothing_measured(self):
        """All cells have reasons, or there is no section at all: a page without a plot."""
        report = made_up()
        for cell in report["sections"][0]["cells"]:
            cell |= {"reason": "no memory", "metrics": {}}
        self.write(report)
        self.write(made_up(sections=[]), "other.json")
        done = self.report()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("no memory", self.text("index.html"))
        self.assertEqual(self.text("index.html").count("<svg"), 0)

    def test_odd_rows(self):
        """Zero among numbers, one row, many rows, words."""
        for i, rows in enumerate((("0", "10", "100000"), ("64",), ("a",), [str(n) for n in range(1, 32)],
                                  ("10G", "max"), ("nan", "1"), ("-1", "1"))):
            self.write(made_up(rows=rows), f"r{i}.json")
        done = self.report()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.text("index.html").count("<svg"), 7)

    def test_other_files_are_left_alone(self):
        self.write(made_up())
        self.write({"format": "another"}, "other.json")
        self.write("[]", "list.json")
        self.assertEqual(self.report().returncode, 0)
        self.assertEqual(self.text("index.html").count("<section"), 1)

    def test_without_gnuplot(self):
        self.write(made_up())
        bin_folder = self.path("bin")
        os.mkdir(bin_folder)
        os.symlink("/usr/bin/python3", os.path.join(bin_folder, "python3"))
        done = run("report", self.folder, env=os.environ | {"PATH": bin_folder})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("gnuplot-nox", done.stderr)
        self.assertEqual(self.text("index.html").count("<svg"), 0)

    def test_refused(self):
        self.refused("no report in it")
        self.write("{")
        self.refused("made_up.json", "no JSON")
        broken = made_up()
        del broken["sections"][0]["cells"][0]
        self.write(broken)
        self.refused("3 cells, expected 4")
        for key in ("title", "environment", "profiles", "sections"):
            broken = copy.deepcopy(made_up())
            del broken[key]
            self.write(broken)
            self.refused("made_up.json", key)
        broken = made_up()
        broken["sections"][0]["cells"][0]["metrics"]["cost"] = 1
        self.write(broken)
        self.refused("made_up.json")

    def test_cannot_be_written(self):
        self.write(made_up())
        os.mkdir(self.path("index.html"))
        done = self.report()
        self.assertEqual(done.returncode, 1)
        self.assertIn("index.html", done.stderr)
        self.assertNotIn("Traceback", done.stderr)

    def test_folder(self):
        done = run("report", self.path("nosuch"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("no such folder", done.stderr)
        done = run("tcp", "--quick", "--idle=0", f"--out={self.path('a/b')}", timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot make the folder", done.stderr)
        self.write(made_up(), "file")
        done = run("tcp", "--quick", "--idle=0", f"--out={self.path('file')}", timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn(self.path("file"), done.stderr)

    def test_help(self):
        done = run("report", "--help")
        self.assertEqual(done.returncode, 0)
        self.assertIn("DIR", done.stdout)


if __name__ == "__main__":
    unittest.main()
