"""Reports in a real browser: Chromium of the system's packages, driven by Playwright.

    pip install -e '.[browser]' && pytest -m browser

Nothing waits for a number of seconds, and nothing is timed.
"""

import os
import re
import shutil

import numpy as np
import pytest
from made_results import diagnosed, made
from pages import HOSTILE, data

import fastes
from fastes.checks.numbers import printable
from fastes.results.comparison import Comparison

pytestmark = pytest.mark.browser

FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
)
FOUR = [made(M=4), made(M=32), made("ts"), made("greedy")]
EVERYONE = ["ES, M=4", "ES, M=32", "TS", "Greedy"]


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    names = (os.environ.get("FASTES_CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome")
    path = next(filter(None, map(shutil.which, filter(None, names))), None)
    assert path, "no Chromium: install it (apt-get install chromium), or set FASTES_CHROMIUM"
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield running
        running.close()


@pytest.fixture
def visit(browser):
    """Return a function that opens a report; at the end nothing may have gone wrong in it."""
    contexts, wrong = [], []

    def note(request, path):
        if request.url.partition("#")[0] != path.as_uri():
            wrong.append(f"request: {request.url}")

    def open_page(path, width=1280, height=900, **options):
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)
        context.add_init_script(
            """
            window.copied = [];
            Object.defineProperty(navigator, "clipboard",
                { value: { writeText: async (text) => { window.copied.push(text); } } });
            const later = window.setInterval;
            window.setInterval = (act, milliseconds) =>  // of a page that reloads itself
                milliseconds === 7000 ? (window.due = act) : later(act, milliseconds);
            """
        )
        page = context.new_page()
        page.on("console", lambda message: wrong.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (wrong.append("a dialog"), dialog.dismiss()))
        page.on("request", lambda request: note(request, path))
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready]", state="attached")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert wrong == []


def figure_of(page, number=0):
    """Return a chart, drawn."""
    figure = page.locator(f'figure[data-chart="{number}"]')
    figure.scroll_into_view_if_needed()
    figure.locator(".main-svg").first.wait_for()
    return figure


def draw_all(page):
    """Scroll through a page until all its charts are drawn; return their number."""
    n = page.locator("figure[data-chart]").count()
    for number in range(n):
        figure_of(page, number)
    return n


def wait_shown(page, names, number=0):
    """Wait until a chart shows just these curves and lines."""
    figure_of(page, number)
    page.wait_for_function(
        """([n, names]) => {
            const data = document.querySelector(`figure[data-chart="${n}"] .plot`).data;
            const on = data.filter((trace) => trace.name && trace.visible === true);
            return JSON.stringify(on.map((trace) => trace.name)) === JSON.stringify(names);
        }""",
        arg=[number, names],
    )


@pytest.fixture(scope="module")
def four(tmp_path_factory):
    path = tmp_path_factory.mktemp("four") / "four.html"
    fastes.report(Comparison(tuple(FOUR)), path)
    return path


@pytest.fixture(scope="module")
def every_kind(tmp_path_factory):
    """Return a report of each kind, by name."""
    folder = tmp_path_factory.mktemp("kinds")
    study = fastes.Study(agent=["es", "ts"], M=[2, 8], K=[5, 12], d=3, T=40, runs=6)
    named = fastes.Study(agent=["ts", "greedy"], K=5, d=3, T=40, runs=6)
    given = {
        "one run": made(runs=1),
        "diagnosed": Comparison(
            (diagnosed(made(M=10)), diagnosed(made("ts"), divergence=0.3, infinite=2))
        ),
        "study": fastes.sweep(study, folder / "study.db"),
        "agents": fastes.sweep(named, folder / "agents.db"),
        "many": Comparison((*(made(M=M) for M in range(1, 81)), made("ts"), made("uniform"))),
        "problems": [made(K=K) for K in range(5, 15)],
    }
    paths = {name: folder / f"{name}.html" for name in given}
    for name, each in given.items():
        fastes.report(each, paths[name])
    return paths


