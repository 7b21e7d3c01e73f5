# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of pagewheel-bench share."""

import json
import os
import pathlib
import subprocess

BINARY = pathlib.Path(os.environ["PAGEWHEEL"]).parents[1] / "bench" / "pagewheel-bench"
TOP = pathlib.Path(__file__).resolve().parents[2]


def run(*arguments, timeout=60, **more):
    return subprocess.run([BINARY, *arguments], stdout=more.pop("stdout", subprocess.PIPE),
                          stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL,
                          timeout=timeout, check=False, **more)


def said(done):
    """Our own lines on standard error, without progress."""
    return [line for line in done.stderr.split("\n") if line.startswith("pagewheel-bench: ")]


class Report:
    """The JSON of a run: values of its cells."""

    def __init__(self, text):
        self.json = json.loads(text)
        self.sections = self.json["sections"]

    @property
    def cells(self):
        return [cell for section in self.sections for cell in section["cells"]]

    def samples(self, metric, column=None, row=None):
        return [value for cell in self.cells
                if column in (None, cell["column"]) and row in (None, cell["row"])
                for value in cell["metrics"].get(metric, {"samples": []})["samples"]]
