"use strict";
// Two linked scatter plots of one graph. Ids reach the page as text only: by textContent, never as markup.
(async () => {
  const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#6a3d9a", "#8c564b", "#7f7f7f", "#b2df8a",
    "#17becf", "#e31a1c", "#1b7837", "#c2a5cf", "#a6761d", "#1f3b73", "#f781bf", "#666600", "#66c2a5", "#8b0000", "#3f88c5", "#ffb55a",
    "#4d4d4d", "#bdbdbd"];
  const MARK = "#111111", GREY = "#c4c4cc", MOST_MATCHES = 12, MOST_LISTED = 200, MOST_NAMED = 60, LONGEST_NAME = 24;
  const AT_ONCE = 50;  // milliseconds between two events of one movement
  const SVG = "http://www.w3.org/2000/svg", element = (id) => document.getElementById(id);
  const counted = (nodes) => (nodes === 1 ? "1 node" : `${nodes.toLocaleString("en")} nodes`);
  const began = performance.now();
  const page = { chosen: null };  // what tests and measurements ask for

  async function unpacked(text) {
    const bytes = Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const block = new Uint8Array(await new Response(stream).arrayBuffer());
    const length = new DataView(block.buffer).getUint32(0, true);
    const facts = JSON.parse(new TextDecoder().decode(block.subarray(4, 4 + length)));
    let place = 4 + length;
    for (const [name, [size, width]] of Object.entries(facts.arrays)) {
      const kinds = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array };
      const array = new kinds[width](size);
      for (let plane = 0; plane < width; plane++, place += size)
        for (let i = 0; i < size; i++) array[i] |= block[place + i] << (8 * plane);
      facts[name] = array;
    }
    return facts;
  }

  const graph = await unpacked(element("data").textContent);
  const n = graph.ids.length, k = graph.n_best;
  const colours = graph.labels.map((name, i) => (["(none)", "(other)"].includes(name) ? GREY : COLOURS[i]));
  const introduction = [...element("chosen").childNodes];
  const lower = graph.ids.map((id) => id.toLowerCase());
  const coordinate = (levels) => Float32Array.from(levels, (level) => (level / graph.tones) * 1.9 - 0.95);
  const score = (place) => graph.scores[0] + (graph.score[place] / graph.shades) * (graph.scores[1] - graph.scores[0]);
  const reached = k ? inverse() : null;

  function inverse() {  // for each node, the places in `best` at which it stands: sources whose best target it is
    const first = new Uint32Array(n + 1), places = new Uint32Array(n * k);
    for (const target of graph.best) first[target + 1]++;
    for (let i = 0; i < n; i++) first[i + 1] += first[i];
    const next = first.slice();
    graph.best.forEach((target, place) => { places[next[target]++] = place; });
    return (node) => Array.from(places.subarray(first[node], first[node + 1])).sort((a, b) => graph.score[b] - graph.score[a]);
  }

  document.querySelector("h1").textContent = document.title;
  element("summary").textContent = counted(n);

  const sides = {};
  let links = [];  // triples of a source, a target and whether that edge is in the graph, that are drawn as lines
  for (const side of ["source", "target"]) {
    const canvas = element(side), { width, height } = canvas.getBoundingClientRect();
    const plot = createScatterplot.default({
      canvas, width: "auto", height: "auto", backgroundColor: "#fbfbfd", lassoColor: MARK, lassoInitiator: false, cameraDistance: Math.max(1, height / width),
      pointSize: n > 200000 ? 1.5 : n > 20000 ? 2.5 : n > 2000 ? 4 : n > 200 ? 6 : 9, pointSizeSelected: 3, opacity: n > 50000 ? 0.35 : 0.7,
      pointColor: colours.length > 1 ? colours : [colours[0] ?? COLOURS[0], MARK],
      pointColorActive: MARK, pointColorHover: "#000000", colorBy: graph.labels.length ? "valueA" : null, spatialIndexUseWorker: false,
    });
    sides[side] = { plot, canvas };
    plot.subscribe("select", ({ points }) => (points.length > 1 ? lassoed(points) : clicked(() => choose(points[0]))));
    plot.subscribe("deselect", () => clicked(release));
    plot.subscribe("view", () => draw());
    plot.subscribe("pointOver", (node) => { other(side).hover(node, { preventEvent: true }); tell(side, node); });
    plot.subscribe("pointOut", () => { other(side).hover(undefined, { preventEvent: true }); element("tip").hidden = true; });
  }
  await Promise.all(["source", "target"].map((side) => sides[side].plot.draw({
    x: coordinate(graph[`${side}_x`]), y: coordinate(graph[`${side}_y`]), z: Array.from(graph.label),
  })));

  const other = (side) => sides[side === "source" ? "target" : "source"].plot;
  let lasso = { nodes: [], ended: -Infinity };
  function lassoed(nodes) {
    list(nodes, "In the lasso");
    lasso = { nodes, ended: performance.now() };
  }
  function clicked(act) {  // a lasso that closes where it began ends with a click, which changes nothing
    if (performance.now() - lasso.ended < AT_ONCE) list(lasso.nodes, "In the lasso");
    else act();
  }
  function tell(side, node) {  // the id of the point below the pointer
    const tip = element("tip"), [x, y] = place(side, node, element("tip").parentElement.getBoundingClientRect());
    tip.textContent = graph.ids[node].slice(0, 300);
    tip.hidden = false;
    tip.style.left = `${x + 12}px`;
    tip.style.top = `${y + 12}px`;
    page.told = node;
  }

  function choose(node) {
    const started = performance.now();
    const to = k ? Array.from({ length: k }, (_, j) => node * k + j) : [];
    const from = k ? reached(node).slice(0, MOST_LISTED) : [];
    const targets = to.map((place) => graph.best[place]);
    const sources = from.map((place) => Math.floor(place / k));
    const exists = (at) => (graph.linked ? graph.linked[at] === 1 : true);
    links = [...targets.map((target, j) => [node, target, exists(to[j])]), ...sources.slice(0, 2 * k).map((source, j) => [source, node, exists(from[j])])];
    mark("source", [node, ...sources.slice(0, 2 * k)]);
    mark("target", [node, ...targets]);
    const box = element("chosen");
    box.replaceChildren(heading(graph.ids[node]), ...label(node));
    if (k) box.append(...(graph.linked ? [paragraph("Solid lines and • mark edges of the graph; dashed lines are suggestions. The higher the score, the likelier the edge.")] : []),
      ...listed("Best targets", targets, to), ...listed("Best sources (nodes with it among their best targets)", sources, from));
    else box.append(paragraph("This page has no best targets: the graph has too many nodes, or its vectors came without a model."));
    page.chosen = node;
    draw();
    page.linked = performance.now() - started;
  }
  function list(points, title) {
    links = [];
    page.chosen = null;
    mark("source", points);
    mark("target", points);
    const box = element("chosen");
    box.replaceChildren(heading(counted(points.length)), ...listed(title, points.slice(0, MOST_LISTED)));
    if (points.length > MOST_LISTED) box.append(paragraph(`and ${(points.length - MOST_LISTED).toLocaleString("en")} more`));
    draw();
    page.listed = points.length;
  }
  function release() {
    links = [];
    element("chosen").replaceChildren(...introduction);
    mark("source", []);
    mark("target", []);
    page.chosen = null;
    draw();
  }
  function mark(side, points) {
    if (points.length) sides[side].plot.select(points, { preventEvent: true });
    else sides[side].plot.deselect({ preventEvent: true });
  }
  function place(side, node, frame) {  // of a point within the frame, or null if it is out of sight
    const box = sides[side].canvas.getBoundingClientRect(), [x, y] = sides[side].plot.getScreenPosition(node);
    const inside = x >= 0 && y >= 0 && x <= box.width && y <= box.height;
    return inside ? [x + box.left - frame.left, y + box.top - frame.top, x > box.width / 2] : null;
  }
  function drawn(kind, attributes) {
    const shape = document.createElementNS(SVG, kind);
    for (const [key, value] of Object.entries(attributes)) shape.setAttribute(key, value);
    return shape;
  }
  function draw() {
    const lines = element("lines"), frame = lines.getBoundingClientRect();
    const shapes = links.flatMap(([source, target, exists]) => {
      const [a, b] = [place("source", source, frame), place("target", target, frame)];
      if (!a || !b) return [];
      const middle = (a[0] + b[0]) / 2, d = `M${a[0]},${a[1]} C${middle},${a[1]} ${middle},${b[1]} ${b[0]},${b[1]}`;
      return [drawn("path", { d, fill: "none", stroke: MARK, "stroke-opacity": 0.55, "stroke-width": 1.5, "stroke-dasharray": exists ? "none" : "5 4" })];
    });
    const taken = [];  // boxes of the ids that are written; one that would cover another is left out
    for (const side of ["source", "target"]) for (const node of named(side)) {
      const at = place(side, node, frame), id = graph.ids[node];
      if (!at) continue;
      const words = id.length > LONGEST_NAME ? `${id.slice(0, LONGEST_NAME)}…` : id, x = at[0] + (at[2] ? -8 : 8);
      const [left, right] = at[2] ? [x - 7 * words.length, x] : [x, x + 7 * words.length];
      if (taken.some((box) => left < box.right && right > box.left && Math.abs(at[1] - box.y) < 12)) continue;
      taken.push({ left, right, y: at[1] });
      const text = drawn("text", { x, y: at[1] + 4, "text-anchor": at[2] ? "end" : "start" });
      text.textContent = words;
      shapes.push(text);
    }
    lines.replaceChildren(...shapes);
  }
  function named(side) {  // the nodes whose ids are written beside their points: those with a line first, and all of few
    const ends = links.slice(0, MOST_NAMED).map((link) => link[side === "source" ? 0 : 1]);
    return new Set([...(page.chosen === null ? [] : [page.chosen]), ...ends, ...(n <= MOST_NAMED ? graph.ids.keys() : [])]);
  }

  function heading(text) {
    const found = document.createElement("h3"), id = document.createElement("bdi");
    id.className = "id";
    id.textContent = text;
    found.append(id);
    return found;
  }
  function paragraph(text) {
    const found = document.createElement("p");
    found.className = "hint";
    found.textContent = text;
    return found;
  }
  const label = (node) => (graph.labels.length ? [paragraph(graph.labels[graph.label[node]])] : []);
  function listed(title, nodes, places) {
    if (!nodes.length) return [];
    const head = document.createElement("h3"), items = document.createElement("ol");
    head.textContent = title;
    items.append(...nodes.map((node, i) => {
      const item = document.createElement("li"), button = document.createElement("button"), id = document.createElement("bdi");
      id.className = "id";
      id.textContent = graph.ids[node].slice(0, 300);
      button.append(id);
      if (places) {
        const value = document.createElement("span");
        value.className = "score";
        value.textContent = `${graph.linked && graph.linked[places[i]] ? "• " : ""}${score(places[i]).toPrecision(2)}`;
        button.append(value);
      }
      button.addEventListener("click", () => choose(node));
      item.append(button);
      return item;
    }));
    return [head, items];
  }

  const search = element("search"), matches = element("matches");
  let current = -1, found = [];
  function find() {
    const started = performance.now(), text = search.value.toLowerCase();
    found = [];
    if (text) {
      const exact = lower.indexOf(text);
      if (exact >= 0) found.push(exact);
      for (let i = 0; i < n && found.length < MOST_MATCHES; i++) if (i !== exact && lower[i].includes(text)) found.push(i);
    }
    current = found.length ? 0 : -1;
    matches.replaceChildren(...found.map((node, i) => {
      const item = document.createElement("li"), id = document.createElement("bdi");
      id.textContent = graph.ids[node].slice(0, 300);
      item.append(id);
      item.id = `match-${i}`;
      item.setAttribute("role", "option");
      item.addEventListener("mousedown", () => take(i));
      return item;
    }));
    if (text && !found.length) {
      const none = document.createElement("li");
      none.className = "hint";
      none.setAttribute("role", "status");
      none.textContent = "no id contains this";
      matches.append(none);
    }
    show();
    page.searched = performance.now() - started;
  }
  function show() {
    search.setAttribute("aria-expanded", String(found.length > 0));
    search.setAttribute("aria-activedescendant", current < 0 ? "" : `match-${current}`);
    [...matches.children].forEach((item, i) => item.setAttribute("aria-selected", String(i === current)));
  }
  function take(i) {
    const node = found[i];
    search.value = graph.ids[node].slice(0, 300);
    found = [];
    matches.replaceChildren();
    show();
    choose(node);
  }
  search.addEventListener("input", find);
  search.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") current = Math.min(current + 1, found.length - 1);
    else if (event.key === "ArrowUp") current = Math.max(current - 1, 0);
    else if (event.key === "Enter" && current >= 0) take(current);
    else return;
    event.preventDefault();
    show();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") release();
    if (event.key === "/" && document.activeElement !== search) { event.preventDefault(); search.focus(); search.select(); }
  });
  draw();
  new ResizeObserver(() => requestAnimationFrame(draw)).observe(document.querySelector("main"));

  graph.labels.forEach((name, i) => {
    const item = document.createElement("button"), dot = document.createElement("i"), text = document.createElement("bdi");
    dot.style.background = colours[i];
    item.title = "select these nodes";
    item.addEventListener("click", () => list(Array.from(graph.label.keys()).filter((node) => graph.label[node] === i), name));
    text.textContent = name.slice(0, 100);
    item.append(dot, text);
    element("legend").append(item);
  });
  for (const [name, value] of graph.settings) {
    const term = document.createElement("dt"), meaning = document.createElement("dd");
    term.textContent = name;
    meaning.textContent = value;
    element("settings").append(term, meaning);
  }
  if (graph.spectrum.length) {
    const svg = document.createElementNS(SVG, "svg"), top = graph.spectrum[0] || 1;
    svg.setAttribute("viewBox", `0 0 ${graph.spectrum.length * 4} 60`);
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", `Singular values from ${graph.spectrum[0]} to ${graph.spectrum.at(-1)}`);
    graph.spectrum.forEach((value, i) => {
      const bar = document.createElementNS(SVG, "rect");
      for (const [key, x] of Object.entries({ x: 4 * i, y: 60 - 60 * value / top, width: 3, height: 60 * value / top, fill: "#0072b2" })) bar.setAttribute(key, x);
      svg.append(bar);
    });
    element("spectrum").append(svg, paragraph(`the ${graph.spectrum.length} largest singular values, from ${graph.spectrum[0]} to ${graph.spectrum.at(-1)}`));
  } else element("spectrum").append(paragraph("The file has none."));

  Object.assign(page, { ready: performance.now() - began, since_start: performance.now(), nodes: n, choose, find, list });
  window.lopsidedPage = page;
  document.body.dataset.ready = "true";
})().catch((error) => {
  document.getElementById("summary").textContent = `This page could not be drawn: ${error.message}`;
  document.body.dataset.ready = "failed";
});