@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("kind", ["one run", "diagnosed", "study", "agents", "many", "problems"])
def test_every_kind_opens_without_errors_requests_or_overflow(kind, width, every_kind, visit):
    page = visit(every_kind[kind], width=width)
    assert draw_all(page) == len(data(every_kind[kind].read_text()))
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("figure[data-chart] .plot[aria-busy]").count() == 0


def test_the_page_cannot_reach_the_network(four, browser):
    page = browser.new_context().new_page()
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(four.as_uri())
    tried = page.evaluate(
        "fetch('http://127.0.0.1:9/').then(() => 'reached', (error) => String(error))"
    )
    assert "TypeError" in tried
    assert not any(url.startswith("http") for url in requests)
    # Nor can a script run that is not the page's own.
    page.evaluate(
        "document.body.append(Object.assign(document.createElement('script'),"
        "{ textContent: 'window.foreign = true' }))"
    )
    assert page.evaluate("window.foreign") is None
    page.context.close()


def test_a_curve_is_hidden_in_all_charts(four, visit):
    page = visit(four)
    wait_shown(page, EVERYONE)
    paths = figure_of(page).locator(".scatterlayer .trace:has(path.js-line, path.js-fill)")
    before = paths.count()
    box = figure_of(page).get_by_role("checkbox", name="TS")
    box.uncheck()
    wait_shown(page, ["ES, M=4", "ES, M=32", "Greedy"])
    assert paths.count() == before - 2  # the curve and its band
    wait_shown(page, ["ES, M=4", "ES, M=32", "no difference"], 1)
    figure_of(page, 1).get_by_role("checkbox", name="TS").check()
    wait_shown(page, EVERYONE)
    assert box.is_checked()


def test_the_keyboard_hides_curves(four, visit):
    page = visit(four)
    figure_of(page)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    assert page.evaluate("document.activeElement.getBoundingClientRect().left >= 0")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    while page.evaluate("document.activeElement.dataset.key") != "TS":
        page.keyboard.press("Tab")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline != "none"
    page.keyboard.press("Space")
    wait_shown(page, ["ES, M=4", "ES, M=32", "Greedy"])
    figure_of(page).get_by_role("button", name="Hide all").press("Enter")
    wait_shown(page, [])
    wait_shown(page, ["no difference"], 1)
    figure_of(page).get_by_role("button", name="Show all").press("Enter")
    wait_shown(page, EVERYONE)


def test_bounds_go_with_what_they_bound(every_kind, visit):
    page = visit(every_kind["diagnosed"])
    number = next(
        i
        for i, chart in enumerate(data(every_kind["diagnosed"].read_text()))
        if chart["y"] == "cumulative regret, and bounds"
    )
    rest = ["bound for TS: term (a)", "random play"]
    of_ensemble = ["best bound for ES, M=10", "Theorem 1 for ES, M=10"]
    wait_shown(page, ["ES, M=10", "TS", *of_ensemble, *rest], number)
    figure = figure_of(page, number)
    figure.get_by_role("checkbox", name="ES, M=10").uncheck()
    wait_shown(page, ["TS", *rest], number)
    figure.get_by_role("checkbox", name="ES, M=10").check()
    figure.get_by_role("checkbox", name="bounds", exact=True).uncheck()
    wait_shown(page, ["ES, M=10", "TS", *rest], number)


def point_at(page, number, x, y):
    """Move the pointer to a point of a chart; return the name, x and y there, and the label."""
    area = figure_of(page, number).locator(".plot")
    place = area.evaluate(
        """(plot, [x, y]) => {
            plot.scrollIntoView({ block: 'center' });
            window.hovered = null;
            plot.removeAllListeners('plotly_hover');
            plot.on('plotly_hover', (event) => { window.hovered = event.points; });
            const { xaxis, yaxis } = plot._fullLayout, box = plot.getBoundingClientRect();
            return [box.x + xaxis._offset + xaxis.d2p(x), box.y + yaxis._offset + yaxis.d2p(y)];
        }""",
        [x, y],
    )
    page.mouse.move(0, 0)
    page.mouse.move(*place)
    page.wait_for_function("() => window.hovered && window.hovered.length")
    point = page.evaluate("() => (({ x, y, data }) => [data.name, x, y])(window.hovered[0])")
    return point, area.locator(".hoverlayer .hovertext").first.text_content()


