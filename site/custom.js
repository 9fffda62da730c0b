/* The controls of a custom unit, its cost and its errors. explorer.js runs this script when a custom unit is first
   shown. */
"use strict";

/* `page` has what the explorer shares: the library `s`, the units, and functions. */
softmma.customUnit = ({s, unit, byId, made, setUnits, complain, CUSTOM}) => {
  const algorithms = [
    "G-FDPA", "T-FDPA", "E-FDPA", "TR-FDPA", "GTR-FDPA", "FTZ-AddMul", "FMA", "FTZ-FMA", "FP8-by-FP16", "C-FDPA",
    "GD-FDPA", "INTEGER"
  ];

  /* Keys by how much they change results; the first five that an algorithm has are shown first. */
  const MAIN = [
    "alignment_bits", "block", "rounding", "sticky_bit", "c_joins", "c_bits", "sum_bits", "pairwise", "group",
    "subnormal_inputs", "zero_exponent", "order", "overflow", "k", "a"
  ];

  function customSlot() {
    return unit.findIndex((u) => u.gpu === CUSTOM);
  }

  function describedUnit() {
    try {
      return JSON.parse(unit[customSlot()].text);
    } catch {
      return null;  // the library reports the error
    }
  }

  /* Makes a control for each key of the algorithm's table. */
  function control(key, described) {
    const set = (value) => {
      const next = describedUnit();
      if (value === undefined)
        delete next[key.key];
      else
        next[key.key] = value;
      customised(JSON.stringify(next, null, 2));
    };
    const given = described[key.key];
    const unset = key.like ? `as ${key.like}` : key.default ?? "";
    if (key.kind === "flag") {
      const box = made("input", {type: "checkbox", checked: given ?? key.default === "true"});
      box.addEventListener("change", () => set(box.checked));
      return made("label", {}, made("span", {textContent: key.key}), box);
    }
    if (key.kind !== "number") {
      const menu = made("select", {className: "both"});
      const words = new Set([...key.choices, ...(key.word ? [key.word] : []), ...(given ? [given] : [])]);
      if (key.like || (key.default && !words.has(key.default)))
        menu.append(made("option", {value: "", textContent: unset}));
      for (const word of words) menu.append(made("option", {value: word, textContent: word}));
      menu.value = given ?? (words.has(key.default) ? key.default : "");
      menu.addEventListener("change", () => set(menu.value || undefined));
      return made("label", {}, made("span", {textContent: key.key}), menu);
    }
    /* The slider's first position stands for the key's word, or for leaving the key out. */
    const least = key.key === "zero_exponent" ? -200 : key.least, most = key.key === "zero_exponent" ? 50 : key.most;
    const word = key.word ?? (key.like || key.default !== undefined ? unset : undefined);
    const slider = made("input", {type: "range", min: word === undefined ? least : least - 1, max: most, step: 1});
    slider.value = typeof given === "number" ? given : least - 1;
    const output = made("output");
    const tell = () => {
      output.textContent = Number(slider.value) < least ? word : slider.value;
      slider.setAttribute("aria-valuetext", output.textContent);
    };
    slider.addEventListener("input", () => {
      tell();
      set(Number(slider.value) >= least ? Number(slider.value) : key.word);
    });
    tell();
    return made("label", {}, made("span", {textContent: key.key}), slider, output);
  }

  function showKeys() {
    if (customSlot() < 0) return;  // another unit was chosen while this script was read
    byId("file").value = unit[customSlot()].text;
    const described = describedUnit();
    if (!described || !algorithms.includes(described.algorithm)) return byId("keys").replaceChildren();
    const menu = made(
        "select", {className: "both"}, ...algorithms.map((name) => made("option", {value: name, textContent: name})));
    menu.value = described.algorithm;
    menu.addEventListener("change", () => changeAlgorithm(menu.value));
    const keys = JSON.parse(s.keys(described.algorithm)).filter((key) => key.key !== "m" && key.key !== "n");
    const main = MAIN.filter((name) => keys.some((key) => key.key === name)).slice(0, 5);
    byId("keys").replaceChildren(...main.map((name) => control(keys.find((key) => key.key === name), described)));
    byId("keys2").replaceChildren(
        made("label", {}, made("span", {textContent: "algorithm"}), menu),
        ...keys.filter((key) => !main.includes(key.key)).map((key) => control(key, described)));
  }

  /* Changes the algorithm. Keys that both algorithms have keep their values, and required keys get an allowed value. */
  function changeAlgorithm(algorithm) {
    const before = describedUnit(), next = {"softmma-unit": 1, name: before.name, algorithm};
    const usual = {
      block: 4,
      alignment_bits: 24,
      zero_exponent: -133,
      rounding: "toward-zero",
      sum_bits: 31,
      pairwise: 4,
      c_bits: 24,
      group: 4,
      k: 16,
      overflow: "wrap"
    };
    for (const key of JSON.parse(s.keys(algorithm))) {
      const kept = before[key.key],
            allowed = key.kind === "number" ? kept >= key.least && kept <= key.most || kept === key.word :
                                              key.kind === "flag" || key.choices.includes(kept);
      if (kept !== undefined && allowed)
        next[key.key] = kept;
      else if (key.default === undefined && !key.like)
        next[key.key] =
            key.choices?.includes(usual[key.key]) || key.kind === "number" ? usual[key.key] : key.choices[0];
    }
    customised(JSON.stringify(next, null, 2));
    showKeys();
  }

  function customised(text) {
    unit[customSlot()].text = text;
    byId("file").value = text;
    setUnits();
  }

  byId("file").addEventListener("change", () => {
    customised(byId("file").value);
    showKeys();
  });

  // ---- Cost and errors ----

  const MOST_NEAREST = 8, COLUMNS = ["unit", "NAND2", "a product", "longest path", "error", "bound"];
  const costs = made("table", {className: "lines"}), note = made("p", {className: "about"});
  const scroll = made("div", {className: "scroll", tabIndex: 0}, costs), box = made("div", {}, scroll, note);
  scroll.setAttribute("role", "region");
  scroll.setAttribute("aria-label", "Cost and error");
  byId("keys").after(box);

  let study;  // the module of errors, and the measured units with their parameters
  function loaded() {
    study ??= Promise.all([softmma.start("errors"), softmma.run("costs.js")]).then(([e]) => {
      const measured = softmma.costs.units.map((x) => ({...x, text: JSON.stringify(x.rule)}));
      for (const x of measured) x.parameters = parameters(e.steps(x.text));
      return {e, measured, errors: new Map()};
    });
    return study;
  }

  /* Returns the parameters of a unit in steps, by name, without those that change no result. */
  function parameters(text) {
    const {steps = [], ...all} = JSON.parse(text);
    for (const key of ["name", "m", "n"]) delete all[key];
    steps.forEach((step, n) => {
      for (const [key, value] of Object.entries(step)) all[steps.length > 1 ? `${key} of step ${n + 1}` : key] = value;
    });
    return all;
  }

  function differing(x, y) {
    return Object.keys({...x, ...y}).filter((key) => x[key] !== y[key]);
  }

  /* Returns the measured units with the names of the parameters that differ from `mine`. */
  function compared(measured, mine) {
    const bits = (x) => Math.abs(x.parameters.alignment_bits - mine.alignment_bits) || 0;
    return measured.map((x) => ({...x, others: differing(mine, x.parameters)})).sort((x, y) => bits(x) - bits(y));
  }

  /* Returns the units of the same formats, except an equal unit, that differ in the fewest parameters; first those with
     the nearest bits. */
  function nearest(units) {
    const other = units.filter(({others}) => others.length && !others.includes("a") && !others.includes("b"));
    const least = Math.min(...other.map((x) => x.others.length));
    return other.filter((x) => x.others.length === least).slice(0, MOST_NEAREST);
  }

  function rowOf({title, about = [], cost, text}, {fault, error, bound}) {
    const cell = (textContent, colSpan = 1) => made("td", {textContent, colSpan});
    const number = (x) => (x ? x.toExponential(1) : "0"), none = error === null ? "exact unless it overflows" : fault;
    return made(
        "tr", {},
        made("th", {scope: "row"}, title, ...about.map((textContent) => made("p", {className: "about", textContent}))),
        ...(cost ? cost.map((figure) => cell(figure)) : [cell("not measured", 3)]),
        ...(none ? [cell(none, 2)] : [cell(number(error)), cell(bound === null ? "none" : number(bound))]));
  }

  /* Returns the rows of the table: of the chosen units, and of the nearest measured ones. */
  function unitsShown({e, measured}, slot) {
    const of = (text) => compared(measured, parameters(e.steps(text))), mine = unit[slot].facts.custom;
    const cost = (text) => of(text).find((x) => !x.others.length)?.cost;
    const chosen = [{title: "Your unit", text: mine, cost: cost(mine)}], {gpu, facts} = unit[1 - slot];
    if (facts) chosen.push({title: gpu, about: [facts.name], text: facts.custom, cost: cost(facts.custom)});
    const title = (x) => x.name + (x.gpu && `, as ${x.gpu}`), about = (x) => [`differs in ${x.others.join(", ")}`];
    return [chosen, nearest(of(mine)).map((x) => ({...x, title: title(x), about: about(x)}))];
  }

  /* Fills the table. The page can redraw between the errors of two units, each of which takes a few frames. */
  async function updateCosts(isLatest) {
    const all = await loaded(), slot = customSlot();
    box.hidden = slot < 0 || !unit[slot].facts;
    if (box.hidden) return;
    const [chosen, near] = unitsShown(all, slot), {e, errors} = all;
    for (const {text} of [...chosen, ...near]) {
      if (errors.has(text)) continue;
      await new Promise((resume) => setTimeout(resume));
      if (!isLatest()) return;  // a later call fills the table
      errors.set(text, JSON.parse(e.errors(text)));
    }
    const rows = (list) => list.map((x) => rowOf(x, errors.get(x.text)));
    const heading = near.length ? "Nearest measured units" : "No other unit with these formats was measured";
    const group = made("tr", {}, made("th", {colSpan: COLUMNS.length, scope: "rowgroup", textContent: heading}));
    costs.replaceChildren(
        made("thead", {}, made("tr", {}, ...COLUMNS.map((textContent) => made("th", {scope: "col", textContent})))),
        made("tbody", {}, ...rows(chosen)), made("tbody", {}, group, ...rows(near)));
    explain(errors.get(chosen[0].text).k);
  }

  function explain(k) {
    const link = (href, textContent) => made("a", {href, textContent});
    note.replaceChildren(
        "NAND2 equivalents, and the gates on the longest path, are ", link("docs/cost.html", "measured"),
        ` by ${softmma.costs.yosys}; no figure is estimated. The error is the 99 % quantile for a product with `,
        `K = ${k} of numbers from N(0, 1), by one chain of calls. The `,
        link("docs/tolerance.html#what-the-bound-says", "bound"), " is proven for these operands. Both are divided by ",
        "the median magnitude of the exact results. ", made("code", {}, `softmma tolerance unit.json --sweep k=${k}`),
        " prints all three.");
  }

  /* Fills the table after the last of several changes, because that takes longer than a redraw. */
  let latest = 0;
  function showCosts() {
    const own = ++latest, isLatest = () => own === latest;
    box.setAttribute("aria-busy", "true");
    setTimeout(async () => {
      if (isLatest()) await updateCosts(isLatest).catch((error) => complain(error.message));
      if (isLatest()) box.setAttribute("aria-busy", "false");
    }, 150);
  }

  return {showKeys, showCosts};
};
