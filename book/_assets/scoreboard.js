// Each table of the scoreboard is filtered by the form above it and sorted by its column headers; the address can carry a
// filter.
window.addEventListener("DOMContentLoaded", () => {
  const asked = new URLSearchParams(window.location.search);
  for (const form of document.querySelectorAll(".scoreboard-controls")) {
    const table = document.querySelector(`.scoreboard[data-kind="${form.dataset.kind}"] table`);
    if (table) connect(form, table, asked);
  }

  function connect(form, table, wishes) {
    const body = table.tBodies[0];
    const rows = [...body.rows];
    const names = ["verdict", "note", "level", "chapter"];

    const filter = () => {
      const words = form.elements.words.value.trim().toLowerCase();
      let shown = 0;
      for (const row of rows) {
        const fits = names.every((name) => {
          const wanted = form.elements[name].value;
          return !wanted || row.dataset[name] === wanted;
        });
        row.hidden = !(fits && row.textContent.toLowerCase().includes(words));
        shown += row.hidden ? 0 : 1;
      }
      form.querySelector("output").textContent = `${shown} of ${rows.length} ${form.dataset.noun}`;
    };
    form.addEventListener("input", filter);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => setTimeout(filter));

    // A header's button sorts up, then down; rows that are equal keep the order of the notes.
    const headers = [...table.tHead.rows[0].cells];
    headers.forEach((header, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...header.childNodes);
      header.append(button);
      button.addEventListener("click", () => {
        const down = header.getAttribute("aria-sort") === "ascending";
        headers.forEach((other) => other.removeAttribute("aria-sort"));
        header.setAttribute("aria-sort", down ? "descending" : "ascending");
        const keys = new Map(rows.map((row) => [row, row.cells[column].textContent]));
        const order = new Intl.Collator("en", { numeric: true }).compare;
        body.append(...[...rows].sort((a, b) => (down ? -1 : 1) * order(keys.get(a), keys.get(b))));
      });
    });

    // A choice that this table does not have leaves it as it is: the address may mean the other one.
    for (const [name, value] of wishes) {
      const field = form.elements[name];
      if (field && (!field.options || [...field.options].some((option) => option.value === value))) field.value = value;
    }
    form.hidden = false;
    filter();
  }
});
