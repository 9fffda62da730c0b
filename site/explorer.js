/* The explorer: computes a row on two units, and redraws it after every changed bit. The page's address holds the whole
   state of the page. */
"use strict";

(async () => {
  const byId = (id) => document.getElementById(id);
  const CUSTOM = "custom", NONE = "none", WIDE = 2000;  // width in pixels from which two pictures stand side by side
  const SHOWN = 14;                                      // characters that the box of an operand shows
  const {state: SHOWN_AT_FIRST, unit: EXAMPLE_UNIT} = document.querySelector("main").dataset;
  document.documentElement.classList.toggle("embed", new URLSearchParams(location.search).has("embed"));

  let s;  // the library
  try {
    s = await softmma.start();
  } catch (error) {
    byId("complaint").textContent = `The library cannot be loaded: ${error.message}`;
    return;
  }
  const catalogue = JSON.parse(s.catalogue());
  const architectures = new Map();  // by the architecture's or a GPU's name
  for (const a of catalogue.architectures) {
    a.instructions = catalogue.instructions.filter((i) => i.arch === a.name);
    for (const name of [a.name, ...a.gpus]) architectures.set(squeezed(name), a);
  }

  /* The state of the page, except the row, which the library holds. */
  const unit = [{gpu: "H100", instruction: ""}, {gpu: "A100", instruction: ""}];
  let layout = {parts: []}, inputs = [], chosen = {part: 0, index: 0}, count = 0, seed = 0;

  // ---- Words ----

  function squeezed(name) {
    return name.toLowerCase().replace(/[\s_-]/g, "");
  }

  function made(tag, properties = {}, ...children) {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  }

  let clearing;
  function told(text) {
    byId("told").textContent = text;
    clearTimeout(clearing);
    clearing = setTimeout(() => byId("told").replaceChildren(), 8000);
  }

  /* Returns a number as people write it, for example "-0.75", "2^-14" or "6.104e-5". If there is no short exact form,
     it is rounded to at most `most` characters. */
  function brief(value, most) {
    const x = Math.abs(Number(value)), power = Math.log2(x);
    if (value.length <= most || !Number.isFinite(x)) return value;
    return (Number(value) < 0 ? "-" : "") + (Number.isInteger(power) ? `2^${power}` : String(Number(x.toPrecision(4))));
  }

  /* Returns a value with a minus sign for a heading. */
  function spoken(value) {
    return brief(value, 14).replace("-", "\u2212");
  }

  /* Returns a part's elements as the command's --hex takes them, with short zeros: "f000,3c00*3,0*12". */
  function list(part) {
    const codes =
        inputs[part.part].map((_, index) => BigInt(`0x${JSON.parse(s.element(part.part, index)).hex}`).toString(16));
    return shortened(codes);
  }

  function shortened(words) {
    const runs = [];
    for (const word of words) {
      if (runs.length && runs.at(-1)[0] === word)
        runs.at(-1)[1]++;
      else
        runs.push([word, 1]);
    }
    return runs.map(([word, times]) => (times > 1 ? `${word}*${times}` : word)).join(",");
  }

  /* Parses such a list of at most `most` elements; null for an invalid text. */
  function lengthened(text, most) {
    const words = [];
    for (const word of text.split(/[\s,]+/).filter(Boolean)) {
      const [, one, times] = /^(.*?)(?:\*(\d+))?$/.exec(word);
      if (words.length + Number(times ?? 1) > most) return null;
      for (let n = Number(times ?? 1); n > 0; n--) words.push(one);
    }
    return words;
  }

  // ---- Units ----

  function gpuMenu(slot) {
    const menu = byId(`gpu${slot}`);
    if (slot) menu.append(made("option", {value: NONE, textContent: "none"}));
    menu.append(made("option", {value: CUSTOM, textContent: "custom unit"}));
    for (const a of catalogue.architectures) {
      const group = made("optgroup", {label: `${a.vendor} ${a.title}`});
      for (const name of [...a.gpus.filter((gpu) => !/^(sm_|gfx)/.test(gpu)), a.name])
        group.append(made("option", {value: name, textContent: name}));
      menu.append(group);
    }
  }

  /* Selects a choice in a menu; adds it if the menu lacks it, as links may name other choices. */
  function select(menu, value) {
    if (![...menu.options].some((option) => option.value === value))
      menu.append(made("option", {value, textContent: value}));
    menu.value = value;
  }

  function operands(i) {
    return `${i.a} \u00d7 ${i.b} + ${i.c} \u2192 ${i.d}${i.scale === "none" ? "" : ", " + i.scale}`;
  }

  function instructionMenu(slot, fitting) {
    const menu = byId(`instruction${slot}`), groups = new Map();
    for (const i of fitting) {
      const name = operands(i) + (i.sparse ? ", sparse" : "");
      if (!groups.has(name)) groups.set(name, made("optgroup", {label: name}));
      groups.get(name).append(made("option", {value: i.name, textContent: i.name}));
    }
    menu.replaceChildren(...groups.values());
    menu.disabled = !fitting.length;
  }

  /* Returns the name of an instruction that the library has: of instructions that exist for many N, which compute the
     same, it has the least N alone. */
  function ofLeastN(slot, gpu, name) {
    const withN = (least) => name.replace(
        /(m\d+n|64x|128x)(\d+)(?=[kx])/, (whole, before, n) => (n % 8 || n > 256 ? whole : before + least));
    return [name, withN(8), withN(16)].find((one) => !s.choose(slot, gpu, one)) ?? name;
  }

  function sameOperands(x, y) {
    return ["a", "b", "c", "d", "scale"].every((key) => x[key] === y[key]);
  }

  function describe(slot) {
    const about = byId(`about${slot}`);
    about.replaceChildren();
    if (unit[slot].gpu === NONE) about.append("Choose a second GPU to compare.");
    if (unit[slot].error || unit[slot].gpu === NONE) return;
    const facts = JSON.parse(s.about(slot));
    const isCustom = facts.arch === "custom unit", sum = isCustom ? facts.parameters : facts.sum;
    about.append(`${sum[0].toUpperCase()}${sum.slice(1)}. `);
    about.title = `${facts.model} ${facts.parameters}; K = ${facts.k}`;
    if (!isCustom)
      about.append(made("a", {href: `units/${facts.arch}.html`, textContent: "Evidence"}));
    unit[slot].facts = facts;
  }

  /* Sets one unit in the library. If no instruction is chosen, it gets the first instruction that fits. */
  function setUnit(slot) {
    const u = unit[slot], first = slot && unit[0].facts;
    u.error = "";
    u.facts = null;
    select(byId(`gpu${slot}`), u.gpu);
    if (u.gpu === NONE) {
      instructionMenu(slot, []);
      return describe(slot);
    }
    if (u.gpu === CUSTOM) {
      instructionMenu(slot, []);
      u.error = s.customise(slot, u.text);
      return describe(slot);
    }
    const arch = architectures.get(squeezed(u.gpu));
    const fitting = arch ? arch.instructions.filter((i) => !first || sameOperands(i, first)) : [];
    instructionMenu(slot, fitting);
    if (u.instruction) {
      u.instruction = ofLeastN(slot, u.gpu, u.instruction);
      u.error = s.choose(slot, u.gpu, u.instruction);
    }
    const unfit = () => u.error || (first && !sameOperands(JSON.parse(s.about(slot)), first));
    if (!u.instruction || (slot && unfit())) {
      const best = fitting.filter((i) => !first || i.k === first.k)
                       .concat(fitting)
                       .find((i) => !s.choose(slot, u.gpu, i.name) && (!slot || !s.pair(2)));
      if (best) u.instruction = best.name;
      u.error = u.instruction ? s.choose(slot, u.gpu, u.instruction) : "";
      if (!best && first)
        u.error = `${u.gpu} has no instruction whose rows are drawn beside those of ${first.name}: ${
            operands(first)}, K = ${first.k}`;
    }
    if (!u.error) {
      select(byId(`instruction${slot}`), u.instruction);
      describe(slot);
    } else
      describe(slot);
  }

  /* Sets both units, and shows the messages about the pair. */
  function setUnits() {
    setUnit(0);
    setUnit(1);
    byId("custom").hidden = !unit.some((u) => u.gpu === CUSTOM);
    count = unit[0].error ? 0 : unit[1].error || unit[1].gpu === NONE ? 1 : 2;
    let complaint = unit[0].error || unit[1].error;
    if (count) {
      const unpaired = s.pair(count);
      if (unpaired) {
        complaint = unpaired;
        count = 1;
        s.pair(1);
      }
    }
    byId("complaint").textContent = complaint;
    if (count) setLayout();
    showCustom("showCosts");
  }

  // ---- The row ----

  function setLayout() {
    const before = JSON.stringify(layout);
    layout = JSON.parse(s.layout());
    if (JSON.stringify(layout) !== before) {
      chosen = {part: layout.parts[0].part, index: 0};
      drawElements();
      drawLists();
    }
    refresh();
  }

  function name(part, index) {
    return part.count > 1 ? `${part.name}[${index}]` : part.name;
  }

  function partOf(number) {
    return layout.parts.find((part) => part.part === number);
  }

  function elementInput(part, index) {
    const input = made("input", {autocomplete: "off", spellcheck: false});
    input.setAttribute("aria-label", name(part, index));
    input.addEventListener("focus", () => {
      choose(part.part, index);
      if (input.getAttribute("aria-invalid") !== "true") show(part.part, index);
    });
    input.addEventListener("blur", () => input.getAttribute("aria-invalid") === "true" || show(part.part, index));
    input.addEventListener("change", () => {
      const outcome = s.set_value(part.part, index, input.value.trim().replace(/^([+-]?)2\^(?=[+-]?\d+$)/, "$10x1p"));
      input.setAttribute("aria-invalid", String(outcome < 0));
      if (outcome < 0) return told(`${name(part, index)}: '${input.value}' is not a number`);
      told(outcome ? `${name(part, index)}: ${input.value} is not a value of ${part.format} and was rounded` : "");
      changed(part.part, index);
    });
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") { // moves to the element's bits; Tab would select other elements on the way
        event.preventDefault();
        byId("digits").querySelector("[tabindex='0']").focus();
      }
      const step = {ArrowUp: 1, ArrowDown: -1}[event.key];
      if (!step) return;
      event.preventDefault();
      toNext(step);
    });
    inputs[part.part][index] = input;
    return input;
  }

  let unfolded = false;  // products of zeros are shown, too

  function drawElements() {
    const [a, b, c, ...scales] = layout.parts, lines = [];
    const line = (title, index, ...parts) => made(
        "div", {className: `element of-${parts.length}`}, made("span", {textContent: title}),
        ...parts.map((part) => elementInput(part, index)));
    inputs = [];
    for (const part of layout.parts) inputs[part.part] = [];
    lines.push(line(`c, ${c.format}`, 0, c));
    for (let i = 0; scales.length && i < scales[0].count; i++) lines.push(line(`scale ${i}`, i, ...scales));
    lines.push(made("div", {className: "element of-2 head"}, made("span", {textContent: "k"}),
                    ...[a, b].map((part) => made("span", {textContent: `${part.name}, ${part.format}`}))));
    for (let k = 0; k < a.count; k++) lines.push(line(String(k), k, a, b));
    byId("elements").replaceChildren(...lines);
  }

  /* Hides products of two zeros, except the chosen one. */
  function fold() {
    const [a, b] = layout.parts;
    let zeros = 0;
    for (let k = 0; k < a.count; k++) {
      const zero = [a, b].every((part) => inputs[part.part][k].classList.contains("zero"));
      const kept = unfolded || !zero || (chosen.index === k && chosen.part <= b.part);
      zeros += zero;
      inputs[a.part][k].parentElement.hidden = !kept;
    }
    byId("fold").hidden = !zeros;
    byId("fold").textContent = `${unfolded ? "Hide" : "Show"} ${zeros} zero product${zeros > 1 ? "s" : ""}`;
    byId("fold").setAttribute("aria-expanded", String(unfolded));
  }

  byId("fold").addEventListener("click", () => {
    unfolded = !unfolded;
    fold();
  });

  function show(part, index) {
    const {value} = JSON.parse(s.element(part, index)), input = inputs[part][index];
    const text = document.activeElement === input ? value : brief(value, SHOWN);
    if (input.value !== text) input.value = text;
    input.title = value;
    input.removeAttribute("aria-invalid");
    input.classList.toggle("zero", value === "0" || value === "-0");
  }

  /* Shows the whole row after a change. */
  function refresh() {
    for (const part of layout.parts)
      for (let i = 0; i < part.count; i++) show(part.part, i);
    choose(chosen.part, chosen.index);
    fold();
    draw();
  }

  /* Shows one element after a change. */
  function changed(part, index) {
    show(part, index);
    if (part === chosen.part && index === chosen.index) showBits();
    fold();
    draw();
  }

  function drawLists() {
    byId("lists").replaceChildren(...layout.parts.map((part) => {
      const input = made("input", {autocomplete: "off", spellcheck: false});
      input.addEventListener("change", () => typed(part, input));
      return made("label", {}, made("span", {textContent: part.name.replace("_", " ")}), input);
    }));
  }

  function showLists() {
    if (!byId("typed").open) return;
    layout.parts.forEach((part, n) => {
      const input = byId("lists").querySelectorAll("input")[n];
      if (input === document.activeElement) return;
      input.value = shortened(inputs[part.part].map((one) => one.title)).replaceAll(",", " ");
      input.removeAttribute("aria-invalid");
    });
  }

  /* Sets an element for each word; further elements become zero, except scale factors, which stay. */
  function typed(part, input) {
    const words = lengthened(input.value, part.count);
    let wrong = words ? "" : `${part.name} has at most ${part.count} elements`;
    for (let index = 0; !wrong && index < part.count; index++) {
      const word = words[index] ?? (part.name.startsWith("scale") ? null : "0");
      if (word !== null && s.set_value(part.part, index, word) < 0)
        wrong = `${name(part, index)}: '${word}' is not a number`;
    }
    input.setAttribute("aria-invalid", String(Boolean(wrong)));
    told(wrong);
    refresh();
  }

  // ---- Bits ----

  function choose(part, index) {
    inputs[chosen.part]?.[chosen.index]?.classList.remove("chosen");
    chosen = {part, index};
    inputs[part][index].classList.add("chosen");
    const {bits, sign, exponent, integer} = partOf(part), digits = byId("digits");
    if (digits.childElementCount !== bits || digits.dataset.format !== partOf(part).format) {
      digits.dataset.format = partOf(part).format;
      digits.replaceChildren(...Array.from({length: bits}, (_, n) => {
        const kind = n < sign ? "sign" : n < sign + exponent ? "exponent" : "fraction";
        const last = n === sign + exponent - 1 && kind === "exponent" ? " first" : "";
        const button = made("button", {type: "button", className: kind + last, tabIndex: n ? -1 : 0});
        button.setAttribute("role", "switch");
        button.setAttribute("aria-label", `bit ${bits - 1 - n}${integer ? "" : ", " + kind}`);
        /* A press inverts the bit at once, and dragging sets further bits; a click without a press comes from keys. */
        button.addEventListener("click", (event) => event.detail || flip(bits - 1 - n));
        return button;
      }));
    }
    showBits();
    fold();
  }

  let painted = null;  // the digit that a drag sets
  byId("digits").addEventListener("pointerdown", (event) => {
    const button = event.target.closest("button");
    if (!button || event.button) return;
    flip(bitOf(button));
    painted = button.textContent;
    button.focus();
    event.preventDefault();
  });
  addEventListener("pointermove", (event) => {
    if (painted === null) return;
    const button = document.elementFromPoint(event.clientX, event.clientY)?.closest("#digits button");
    if (button && button.textContent !== painted) flip(bitOf(button));
  });
  for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => painted = null);

  function bitOf(button) {
    return button.parentElement.childElementCount - 1 - [...button.parentElement.children].indexOf(button);
  }

  function power(text) {
    const x = Math.log2(Number(text));
    return Number.isInteger(x) ? `2^${x}` : brief(text, 10);
  }

  /* Shows the exact value, the hexadecimal float, and the distances to the neighbours. */
  function showFacts(integer) {
    const {exact, hexfloat, up, down} = JSON.parse(s.details(chosen.part, chosen.index));
    const facts = {exact};
    if (!integer) Object.assign(facts, {"hex float": hexfloat});
    if (up) facts["next larger"] = `${power(up)} away`;
    if (down) facts["next smaller"] = `${power(down)} away`;
    byId("facts").replaceChildren(...Object.entries(facts).flatMap(
        ([key, value]) => [made("dt", {textContent: key}), made("dd", {textContent: value})]));
  }

  function showBits() {
    const part = partOf(chosen.part), {hex, value} = JSON.parse(s.element(chosen.part, chosen.index));
    const code = BigInt(`0x${hex}`);
    byId("bits-title").textContent = `${name(part, chosen.index)} = ${value}`;
    showFacts(part.integer);
    if (document.activeElement !== byId("hex")) byId("hex").value = hex;
    byId("hex").removeAttribute("aria-invalid");
    [...byId("digits").children].forEach((button, n) => {
      const set = code >> BigInt(part.bits - 1 - n) & 1n ? "1" : "0";
      if (button.textContent === set) return;
      button.textContent = set;
      button.setAttribute("aria-checked", String(set === "1"));
    });
  }

  function flip(bit) {
    s.flip(chosen.part, chosen.index, bit);
    changed(chosen.part, chosen.index);
  }

  function stepEncoding(step) {
    const part = partOf(chosen.part), code = BigInt(`0x${JSON.parse(s.element(chosen.part, chosen.index)).hex}`);
    s.set_hex(chosen.part, chosen.index, BigInt.asUintN(part.bits, code + step).toString(16));
    changed(chosen.part, chosen.index);
  }

  /* Moves to the previous or next element, in order of k. */
  function toNext(step) {
    const all = [...byId("elements").querySelectorAll(".element:not([hidden]) input")];
    all[all.indexOf(inputs[chosen.part][chosen.index]) + step]?.focus();
  }

  byId("digits").addEventListener("keydown", (event) => {
    const all = [...byId("digits").children], at = all.indexOf(document.activeElement);
    const to = {ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: all.length - 1}[event.key];
    if (event.key === "ArrowUp" || event.key === "ArrowDown") {
      event.preventDefault();
      stepEncoding(event.key === "ArrowUp" ? 1n : -1n);
    }
    if (event.key === "Escape") inputs[chosen.part][chosen.index].focus();
    if (to === undefined || !all[to]) return;
    event.preventDefault();
    all[at].tabIndex = -1;
    all[to].tabIndex = 0;
    all[to].focus();
  });
  byId("hex").addEventListener("input", () => {
    const wrong = s.set_hex(chosen.part, chosen.index, byId("hex").value.trim().replace(/^0x/i, "")) < 0;
    if (!wrong) changed(chosen.part, chosen.index);
    byId("hex").setAttribute("aria-invalid", String(wrong));
  });
  byId("less").addEventListener("click", () => stepEncoding(-1n));
  byId("more").addEventListener("click", () => stepEncoding(1n));

  // ---- Drawing ----

  /* Fills an element with the bits of a result, in groups: sign, exponent, fraction. Marks digits that differ from
     `other`. */
  function showBig(box, text, other) {
    if (box.dataset.shown === text + other) return;
    box.dataset.shown = text + other;
    const groups = text.split(" "), kinds = groups.length > 1 ? ["sign", "exponent", "fraction"] : ["fraction"];
    let at = 0;
    box.replaceChildren(...groups.map((digits, n) => {
      const group = made("span", {className: kinds[n]});
      for (const digit of digits) {
        group.append(other[at] === digit ? digit : made("mark", {textContent: digit}));
        at++;
      }
      at++;  // the space
      return group;
    }));
  }

  function showResults(found) {
    const [first, second] = found.results, shown = [first, second, found.exact];
    shown.forEach((result, n) => {
      const card = byId(`result${n}`);
      card.classList.toggle("without", !result);
      card.querySelector(".value").hidden = card.querySelector(".big").hidden = !result;
      card.dataset.hex = result?.hex ?? "";
      if (!result) return;
      card.querySelector("output").textContent = result.value.replace("-", "\u2212");
      card.querySelector("code").textContent = `0x${result.hex}`;
      showBig(card.querySelector(".big"), result.bits, (n ? first : second ?? found.exact ?? first).bits);
    });
    byId("result2").hidden = !found.exact;
    byId("difference").textContent = count < 2 ? "" :
        found.difference                       ? `First difference: ${found.difference}.` :
                                                 "No difference: every step has the same outcome.";
    byId("question").textContent = question(first, second, found.exact);
  }

  /* Asks what the picture answers: why two results differ. */
  function question(first, second, exact) {
    const named = unit.map((u) => u.gpu === CUSTOM ? "your unit" : `the ${u.gpu}`);
    const value = (result, other) =>
        result.hex !== other.hex && result.value === other.value ? `0x${result.hex}` : spoken(result.value);
    if (second && first.hex !== second.hex)
      return `Why does ${named[0]} return ${value(first, second)} where ${named[1]} returns ${value(second, first)}?`;
    const who = second ? `do ${named[0]} and ${named[1]} return` : `does ${named[0]} return`;
    if (exact && exact.hex !== first.hex)
      return `Why ${who} ${value(first, exact)} where the exact sum is ${value(exact, first)}?`;
    const both = second ? `${named[0]} and ${named[1]} return` : `${named[0]} returns`;
    return `${both[0].toUpperCase()}${both.slice(1)} ${spoken(first.value)}`;
  }

  /* Matches the elements of a picture. The library writes each on its own line, and does not nest groups. */
  const ELEMENT = /<(title|text|rect|line|path|g|defs)\b(?:[^>]*\/>|[^]*?<\/\1>)\n/g;

  function parsed(text) {
    const head = /<svg[^>]*>\n/.exec(text)[0], parts = text.match(ELEMENT);
    if (!text.endsWith(`${head}${parts.join("")}</svg>\n`)) throw new Error("a picture is not written in lines");
    return {head, parts: parts.map((part) => part.trimEnd())};
  }

  function nodes(head, parts) {
    const template = document.createElement("template");
    template.innerHTML = `${head}${parts.join("")}</svg>`;
    return template.content.firstChild;
  }

  /* The pictures on the page, by slot. Redrawing replaces only the changed elements, because replacing elements takes
     most of the time. */
  let pictures = [];

  function newPicture(slot) {
    const {head, parts} = parsed(s.picture(slot, room(slot))), svg = nodes(head, parts);
    svg.setAttribute("role", "img");
    return {slot, head, parts, svg, box: made("div", {className: "picture"}, svg)};
  }

  /* Returns the width that a picture may have, in pixels. */
  function room(slot) {
    const all = byId("pictures").clientWidth;
    return Math.floor(slot < 2 && byId("pictures").classList.contains("beside") ? (all - 16) / 2 : all);
  }

  function redraw(picture) {
    const {head, parts} = parsed(s.picture(picture.slot, room(picture.slot))), before = picture.parts;
    const most = Math.min(parts.length, before.length), same = (x, y) => x === y;
    let first = 0, last = 0;  // number of unchanged elements at the beginning and at the end
    while (first < most && same(parts[first], before[first])) first++;
    while (last < most - first && same(parts.at(-1 - last), before.at(-1 - last))) last++;
    const aligned = parts.length === before.length, changed = [];
    for (let n = first; n < parts.length - last; n++)
      if (!aligned || parts[n] !== before[n]) changed.push(n);
    if (head !== picture.head)
      for (const [, name, value] of head.matchAll(/ (width|height|viewBox)="([^"]*)"/g))
        picture.svg.setAttribute(name, value);
    const fresh = [...nodes(head, changed.map((n) => parts[n])).children], old = [...picture.svg.children];
    if (aligned) {
      changed.forEach((n, i) => old[n].replaceWith(fresh[i]));
    } else {
      const behind = old[before.length - last] ?? null;
      old.slice(first, before.length - last).forEach((node) => node.remove());
      for (const node of fresh) picture.svg.insertBefore(node, behind);
    }
    Object.assign(picture, {head, parts});
  }

  function draw() {
    if (!count) return;
    const found = JSON.parse(s.explain(count)), beside = byId("beside").checked && count === 2;
    showResults(found);
    const slots = beside ? [0, 1] : [count === 1 ? 0 : 2];
    if (slots.join() === pictures.map((picture) => picture.slot).join()) {
      pictures.forEach(redraw);
    } else {
      byId("pictures").classList.toggle("beside", beside);
      pictures = slots.map(newPicture);
      byId("pictures").replaceChildren(...pictures.map((picture) => picture.box));
    }
    for (const {svg} of pictures)
      svg.setAttribute("aria-label", byId("difference").textContent || svg.querySelector("title").textContent);
    if (byId("as-text").open) byId("words").textContent = s.words();
    if (byId("as-command").open) byId("command").textContent = command();
    showLists();
    remember();
  }

  /* Marks the example that the page shows, and tells its story. */
  function showExample(address) {
    const operandsOnly = (text) => {
      const asked = new URLSearchParams(text);
      return layout.parts.map((part) => (asked.get(part.name) ?? "").replace(/((^|,)0(\*\d+)?)+$/, "")).join(";");
    };
    const shown = operandsOnly(address.slice(1)), story = byId("story");
    if (!story) return;
    story.textContent = "";
    for (const link of document.querySelectorAll(".examples a")) {
      const text = link.hash.slice(1), on = new URLSearchParams(text).get("on").split(",");
      const is = on[0] === unit[0].gpu && (on[1] ?? NONE) === unit[1].gpu && operandsOnly(text) === shown;
      if (is)
        link.setAttribute("aria-current", "true");
      else
        link.removeAttribute("aria-current");
      if (is) story.textContent = link.title;
    }
  }

  let drawnWidth = 0;
  new ResizeObserver(() => {
    const width = byId("pictures").clientWidth;
    if (Math.abs(width - drawnWidth) < 2) return;
    drawnWidth = width;
    if (pictures.length) pictures.forEach(redraw);
  }).observe(byId("pictures"));

  // ---- The address ----

  function state() {
    const shown = unit.slice(0, unit[1].gpu === NONE ? 1 : 2), words = [];
    const add = (key, value) =>
        words.push(`${key}=${encodeURIComponent(value).replace(/%2C/g, ",").replace(/%20/g, "+")}`);
    add("on", shown.map((u) => u.gpu).join(","));
    add("instr", shown.map((u) => (u.gpu === CUSTOM ? "" : u.instruction)).join(","));
    shown.forEach((u, slot) => u.gpu === CUSTOM && add(`unit${slot}`, u.text.replace(/\s*\n\s*/g, " ")));
    for (const part of layout.parts) add(part.name, list(part));
    add("view", byId("beside").checked ? "beside" : "below");
    return words.join("&");
  }

  let waiting, own = "";
  function remember() {  // browsers limit how often the address may change
    clearTimeout(waiting);
    waiting = setTimeout(rememberNow, 250);
  }
  function rememberNow() {
    clearTimeout(waiting);
    own = `#${state()}`;
    showExample(own);
    if (location.hash !== own) history.replaceState(null, "", own);
    byId("whole").href = location.pathname.split("/").at(-1) + own;
  }

  function command() {
    if (unit.some((u) => u.gpu === CUSTOM))
      return "Save the custom unit's JSON as unit.json and name that file with --on.";
    const both = unit.slice(0, count), joined = (key) => [...new Set(both.map((u) => u[key]))].join(",");
    const quoted = (word) => (/^[\w.,*-]+$/.test(word) ? word : `'${word}'`);
    const lists = layout.parts.map((part) => `--${part.name.replace("_", "-")}=${quoted(list(part))}`).join(" ");
    return `softmma explain --on ${quoted(joined("gpu"))} --instr ${quoted(joined("instruction"))} --hex ${lists}`;
  }

  function restore(text) {
    const asked = new URLSearchParams(text), on = (asked.get("on") ?? "").split(","),
          names = (asked.get("instr") ?? "").split(",");
    unit[0] = {gpu: on[0] || "H100", instruction: names[0] ?? ""};
    unit[1] = {gpu: on[1] || NONE, instruction: names[1] ?? names[0] ?? ""};
    unit.forEach((u, slot) => {
      u.text = asked.get(`unit${slot}`) ?? "";
    });
    for (const u of unit)
      if (u.gpu === CUSTOM && !u.text) u.text = EXAMPLE_UNIT;
    byId("beside").checked = (asked.get("view") ?? (innerWidth >= WIDE ? "beside" : "below")) === "beside";
    setUnits();
    showCustom("showKeys");
    if (!count) return;
    s.make(layout.parts.some((part) => asked.has(part.name)) ? NONE : "normal", 1);
    for (const part of layout.parts) {
      const text = asked.get(part.name) ?? "", values = text.startsWith("v:");
      const words = lengthened(values ? text.slice(2) : text, part.count);
      if (!words) complain(`${part.name} has more than ${part.count} elements`);
      words?.forEach((word, index) => {
        if (word === "-") return;  // keep the element
        const wrong = (values ? s.set_value : s.set_hex)(part.part, index, word) < 0;
        if (wrong)
          complain(`${name(part, index)}: '${word}' is not ${values ? "a number" : "an encoding of " + part.format}`);
      });
    }
    refresh();
    rememberNow();
  }

  function complain(text) {
    byId("complaint").textContent = text;
  }

  window.addEventListener("hashchange", () => location.hash !== own && restore(location.hash.slice(1)));

  // ---- Custom units ----

  /* Shows a part of the custom unit, if there is one: "showKeys", its controls, or "showCosts", its cost and errors. */
  let customUnit;
  function showCustom(part) {
    if (byId("custom").hidden) return;
    customUnit ??= softmma.run("custom.js").then(
        () => softmma.customUnit({s, unit, byId, made, setUnits, complain, CUSTOM}));
    customUnit.then((parts) => parts[part]()).catch((error) => complain(error.message));
  }

  // ---- Tools ----

  for (const slot of [0, 1]) {
    gpuMenu(slot);
    byId(`gpu${slot}`).addEventListener("change", (event) => {
      const u = unit[slot];
      u.gpu = event.target.value;
      if (u.gpu === CUSTOM) {
        if (unit[1 - slot].gpu === CUSTOM) unit[1 - slot].gpu = slot ? "H100" : NONE;
        u.text ||= EXAMPLE_UNIT;
      }
      if (!slot && u.gpu !== CUSTOM &&
          !architectures.get(squeezed(u.gpu))?.instructions.some((i) => i.name === u.instruction))
        u.instruction = "";
      setUnits();
      showCustom("showKeys");
    });
    byId(`instruction${slot}`).addEventListener("change", (event) => {
      unit[slot].instruction = event.target.value;
      setUnits();
    });
  }
  byId("kind").append(...catalogue.kinds.map((kind) => made("option", {value: kind, textContent: kind})));
  byId("kind").value = "normal";
  byId("another").addEventListener("click", () => {
    s.make(byId("kind").value, ++seed);
    told(`Vector 0 of seed ${seed}, ${byId("kind").value}.`);
    refresh();
  });
  byId("zero").addEventListener("click", () => {
    s.make(NONE, 0);
    told("");
    refresh();
  });
  byId("differing").addEventListener("click", () => {
    if (count < 2) return told("Choose a second unit.");
    const until = performance.now() + 2000;
    let tried = 0;
    for (; performance.now() < until; tried++) {
      s.make(catalogue.kinds[tried % catalogue.kinds.length], ++seed);
      const {results} = JSON.parse(s.explain(2));
      if (results[0].hex === results[1].hex) continue;
      told(`Found in random vector ${tried + 1}.`);
      return refresh();
    }
    told(`No difference in ${tried} random vectors. This is not a proof: softmma diff --prove looks for one.`);
    return refresh();
  });
  async function copy(text, success) {
    try {
      await navigator.clipboard.writeText(text);
      told(success);
    } catch {
      told(text);
    }
  }
  byId("share").addEventListener("click", () => {
    rememberNow();
    copy(location.href, "The link is copied. It has the units and the operands.");
  });
  byId("embed").addEventListener("click", () => {
    rememberNow();
    const page = `${location.href.split(/[?#]/)[0]}?embed${location.hash}`;
    const address = page.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
    copy(`<iframe src="${address}" title="SoftMMA" width="100%" height="700"></iframe>`,
         "The HTML for a page with this drawing is copied.");
  });
  byId("beside").addEventListener("change", draw);
  for (const id of ["as-text", "as-command", "typed"]) byId(id).addEventListener("toggle", draw);

  // ---- Vector files ----

  function open(text, name) {
    const [arch, instruction] = ["arch", "instruction"].map((key) => text.match(RegExp(`^# ${key}: *(.*)$`, "m"))?.[1]);
    if (text.includes("\0"))
      return complain(`${name} is not text; softmma reads binary vector files, and this page text`);
    if (arch && instruction) text = text.replace(instruction, ofLeastN(0, arch, instruction));
    const found = JSON.parse(s.open(text));
    if (found.error) {
      byId("opened").hidden = true;  // the library has forgotten the previous file
      setUnits();                    // ofLeastN has chosen the file's instruction
      return complain(`${name}: ${found.error}`);
    }
    unit[0] = {gpu: found.arch, instruction: found.instruction};
    unit[1].instruction = "";  // prefers an instruction of the same K
    setUnits();
    if (count && layout.k !== unit[0].facts.k) {
      unit[1].gpu = NONE;
      setUnits();
    }
    byId("opened").hidden = false;
    byId("opened-name").textContent =
        `of ${found.rows} in ${name}${found.recorded_on ? ", recorded on " + found.recorded_on : ""}`;
    byId("number").max = found.rows;
    byId("number").value = 1;
    takeRow();
  }

  function takeRow() {
    const error = s.take(Number(byId("number").value) - 1);
    if (error) return complain(error);
    refresh();
  }

  /* Handles text that the user drops on the page: a vector file, or a row without a header, which replaces the present
     row. */
  function dropped(text) {
    if (/^\s*#/.test(text)) return open(text, "the text");
    const words = text.trim().split(/[\s,]+/), operands = layout.parts.reduce((sum, part) => sum + part.count, 0);
    if (words.length !== operands && words.length !== operands + 1)
      return complain(`a vector has ${operands} encodings here, and optionally d: this one has ${words.length}`);
    let next = 0;
    complain("");
    for (const part of layout.parts)
      for (let i = 0; i < part.count; i++, next++)
        if (s.set_hex(part.part, i, words[next]) < 0)
          return complain(`'${words[next]}' is not an encoding of ${part.format}`);
    refresh();
  }

  byId("rows").addEventListener("change", async (event) => {
    const [file] = event.target.files;
    if (file) open(await file.text(), file.name);
    event.target.value = "";
  });
  byId("number").addEventListener("change", takeRow);
  document.addEventListener("dragover", (event) => {
    event.preventDefault();
    document.body.classList.add("dropping");
  });
  document.addEventListener("dragleave", (event) => event.relatedTarget || document.body.classList.remove("dropping"));
  document.addEventListener("drop", async (event) => {
    event.preventDefault();
    document.body.classList.remove("dropping");
    const [file] = event.dataTransfer.files;
    if (file)
      open(await file.text(), file.name);
    else
      dropped(event.dataTransfer.getData("text/plain"));
  });

  restore(location.hash.length > 1 ? location.hash.slice(1) : SHOWN_AT_FIRST);
  const html = document.documentElement;
  html.dataset.took = performance.now();  // milliseconds since the page was requested
  await customUnit?.catch(() => {});  // showCustom tells of a failure
  html.dataset.ready = "true";
})();
