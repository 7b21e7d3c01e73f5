# SPDX-License-Identifier: BSD-3-Clause
"""A page of all reports in a folder: one file, plots within, readable without a network."""

import html
import os
import re

from pwlab import results

STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8881; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 0 auto; padding: 0 1rem 3rem; }
h1 { font-size: 1.5rem; margin: 1.5rem 0 .2rem; } h2 { font-size: 1.25rem; margin: 2.5rem 0 .2rem; }
h3 { font-size: 1rem; margin: 1.5rem 0 .3rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: .5rem 0; }
caption { text-align: left; font-weight: 600; padding: .3rem 0; }
th, td { padding: .25rem .7rem; border-bottom: 1px solid var(--line); text-align: right;
  white-space: nowrap; vertical-align: top; }
tbody th, thead th:first-child { text-align: left; font-weight: 500; }
.half { display: block; font-size: .8em; opacity: .7; }
.more { color: #0a7d3c; } .less { color: #b3261e; }
@media (prefers-color-scheme: dark) { .more { color: #5fd28f; } .less { color: #ff8a80; } }
.note { background: #f5c51833; border-left: 4px solid #f5c518; padding: .4rem .8rem; }
.environment th, .environment td { text-align: left; white-space: normal; font-size: .9em; }
figure { margin: 1rem 0; overflow-x: auto; } figure svg { max-width: 100%; height: auto;
  background: #fff; border-radius: 6px; }
pre { background: var(--soft); padding: .6rem .8rem; overflow-x: auto; border-radius: 6px; }
nav ul { padding-left: 1.2rem; }
@media print { details:not([open]) > * { display: block; } }
"""


def text(value):
    return html.escape(str(value))


def metric_name(metric):
    unit = f" [{metric['unit']}]" if metric["unit"] else ""
    return text(f"{metric['title'].strip()}{unit}")


def difference(figure, metric):
    """In percent of the baseline, coloured where one way is better."""
    percent = figure["percent_of_baseline"]
    if percent is None:
        return ""
    change = percent - 100
    kind = ""
    if metric["better"] != "neither" and abs(change) >= 0.05:
        kind = "more" if (change > 0) == (metric["better"] == "more") else "less"
    return f" <span class=\"{kind}\">{change:+.1f} %</span>"


def half_width(figure):
    if figure["half_width"] is None:
        return ""
    if figure["half_width_percent"] is None:
        return f"±{figure['half_width']:.3g}"
    return f"±{figure['half_width_percent']:.1f} %"


def cell_html(section, row, column, metric):
    figure = results.figure_of(section, row, column, metric)
    if figure is None:
        reason = results.cell_of(section, row, column)["reason"]
        return f"<td title=\"{text(reason)}\">-</td>"
    baseline = section["columns"][column] == section["baseline"]
    star = "" if figure["confident"] else "*"
    title = (f"{figure['n']} samples, median {figure['median']:.6g}, quartiles "
             f"{figure['q1']:.6g} and {figure['q3']:.6g}")
    return (f"<td title=\"{text(title)}\">{figure['mean']:.{int(metric['digits'])}f}"
            f"{'' if baseline else difference(figure, metric)}{star}"
            f"<span class=\"half\">{half_width(figure)}</span></td>")


def table(section, caption, first, lines):
    """Lines of a head and its cells, under the columns."""
    head = "".join(f"<th scope=\"col\">{text(name)}</th>" for name in section["columns"])
    body = "".join(f"<tr><th scope=\"row\">{name}</th>{cells}</tr>" for name, cells in lines)
    return (f"<div class=\"wide\"><table><caption>{text(caption)}</caption><thead><tr>"
            f"<th scope=\"col\">{text(first)}</th>{head}</tr></thead><tbody>{body}</tbody></table>"
            "</div>")


def cells(section, row, metric):
    return "".join(cell_html(section, row, column, metric)
                   for column in range(len(section["columns"])))


def section_html(section):
    """As in the text: with fewer rows than metrics a table for each row, else one for each metric."""
    metrics = [metric for i, metric in enumerate(section["metrics"])
               if i == 0 or results.has_figures(section, metric)]
    rows = range(len(section["rows"]))
    parts = [f"<h3>{text(section['title'])}</h3>" if section["title"] else ""]
    if len(section["rows"]) < len(section["metrics"]):
        parts += [table(section, section["rows"][row], "",
                        [(metric_name(metric), cells(section, row, metric)) for metric in metrics])
                  for row in rows]
    else:
        parts += [table(section, html.unescape(metric_name(metric)), section["rows_are"],
                        [(text(section["rows"][row]), cells(section, row, metric)) for row in rows])
                  for metric in metrics]
    return "".join(parts) + reasons_html(section)


def reasons_html(section):
    reasons = list(dict.fromkeys(
        (cell["column"], cell["reason"]) for cell in section["cells"] if cell["reason"]))
    if not reasons:
        return ""
    return ("<ul>" + "".join(f"<li>{text(column)}: {text(reason)}</li>" for column, reason in reasons)
            + "</ul>")


def environment_html(environment):
    rows = "".join(f"<tr><th scope=\"row\">{text(key.replace('_', ' '))}</th><td>{text(value)}</td>"
                   "</tr>" for key, value in environment.items()
                   if isinstance(value, (str, int, float)))
    return (f"<details><summary>Where and how it was measured</summary><table class=\"environment\">"
            f"<tbody>{rows}</tbody></table></details>")


def plot_html(report, folder):
    """The SVG itself, without its XML head; its ids are made the experiment's own."""
    try:
        with open(os.path.join(folder, f"{report['name']}.svg"), encoding="utf-8") as file:
            svg = file.read()
    except OSError:
        return ""
    svg = svg[svg.index("<svg"):]
    own = re.sub(r"\W", "_", report["name"])
    svg = re.sub(r"(id=['\"]|url\(#|href=['\"]#)", rf"\g<1>{own}_", svg)
    svg = svg.replace("<svg", f"<svg role=\"img\" aria-label=\"plots of {text(report['name'])}\"", 1)
    return (f"<figure>{svg}<figcaption>Means with half-widths at "
            f"{report['confidence_percent']:g} % confidence</figcaption></figure>")


def profiles_html(report):
    if not report["profiles"]:
        return ""
    parts = "".join(f"<h3>{text(p['title'])}</h3><pre>{text(chr(10).join(p['lines']))}</pre>"
                    for p in report["profiles"])
    return f"<details><summary>Where the time went</summary>{parts}</details>"


def notes_html(report):
    notes = []
    if report["interrupted"]:
        notes.append("This run was interrupted: there are fewer rounds than wanted.")
    if report["failed"]:
        notes.append("Something failed in this run: see the reasons below the tables.")
    return "".join(f"<p class=\"note\">{note}</p>" for note in notes)


def report_html(report, folder):
    name = report["name"]
    links = ", ".join(f"<a href=\"{text(name)}.{kind}\">{kind}</a>"
                      for kind in ("json", "csv", "txt", "svg", "png")
                      if os.path.exists(os.path.join(folder, f"{name}.{kind}")))
    return "".join((
        f"<section id=\"{text(name)}\"><h2>{text(report['experiment'])}</h2>"
        f"<p>{text(report['title'])} ({links})</p>", notes_html(report),
        plot_html(report, folder),
        "".join(section_html(section) for section in report["sections"]),
        f"<p>±: half-width at {report['confidence_percent']:g} % confidence, in percent of the value; "
        f"*: it is above {report['half_width_max_percent']:g} %; percents are against the baseline, the "
        "first column unless another was named.</p>",
        profiles_html(report), environment_html(report["environment"]), "</section>"))


def write(reports, folder):
    """Make index.html."""
    names = ", ".join(report["experiment"] for report in reports)
    contents = "".join(f"<li><a href=\"#{text(report['name'])}\">{text(report['experiment'])}</a>: "
                       f"{text(report['title'])}</li>" for report in reports)
    page = "".join((
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
        "<link rel=\"icon\" href=\"data:,\">"
        f"<title>pagewheel-bench: {text(names)}</title><style>{STYLE}</style></head><body>"
        "<h1>pagewheel-bench</h1><p>Which recycling strategy pays, for this traffic, on this "
        f"machine.</p><nav><ul>{contents}</ul></nav><main>",
        *(report_html(report, folder) for report in reports), "</main></body></html>\n"))
    results.replace(os.path.join(folder, "index.html"), page.encode("utf-8"))
