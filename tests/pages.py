"""Reports read back: their sections, tables and the data of their charts."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import fastes
from fastes.results.comparison import Comparison
from fastes.results.result import Result

HOSTILE = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "<!--<script>",
    "'; alert(1); '",
    "&lt;b&gt; %{x} <a href='javascript:alert(1)'>x</a>",
    "\u2028alert(1)\u2029 \N{RIGHT-TO-LEFT OVERRIDE}",
]
"""Names that would be markup, script or a template wherever they are not escaped."""


def page_of(given, folder, **options):
    """Return the page of a report of results, or of anything else that `report` takes."""
    if isinstance(given, list) and all(isinstance(each, Result) for each in given):
        problems = {each.configuration.problem for each in given}
        given = Comparison(tuple(given)) if len(problems) == 1 else given
    out = Path(folder) / "report.html"
    fastes.report(given, out, **options)
    return out.read_text(encoding="utf-8")


def data(page):
    """Return the charts of a page, as its script reads them."""
    return json.loads(re.search(r'id="charts">(.*?)</script>', page, re.S)[1])


def charts(page, y):
    """Return the charts of a page that have this on their y axis."""
    return [chart for chart in data(page) if chart["y"] == y]


class Reader(HTMLParser):
    """All elements of a page in order, the texts of headings, and its tables."""

    def __init__(self):
        super().__init__()
        self.elements, self.headings, self.tables, self.open = [], [], [], []
        self.cell = None

    def handle_starttag(self, tag, attributes):
        its = dict(attributes)
        self.elements.append((tag, its))
        self.open.append(tag)
        if re.fullmatch("h[1-6]", tag):
            self.headings.append([int(tag[1]), ""])
        if tag == "table":
            self.tables.append({"caption": "", "header": [], "rows": []})
        if tag == "tr" and "tbody" in self.open:
            self.tables[-1]["rows"].append([])
        if tag in ("th", "td"):
            self.cell = ""

    def handle_data(self, text):
        inside = self.open[-1] if self.open else ""
        if re.fullmatch("h[1-6]", inside):
            self.headings[-1][1] += text
        if inside == "caption":
            self.tables[-1]["caption"] += text
        if self.cell is not None and inside in ("th", "td"):
            self.cell += text

    def handle_endtag(self, tag):
        if tag in ("th", "td"):
            table = self.tables[-1]
            (table["rows"][-1] if "tbody" in self.open else table["header"]).append(self.cell)
            self.cell = None
        while self.open and self.open.pop() != tag:
            pass


def read(page):
    reader = Reader()
    reader.feed(page)
    reader.close()
    return reader


def sections(page):
    """Return the level and the text of each heading below the title."""
    return [(level, text) for level, text in read(page).headings if level > 1]


def tables(page):
    """Return the tables of a page that hold something before its script runs."""
    return [table for table in read(page).tables if table["rows"]]