def loneliest_point(traces):
    """Return the trace and the point that is farthest from those of other curves at its x."""
    points = [
        (t, x, y) for t in traces for x, y in zip(t["x"], t["y"], strict=True) if y is not None
    ]

    def room(point):
        trace, x, y = point
        return min((abs(v - y) for t, u, v in points if t is not trace and u == x), default=0.0)

    return max(points, key=room)


@pytest.mark.parametrize(
    ("kind", "number"),
    [("one run", 0), ("study", 0), ("study", 2), ("agents", 0), ("diagnosed", 4)],
)
def test_the_value_under_the_pointer_is_the_data(kind, number, every_kind, visit):
    page = visit(every_kind[kind])
    chart = data(every_kind[kind].read_text())[number]
    trace, x, y = loneliest_point(chart["traces"])
    point, label = point_at(page, number, x, y)
    assert point == [trace["label"], x, y]
    assert f"{chart['x']} {x}" in label
    shown = [float(text.replace(",", "")) for text in re.findall(r"[\d.,]*\d", label)]
    i = trace["x"].index(x)
    ends = [trace["low"][i], trace["high"][i]] if trace["low"] else []
    assert shown[-1 - len(ends) :] == pytest.approx([y, *ends], rel=1e-4)


def test_bars_and_bands_are_drawn_from_low_to_high(every_kind, visit):
    page, found = visit(every_kind["study"]), data(every_kind["study"].read_text())
    trace, plot = found[0]["traces"][0], figure_of(page).locator(".plot")
    drawn = plot.evaluate("(plot) => plot.calcdata[0].map((point) => [point.ys, point.yh])")
    assert np.ravel(drawn) == pytest.approx(np.ravel([trace["low"], trace["high"]], "F"))
    number = [chart["y"] for chart in found].index("cumulative regret")
    trace, plot = found[number]["traces"][0], figure_of(page, number).locator(".plot")
    assert plot.evaluate("(plot) => plot.data[0].y") == [*trace["high"], *trace["low"][::-1]]


def test_axes_are_made_logarithmic_and_zoomed(four, visit):
    page = visit(four)
    figure = figure_of(page)
    axes = """(plot) => {
        const { xaxis, yaxis } = plot._fullLayout;
        return [xaxis.type, yaxis.type, xaxis.range];
    }"""
    first = figure.locator(".plot").evaluate(axes)
    assert first[:2] == ["linear", "linear"]
    button = figure.get_by_role("button", name="Logarithmic y")
    button.click()
    assert button.get_attribute("aria-pressed") == "true"
    assert figure.locator(".plot").evaluate(axes)[:2] == ["linear", "log"]
    wait_shown(page, EVERYONE)
    button.click()
    assert figure.locator(".plot").evaluate(axes) == first
    box = figure.locator(".nsewdrag").first.bounding_box()
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.move(*middle)
    page.mouse.down()
    page.mouse.move(middle[0] + 100, middle[1] + 60, steps=4)
    page.mouse.up()
    page.wait_for_function(
        "() => document.querySelector('figure .plot')._fullLayout.xaxis.range[0] > 50"
    )
    figure.locator('[data-title="Reset axes"]').click()
    page.wait_for_function(
        "(x) => document.querySelector('figure .plot')._fullLayout.xaxis.range[0] === x",
        arg=first[2][0],
    )


def test_tables_and_numbers_are_copied(four, visit):
    page = visit(four)
    page.locator(".table:visible").first.get_by_role("button", name="Copy table").click()
    page.get_by_text("The table is copied").wait_for()
    rows = [line.split("\t") for line in page.evaluate("copied[0]").split("\n")]
    assert rows[0][:3] == ["agent", "regret at T", "median"]
    assert [row[0] for row in rows[1:]] == EVERYONE
    figure = figure_of(page)
    figure.locator("summary").click()
    figure.get_by_role("button", name="Copy table").click()
    page.wait_for_function("() => copied.length === 2")
    lines = [line.split("\t") for line in page.evaluate("copied[1]").split("\n")]
    assert lines[0] == ["curve", "steps", "cumulative regret", "low", "high"]
    assert [float(line[2]) for line in lines[1:]] == [
        float(mean) for result in FOUR for mean in result.regret.mean
    ]


