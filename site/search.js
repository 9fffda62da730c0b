/* Searches the documentation: sections with all words come first, then those with some; words may be beginnings of
   words. Each result shows the text around the first word that was found. */
"use strict";

(() => {
  const AROUND = 120, MOST = 60;  // characters of an excerpt on each side; results
  const input = document.getElementById("words"), made = (tag, text) => {
    return Object.assign(document.createElement(tag), {textContent: text});
  };
  const sections = softmmaSections.map(([address, title, page, text]) => ({
    address, title, page, text, lower: ` ${title} ${text}`.toLowerCase(), heading: ` ${title} ${page}`.toLowerCase()
  }));

  /* Matches a word at the beginning of a word. */
  function pattern(word) {
    return new RegExp(`(?<![a-z0-9])${word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}`, "i");
  }

  /* Returns the pattern of a word, or of its stem if no section has the word: "divergence" finds "diverges". */
  function known(word) {
    const whole = pattern(word), occurs = sections.some((section) => whole.test(section.lower));
    return occurs ? whole : pattern(word.slice(0, Math.max(5, word.length - 4)));
  }

  /* Weighs rare words more, titles most, and the manual and the changelog least. */
  function ranked(patterns) {
    const has = patterns.map((one) => sections.map((section) => one.test(section.lower)));
    const rarity = has.map((hits) => Math.log(1 + sections.length / (1 + hits.filter(Boolean).length)));
    return sections
        .map((section, n) => {
          const found = patterns.filter((_, w) => has[w][n]).length;
          let weight = 1000 * (found === patterns.length);
          patterns.forEach((one, w) => {
            weight += rarity[w] * (has[w][n] + 3 * one.test(section.heading));
          });
          if (/^docs\/(softmma\.1|CHANGELOG)/.test(section.address)) weight -= 2000;
          if (section.address.startsWith("docs/")) weight += 2;
          return {section, found, weight: weight + 0.5 * !section.address.includes("#")};
        })
        .filter(({found}) => found)
        .sort((x, y) => y.weight - x.weight);
  }

  /* Returns the text around the first hit, cut between words, with all hits marked. */
  function excerpt(text, patterns) {
    const hits = patterns.map((one) => text.search(one)).filter((at) => at >= 0);
    const at = hits.length ? Math.min(...hits) : 0;
    const from = at < AROUND ? 0 : text.indexOf(" ", at - AROUND) + 1, end = text.indexOf(" ", at + AROUND);
    return (from ? "... " : "") + text.slice(from, end < 0 ? undefined : end) + (end < 0 ? "" : " ...");
  }

  function marked(text, patterns) {
    const all = new RegExp(patterns.map((one) => `${one.source}[a-z0-9_]*`).join("|"), "gi"), nodes = [];
    let last = 0;
    for (const hit of text.matchAll(all)) {
      nodes.push(text.slice(last, hit.index), made("mark", hit[0]));
      last = hit.index + hit[0].length;
    }
    return [...nodes, text.slice(last)];
  }

  function search() {
    const words = input.value.toLowerCase().split(/\s+/).filter((word) => /[a-z0-9]/.test(word));
    const patterns = words.map(known);
    const found = words.length ? ranked(patterns) : [];
    const whole = found.filter((one) => one.found === words.length).length;
    document.getElementById("found").textContent = !words.length ? "" :
        !found.length                                             ? "Nothing found." :
        words.length > 1 ? `${whole} of ${found.length} sections have all words.` :
                           `${found.length} section${found.length > 1 ? "s" : ""}`;
    const shown = found.slice(0, MOST);
    document.getElementById("sections").replaceChildren(...shown.map(({section}) => {
      const {address, title, page} = section, item = made("li", ""), link = made("a", ""), text = made("p", "");
      link.href = address;
      link.append(...marked(title, patterns));
      text.append(...marked(excerpt(section.text, patterns), patterns));
      item.append(link, made("span", page !== title ? ` in ${page}` : ""), text);
      return item;
    }));
  }

  input.value = new URLSearchParams(location.search).get("q") ?? "";
  input.addEventListener("input", search);
  document.getElementById("search").addEventListener("submit", (event) => event.preventDefault());
  search();
})();
