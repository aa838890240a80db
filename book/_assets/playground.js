// The forms that run toolrl_core in the page. Python starts in a worker at the first use, one for all forms.
(() => {
  const base = document.currentScript.src;
  const settings = JSON.parse(document.getElementById("toolrl-try-data").textContent);
  const LONGEST_LINK = 8000;
  const PAUSE = 250;
  const SLOW = 300;

  class Python {
    worker = null;
    ready = false;
    asks = new Map();
    last = 0;
    onprogress = () => {};
    onready = () => {};

    ask(request, onmessage = () => {}) {
      if (location.protocol === "file:") {
        const advice = "run `python -m http.server` in the folder of the book, and open http://localhost:8000/";
        return Promise.reject(new Error(`Python in the page needs the page to come from a web server: ${advice}`));
      }
      this.worker ??= this.start();
      const id = ++this.last;
      return new Promise((resolve, reject) => {
        this.asks.set(id, { resolve, reject, onmessage });
        this.worker.postMessage({ id, request: JSON.stringify(request) });
      });
    }

    start() {
      const address = new URL("playground-worker.js", base);
      address.search = new URLSearchParams({ v: settings.version, archive: settings.archive });
      const worker = new Worker(address, { type: "module" });
      worker.onmessage = ({ data }) => this.hear(data);
      worker.onerror = (event) => {
        event.preventDefault();
        this.stop(`Python did not start: ${event.message ?? "its files could not be loaded"}`);
      };
      this.onprogress(0);
      return worker;
    }

    hear(data) {
      if (data.loaded) this.onprogress(Math.min(data.loaded / settings.bytes, 1));
      if (data.starting) this.onprogress(null);
      if (data.broken) this.stop(data.broken);
      if (data.ready) {
        this.ready = true;
        this.onready();
        document.documentElement.dataset.pythonStart = Math.round(data.ready);
      }
      const ask = this.asks.get(data.id);
      if (!ask) return;
      const message = JSON.parse(data.message);
      if ("done" in message) {
        ask.onmessage(message);
        return;
      }
      this.asks.delete(data.id);
      ask.resolve({ ...message, text: data.message, milliseconds: data.milliseconds });
    }

    // End the worker, whatever it does; the next question starts another.
    stop(why) {
      this.worker?.terminate();
      this.worker = null;
      this.ready = false;
      for (const { reject } of this.asks.values()) reject(new Error(why));
      this.asks.clear();
    }
  }

  const python = new Python();

  class Form {
    constructor(element) {
      this.element = element;
      this.kind = element.dataset.kind;
      this.examples = JSON.parse(this.part(".try-examples").textContent);
      this.waiting = false; // whether an answer is on its way
      this.stale = false; // whether the input changed since
      this.tried = false;
      element.addEventListener("submit", (event) => {
        event.preventDefault();
        this.run();
      });
      element.addEventListener("input", (event) => this.changed(event.target));
      element.addEventListener("keydown", (event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
          event.preventDefault();
          this.run();
        }
      });
      this.on(".try-cancel", () => python.stop("Cancelled."));
      this.on(".try-link", () => this.copyLink());
      this.on(".try-open", async ({ currentTarget }) => {
        const packed = await pack(this.state());
        if (packed) location.href = `${currentTarget.dataset.page}#try=${packed}`;
        else this.say("The text is too long to be handed over: copy it.");
      });
      this.on(".try-copy", () => this.copy(this.code(), "The Python code is copied."));
      this.part(".try-python").addEventListener("toggle", () => this.showCode());
      this.field("example") && this.choose(this.field("example").value);
      this.showPreset();
    }

    part(selector) {
      return this.element.querySelector(selector);
    }

    on(selector, act) {
      this.part(selector)?.addEventListener("click", act);
    }

    field(name) {
      return this.element.elements.namedItem(name);
    }

    changed(target) {
      if (target.name === "text") this.file = undefined; // typed rows take the place of a file
      if (target.name === "example") this.choose(target.value);
      else if (target.type === "file") this.read(target.files[0]);
      else if (target.name in { completion: 0, ground_truth: 0, text: 0 } && this.field("example")) this.own();
      if (target.name === "preset") this.showPreset();
      this.showCode();
      if (this.kind === "rows" || !this.tried || !python.ready) return;
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.run(), PAUSE);
    }

    own() {
      this.field("example").value = "";
      this.part(".try-shows").textContent = "";
    }

    choose(name) {
      const example = this.examples[name];
      this.part(".try-shows").textContent = example?.shows ?? "";
      if (example) this.fill(example);
    }

    fill(state) {
      for (const name of ["completion", "ground_truth", "text", "preset"]) {
        if (this.field(name) && typeof state[name] === "string") this.field(name).value = state[name];
      }
      if (this.kind !== "score") return;
      this.field("step").value = Number.isFinite(state.step) ? state.step : "";
      for (const control of this.options()) {
        const value = state.options?.[control.dataset.option] ?? "";
        control.value = typeof value === "object" ? JSON.stringify(value) : String(value);
      }
      this.part(".try-options").open ||= Object.keys(state.options ?? {}).length > 0;
      this.showPreset();
    }

    options() {
      return this.element.querySelectorAll("[data-option]");
    }

    // Name the preset's value in the choice that keeps it.
    showPreset() {
      const preset = settings.presets[this.field("preset")?.value];
      for (const control of preset ? this.options() : []) {
        const value = preset[control.dataset.option];
        if (control.options) control.options[0].textContent = `as the preset: ${value ?? "as credit"}`;
      }
    }

    async read(file) {
      if (!file) return;
      try {
        this.file = await file.text();
        this.field("text").value = "";
        this.field("text").placeholder = `the rows of ${file.name}`;
        this.say(`${file.name} is read; it stays on this computer.`);
      } catch (error) {
        this.fail({ type: error.name, text: error.message });
      }
    }

    // What the form holds, as a question to Python; also what a link carries.
    state() {
      if (this.kind !== "score") return { kind: this.kind, text: this.file ?? this.field("text").value };
      const options = {};
      for (const control of this.options()) {
        const { option } = control.dataset;
        if (control.value.trim() === "") continue;
        options[option] = { true: true, false: false }[control.value] ?? control.value;
      }
      const state = { kind: "score", preset: this.field("preset").value, options };
      for (const name of ["completion", "ground_truth"]) state[name] = this.field(name).value;
      if (this.field("step").value !== "") state.step = Number(this.field("step").value);
      return state;
    }

    async run() {
      clearTimeout(this.timer);
      this.tried = true;
      if (this.waiting) {
        this.stale = true;
        return;
      }
      const state = this.state();
      this.busy(true);
      try {
        const answer = await python.ask(state, ({ done }) => this.say(`${done.toLocaleString("en")} rows are scored.`));
        this.element.dataset.milliseconds = answer.milliseconds;
        if (answer.error) this.fail(answer.error);
        else this.show(answer.result);
      } catch (error) {
        this.fail({ text: error.message });
        this.stale = false;
      }
      this.busy(false);
      if (this.stale) {
        this.stale = false;
        this.run();
      } else if (this.part(".try-link")) {
        const packed = await pack(state);
        if (packed) history.replaceState(null, "", `#try=${packed}`);
      }
    }

    busy(on) {
      this.waiting = on;
      this.element.setAttribute("aria-busy", on);
      clearTimeout(this.slow);
      if (on) {
        const starting = !python.ready;
        if (starting) this.say("Python is starting in this page.");
        this.slow = setTimeout(() => this.showWork(true), starting ? 0 : SLOW);
        python.onprogress = (share) => this.progress(share);
        python.onready = () => this.say("Python has started.");
      } else this.showWork(false);
    }

    showWork(on) {
      this.part(".try-cancel").hidden = !on;
      this.part(".try-progress").hidden = !on;
      if (on) this.progress(null);
    }

    progress(share) {
      const bar = this.part(".try-progress");
      if (share === null) bar.removeAttribute("value");
      else bar.value = share;
    }

    say(words) {
      this.part(".try-status").textContent = words;
    }

    fail({ type, text }) {
      const box = this.part(".try-error");
      box.textContent = type ? `${type}: ${text}` : text;
      box.hidden = false;
      this.part(".try-result").replaceChildren();
      this.say("");
      this.element.dataset.shown = "error";
    }

    show(result) {
      this.part(".try-error").hidden = true;
      this.say(result.summary);
      // All text from the input is escaped by Python, in the tests too.
      const parts = { score: [result.comparison, result.ladder, result.matching] }[this.kind] ?? [result.html];
      const boxes = parts.filter(Boolean).map((html) => {
        const box = document.createElement("div");
        box.className = "try-box";
        box.innerHTML = html;
        return box;
      });
      if (result.file) boxes.push(download(result.file));
      const open = this.part(".toolrl-reasons")?.open;
      this.part(".try-result").replaceChildren(...boxes);
      if (open && this.part(".toolrl-reasons")) this.part(".toolrl-reasons").open = true;
      reach();
      this.element.dataset.shown = "result";
    }

    async copyLink() {
      const packed = await pack(this.state());
      if (!packed) {
        this.say("The text is too long for a link: send it as a file.");
        return;
      }
      history.replaceState(null, "", `#try=${packed}`);
      this.copy(location.href, "The link is copied.");
    }

    async copy(text, words) {
      try {
        await navigator.clipboard.writeText(text);
        this.say(words);
      } catch {
        this.part(".try-python").open = true;
        this.say("The browser does not let the page copy: mark the text and copy it.");
      }
    }

    showCode() {
      if (this.part(".try-python").open) this.part(".try-python code").textContent = this.code();
    }

    code() {
      return { score: scoreCode, turn: turnCode, rows: rowsCode }[this.kind](this.state());
    }
  }

  function download(text) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/html" }));
    link.download = "audit.html";
    link.textContent = "Save the whole report (HTML)";
    const box = document.createElement("p");
    box.append(link);
    return box;
  }

  // A box that is wider than the page scrolls by itself; the keyboard reaches it there.
  function reach() {
    for (const box of document.querySelectorAll(".try-box")) {
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  }

  // The state in an address: JSON, deflated, in the letters that an address may hold; null where it is too long.
  async function pack(state) {
    const written = new TextEncoder().encode(JSON.stringify(state));
    if (written.length > 20 * LONGEST_LINK) return null;
    const bytes = await through(new CompressionStream("deflate-raw"), written);
    if (bytes.length > 0.75 * LONGEST_LINK) return null;
    let text = "";
    for (const byte of bytes) text += String.fromCharCode(byte);
    return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  }

  async function unpack(packed) {
    const text = atob(packed.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
    return JSON.parse(new TextDecoder().decode(await through(new DecompressionStream("deflate-raw"), bytes)));
  }

  async function through(stream, bytes) {
    return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
  }

  // JSON text is a Python literal of the same text; several plain lines are easier to read in triple quotes.
  function literal(value) {
    if (value === null || value === undefined) return "None";
    if (typeof value === "boolean") return value ? "True" : "False";
    if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
    if (typeof value === "object") {
      return `{${Object.entries(value).map(([key, item]) => `${literal(key)}: ${literal(item)}`).join(", ")}}`;
    }
    return JSON.stringify(value);
  }

  const jsonOptions = new Set([...document.querySelectorAll("[data-json]")].map(({ dataset }) => dataset.option));

  function decoded(text) {
    try {
      return JSON.parse(text);
    } catch {
      return text;
    }
  }

  function longText(text) {
    const plain = text.includes("\n") && text.isWellFormed?.() !== false && !/\\|"""|"$|[\0-\x09\x0b-\x1f]/.test(text);
    return plain ? `"""${text}"""` : literal(text);
  }

  function scoreCode({ completion, ground_truth, preset, options, step }) {
    const imports = ["RewardSpec", "score"];
    const changes = Object.entries(options).map(([option, value]) => {
      if (option === "schedule") {
        imports.push(value);
        return `schedule=${value}()`;
      }
      if (option === "length_reward") {
        if (value) imports.push("LengthReward");
        return `length_reward=${value ? "LengthReward()" : "None"}`;
      }
      return `${option}=${literal(jsonOptions.has(option) ? decoded(value) : value)}`;
    });
    const spec = `RewardSpec.preset(${literal(preset)})${changes.length ? `.replace(${changes.join(", ")})` : ""}`;
    return [
      `from toolrl_core import ${imports.sort().join(", ")}`,
      "",
      `completion = ${longText(completion)}`,
      `ground_truth = ${longText(ground_truth)}`,
      `spec = ${spec}`,
      `breakdown = score(completion, ground_truth, spec${step === undefined ? "" : `, step=${step}`})`,
      "breakdown  # in a notebook: the ladder",
      "",
    ].join("\n");
  }

  function turnCode({ text }) {
    return [
      "from toolrl_core import CONTRACTS, turn_verdict",
      "",
      `turn = ${longText(text)}`,
      "verdicts = {contract: turn_verdict(turn, contract) for contract in CONTRACTS}",
      "{contract: verdict.void for contract, verdict in verdicts.items()}",
      "",
    ].join("\n");
  }

  function rowsCode() {
    return [
      "from toolrl_core.audit.run import audit",
      "",
      'report = audit("rows.jsonl", presets=["paper", "released", "robust"])  # the rows, saved as a file',
      "report  # in a notebook: the whole report",
      "",
    ].join("\n");
  }

  function tabs(playground) {
    const list = [...playground.querySelectorAll("[role=tab]")];
    const select = (tab, { focus = false } = {}) => {
      for (const each of list) {
        each.setAttribute("aria-selected", each === tab);
        each.tabIndex = each === tab ? 0 : -1;
        document.getElementById(each.getAttribute("aria-controls")).hidden = each !== tab;
      }
      if (focus) tab.focus();
      reach();
    };
    list.forEach((tab, i) => {
      tab.addEventListener("click", () => select(tab));
      tab.addEventListener("keydown", ({ key }) => {
        const place = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: list.length - 1 }[key];
        if (place !== undefined) select(list.at(place % list.length), { focus: true });
      });
    });
    return select;
  }

  const forms = [...document.querySelectorAll(".toolrl-try")].map((element) => new Form(element));
  const playground = document.querySelector(".toolrl-playground");
  const select = playground && tabs(playground);

  async function restore() {
    const packed = location.hash.match(/^#try=([\w-]+)$/)?.[1];
    if (!packed || !playground) return;
    let state;
    try {
      state = await unpack(packed);
      if (typeof state?.kind !== "string") throw new Error("no state");
    } catch {
      forms[0].fail({ text: "The link is damaged: it holds no state of this page." });
      return;
    }
    const form = forms.find(({ kind }) => kind === state.kind) ?? forms[0];
    select(document.getElementById(`tab-${form.kind}`));
    if (form.field("example")) form.own();
    form.fill(state);
    form.run();
  }

  window.addEventListener("hashchange", restore);
  window.addEventListener("resize", reach);
  window.toolrl = { ask: (request) => python.ask(request) };
  restore();
})();
