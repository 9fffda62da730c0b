/* Finds sections of the documentation that have all words, or words that begin with them; titles that match come
   first. */
"use strict";

(() => {
  const {sections, words} = softmmaIndex, all = Object.keys(words), input = document.getElementById("words");

  function having(word) {
    const found = new Set();
    for (const other of all)
      if (other.startsWith(word)) words[other].forEach((n) => found.add(n));
    return found;
  }

  function weight(n, asked) {
    const title = sections[n][1].toLowerCase();
    return asked.filter((word) => title.includes(word)).length * 2 + !sections[n][0].includes("#");
  }

  function search() {
    const asked = input.value.toLowerCase().match(/[a-z0-9_]{2,}/g) ?? [];
    const sets = asked.map(having);
    const found = sets.length ? [...sets[0]].filter((n) => sets.every((set) => set.has(n))) : [];
    found.sort((x, y) => weight(y, asked) - weight(x, asked) || x - y);
    document.getElementById("found").textContent = !asked.length ? "" :
        found.length === 1                                       ? "1 section" :
                                                                   `${found.length} sections`;
    document.getElementById("sections").replaceChildren(...found.slice(0, 100).map((n) => {
      const [address, title, page, begin] = sections[n], item = document.createElement("li");
      const link = Object.assign(document.createElement("a"), {href: address, textContent: title});
      const where = document.createElement("span"), text = document.createElement("p");
      where.textContent = page && page !== title ? ` in ${page}` : "";
      text.textContent = begin;
      item.append(link, where, text);
      return item;
    }));
  }

  input.value = new URLSearchParams(location.search).get("q") ?? "";
  input.addEventListener("input", search);
  document.getElementById("search").addEventListener("submit", (event) => event.preventDefault());
  search();
})();
