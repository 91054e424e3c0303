"""An HTML page, written from top to bottom: all text escaped, all charts in one JSON block.

Names of files and agents, and titles, are always text. The page's policy forbids network access,
and all scripts but the two in it, given by their hashes.
"""

from collections.abc import Sequence
from importlib import resources
from typing import Any

from fastes.files.kinds import REPORT_MARK
from fastes.files.report_file import embedded
from fastes.reports.charts import Chart
from fastes.reports.library import charts_library, script_hash
from fastes.results.tables import Grid, Parts, escaped

_BOUNDS = {"colour": "#57606a", "dash": "6px,4px", "symbol": ""}


class Page:
    """The content so far; `sections` has each section's title and numbers of charts and tables."""

    def __init__(self) -> None:
        self.sections: list[dict[str, Any]] = []
        self._charts: list[dict[str, Any]] = []
        self._body: list[str] = []

    def heading(self, level: int, title: str) -> None:
        """Begin a section (level 2) or subsection."""
        if level == 2:
            self.sections.append({"title": title, "charts": 0, "tables": 0})
        name = f' id="section-{len(self.sections)}"' if level == 2 else ""
        self._body.append(f"<h{level}{name}>{escaped(title)}</h{level}>\n")

    def text(self, text: str, tone: str = "") -> None:
        """Add a paragraph, unless empty: plain, a "note" in small print, or a "warning"."""
        if text:
            self._body.append(f'<p class="{tone}">{escaped(text)}</p>\n')

    def tables(self, parts: Parts) -> None:
        """Add tables and lines of text; the line before a table is its caption."""
        caption = self.sections[-1]["title"]
        for part in parts:
            if isinstance(part, Grid):
                self.sections[-1]["tables"] += 1
                kind = "" if any(part.header) else "facts"
                self._body.append(_scroll(part.html(), caption, kind))
            elif part.strip():
                caption = part.strip()
                self.text(caption, "line")

    def charts(self, charts: Sequence[Chart]) -> None:
        """Add charts, side by side where there is space."""
        self.sections[-1]["charts"] += len(charts)
        self._body.append(f'<div class="charts n{min(2, len(charts))}">\n')
        for chart in charts:
            self._body.append(_figure(chart, len(self._charts)))
            self._charts.append(chart.to_dict())
        self._body.append("</div>\n")

    def html(self, title: str, summary: str, footer: str, reload: int = 0) -> str:
        """Return the whole page, with `<!--header-->` in place of its header.

        `reload` is the number of seconds after which it reloads itself; 0: never.
        """
        contents = "".join(
            f'<li><a href="#section-{i}">{escaped(section["title"])}</a></li>'
            for i, section in enumerate(self.sections, start=1)
        )
        style, script, library = _asset("report.css"), _asset("report.js"), charts_library()
        policy = (
            f"default-src 'none'; script-src {script_hash(script.encode())} {library.hash}; "
            "style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'"
        )
        return (
            f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n{REPORT_MARK}\n'
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>{escaped(title)}</title>\n<!--header-->\n<style>\n{style}</style>\n</head>\n"
            '<body>\n<a class="skip" href="#main">Skip to the content</a>\n'
            f"<header>\n<h1>{escaped(title)}</h1>\n<p>{escaped(summary)}</p>\n"
            f"{_reload(reload) if reload else ''}</header>\n"
            f'<nav aria-label="Contents"><ol>{contents}</ol></nav>\n'
            '<main id="main" tabindex="-1">\n<noscript><p class="warning">Charts need JavaScript; '
            f"the tables do not.</p></noscript>\n{''.join(self._body)}</main>\n"
            f"<footer><p>{escaped(footer)}</p></footer>\n"
            '<p id="status" role="status"></p>\n'
            f'<script type="application/json" id="charts">{embedded(self._charts)}</script>\n'
            f'<script type="text/plain" id="library">{library.packed}</script>\n'
            f"<script>{script}</script>\n</body>\n</html>\n"
        )


def _reload(seconds: int) -> str:
    return (
        '<p class="warning">The study is running; bounds are added when it is done. <label>'
        f'<input type="checkbox" id="reload" data-seconds="{seconds}" checked> '
        f"Reload every {seconds} seconds</label></p>\n"
    )


def _figure(chart: Chart, number: int) -> str:
    kind = chart.kind
    title = f"{kind.ylabel}: {chart.title}" if chart.title else kind.ylabel
    title = title[0].upper() + title[1:]
    logs = "" if kind.names else _log("x", kind.logx)
    return (
        f'<figure data-chart="{number}"><figcaption>{escaped(title)}</figcaption>\n'
        f'<div class="plot" role="img" aria-busy="true" aria-label="{escaped(title)}; '
        'its numbers are below"></div>\n'
        f'{_legend(chart)}<p class="note">{escaped(chart.spread)}</p>\n'
        f'<div class="tools" role="group" aria-label="{escaped(title)}">{logs}'
        f"{_log('y', kind.logy)}{_button('all', 'Show all')}{_button('none', 'Hide all')}</div>\n"
        '<details class="numbers"><summary>Numbers of this chart</summary>'
        f"{_scroll('', title)}</details></figure>\n"
    )


def _legend(chart: Chart) -> str:
    """Return a checkbox for each curve, and one for all bounds, to show or hide them."""
    entries = {t.key: (t.label, t.line) for t in chart.traces if t.role != "bound"}
    if any(trace.role == "bound" for trace in chart.traces):
        entries[""] = ("bounds", _BOUNDS)
    boxes = []
    for key, (label, line) in entries.items():
        dash = "none" if line["dash"] == "solid" else line["dash"].replace("px", "")
        dash = "1,3" if dash == "dot" else dash
        boxes.append(
            f'<label><input type="checkbox" checked data-key="{escaped(key)}">'
            '<svg width="30" height="10" aria-hidden="true"><line x1="0" y1="5" x2="30" y2="5" '
            f'stroke="{line["colour"]}" stroke-dasharray="{dash}"/></svg>{escaped(label)}</label>'
        )
    return f'<fieldset class="legend"><legend>Show</legend>{"".join(boxes)}</fieldset>\n'


def _log(axis: str, on: bool) -> str:
    pressed = "true" if on else "false"
    return (
        f'<button type="button" data-act="log{axis}" aria-pressed="{pressed}">'
        f"Logarithmic {axis}</button>"
    )


def _button(act: str, label: str) -> str:
    return f'<button type="button" data-act="{act}">{label}</button>'


def _scroll(content: str, caption: str, kind: str = "") -> str:
    """Return a table that scrolls if too large, and a button that copies it."""
    return (
        f'<div class="table">{_button("copy", "Copy table")}'
        f'<div class="scroll" role="region" tabindex="0" aria-label="{escaped(caption)}">'
        f'<table class="{kind}"><caption class="hidden">{escaped(caption)}</caption>'
        f"{content}</table></div></div>\n"
    )


def _asset(name: str) -> str:
    return (resources.files("fastes.reports") / "assets" / name).read_text(encoding="utf-8")
