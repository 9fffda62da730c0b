/* Prints the explorer's results for rows, for scripts/site: node ask.js softmma.js softmma.wasm. Standard input is a
   JSON list of {"units": [[GPU, instruction], ...], "row": {"a": {"index": "hex"}, ...}}. For each row it prints
   {"results": [hex, ...]}, or {"error"}. */
"use strict";
const {readFileSync} = require("node:fs");
const {resolve} = require("node:path");

async function main() {
  const s = await require(resolve(process.argv[2])).instantiate(readFileSync(process.argv[3]));
  const answers = JSON.parse(readFileSync(0, "utf8")).map(({units, row}) => {
    let error = "";
    units.forEach(([gpu, name], slot) => error ||= s.choose(slot, gpu, name));
    error ||= s.pair(units.length);
    if (error) return {error};
    s.make("none", 0);
    for (const part of JSON.parse(s.layout()).parts)
      for (const [index, hex] of Object.entries(row[part.name] ?? {}))
        if (Number(index) >= part.count || s.set_hex(part.part, Number(index), hex) < 0)
          return {error: `${part.name}[${index}] = ${hex} is no element`};
    return {results: JSON.parse(s.explain(units.length)).results.map((result) => result.hex)};
  });
  process.stdout.write(JSON.stringify(answers));
}

main();
