// What ipywidgets' page manager lacks: MathJax 3 for its labels, and words for the handles of its sliders.
window.addEventListener("load", () => {
  const mathjax = window.MathJax;
  if (mathjax?.startup) {
    // The manager queues labels the way MathJax 2 wanted it.
    mathjax.Hub = { Queue: ([, , element]) => mathjax.startup.promise.then(() => mathjax.typesetPromise([element])) };
  }

  // A handle is named by its label and speaks the value that the reader sees, not its index.
  const describe = (handle) => {
    const row = handle.closest(".widget-inline-hbox");
    const label = row?.querySelector(".widget-label");
    const readout = row?.querySelector(".widget-readout");
    if (!label || !readout) return;
    label.id ||= `slider-${describe.count = (describe.count ?? 0) + 1}`;
    if (handle.getAttribute("aria-labelledby") !== label.id) handle.setAttribute("aria-labelledby", label.id);
    const spoken = readout.textContent.trim();
    if (handle.getAttribute("aria-valuetext") !== spoken) handle.setAttribute("aria-valuetext", spoken);
  };
  const describeAll = () => document.querySelectorAll(".noUi-handle").forEach(describe);
  new MutationObserver(describeAll).observe(document.body, {
    childList: true, subtree: true, characterData: true, attributes: true, attributeFilter: ["aria-valuetext"],
  });
  describeAll();
});
