"use strict";
// A chart of the page's data in the words of the charts' library: its curves (`traces`) and its axes
// and legend (`layout`). Nothing here touches the page. `view` is how a chart is seen: logx, logy,
// what is drawn; `look` how the page is: onDark, printing, coarse (a finger), isShown (of a curve).

// Text from the data, as entities where the library reads a little markup of its own.
const plain = (text) => String(text).replace(/[^\w .,:=+()/²|‖-]/g, (c) => `&#${c.codePointAt(0)};`);

function colours(onDark) {
  return onDark
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

function traces(chart, view, look) {
  const colour = colours(look.onDark), bands = [], lines = [];
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
    const shown = look.isShown(trace);
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

function layout(chart, view, look) {
  const colour = colours(look.onDark), width = look.printing ? 660 : view.plot.clientWidth || 600;
  const entries = view.drawn.filter((each) => each.spec.showlegend).map((each) => each.trace.label);
  const longest = Math.max(...entries.map((label) => label.length));
  const columns = Math.max(1, Math.floor((width - 20) / (longest * 6.6 + 52)));
  const rows = Math.ceil(entries.length / columns);
  const legend = rows <= 12 || look.printing;
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
    xaxis: x, yaxis: y, width: look.printing ? width : undefined,
    height: 350 + (legend ? 21 * rows : 0),
    margin: { l: 54, r: 12, t: 8, b: 52 + (legend ? 21 * rows : 0) },
    paper_bgcolor: colour.page, plot_bgcolor: colour.page,
    font: { family: "system-ui, 'DejaVu Sans', sans-serif", size: 12, color: colour.ink },
    showlegend: legend, hovermode: "closest", dragmode: look.coarse ? false : "zoom",
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
