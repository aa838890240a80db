// The folding marks of the table of contents get words, and paper shows folded tables; code stays folded.
window.addEventListener("DOMContentLoaded", () => {
  for (const mark of document.querySelectorAll(".bd-sidebar-primary summary")) {
    const page = mark.closest("li")?.querySelector("a")?.textContent.trim();
    mark.setAttribute("aria-label", `Pages under ${page}`);
  }
});
window.addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll(".bd-content details:not(.hide)")) details.open = true;
});
