/* SoftMMA in WebAssembly: softmma.start() returns an object that has the functions of site/explorer.h, without the
   prefix "site_" and with texts as strings; softmma.start("errors") those of site/errors.h. softmma.run(name) runs
   another script of the site. */
"use strict";

var softmma = (() => {
  const encoder = new TextEncoder(), decoder = new TextDecoder();
  const numbers = new Set(["set_hex", "set_value", "flip", "make"]);  // other functions return texts

  /* System functions that the module imports. Memory may grow. The C library requests environment variables; the result
     52 (WASI's ENOSYS) means that there are none. The module calls no other system function, so it cannot open files of
     the machine. */
  const answers = {emscripten_notify_memory_growth: () => {}, environ_sizes_get: () => 52};
  const system = new Proxy(answers, {
    get: (_, name) => answers[name] ?? (() => {
      throw new Error(`softmma.wasm called ${String(name)}`);
    }),
  });

  async function instantiate(bytes) {
    const {instance} = await WebAssembly.instantiate(bytes, {env: system, wasi_snapshot_preview1: system});
    const wasm = instance.exports;
    if (wasm._initialize) wasm._initialize();

    const memory = () => new Uint8Array(wasm.memory.buffer);  // the buffer changes whenever memory grows

    function text(address) {
      const bytes = memory();
      return decoder.decode(bytes.subarray(address, bytes.indexOf(0, address)));
    }

    function copied(string) {
      const bytes = encoder.encode(string), address = wasm.malloc(bytes.length + 1);
      memory().set(bytes, address);
      memory()[address + bytes.length] = 0;
      return address;
    }

    const functions = {};
    for (const [name, body] of Object.entries(wasm)) {
      if (!name.startsWith("site_")) continue;
      const own = name.slice("site_".length);
      functions[own] = (...values) => {
        const strings = [];
        const result = body(...values.map((value) => {
          if (typeof value !== "string") return value;
          strings.push(copied(value));
          return strings.at(-1);
        }));
        strings.forEach(wasm.free);
        return numbers.has(own) ? result : text(result);
      };
    }

    /* Returns {d, codes} for arrays of numbers, or {error}. */
    functions.product = (slot, m, n, k, a, b) => {
      const sizes = [m * k, k * n, m * n, m * n], at = [];
      for (const size of sizes) at.push(wasm.malloc(8 * Math.max(size, 1)));
      const view = (Kind, i) => new Kind(wasm.memory.buffer, at[i], sizes[i]);
      view(Float64Array, 0).set(a);
      view(Float64Array, 1).set(b);
      const error = text(wasm.site_product(slot, m, n, k, ...at));
      const result = error ? {error} : {d: view(Float64Array, 2).slice(), codes: view(BigUint64Array, 3).slice()};
      at.forEach(wasm.free);
      return result;
    };
    return functions;
  }

  async function unpacked(bytes) {
    if (bytes[0] === 0) return bytes;  // unpacked already, if the server declared the encoding of .gz files
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  }

  const folder = typeof document === "undefined" ? null : new URL(".", document.currentScript.src);

  /* Runs a script of the site's folder. */
  function run(name) {
    return new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = new URL(name, folder);
      script.onload = resolve;
      script.onerror = () => reject(new Error(`${script.src} cannot be read`));
      document.head.append(script);
    });
  }

  const embedded = {};  // modules as text: pages opened as files can read only scripts, which set these members

  async function read(name) {
    await run(`${name}.wasm.js`);
    return Uint8Array.from(atob(embedded[name]), (c) => c.charCodeAt(0));
  }

  async function fetched(name) {
    const answer = await fetch(new URL(`${name}.wasm.gz`, folder));
    if (!answer.ok) throw new Error(`${answer.url}: ${answer.status} ${answer.statusText}`);
    return new Uint8Array(await answer.arrayBuffer());
  }

  async function start(name = "softmma") {
    const bytes = await (location.protocol === "file:" ? read(name) : fetched(name));
    return instantiate(await unpacked(bytes));
  }

  return {embedded, instantiate, run, start};
})();

if (typeof module !== "undefined") module.exports = softmma;
