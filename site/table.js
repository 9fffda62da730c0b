/* Sorts and filters the table of GPUs and formats. The words of the filter are in the address. */
"use strict";

(() => {
  const table = document.querySelector(".facts-table"), body = table.tBodies[0], rows = [...body.rows];
  const input = document.getElementById("filter"), count = document.getElementById("count");
  const texts = rows.map((row) => {
    return [...row.cells].map((cell) => `${cell.textContent} ${cell.title}`).join(" ").toLowerCase();
  });

  function filter() {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    rows.forEach((row, n) => {
      row.hidden = !words.every((word) => texts[n].includes(word));
    });
    count.textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length} lines`;
    history.replaceState(null, "", words.length ? `#${encodeURIComponent(input.value)}` : location.pathname);
  }

  function sort(heading) {
    const down = heading.getAttribute("aria-sort") === "ascending", column = heading.cellIndex;
    const key = (row) => row.cells[column].textContent;
    const order = (x, y) => key(x).localeCompare(key(y), "en", {numeric: true});
    for (const other of heading.parentElement.cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", down ? "descending" : "ascending");
    body.append(...[...rows].sort((x, y) => (down ? -1 : 1) * order(x, y)));
  }

  for (const heading of table.tHead.rows[0].cells) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => sort(heading));
  }
  input.value = decodeURIComponent(location.hash.slice(1));
  input.addEventListener("input", filter);
  filter();
  document.documentElement.dataset.ready = "true";
})();
