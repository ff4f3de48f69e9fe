"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("data").textContent);
  const svg = byId("hasse"), panel = byId("panel"), lit = svg.querySelector(".lit");
  const manifolds = new Map(data.manifolds.map((m) => [m.id, m]));
  const nodes = new Map([...svg.querySelectorAll(".node")].map((g) => [g.dataset.id, g]));
  const above = new Map(), below = new Map();
  for (const id of manifolds.keys()) { above.set(id, []); below.set(id, []); }
  for (const [bigger, smaller] of data.covers) { below.get(bigger).push(smaller); above.get(smaller).push(bigger); }
  let pinned = null, marked = [];

  // ---- small builders: text only ever enters as text
  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith("on")) element.addEventListener(key.slice(2), value); else element.setAttribute(key, value);
    }
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
  };
  const pairs = (entries) => make("dl", {}, ...entries.flatMap(([key, value]) => [make("dt", {}, key), make("dd", {}, value)]));
  const section = (title, ...children) => [make("h3", {}, title), ...children];
  const show = (value) => typeof value === "number" && !Number.isInteger(value) ? value.toPrecision(3)
    : value !== null && typeof value === "object" ? (Array.isArray(value) ? value.map(show).join(", ") : JSON.stringify(value)) : String(value);
  const short = (value) => value === null || value === undefined ? "–"
    : typeof value === "number" && value !== 0 ? value.toExponential(1) : String(value);
  const chip = (id, kind) => make("button", {type: "button", class: `chip ${kind}`, onclick: () => pin(id, true)}, manifolds.get(id).name);

  // ---- light the covers of one manifold
  const light = (id) => {
    for (const node of marked) node.classList.remove("near", "centre", "above", "below");
    marked = [];
    lit.replaceChildren();
    svg.classList.toggle("focus", id !== null);
    if (id === null) return;
    const mark = (name, kind) => { const node = nodes.get(name); node.classList.add("near", kind); marked.push(node); };
    const line = (bigger, smaller) => {
      const a = data.boxes[bigger], b = data.boxes[smaller];
      return `M${a[0]} ${a[2]}L${b[0]} ${b[1]}`;
    };
    mark(id, "centre");
    above.get(id).forEach((name) => mark(name, "above"));
    below.get(id).forEach((name) => mark(name, "below"));
    for (const [kind, path] of [["up", above.get(id).map((n) => line(n, id)).join("")], ["down", below.get(id).map((n) => line(id, n)).join("")]]) {
      const element = document.createElementNS("http://www.w3.org/2000/svg", "path");
      element.setAttribute("class", kind);
      element.setAttribute("d", path);
      lit.append(element);
    }
  };

  // ---- the panel
  const details = (id) => {
    const m = manifolds.get(id), verdict = m.verdict || {};
    const rates = Object.entries(m.learning_rates || {});
    const covers = (title, list, kind) => list.length ? section(`${title} (${list.length})`, make("div", {class: "chips"}, ...list.map((n) => chip(n, kind)))) : [];
    panel.replaceChildren(
      make("button", {type: "button", class: "close", "aria-label": "Unpin", onclick: () => pin(null)}, "×"),
      make("h2", {}, m.name),
      pairs([["dimension", m.dimension], ["conjugates", show(m.orbit_size ?? 1)], ["class", m.class], ["origin", m.origin ?? "unknown"]]),
      ...(m.orbit ? section("Generic orbit", pairs([
        ["dimension", m.orbit.exact ? m.orbit.lower.value : `${m.orbit.lower.value} to ${m.orbit.upper.value}`],
        ["leaf", m.orbit.leaf_dimension ?? "unknown"], ["at least", m.orbit.lower.method], ["at most", m.orbit.upper.method],
        ["by order", m.orbit.profile.join(" ")], ["finding", m.orbit.finding]])) : []),
      ...section("Verdict", make("p", {class: `verdict ${m.verdict_name}`}, m.verdict_name)),
      ...(m.verdict ? [pairs([["normal component", short(verdict.normal)], ["drift", short(verdict.drift)]])] : []),
      ...(verdict.reason ? [make("p", {}, verdict.reason)] : []),
      ...section("Equations", make("pre", {}, (m.equations || []).join("\n") || "none: the whole space")),
      ...(m.reduced ? section("Trains like", make("pre", {}, m.reduced)) : []),
      ...(rates.length ? section("Learning rates", pairs(rates.map(([key, value]) => [make("code", {}, key), show(value)]))) : []),
      ...covers("Covers above", above.get(id), "up"),
      ...covers("Covers below", below.get(id), "down"),
    );
    panel.scrollTop = 0;
  };
  const overview = () => {
    const check = Object.entries(data.check || {}).map(([key, value]) => [key, show(value)]);
    const labels = Object.entries(data.labels || {}).map(([key, value]) => [key, show(value)]);
    const head = make("tr", {}, ...["class of", "dim", "size"].map((text) => make("th", {}, text)));
    const rows = data.classes.map(([id, size]) => make("tr", {},
      make("td", {}, chip(id, "")), make("td", {}, manifolds.get(id).dimension), make("td", {}, show(size))));
    const tally = new Map();
    for (const m of data.manifolds) tally.set(m.verdict_name, (tally.get(m.verdict_name) || 0) + 1);
    panel.replaceChildren(
      make("p", {}, "Each box is a manifold that the architecture alone should keep training inside; a line leads from a manifold to the largest ones inside it. Hover a box to see its covers, click it for its equations."),
      ...(data.program ? section("Architecture", make("pre", {}, data.program)) : []),
      ...(data.symmetry.length ? section("Symmetry", ...data.symmetry.map((line) => make("p", {}, line))) : []),
      ...section(`Classes (${rows.length})`, make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows))),
      ...(check.length ? section("Checked numerically, not proved", pairs([...tally, ...check])) : []),
      ...(labels.length ? section("Labels", pairs(labels)) : []),
      ...section("Keys", make("p", {}, make("kbd", {}, "/"), " search, ", make("kbd", {}, "Tab"), " next box, ", make("kbd", {}, "←↑→↓"),
        " neighbours, ", make("kbd", {}, "Enter"), " pin, ", make("kbd", {}, "Esc"), " unpin, ", make("kbd", {}, "0"), " fit")),
    );
  };
  const pin = (id, reveal = false) => {
    pinned = id;
    light(id);
    if (id === null) { overview(); history.replaceState(null, "", location.pathname + location.search); return; }
    details(id);
    history.replaceState(null, "", `#${encodeURIComponent(id)}`);
    if (reveal) into(id);
  };

  // ---- pan and zoom move the viewBox
  const frame = data.frame, view = {x: 0, y: 0, w: 0, h: 0};
  const apply = () => svg.setAttribute("viewBox", `${view.x} ${view.y} ${view.w} ${view.h}`);
  const fit = () => { // all of it, but a small diagram not blown up
    const [x, y, w, h] = frame, grow = Math.max(Math.min(svg.clientWidth / w, svg.clientHeight / h) / 1.6, 1);
    view.w = w * grow; view.h = h * grow; view.x = x - (view.w - w) / 2; view.y = y - (view.h - h) / 2;
    apply();
  };
  const toDrawing = (x, y) => { const p = new DOMPoint(x, y).matrixTransform(svg.getScreenCTM().inverse()); return [p.x, p.y]; };
  const zoom = (factor, x, y) => {
    const w = Math.min(Math.max(view.w / factor, 160), frame[2] * 3), real = view.w / w;
    view.x = x - (x - view.x) / real; view.y = y - (y - view.y) / real; view.w = w; view.h /= real;
    apply();
  };
  const zoomMiddle = (factor) => zoom(factor, view.x + view.w / 2, view.y + view.h / 2);
  const into = (id) => { // move a box into sight, and near enough to read
    const group = nodes.get(id), stage = byId("stage").getBoundingClientRect();
    const box = group.getBoundingClientRect(), small = box.height < 13;
    const [x, y] = toDrawing(box.left + box.width / 2, box.top + box.height / 2);
    if (small) zoom(18 / box.height, x, y);
    if (small || box.left < stage.left + 8 || box.right > stage.right - 8 || box.top < stage.top + 8 || box.bottom > stage.bottom - 8) {
      view.x = x - view.w / 2; view.y = y - view.h / 2;
      apply();
    }
  };
  svg.addEventListener("wheel", (event) => {
    event.preventDefault();
    const pixels = event.deltaY * (event.deltaMode === 1 ? 16 : 1);
    zoom(Math.exp(-Math.max(-120, Math.min(120, pixels)) * 0.0025), ...toDrawing(event.clientX, event.clientY));
  }, {passive: false});
  const fingers = new Map();
  let moved = false;
  svg.addEventListener("pointerdown", (event) => { fingers.set(event.pointerId, [event.clientX, event.clientY]); if (fingers.size === 1) moved = false; });
  window.addEventListener("pointermove", (event) => {
    const last = fingers.get(event.pointerId);
    if (!last) return;
    const now = [event.clientX, event.clientY];
    if (!moved && Math.hypot(now[0] - last[0], now[1] - last[1]) < 4) return;
    moved = true;
    svg.classList.add("dragging");
    const a = toDrawing(...last), b = toDrawing(...now);
    if (fingers.size === 2) {
      const other = [...fingers].find(([key]) => key !== event.pointerId)[1];
      const before = Math.hypot(last[0] - other[0], last[1] - other[1]), after = Math.hypot(now[0] - other[0], now[1] - other[1]);
      if (before > 0 && after > 0) zoom(after / before, ...toDrawing(...other));
    } else { view.x -= b[0] - a[0]; view.y -= b[1] - a[1]; apply(); }
    fingers.set(event.pointerId, now);
  });
  for (const name of ["pointerup", "pointercancel"]) {
    window.addEventListener(name, (event) => { fingers.delete(event.pointerId); if (!fingers.size) svg.classList.remove("dragging"); });
  }
  byId("fit").addEventListener("click", fit);
  byId("in").addEventListener("click", () => zoomMiddle(1.35));
  byId("out").addEventListener("click", () => zoomMiddle(1 / 1.35));

  // ---- nodes
  const idOf = (event) => { const group = event.target.closest && event.target.closest(".node"); return group ? group.dataset.id : null; };
  svg.addEventListener("pointerover", (event) => { const id = idOf(event); if (id !== null && !fingers.size) light(id); });
  svg.addEventListener("pointerout", (event) => { if (idOf(event) !== null) light(pinned); });
  svg.addEventListener("click", (event) => {
    if (moved) return;
    const id = idOf(event);
    if (id === null) { if (pinned !== null) pin(null); } else pin(id === pinned ? null : id);
  });
  svg.addEventListener("focusin", (event) => { const id = idOf(event); if (id !== null && nodes.get(id).matches(":focus-visible")) { light(id); into(id); } });
  svg.addEventListener("focusout", () => light(pinned));
  const order = [...nodes.keys()];
  const nearest = (id, list) => list.filter((n) => !nodes.get(n).classList.contains("gone"))
    .sort((a, b) => Math.abs(data.boxes[a][0] - data.boxes[id][0]) - Math.abs(data.boxes[b][0] - data.boxes[id][0]))[0];
  svg.addEventListener("keydown", (event) => {
    const id = idOf(event);
    if (id === null) return;
    if (event.key === "Enter" || event.key === " ") { event.preventDefault(); pin(id === pinned ? null : id); return; }
    const open = order.filter((n) => n === id || !nodes.get(n).classList.contains("gone")), at = open.indexOf(id);
    const next = {ArrowUp: () => nearest(id, above.get(id)), ArrowDown: () => nearest(id, below.get(id)),
      ArrowLeft: () => open[at - 1], ArrowRight: () => open[at + 1]}[event.key];
    if (!next) return;
    event.preventDefault();
    const target = next();
    if (target !== undefined) nodes.get(target).focus({preventScroll: true});
  });
  document.addEventListener("keydown", (event) => {
    const typing = event.target.matches("input, select");
    if (event.key === "Escape") { if (event.target === search && search.value) { search.value = ""; filter(); } else { pin(null); } }
    else if (event.key === "/" && !typing) { event.preventDefault(); search.focus(); search.select(); }
    else if (event.key === "0" && !typing && !event.ctrlKey && !event.metaKey) fit();
  });

  // ---- search and filters
  const search = byId("search"), selects = ["dimension", "origin", "verdict"].map(byId);
  const value = {dimension: (m) => String(m.dimension), origin: (m) => String(m.origin ?? "unknown"), verdict: (m) => m.verdict_name};
  for (const select of selects) {
    const counts = new Map();
    for (const m of data.manifolds) { const v = value[select.id](m); counts.set(v, (counts.get(v) || 0) + 1); }
    const sorted = [...counts.keys()].sort((a, b) => select.id === "dimension" ? b - a : a < b ? -1 : 1);
    select.append(make("option", {value: ""}, `any ${select.id}`), ...sorted.map((v) => make("option", {value: `=${v}`}, `${select.id === "dimension" ? "dim " : ""}${v} (${counts.get(v)})`)));
    select.disabled = sorted.length < 2;
    select.addEventListener("change", () => filter());
  }
  const haystack = new Map(data.manifolds.map((m) => [m.id, [m.name, m.id, m.reduced, ...(m.equations || [])].join("\n").toLowerCase()]));
  let found = [], step = -1;
  const filter = () => {
    const wanted = search.value.trim().toLowerCase();
    found = order.filter((id) => haystack.get(id).includes(wanted) && selects.every((s) => !s.value || s.value === `=${value[s.id](manifolds.get(id))}`));
    step = -1;
    const kept = new Set(found);
    for (const [id, node] of nodes) { node.classList.toggle("gone", !kept.has(id)); node.setAttribute("tabindex", kept.has(id) ? 0 : -1); }
    byId("matches").textContent = found.length === order.length ? `${order.length} shown` : `${found.length} of ${order.length}`;
  };
  search.addEventListener("input", filter);
  document.querySelector("form").addEventListener("submit", (event) => {
    event.preventDefault();
    if (!found.length) return;
    step = (step + 1) % found.length;
    pin(found[step], true);
  });

  filter();
  fit();
  const asked = decodeURIComponent(location.hash.slice(1));
  if (manifolds.has(asked)) pin(asked, true); else overview();
})();
