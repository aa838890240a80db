// An equation that is wider than the page scrolls in its own box; the keyboard reaches it there.
window.addEventListener("load", async () => {
  await window.MathJax?.startup?.promise;
  const reach = () => {
    for (const box of document.querySelectorAll(".bd-content div.math")) {
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  };
  reach();
  window.addEventListener("resize", reach);
});
