"use strict";
// The page's own script: it unpacks the charts' library, draws the charts in the page's data, and
// lets one switch curves, zoom, see and copy numbers. Text from the data reaches the page as text
// only: by textContent, or as entities where the library reads a little markup of its own.
(() => {
  const data = JSON.parse(document.getElementById("charts").textContent);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const coarse = matchMedia("(pointer: coarse)");
  const figures = [...document.querySelectorAll("figure[data-chart]")];
  const views = new Map(); // by figure: what is drawn in it, and how
  let printing = false;
  let library = null;

  const plain = (text) => String(text).replace(/[^\w .,:=+()/²|‖-]/g, (c) => `&#${c.codePointAt(0)};`);
  const say = (text) => { document.getElementById("said").textContent = text; };

  // ---- what is switched on, for each part of the page that has switches ----

  const states = new Map();
  const scopeOf = (element) => element.closest("[data-switches]") || element;
  function stateOf(scope) {
    if (!states.has(scope)) states.set(scope, { hidden: new Set(recalled(scope)), bounds: true });
    return states.get(scope);
  }
  function recalled(scope) {
    try { return JSON.parse(sessionStorage.getItem(`fastes ${scope.id}`)) || []; } catch { return []; }
  }
  function remember(scope) {
    try { sessionStorage.setItem(`fastes ${scope.id}`, JSON.stringify([...stateOf(scope).hidden])); } catch { /* none here */ }
  }
  function isShown(trace, state) {
    if (state.hidden.has(trace.key)) return false;
    return trace.role !== "bound" || (state.bounds && !state.hidden.has(trace.owner));
  }
  function changed(scope) {
    const state = stateOf(scope);
    for (const box of scope.querySelectorAll("input[data-key]")) box.checked = !state.hidden.has(box.dataset.key);
    for (const box of scope.querySelectorAll("input[data-bounds]")) box.checked = state.bounds;
    remember(scope);
    // What is in sight at once; the rest one by one, so that no click waits for it.
    for (const figure of figures) {
      if (scopeOf(figure) !== scope || !views.has(figure)) continue;
      if (inSight(figure)) showOrHide(figure);
      else waiting.add(figure);
    }
    if (waiting.size && !busy) { busy = true; setTimeout(catchUp); }
  }
  const waiting = new Set(); // charts out of sight that do not show yet what they should
  let busy = false;
  function catchUp() {
    const [figure] = waiting;
    waiting.delete(figure);
    if (figure) showOrHide(figure);
    busy = waiting.size > 0;
    if (busy) setTimeout(catchUp);
  }
  function inSight(figure) {
    const { top, bottom } = figure.getBoundingClientRect();
    return bottom > 0 && top < innerHeight;
  }
  function showOrHide(figure) {
    const view = views.get(figure);
    if (!view) return;
    const state = stateOf(scopeOf(figure)), indices = [], values = [];
    view.drawn.forEach((each, i) => {
      const wanted = isShown(each.trace, state) ? true : each.band ? false : "legendonly";
      if (each.visible !== wanted) { each.visible = wanted; indices.push(i); values.push(wanted); }
    });
    if (indices.length) library.restyle(view.plot, { visible: values }, indices);
  }
  function toggle(scope, key) {
    const { hidden } = stateOf(scope);
    if (!hidden.delete(key)) hidden.add(key);
    changed(scope);
  }
  function alone(scope, key) {
    const state = stateOf(scope);
    const others = keysOf(scope).filter((other) => other !== key);
    const isAlone = !state.hidden.has(key) && others.every((other) => state.hidden.has(other));
    state.hidden = new Set(isAlone ? [] : others);
    changed(scope);
  }
  const keysOf = (scope) => [...scope.querySelectorAll("input[data-key]")].map((box) => box.dataset.key);

  // ---- charts ----

  function colours() {
    const on = dark.matches && !printing;
    return on
      ? { page: "#14171c", ink: "#e4e7eb", soft: "#a6aeb8", rule: "#363c45", line: (l) => l.dark }
      : { page: "#ffffff", ink: "#1b1f24", soft: "#57606a", rule: "#dfe3e8", line: (l) => l.colour };
  }

  const byNumber = (a, b) => a - b;
  function abscissae(chart) {
    if (chart.names.length) return chart.names;
    const all = new Set(chart.traces.flatMap((trace) => trace.x).filter((x) => x !== null));
    return all.size ? [...all].sort(byNumber) : [0, 1];
  }

  function translucent(colour, alpha) {
    const part = (i) => parseInt(colour.slice(i, i + 2), 16);
    return `rgba(${part(1)},${part(3)},${part(5)},${alpha})`;
  }

  function traces(chart, view, state) {
    const colour = colours(), bands = [], lines = [];
    const crowded = chart.traces.filter((trace) => trace.role === "bound").length > 4;
    const alpha = Math.min(0.17, Math.max(0.05, 0.8 / chart.traces.length));
    const floor = view.logy ? lowest(chart) / 1e3 : -Infinity; // a band may reach below zero
    for (const trace of chart.traces) {
      const level = trace.x.length === 1 && trace.x[0] === null;
      const x = level ? abscissae(chart) : trace.x;
      const y = level ? x.map(() => trace.y[0]) : trace.y;
      const low = trace.low && (level ? x.map(() => trace.low[0]) : trace.low);
      const high = trace.high && (level ? x.map(() => trace.high[0]) : trace.high);
      const its = colour.line(trace.line), thin = trace.role !== "curve";
      const shown = isShown(trace, state);
      if (low && trace.marks === "band") {
        const known = x.map((_, i) => i).filter((i) => low[i] !== null && high[i] !== null);
        const back = [...known].reverse();
        bands.push({
          trace, band: true, visible: shown,
          spec: {
            type: "scatter", mode: "lines", fill: "toself", hoverinfo: "skip", showlegend: false,
            x: [...known, ...back].map((i) => x[i]),
            y: [...known.map((i) => high[i]), ...back.map((i) => Math.max(low[i], floor))],
            line: { width: 0 }, fillcolor: translucent(its, alpha), visible: shown,
          },
        });
      }
      const bars = low && trace.marks !== "band";
      lines.push({
        trace, band: false, visible: shown ? true : "legendonly",
        spec: {
          type: "scatter", x, y, name: plain(trace.label),
          showlegend: !(crowded && trace.role === "bound"), // the switch and a note name them
          mode: trace.marks === "points" ? "markers" : bars || trace.marks === "bars" ? "lines+markers" : "lines",
          line: { color: its, width: thin ? 1.3 : 2, dash: trace.role === "bound" ? "dash" : trace.line.dash },
          marker: { symbol: trace.line.symbol, size: 7, color: its },
          error_y: bars ? {
            type: "data", symmetric: false, color: its, thickness: 1.2, width: 3,
            array: high.map((value, i) => (value === null ? 0 : value - y[i])),
            arrayminus: low.map((value, i) => (value === null ? 0 : y[i] - Math.max(value, floor))),
          } : undefined,
          customdata: x.map((_, i) => (low && low[i] !== null ? ` (${number(low[i])} to ${number(high[i])})` : "")),
          text: chart.names.length ? x.map(plain) : undefined, // %{x} would be the tick's, in lines
          hovertemplate: `<b>${plain(trace.label)}</b><br>${plain(chart.x)} ${chart.names.length ? "%{text}" : "%{x:,}"}<br>` +
            `${plain(chart.y)} %{y:,.5~g}%{customdata}<extra></extra>`,
          visible: shown ? true : "legendonly",
        },
      });
    }
    return [...bands, ...lines];
  }

  const number = (value) => value.toLocaleString("en", { maximumSignificantDigits: 5 });

  function positives(chart) {
    return chart.traces.flatMap((trace) => trace.y).filter((y) => y !== null && y > 0);
  }
  const lowest = (chart) => positives(chart).reduce((a, b) => Math.min(a, b), Infinity);

  function layout(chart, view) {
    const colour = colours(), width = printing ? 660 : view.plot.clientWidth || 600;
    const entries = view.drawn.filter((each) => each.spec.showlegend).map((each) => each.trace.label);
    const longest = Math.max(...entries.map((label) => label.length));
    const columns = Math.max(1, Math.floor((width - 20) / (longest * 6.6 + 52)));
    const rows = Math.ceil(entries.length / columns);
    const legend = rows <= 12 || printing;
    const axis = (log, name) => ({
      title: { text: plain(name), font: { size: 13 }, standoff: 8 },
      type: log ? "log" : undefined,
      gridcolor: colour.rule, linecolor: colour.soft, zerolinecolor: colour.rule, ticks: "outside",
      tickcolor: colour.rule, automargin: true, separatethousands: true, exponentformat: "power",
      minor: { ticks: "" }, nticks: width < 480 ? 5 : 8,
    });
    const x = axis(view.logx, chart.x), y = axis(view.logy, chart.y);
    if (view.logx && decades(xs(chart)) > 1.2) x.dtick = 1;
    if (chart.ticks.length) Object.assign(x, ticksAt(chart.ticks, view.logx, width - 90));
    if (chart.names.length) {
      Object.assign(x, {
        type: "category", categoryorder: "array", categoryarray: chart.names,
        range: [-0.4, chart.names.length - 0.6], tickangle: 0, ...namesAt(chart.names, width - 90),
      });
    }
    if (!view.logy && chart.from_zero) y.rangemode = "tozero";
    if (view.logy) {
      const tops = [...positives(chart), ...chart.traces.flatMap((t) => t.high || []).filter((v) => v > 0)];
      const ends = [Math.log10(lowest(chart)), Math.log10(tops.reduce((a, b) => Math.max(a, b), 0))];
      const room = 0.06 * (ends[1] - ends[0]) + 0.03;
      y.range = [ends[0] - room, ends[1] + room];
      if (ends[1] - ends[0] > 1.2) y.dtick = 1;
    }
    return {
      xaxis: x, yaxis: y, width: printing ? width : undefined,
      height: 350 + (legend ? 21 * rows : 0),
      margin: { l: 54, r: 12, t: 8, b: 52 + (legend ? 21 * rows : 0) },
      paper_bgcolor: colour.page, plot_bgcolor: colour.page,
      font: { family: "system-ui, 'DejaVu Sans', sans-serif", size: 12, color: colour.ink },
      showlegend: legend, hovermode: "closest", dragmode: coarse.matches ? false : "zoom",
      hoverlabel: { bgcolor: colour.page, bordercolor: colour.soft, font: { color: colour.ink }, align: "left", namelength: -1 },
      legend: { orientation: "h", x: 0, xanchor: "left", yref: "container", y: 0, yanchor: "bottom", font: { size: 12 }, itemwidth: 36 },
    };
  }
  function namesAt(names, width) { // as many as there is room for, a word a line; the last always
    const longest = Math.max(...names.flatMap((name) => name.split(" ")).map((word) => word.length));
    const every = Math.ceil((names.length * (longest * 7 + 14)) / width);
    const kept = names.filter((_, i) => (names.length - 1 - i) % every === 0);
    return { tickvals: kept, ticktext: kept.map((name) => plain(name).replace(/ /g, "<br>")) };
  }
  function ticksAt(values, log, width) { // those that there is room for
    const place = (value) => (log ? Math.log10(value) : value);
    const sorted = [...values].sort(byNumber).filter((value) => !log || value > 0);
    const room = 8 * Math.max(...sorted.map((value) => number(value).length)) + 10;
    const least = (room / width) * (place(sorted[sorted.length - 1]) - place(sorted[0]));
    const kept = [];
    for (const value of sorted) if (!kept.length || place(value) - place(kept[kept.length - 1]) >= least) kept.push(value);
    return { tickvals: kept, ticktext: kept.map(number), dtick: undefined };
  }
  const xs = (chart) => abscissae(chart).filter((x) => typeof x === "number" && x > 0);
  const decades = (values) => (values.length ? Math.log10(values[values.length - 1] / values[0]) : 0);

  function draw(figure) {
    const chart = data[Number(figure.dataset.chart)];
    const plot = figure.querySelector(".plot"), scope = scopeOf(figure);
    let view = views.get(figure);
    const isNew = !view;
    if (isNew) {
      view = { plot, chart, logx: chart.logx, logy: chart.logy, drawn: [] };
      views.set(figure, view);
    }
    view.drawn = traces(chart, view, stateOf(scope));
    const specs = view.drawn.map((each) => each.spec);
    const config = { displayModeBar: false, responsive: true, scrollZoom: false, doubleClick: "reset" };
    library.react(plot, specs, layout(chart, view), config);
    if (!isNew) return;
    plot.removeAttribute("aria-busy");
    const clicked = (act) => (event) => { act(scope, view.drawn[event.curveNumber].trace.key); return false; };
    plot.on("plotly_legendclick", clicked(toggle));
    plot.on("plotly_legenddoubleclick", clicked(alone));
  }

  function drawAll() { for (const figure of figures) draw(figure); }
  function redraw() { for (const figure of views.keys()) draw(figure); }

  function zoom(view, factor) {
    const update = {};
    for (const name of ["xaxis", "yaxis"]) {
      const axis = view.plot._fullLayout[name], [from, to] = axis.range.map((end) => axis.r2l(end));
      const middle = (from + to) / 2, half = (factor * (to - from)) / 2;
      update[`${name}.range`] = [axis.l2r(middle - half), axis.l2r(middle + half)];
    }
    library.relayout(view.plot, update);
  }

  // ---- numbers, and copies of them ----

  function rowsOf(chart) {
    const rows = [["curve", chart.x, chart.y, "low", "high"]];
    for (const trace of chart.traces) {
      trace.x.forEach((x, i) => {
        const end = (ends) => (ends && ends[i] !== null ? ends[i] : "");
        rows.push([trace.label, x === null ? "any" : x, trace.y[i] === null ? "" : trace.y[i], end(trace.low), end(trace.high)]);
      });
    }
    return rows;
  }
  const tsv = (rows) => rows.map((row) => row.map((cell) => String(cell).replace(/[\t\r\n]+/g, " ")).join("\t")).join("\n");
  const cellsOf = (row) => [...row.cells].map((cell) => cell.dataset.v ?? cell.textContent);

  async function copy(text, what) {
    try {
      await navigator.clipboard.writeText(text);
    } catch { // not allowed here: by way of a selection
      const area = document.createElement("textarea");
      area.value = text;
      area.className = "visually-hidden";
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    say(`${what} copied`);
  }

  function showNumbers(details, chart) {
    if (details.querySelector("table")) return;
    const [header, ...rows] = rowsOf(chart);
    const table = document.createElement("table"), head = table.createTHead().insertRow();
    for (const name of header) {
      const cell = document.createElement("th");
      cell.scope = "col";
      cell.textContent = name;
      head.append(cell);
    }
    const body = table.createTBody();
    for (const row of rows) {
      const line = body.insertRow();
      for (const value of row) line.insertCell().textContent = value;
    }
    const scroll = document.createElement("div");
    Object.assign(scroll, { className: "scroll", tabIndex: 0 });
    scroll.setAttribute("role", "region");
    scroll.setAttribute("aria-label", "Numbers of the chart");
    scroll.append(table);
    details.append(scroll);
  }

  // ---- what people do ----

  document.addEventListener("change", (event) => {
    const box = event.target;
    if (box.matches("input[data-key]")) toggle(scopeOf(box), box.dataset.key);
    if (box.matches("input[data-bounds]")) {
      stateOf(scopeOf(box)).bounds = box.checked;
      changed(scopeOf(box));
    }
  });

  const acts = {
    all: (button) => { stateOf(scopeOf(button)).hidden.clear(); changed(scopeOf(button)); },
    none: (button) => { const scope = scopeOf(button); stateOf(scope).hidden = new Set(keysOf(scope)); changed(scope); },
    logx: (button, view, figure) => { view.logx = !view.logx; button.setAttribute("aria-pressed", view.logx); draw(figure); },
    logy: (button, view, figure) => { view.logy = !view.logy; button.setAttribute("aria-pressed", view.logy); draw(figure); },
    in: (button, view) => zoom(view, 0.6),
    out: (button, view) => zoom(view, 1 / 0.6),
    reset: (button, view, figure) => { library.purge(view.plot); views.delete(figure); draw(figure); pressed(figure); },
    numbers: (button, view, figure) => copy(tsv(rowsOf(data[Number(figure.dataset.chart)])), "The numbers of the chart"),
    table: (button) => copy(tsv([...button.closest(".table").querySelector("table").rows].map(cellsOf)), "The table"),
    code: (button) => copy(button.closest(".code").querySelector("pre").textContent, "The text"),
  };
  function pressed(figure) {
    const view = views.get(figure);
    for (const name of ["logx", "logy"]) figure.querySelector(`[data-act=${name}]`)?.setAttribute("aria-pressed", view[name]);
  }
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-act]");
    if (!button) return;
    const figure = button.closest("figure[data-chart]");
    if (figure && library && !views.has(figure)) draw(figure);
    acts[button.dataset.act](button, figure && views.get(figure), figure);
  });
  document.addEventListener("toggle", (event) => {
    const details = event.target;
    if (details.matches("details.numbers") && details.open) {
      showNumbers(details, data[Number(details.closest("figure").dataset.chart)]);
    }
  }, true);

  // ---- a study that goes on: the page is written anew, and read anew ----

  const live = document.getElementById("reload");
  if (live) {
    try { if (sessionStorage.getItem("fastes stay")) live.checked = false; } catch { /* none here */ }
    live.addEventListener("change", () => {
      try { live.checked ? sessionStorage.removeItem("fastes stay") : sessionStorage.setItem("fastes stay", "1"); } catch { /* none here */ }
    });
    setInterval(() => { if (live.checked) location.reload(); }, 1000 * Number(live.dataset.seconds));
  }

  // ---- begin ----

  async function unpacked(text) {
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).text();
  }

  async function begin() {
    for (const scope of document.querySelectorAll("[data-switches]")) changed(scope);
    if (!figures.length) return;
    const script = document.createElement("script");
    script.textContent = await unpacked(document.getElementById("library").textContent);
    document.head.append(script); // runs at once: the page allows this very text and no other
    library = window.Plotly;
    dark.addEventListener("change", redraw);
    addEventListener("beforeprint", () => { printing = true; drawAll(); });
    addEventListener("afterprint", () => { printing = false; redraw(); });
    const near = new IntersectionObserver((entries) => {
      for (const entry of entries) if (entry.isIntersecting) { near.unobserve(entry.target); if (!views.has(entry.target)) draw(entry.target); }
    }, { rootMargin: "600px" });
    for (const figure of figures) near.observe(figure);
    document.documentElement.dataset.ready = "true";
  }
  begin().catch((error) => {
    say("The charts cannot be drawn by this browser; the tables hold the numbers.");
    throw error;
  });
})();
