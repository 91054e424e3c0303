"use strict";
// The page's own script, after charts.js: it unpacks the charts' library, draws the charts in the
// page's data, and lets one switch curves, zoom, see and copy numbers. Text from the data reaches the
// page by textContent only.
(() => {
  const data = JSON.parse(document.getElementById("charts").textContent);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const coarse = matchMedia("(pointer: coarse)");
  const figures = [...document.querySelectorAll("figure[data-chart]")];
  const views = new Map(); // by figure: what is drawn in it, and how
  let printing = false;
  let library = null;

  const say = (text) => { document.getElementById("said").textContent = text; };

  // ---- what is switched on, for each part of the page that has switches ----

  const states = new Map();
  const memory = (name) => `fastes ${location.pathname} ${name}`; // of this page, until its tab is closed
  const scopeOf = (element) => element.closest("[data-switches]") || element;
  function stateOf(scope) {
    if (!states.has(scope)) states.set(scope, { hidden: new Set(recalled(scope)), bounds: true });
    return states.get(scope);
  }
  function recalled(scope) {
    try { return JSON.parse(sessionStorage.getItem(memory(scope.id))) || []; } catch { return []; }
  }
  function remember(scope) {
    try { sessionStorage.setItem(memory(scope.id), JSON.stringify([...stateOf(scope).hidden])); } catch { /* none here */ }
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
    // One chart at once, the others one by one, those in sight first: no click waits for all.
    const its = figures.filter((figure) => scopeOf(figure) === scope && views.has(figure));
    const [first, ...others] = [...its.filter(inSight), ...its.filter((figure) => !inSight(figure))];
    for (const figure of others) waiting.add(figure);
    waiting.delete(first);
    if (first) showOrHide(first);
    if (waiting.size && !busy) { busy = true; setTimeout(catchUp); }
  }
  const waiting = new Set(); // charts that do not show yet what they should
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

  function draw(figure) {
    const chart = data[Number(figure.dataset.chart)];
    const plot = figure.querySelector(".plot"), scope = scopeOf(figure);
    let view = views.get(figure);
    const isNew = !view;
    if (isNew) {
      view = { plot, chart, logx: chart.logx, logy: chart.logy, drawn: [] };
      views.set(figure, view);
    }
    const state = stateOf(scope);
    const look = {
      onDark: dark.matches && !printing, printing, coarse: coarse.matches,
      isShown: (trace) => isShown(trace, state),
    };
    view.drawn = traces(chart, view, look);
    const specs = view.drawn.map((each) => each.spec);
    const config = { displayModeBar: false, responsive: true, scrollZoom: false, doubleClick: "reset" };
    library.react(plot, specs, layout(chart, view, look), config);
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
    try { if (sessionStorage.getItem(memory("stay"))) live.checked = false; } catch { /* none here */ }
    live.addEventListener("change", () => {
      try { live.checked ? sessionStorage.removeItem(memory("stay")) : sessionStorage.setItem(memory("stay"), "1"); } catch { /* none here */ }
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
