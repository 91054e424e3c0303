"use strict";
// Unpacks Plotly, draws each chart when it comes near the window, and lets a reader show and hide
// curves, change axes, and see and copy numbers. Text of the data reaches the page by textContent, or
// as entities where Plotly reads markup.
(() => {
  const data = JSON.parse(document.getElementById("charts").textContent);
  const figures = [...document.querySelectorAll("figure[data-chart]")];
  const boxes = [...document.querySelectorAll("input[data-key]")];
  const chartOf = (figure) => data[figure.dataset.chart];
  const plotOf = (figure) => figure.querySelector(".plot");
  const plain = (text) => String(text).replace(/[^\w .,:=+()/²|‖-]/g, (c) => `&#${c.codePointAt(0)};`);
  const number = (value) => value.toLocaleString("en", { maximumSignificantDigits: 5 });
  const say = (text) => { document.getElementById("status").textContent = text; };

  // ---- which curves are shown: by key on the whole page, "" is all bounds ----

  const memory = `fastes ${location.pathname}`; // while the tab is open, also when the page reloads
  const hidden = new Set();
  try {
    for (const key of JSON.parse(sessionStorage[memory] || "[]")) hidden.add(key);
  } catch { /* no storage */ }
  const isShown = ({ key, role }) => !hidden.has(key) && !(role === "bound" && hidden.has(""));

  function show(keys, shown) {
    for (const key of keys) shown ? hidden.delete(key) : hidden.add(key);
    for (const box of boxes) box.checked = !hidden.has(box.dataset.key);
    try { sessionStorage[memory] = JSON.stringify([...hidden]); } catch { /* no storage */ }
    for (const figure of figures) { near.unobserve(figure); near.observe(figure); }
  }
  const boxesOf = (figure) => [...figure.querySelectorAll("input[data-key]")];
  const keysOf = (figure) => boxesOf(figure).map((box) => box.dataset.key);

  // ---- charts ----

  function draw(figure) { // or show and hide curves of one that is drawn
    const plot = plotOf(figure), chart = chartOf(figure);
    if (!plot.data) {
      const config = {
        displayModeBar: true, displaylogo: false, responsive: true, doubleClick: "reset",
        modeBarButtons: [["zoomIn2d", "zoomOut2d", "resetScale2d"]],
      };
      Plotly.newPlot(plot, curves(chart), layout(chart), config);
      plot.removeAttribute("aria-busy");
      return;
    }
    const wanted = plot.data.map((curve) => isShown(curve.meta));
    const changed = [...wanted.keys()].filter((i) => plot.data[i].visible !== wanted[i]);
    if (changed.length) Plotly.restyle(plot, { visible: changed.map((i) => wanted[i]) }, changed);
  }
  const near = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) draw(entry.target);
  }, { rootMargin: "600px" });

  function positive(chart) { // the smallest mean and the largest value above zero
    const means = chart.traces.flatMap((trace) => trace.y).filter((y) => y > 0);
    const ends = chart.traces.flatMap((trace) => trace.high || []);
    const least = means.reduce((a, b) => Math.min(a, b), Infinity);
    return [least, [...means, ...ends].reduce((a, b) => Math.max(a, b), 0)];
  }

  function curves(chart) { // as Plotly takes them: bands below lines
    const bands = [], lines = [];
    const floor = chart.logy ? positive(chart)[0] / 1e3 : -Infinity; // a band may reach below zero
    const alpha = Math.min(0.17, Math.max(0.05, 0.8 / chart.traces.length));
    for (const trace of chart.traces) {
      const { x, y, high, line } = trace, measured = trace.role === "curve";
      const low = trace.low && trace.low.map((end) => (end === null ? null : Math.max(end, floor)));
      const curve = { type: "scatter", meta: trace, visible: isShown(trace) };
      if (high && !chart.bars) {
        bands.push({
          ...curve, mode: "lines", fill: "toself", hoverinfo: "skip", line: { width: 0 },
          fillcolor: line.colour + Math.round(255 * alpha).toString(16).padStart(2, "0"),
          x: [...x, ...[...x].reverse()], y: [...high, ...[...low].reverse()],
        });
      }
      const bars = high && chart.bars ? {
        type: "data", symmetric: false, thickness: 1.2, width: 3,
        array: high.map((end, i) => end - y[i]), arrayminus: low.map((end, i) => y[i] - end),
      } : undefined;
      lines.push({
        ...curve, x, y, name: plain(trace.label), error_y: bars,
        mode: chart.bars && measured ? "lines+markers" : "lines",
        line: {
          color: line.colour, width: measured ? 2 : 1.3,
          dash: trace.role === "bound" ? "dash" : line.dash,
        },
        marker: { symbol: line.symbol, size: 7 },
        customdata: x.map((_, i) => interval(trace.low?.[i], high?.[i])),
        hovertemplate: `<b>${plain(trace.label)}</b><br>` +
          `${plain(chart.x)} ${typeof x[0] === "string" ? "%{x}" : "%{x:,}"}<br>` +
          `${plain(chart.y)} %{y:,.5~g}%{customdata}<extra></extra>`,
      });
    }
    return [...bands, ...lines];
  }
  const interval = (low, high) => (high == null ? "" : ` (${number(low)} to ${number(high)})`);

  function layout(chart) {
    const axis = (name, log) => ({
      title: { text: plain(name), standoff: 8 }, type: log ? "log" : "linear", automargin: true,
      gridcolor: "#dfe3e8", zerolinecolor: "#dfe3e8", linecolor: "#57606a",
      separatethousands: true, exponentformat: "power", nticks: log ? 5 : 0,
    });
    const x = axis(chart.x, chart.logx), y = axis(chart.y, chart.logy);
    if (chart.ticks.length) {
      const named = typeof chart.ticks[0] === "string";
      x.tickvals = chart.ticks;
      x.ticktext = chart.ticks.map(named ? plain : number);
      if (named) Object.assign(x, { type: "category", categoryarray: chart.ticks });
    }
    if (chart.logy) y.range = positive(chart).map((end, i) => Math.log10(end) + (i ? 0.1 : -0.1));
    else if (chart.from_zero) y.rangemode = "tozero";
    return {
      xaxis: x, yaxis: y, height: 360, margin: { l: 54, r: 12, t: 30, b: 50 },
      showlegend: false, hovermode: "closest",
      dragmode: matchMedia("(pointer: coarse)").matches ? false : "zoom", // a finger scrolls
      paper_bgcolor: "transparent", plot_bgcolor: "transparent",
      modebar: { bgcolor: "transparent", color: "#57606a", activecolor: "#0b57b0" },
      font: { family: "system-ui, 'DejaVu Sans', sans-serif", size: 12, color: "#1b1f24" },
      hoverlabel: { bgcolor: "#ffffff", bordercolor: "#57606a", align: "left", namelength: -1 },
    };
  }

  // ---- numbers ----

  function fill(table, chart) {
    function add(row, values, tag) {
      for (const value of values) {
        const cell = document.createElement(tag);
        cell.textContent = value ?? "";
        row.append(cell);
      }
    }
    add(table.createTHead().insertRow(), ["curve", chart.x, chart.y, "low", "high"], "th");
    const body = table.createTBody();
    for (const { label, x, y, low, high } of chart.traces) {
      x.forEach((each, i) => add(body.insertRow(), [label, each, y[i], low?.[i], high?.[i]], "td"));
    }
  }
  async function copy(table) {
    const text = (cell) => cell.textContent.replace(/\s+/g, " ");
    const line = (row) => [...row.cells].map(text).join("\t");
    try {
      await navigator.clipboard.writeText([...table.rows].map(line).join("\n"));
      say("The table is copied");
    } catch {
      say("This browser does not let the page copy: select the table instead");
    }
  }

  // ---- what a reader does ----

  const acts = {
    logx: (figure, button) => turn(figure, button, "logx"),
    logy: (figure, button) => turn(figure, button, "logy"),
    all: (figure) => show(keysOf(figure), true),
    none: (figure) => show(keysOf(figure), false),
    copy: (figure, button) => copy(button.closest(".table").querySelector("table")),
  };
  function turn(figure, button, axis) {
    const chart = chartOf(figure);
    chart[axis] = !chart[axis];
    button.setAttribute("aria-pressed", chart[axis]);
    Plotly.purge(plotOf(figure));
    draw(figure);
  }
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-act]");
    if (button) acts[button.dataset.act](button.closest("figure"), button);
  });
  document.addEventListener("change", ({ target }) => {
    if (target.matches("input[data-key]")) show([target.dataset.key], target.checked);
  });
  document.addEventListener("toggle", ({ target }) => {
    const table = target.querySelector("table");
    if (target.open && !table.tBodies.length) fill(table, chartOf(target.closest("figure")));
  }, true);
  const reload = document.getElementById("reload");
  if (reload) {
    setInterval(() => { if (reload.checked) location.reload(); }, 1000 * reload.dataset.seconds);
  }

  // ---- begin ----

  async function begin() {
    const text = atob(document.getElementById("library").textContent);
    const packed = new Blob([Uint8Array.from(text, (character) => character.charCodeAt(0))]);
    const stream = packed.stream().pipeThrough(new DecompressionStream("gzip"));
    const script = document.createElement("script");
    script.textContent = await new Response(stream).text();
    document.head.append(script); // runs at once: the page allows this very text and no other
    show([], true);
    addEventListener("beforeprint", () => {
      for (const figure of figures) {
        draw(figure);
        Plotly.relayout(plotOf(figure), { width: 660 });
      }
    });
    addEventListener("afterprint", () => {
      for (const figure of figures) Plotly.relayout(plotOf(figure), { width: null, autosize: true });
    });
    document.documentElement.dataset.ready = "true";
  }
  begin().catch((error) => {
    say("This browser cannot draw the charts; the tables hold the numbers.");
    throw error;
  });
})();
