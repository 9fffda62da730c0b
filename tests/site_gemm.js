/* Compares products, computed as the site's page of matrices computes them, with those of the command.
   Usage: node site_gemm.js SITE/softmma.js softmma.wasm SOFTMMA FOLDER */
"use strict";
const {spawnSync} = require("node:child_process");
const {readFileSync, writeFileSync} = require("node:fs");
const {resolve} = require("node:path");

const [library, module_, softmma, folder] = process.argv.slice(2);
const [m, n, k] = [5, 3, 70];  // not a multiple of any instruction's K
const instructions = [
  ["V100", "mma.m8n8k4.f32.f16.f16.f32"],
  ["V100", "mma.m8n8k4.f32.f16.f16.f16"],
  ["A100", "mma.m16n8k4.f32.tf32.tf32.f32"],
  ["A100", "mma.m8n8k4.f64.f64.f64.f64"],
  ["H100", "mma.m16n8k16.f16.f16.f16.f16"],
  ["H100", "wgmma.m64n8k32.f32.e4m3.e4m3"],
  ["H100", "mma.m16n8k32.f32.e4m3.e4m3.f32"],
  ["MI100", "v_mfma_f32_32x32x8f16"],
  ["MI210", "v_mfma_f32_32x32x8f16"],
  ["MI300X", "v_mfma_f32_16x16x32_fp8_fp8"],
  ["MI300X", "v_mfma_f32_16x16x8_xf32"],
  ["H100", "mma.m16n8k4.f32.tf32.tf32.f32"],
  ["RX 7900 XTX", "v_wmma_f32_16x16x16_f16"],
  ["power", "xvf16ger2pp"],
  ["x86", "vdpbf16ps"],
  ["A100", "mma.m16n8k32.s32.s8.s8.s32"],
];

function npy(rows, columns, numbers) {
  const text = `{'descr': '<f8', 'fortran_order': False, 'shape': (${rows}, ${columns}), }`.padEnd(117) + "\n";
  const head = Buffer.from("\x93NUMPY\x01\x00\x00\x00" + text, "latin1");
  head.writeUInt16LE(text.length, 8);
  return Buffer.concat([head, Buffer.from(Float64Array.from(numbers).buffer)]);
}

/* Returns the encodings in a matrix's file. */
function encodings(path) {
  const file = readFileSync(path), begin = 10 + file.readUInt16LE(8);
  const bytes = Number(/'descr': '<\w(\d)'/.exec(file.toString("latin1", 0, begin))[1]);
  return Array.from({length: m * n}, (_, i) => {
    let code = 0n;
    for (let b = bytes - 1; b >= 0; b--) code = code << 8n | BigInt(file[begin + i * bytes + b]);
    return code;
  });
}

async function main() {
  const s = await require(resolve(library)).instantiate(readFileSync(module_));
  let seed = 1, failed = 0;
  const next = () => (seed = seed * 48271 % 2147483647) / 2147483647 - 0.5;
  const make = (count) =>
      Array.from({length: count}, () => Math.round(next() * 2 ** 16) * 2 ** Math.round(next() * 12 - 6));
  const a = make(m * k), b = make(k * n), [A, B, D] = ["A", "B", "D"].map((name) => `${folder}/site-${name}.npy`);
  writeFileSync(A, npy(m, k, a));
  writeFileSync(B, npy(k, n, b));
  for (const [gpu, name] of instructions) {
    const ran = spawnSync(softmma, ["gemm", "--on", gpu, "--instr", name, A, B, "-o", D], {encoding: "utf8"});
    const error = s.choose(0, gpu, name) || s.pair(1), product = s.product(0, m, n, k, a, b);
    const right = !ran.status && !error && !product.error && String(encodings(D)) === String([...product.codes]);
    if (!right) console.log(`FAILED  ${gpu} ${name}: ${ran.stderr}${error}${product.error ?? ""}`);
    failed += !right;
  }
  process.exit(failed ? 1 : 0);
}

main();