def test_dark_mode_changes_page_and_charts(four, visit):
    page = visit(four, color_scheme="dark")
    figure_of(page)
    body = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert np.mean([int(part) for part in re.findall(r"\d+", body)]) < 40
    look = "getComputedStyle(document.querySelector('.plot')).filter"
    assert "invert" in page.evaluate(look)
    page.emulate_media(color_scheme="light")
    assert page.evaluate(look) == "none"


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_shown_and_inert(name, tmp_path, visit):
    path = tmp_path / "hostile.html"
    fastes.report(Comparison((made(name), made("ts"))), path, title=name, baseline=0)
    page = visit(path)
    draw_all(page)
    assert figure_of(page).locator(".legend label").first.text_content() == printable(name)
    result = made(name)
    area = point_at(page, 0, int(result.t[-2]), float(result.regret.mean[-2]))
    space = str.maketrans("\u2028\u2029\u00a0", "   ")
    assert " ".join(printable(name).translate(space).split()) in " ".join(
        area[1].translate(space).split()
    )
    assert page.locator("main a, main img, main iframe, main object").count() == 0
    page.locator("summary").first.click()
    page.locator("details table td").first.wait_for()
    assert page.locator("details table td").first.text_content() == printable(name)


def test_it_prints_whole_in_light_colours_without_buttons(every_kind, visit):
    page = visit(every_kind["problems"], color_scheme="dark")
    drawn = page.locator("figure:has(.main-svg)")
    every = len(data(every_kind["problems"].read_text()))
    assert drawn.count() < every  # until they are needed
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("getComputedStyle(document.querySelector('.plot')).filter") == "none"
    for hidden in ("nav", ".tools", ".table button", "details"):
        assert not page.locator(hidden).first.is_visible()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert drawn.count() == every
    widths = page.locator(".main-svg").evaluate_all("(all) => all.map((svg) => svg.clientWidth)")
    assert set(widths) == {660}
    assert page.pdf().startswith(b"%PDF")


def test_hiding_a_curve_touches_no_more_than_it_must(every_kind, visit):
    page = visit(every_kind["many"])
    charts = draw_all(page)
    page.evaluate(
        """() => {
            window.calls = [];
            for (const name of ['react', 'newPlot', 'restyle', 'relayout']) {
                const real = Plotly[name];
                Plotly[name] = (...given) => {
                    window.calls.push([name, given[2]]);
                    return real(...given);
                };
            }
        }"""
    )
    figure = figure_of(page)
    figure.get_by_role("checkbox", name="ES, M=7", exact=True).uncheck()
    wait_shown(page, [*(f"ES, M={M}" for M in range(1, 81) if M != 7), "TS", "Uniform"])
    draw_all(page)  # a chart far from the window waits until it is near
    page.wait_for_function("charts => calls.length >= charts", arg=charts)
    calls = page.evaluate("calls")
    # A curve is a line, and a band where there are several runs.
    assert sorted((name, len(indices)) for name, indices in calls) == [
        ("restyle", 1),
        ("restyle", 2),
        ("restyle", 2),
    ]


def test_a_report_of_a_running_study_reloads_itself(tmp_path, visit):
    path = tmp_path / "live.html"
    results = Comparison(tuple(FOUR))
    fastes.report(results, path, title="first", reload=7)
    page = visit(path)
    figure_of(page).get_by_role("checkbox", name="TS").uncheck()
    fastes.report(results, path, title="second", reload=7)
    with page.expect_navigation():
        page.evaluate("window.due()")  # as seven seconds later
    page.wait_for_selector("html[data-ready]", state="attached")
    assert page.title() == "second"
    wait_shown(page, ["ES, M=4", "ES, M=32", "Greedy"])  # what was hidden stays hidden
    page.get_by_role("checkbox", name="Reload every 7 seconds").uncheck()
    fastes.report(results, path, title="third")
    page.evaluate("window.due()")
    assert page.title() == "second"
    page.reload()
    page.wait_for_selector("html[data-ready]", state="attached")
    assert page.title() == "third"
    assert page.locator("#reload").count() == 0  # it is finished
    assert page.evaluate("window.due") is None
