"use strict";
// Zoom, pan and hover details. The page is complete without any of it.
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const CHARACTER = 6.4;
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  document.body.append(tip);
  document.documentElement.classList.add("interactive");

  const set = (node, attributes) => {
    for (const name in attributes) node.setAttribute(name, attributes[name]);
  };

  function ticks(from, to, count) {
    const rough = Math.max((to - from) / count, 1);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough);
    const list = [];
    for (let i = Math.ceil(from / step); i * step <= to; i++) list.push(i * step);
    return [list, step];
  }

  function label(ns, step) {
    if (ns === 0) return "0";
    const [scale, unit] = ns < 1e3 ? [1, "ns"] : ns < 1e6 ? [1e3, "us"] : ns < 1e9 ? [1e6, "ms"] : [1e9, "s"];
    const digits = Math.max(0, Math.ceil(Math.log10(scale / step) - 1e-9));
    return (ns / scale).toFixed(digits) + " " + unit;
  }

  function timeline(svg) {
    const plot = svg.querySelector(".plot");
    const width = Number(svg.dataset.plot);
    const span = Number(svg.dataset.span);
    const axis = svg.querySelector(".axis");
    const first = axis.querySelector("line");
    const [top, bottom] = [Number(first.getAttribute("y1")), Number(first.getAttribute("y2"))];
    svg.querySelectorAll(".plot text").forEach((text) => text.remove());
    const boxes = [...svg.querySelectorAll(".plot rect")].map((rect) => {
      const title = rect.querySelector("title");
      const details = title.textContent;
      title.remove();
      rect.setAttribute("aria-label", details);
      const y = Number(rect.getAttribute("y"));
      return {
        rect, details, text: null,
        x: Number(rect.dataset.x ?? rect.getAttribute("x")),
        w: Number(rect.dataset.w ?? rect.getAttribute("width")),
        y: y + Number(rect.getAttribute("height")) / 2 + 4,
        name: details.split("\n", 1)[0],
        ink: rect.getAttribute("class").replace(/^c-/, "t-"),
      };
    });
    const byRect = new Map(boxes.map((box) => [box.rect, box]));
    const markers = [...svg.querySelectorAll(".markers g")].map((g) => ({
      g, x: Number(g.querySelector("line").getAttribute("x1")), line: g.querySelector("line"), text: g.querySelector("text"),
    }));
    // What of the plot is in view, in units of the plot as it was drawn.
    let from = 0;
    let to = width;

    function caption(box, x, w) {
      const left = Math.max(x, 0);
      const room = Math.floor((Math.min(x + w, width) - left - 8) / CHARACTER);
      if (box.ink === "t-idle" || room < 5) {
        if (box.text) box.text.remove();
        box.text = null;
        return;
      }
      if (!box.text) {
        box.text = document.createElementNS(SVG, "text");
        set(box.text, { class: box.ink, y: box.y });
        box.rect.after(box.text);
      }
      box.text.setAttribute("x", left + 4);
      box.text.textContent = box.name.length <= room ? box.name : box.name.slice(0, room - 1) + "…";
    }

    function draw() {
      const scale = width / (to - from);
      for (const box of boxes) {
        const x = (box.x - from) * scale;
        const w = Math.max(box.w * scale, 0.6);
        const visible = x + w >= 0 && x <= width;
        box.rect.style.display = visible ? "" : "none";
        if (visible) set(box.rect, { x, width: w });
        caption(box, visible ? x : 0, visible ? w : 0);
      }
      for (const { g, x, line, text } of markers) {
        const at = (x - from) * scale;
        g.style.display = at < -1 || at > width + 1 ? "none" : "";
        const before = at + text.textContent.length * CHARACTER + 10 > width;
        text.classList.toggle("before", before);
        set(line, { x1: at, x2: at });
        text.setAttribute("x", before ? at - 4 : at + 4);
      }
      const ns = span / width;
      const [list, step] = ticks(from * ns, to * ns, 9);
      axis.replaceChildren();
      for (const tick of list) {
        const at = (tick / ns - from) * scale;
        const line = document.createElementNS(SVG, "line");
        set(line, { x1: at, x2: at, y1: top, y2: bottom });
        const text = document.createElementNS(SVG, "text");
        set(text, { x: at, y: bottom + 14 });
        text.textContent = label(tick, step);
        axis.append(line, text);
      }
    }

    function show(a, b) {
      const size = Math.min(Math.max(b - a, width / 50000), width);
      from = Math.min(Math.max((a + b - size) / 2, 0), width - size);
      to = from + size;
      draw();
    }
    // The first and the last steps of the trip, so close together that they look like one.
    const steps = markers.map((marker) => marker.x);
    const start = () => show(0, 4 * Math.min(...steps.filter((x) => x > 0), width));
    const end = () => show(width - 4 * (width - Math.max(...steps.filter((x) => x < width), 0)), width);
    const zoom = (factor, at = (from + to) / 2) => show(at - (at - from) * factor, at + (to - at) * factor);
    const pan = (part) => show(from + (to - from) * part, to + (to - from) * part);
    // From a mouse position to the plot's units.
    const unit = () => svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
    const place = (event) => {
      const left = svg.getBoundingClientRect().left + Number(plot.getAttribute("x")) * unit();
      return from + ((event.clientX - left) / unit()) * ((to - from) / width);
    };

    svg.addEventListener("wheel", (event) => {
      // The page keeps scrolling unless this timeline was chosen.
      if (!event.ctrlKey && document.activeElement !== svg) return;
      event.preventDefault();
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan((event.deltaX || event.deltaY) / 1000);
      else zoom(2 ** (event.deltaY / 300), place(event));
    }, { passive: false });
    svg.addEventListener("dblclick", (event) => zoom(0.4, place(event)));
    svg.addEventListener("keydown", (event) => {
      const act = {
        "+": () => zoom(0.6), "=": () => zoom(0.6), "-": () => zoom(1 / 0.6), "0": () => show(0, width),
        ArrowLeft: () => pan(-0.15), ArrowRight: () => pan(0.15),
      }[event.key];
      if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      act();
    });
    let drag = null;
    svg.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      drag = event.clientX;
      svg.setPointerCapture(event.pointerId);
      svg.classList.add("dragging");
    });
    svg.addEventListener("pointermove", (event) => {
      if (drag !== null) {
        const moved = ((drag - event.clientX) / unit()) * ((to - from) / width);
        drag = event.clientX;
        show(from + moved, to + moved);
        tip.hidden = true;
        return;
      }
      const box = byRect.get(event.target);
      tip.hidden = !box;
      if (!box) return;
      tip.textContent = box.details;
      const { offsetWidth: w, offsetHeight: h } = tip;
      tip.style.left = Math.min(event.clientX + 14, innerWidth - w - 8) + "px";
      tip.style.top = (event.clientY + 18 + h > innerHeight ? event.clientY - h - 10 : event.clientY + 18) + "px";
    });
    const release = () => { drag = null; svg.classList.remove("dragging"); };
    svg.addEventListener("pointerup", release);
    svg.addEventListener("pointercancel", release);
    svg.addEventListener("pointerleave", () => { tip.hidden = true; });

    const tools = document.createElement("div");
    tools.className = "tools";
    const hint = document.createElement("span");
    hint.textContent = "Drag to move, Ctrl + wheel to zoom; keys + - ← → 0";
    const button = (name, title, act) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = name;
      button.title = title;
      button.addEventListener("click", act);
      return button;
    };
    tools.append(hint,
      button("−", "zoom out", () => zoom(2)),
      button("+", "zoom in", () => zoom(0.5)),
      button("start", "zoom to where it became due", start),
      button("end", "zoom to where it was done", end),
      button("all", "show all", () => show(0, width)));
    svg.closest("figure").prepend(tools);
    svg.tabIndex = 0;
    draw();
  }

  // What a link leads to is unfolded.
  const unfold = () => {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    if (target instanceof HTMLDetailsElement) target.open = true;
    if (target) target.scrollIntoView();
  };
  addEventListener("hashchange", unfold);
  unfold();

  document.querySelectorAll("svg.timeline").forEach(timeline);
})();
