/* Computes small products on two units, and shows their differences. */
"use strict";

(async () => {
  const byId = (id) => document.getElementById(id);
  let s;
  try {
    s = await softmma.start();
  } catch (error) {
    byId("complaint").textContent = `The library cannot be loaded: ${error.message}`;
    return;
  }
  const catalogue = JSON.parse(s.catalogue());
  const architectures = new Map();
  for (const a of catalogue.architectures) {
    a.instructions = catalogue.instructions.filter((i) => i.arch === a.name && i.scale === "none" && !i.sparse);
    for (const name of [a.name, ...a.gpus]) architectures.set(name, a);
  }
  const unit = [{gpu: "H100", instruction: "mma.m16n8k16.f32.f16.f16.f32"}, {gpu: "A100", instruction: ""}];
  let shown = {};  // the product's matrices and sizes

  function made(tag, properties = {}, ...children) {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  }

  // ---- Choosing ----

  function gpuMenu(slot) {
    for (const a of catalogue.architectures) {
      const group = made("optgroup", {label: `${a.vendor} ${a.title}`});
      for (const name of [...a.gpus.filter((gpu) => !/^(sm_|gfx)/.test(gpu)), a.name])
        group.append(made("option", {value: name, textContent: name}));
      byId(`gpu${slot}`).append(group);
    }
  }

  function sameOperands(x, y) {
    return x.a === y.a && x.b === y.b && x.d === y.d;
  }

  function chosen(slot) {
    return architectures.get(unit[slot].gpu).instructions.find((i) => i.name === unit[slot].instruction);
  }

  function menus() {
    for (const slot of [0, 1]) {
      const u = unit[slot], all = architectures.get(u.gpu).instructions;
      const fitting = slot && chosen(0) ? all.filter((i) => sameOperands(i, chosen(0))) : all;
      if (!fitting.some((i) => i.name === u.instruction))
        u.instruction = (fitting.find((i) => i.k === chosen(0)?.k) ?? fitting[0])?.name ?? "";
      byId(`gpu${slot}`).value = u.gpu;
      byId(`instruction${slot}`)
          .replaceChildren(...fitting.map((i) => made("option", {value: i.name, textContent: i.name})));
      byId(`instruction${slot}`).value = u.instruction;
    }
  }

  // ---- Elements: the same for a seed in every browser ----

  /* 32 bits at a time (Marsaglia's xorshift). */
  function random(seed) {
    let state = (seed * 2654435761 + 88172645) >>> 0 || 1;
    return () => {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      return (state >>> 0) / 2 ** 32;
    };
  }

  function elements(kind, count, next) {
    const normal = () => Math.sqrt(-2 * Math.log(next() || 2 ** -32)) * Math.cos(2 * Math.PI * next());
    const draw = {
      normal,
      uniform: next,
      wide: () => normal() * 2 ** Math.round(next() * 24 - 12),
      cancelling: normal,
    }[kind];
    return Float64Array.from({length: count}, draw);
  }

  function matrices() {
    const [m, n, k] = ["m", "n", "k"].map((id) => Number(byId(id).value)), kind = byId("kind").value;
    const next = random(Number(byId("seed").value));
    const a = elements(kind, m * k, next), b = elements(kind, k * n, next);
    if (kind === "cancelling")  // the second half of K cancels the first, except for one element
      for (let i = 0; i < m; i++)
        for (let e = Math.ceil(k / 2); e < k - 1; e++) {
          a[i * k + e] = -a[i * k + e - Math.ceil(k / 2)];
          for (let j = 0; j < n; j++) b[e * n + j] = b[(e - Math.ceil(k / 2)) * n + j];
        }
    return {m, n, k, a, b};
  }

  // ---- Computing ----

  /* Maps encodings of a floating-point format to integers in the order of their values. */
  function ordered(code, bits) {
    const sign = 1n << BigInt(bits - 1);
    return code & sign ? -(code & (sign - 1n)) : code;
  }

  const BITS = {f64: 64, f32: 32, f16: 16, bf16: 16};

  function computeBoth() {
    const product = matrices(), results = [];
    byId("complaint").textContent = "";
    for (const slot of [0, 1]) {
      if (!unit[slot].instruction) {
        byId("complaint").textContent = `${unit[slot].gpu} has no instruction for ${chosen(0).a} and ${chosen(0).b}`;
        return null;
      }
      const error = s.choose(slot, unit[slot].gpu, unit[slot].instruction);
      const result = error ? {error} : s.product(slot, product.m, product.n, product.k, product.a, product.b);
      if (result.error) {
        byId("complaint").textContent = result.error;
        return null;
      }
      results.push(result);
    }
    const format = chosen(0).d, integer = !(format in BITS);
    const ulps = Array.from(results[0].codes, (code, i) => {
      const other = results[1].codes[i];
      if (integer) return BigInt.asIntN(32, code) - BigInt.asIntN(32, other);
      return ordered(code, BITS[format]) - ordered(other, BITS[format]);
    });
    return {...product, results, ulps, format, integer};
  }

  // ---- Maps ----

  function level(share) {
    return Math.max(0, Math.min(1, share));
  }

  /* Returns the scale under a map: its colours from the greatest negative value to the greatest positive one. */
  function scale(most) {
    const [least, greatest] = [`\u2212${most}`, most].map((textContent) => made("span", {textContent}));
    return made("p", {className: "bar"}, least, made("i"), greatest);
  }

  function map(title, texts, shares, sign, most, target) {
    const rows = [];
    for (let i = 0; i < shown.m; i++) {
      const row = made("tr");
      for (let j = 0; j < shown.n; j++) {
        const at = i * shown.n + j, cell = made("td");
        cell.style.setProperty("--level", `${Math.round(100 * level(shares[at]))}%`);
        cell.className = sign[at] < 0 ? "below" : "above";
        cell.title = `[${i}, ${j}]: ${texts[at]}`;
        if (target && shares[at] > 0) {
          const link = made("a", {href: "#"});
          link.setAttribute("aria-label", cell.title);
          link.addEventListener("click", (event) => {
            event.preventDefault();
            const found = target(i, j);
            if (found.address)
              location.href = `index.html#${found.address}`;
            else
              byId("complaint").textContent = found.why;
          });
          cell.append(link);
        }
        row.append(cell);
      }
      rows.push(row);
    }
    const table = made("table", {className: "map"}, made("caption", {textContent: title}), ...rows);
    table.addEventListener("pointerover", (event) => {
      const cell = event.target.closest("td");
      if (cell) byId("readout").textContent = `${title} ${cell.title}`;
    });
    return made("div", {className: "scroll card"}, table, scale(most));
  }

  /* Returns the operands of the first step after which the units' sums differ; a step has the greater K of both. */
  function divergence(i, j) {
    const {m, n, k, a, b} = shown, step = Math.max(chosen(0).k, chosen(1).k);
    const row = a.subarray(i * k, (i + 1) * k), column = Float64Array.from({length: k}, (_, e) => b[e * n + j]);
    let before = 0n;
    for (let first = 0; first < k; first += step) {
      const codes = [0, 1].map((slot) => {
        const to = Math.min(first + step, k);
        return s.product(slot, 1, 1, to, row.slice(0, to), column.slice(0, to)).codes[0];
      });
      if (codes[0] === codes[1]) {
        before = codes[0];
        continue;
      }
      const error = s.pair(2);
      if (error) return {why: error};
      s.make("none", 0);
      const layout = JSON.parse(s.layout()), words = [`on=${unit[0].gpu},${unit[1].gpu}`];
      words.push(`instr=${unit[0].instruction},${unit[1].instruction}`);
      for (const [part, numbers] of [[0, row], [1, column]]) {
        const codesOf = Array.from({length: Math.min(layout.k, k - first)}, (_, e) => {
          s.set_value(part, e, String(numbers[first + e]));
          return JSON.parse(s.element(part, e)).hex;
        });
        words.push(`${layout.parts[part].name}=${codesOf.join(",")}`);
      }
      words.push(`c=${before.toString(16)}`);
      return {address: words.join("&").replaceAll(" ", "+")};
    }
    return {why: "the two sums do not diverge at the end of an instruction of both"};
  }

  function draw() {
    for (const id of ["m", "n", "k"]) byId(`${id}-is`).textContent = byId(id).value;
    menus();
    const begin = performance.now(), computed = computeBoth();
    byId("maps").replaceChildren();
    byId("summary").textContent = "";
    if (!computed) return;
    shown = computed;
    const {m, n, results, ulps, integer, format} = shown,
                                         greatest = Math.max(...results.flatMap(({d}) => [...d].map(Math.abs)));
    const magnitudes = [...ulps].map((u) => Number(u < 0n ? -u : u)), most = Math.max(...magnitudes);
    const differing = magnitudes.filter(Boolean).length;
    const what = integer ? "" : ` ulp of ${format}`;
    byId("summary").textContent = `${differing} of ${m * n} results differ` +
        (differing ? `, by ${most.toPrecision(most < 1e6 ? undefined : 3)}${what} at most.` : ".") +
        ` Computed in ${Math.round(performance.now() - begin)} ms.`;
    const product = ({d}, slot) => map(
        `${unit[slot].gpu}: D`, [...d].map(String), [...d].map((x) => Math.abs(x) / greatest), [...d],
        greatest.toPrecision(3), null);
    const title = `${unit[0].gpu} less ${unit[1].gpu}${integer ? "" : ", in ulp of " + format}`;
    byId("maps").append(
        ...results.map(product),
        map(title, [...ulps].map((u) => `${u}${what}`),
            magnitudes.map((u) => (u ? 0.2 + 0.8 * Math.log2(1 + u) / Math.log2(1 + most) : 0)), [...ulps].map(Number),
            most.toPrecision(most < 1e6 ? undefined : 3), divergence));
  }

  for (const slot of [0, 1]) {
    gpuMenu(slot);
    byId(`gpu${slot}`).addEventListener("change", (event) => {
      unit[slot].gpu = event.target.value;
      draw();
    });
    byId(`instruction${slot}`).addEventListener("change", (event) => {
      unit[slot].instruction = event.target.value;
      draw();
    });
  }
  byId("product").addEventListener("submit", (event) => event.preventDefault());
  for (const id of ["m", "n", "k", "kind", "seed"]) byId(id).addEventListener("input", draw);
  draw();
  document.documentElement.dataset.ready = "true";
})();
