/* Prints the lines of site/digests.c, computed by WebAssembly.
 * Usage: node site_digests.js SITE/softmma.js softmma.wasm */
"use strict";
const {createHash} = require("node:crypto");
const {readFileSync} = require("node:fs");
const {resolve} = require("node:path");

const kinds = ["random", "normal", "edge", "zeros", "tiny", "cancellation", "ill", "network"];
const drawn = 1;

async function main() {
  const s = await require(resolve(process.argv[2])).instantiate(readFileSync(process.argv[3]));
  for (const line of readFileSync(0, "utf8").trim().split("\n")) {
    const [arch, name] = line.split(" "), digest = createHash("sha256");
    const error = s.choose(0, arch, name) || s.pair(1);
    if (error) throw new Error(error);
    kinds.forEach((kind, row) => {
      s.make(kind, row);
      digest.update(s.explain(1));
      if (row < drawn) digest.update(s.words()).update(s.picture(0, 0));
    });
    process.stdout.write(`${arch} ${name} ${digest.digest("hex")}\n`);
  }
}

main();
