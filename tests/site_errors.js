/* Compares the errors of products, computed as the page of custom units computes them, with those of `softmma tolerance`,
   and checks that a unit's steps describe the same unit, and that the page finds the measured cost of a unit.
   Usage: node site_errors.js SITE/softmma.js errors.wasm SOFTMMA SOURCE FOLDER */
"use strict";
const {spawnSync} = require("node:child_process");
const {readFileSync, writeFileSync} = require("node:fs");
const {dirname, resolve} = require("node:path");

const [library, module_, softmma, source, folder] = process.argv.slice(2);
const targets = ["V100:f16", "H100:f16", "H100:e4m3", "B200:nvfp4", "MI100:bf16", "MI300X:f16", "A100:f64", "H100:s8"];
const files = ["truncated-multiplier", "e3m4", "sticky"].map((name) => `${source}/examples/custom/${name}.json`);

function ran(...words) {
  const {status, stdout, stderr} = spawnSync(softmma, words, {encoding: "utf8"});
  if (status) throw new Error(`softmma ${words.join(" ")}: ${stderr}`);
  return stdout;
}

/* Returns what the command measures, as the page shows it. */
function measured(file, k) {
  const [row] = JSON.parse(ran("tolerance", file, "--sweep", `k=${k}`, "--shape", `64x64x${k}`, "--json")).rows;
  const half = row.exact["50"];
  return [row.error["99"] / half, row.bound === null ? null : row.bound / half];
}

async function main() {
  const s = await require(resolve(library)).instantiate(readFileSync(module_));
  const unit = `${folder}/site-unit.json`, integers = [null, null];
  let failed = 0;
  const check = (good, what) => {
    if (!good) console.log(`FAILED  ${what}`);
    failed += !good;
  };
  for (const target of [...targets, ...files]) {
    const text = target.endsWith(".json") ? readFileSync(target, "utf8") : ran("custom", "--from", target);
    const steps = s.steps(text), {k, error, bound} = JSON.parse(s.errors(text));
    for (const same of [text, steps]) {
      writeFileSync(unit, same);
      const expected = target.endsWith(":s8") ? integers : measured(unit, k);
      check(String([error, bound]) === String(expected), `${target}: ${[error, bound]}, the command: ${expected}`);
    }
    check(s.steps(steps) === steps, `${target}: the steps of its steps differ`);
  }
  for (const reply of [s.errors("unit"), s.steps("unit")])
    check(JSON.parse(reply).fault?.includes("JSON object"), `a text that is not a unit: ${reply}`);
  /* The page says "measured" if the steps of two units are equal, except for name, M and N. */
  globalThis.softmma = {};
  require(resolve(dirname(library), "costs.js"));
  const rule = (text) => JSON.stringify({...JSON.parse(s.steps(text)), name: "", m: 0, n: 0});
  const rules = globalThis.softmma.costs.units.map((x) => rule(JSON.stringify(x.rule)));
  check(new Set(rules).size === rules.length && rules.length > 30, `${rules.length} measured units, all different`);
  const measuredUnits = {"the first custom unit": readFileSync(`${source}/examples/rtl/cost/fp16.json`, "utf8")};
  for (const target of ["H100:f16", "H100:e4m3", "B200:nvfp4"]) measuredUnits[target] = ran("custom", "--from", target);
  for (const [name, text] of Object.entries(measuredUnits)) check(rules.includes(rule(text)), `${name} has no cost`);
  check(!rules.includes(rule(ran("custom", "--from", "A100:f16"))), "the A100's unit, which is not measured, has a cost");
  process.exit(failed ? 1 : 0);
}

main();
