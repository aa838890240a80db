// Python for the forms of the page: Pyodide and toolrl_core, both from this site.
// Asks come in as { id, request }, JSON text; answers go out as { id, message }, JSON text too.
import { loadPyodide } from "./pyodide/pyodide.mjs";

const started = performance.now();
let counted = 0;
let told = 0;

// Count what is loaded, for the bar of progress.
const plainFetch = self.fetch.bind(self);
self.fetch = async (...wanted) => {
  const response = await plainFetch(...wanted);
  if (!response.ok) throw new Error(`${response.url} was not found (${response.status})`);
  const counting = new TransformStream({
    transform(chunk, controller) {
      counted += chunk.byteLength;
      if (performance.now() - told > 60) {
        told = performance.now();
        self.postMessage({ loaded: counted });
      }
      controller.enqueue(chunk);
    },
  });
  return new Response(response.body.pipeThrough(counting), response);
};

async function start() {
  const archive = new URL(new URL(import.meta.url).searchParams.get("archive"), import.meta.url);
  const sources = self.fetch(archive).then((response) => response.arrayBuffer());
  const [python, packed] = await Promise.all([loadPyodide(), sources]);
  self.postMessage({ starting: true });
  const place = "/lib/toolrl";
  python.FS.mkdirTree(place);
  python.unpackArchive(packed, "zip", { extractDir: place });
  const respond = python.runPython(`
import sys
sys.path.insert(0, "${place}")
from toolrl_core.page import respond
respond
`);
  self.postMessage({ ready: performance.now() - started });
  return respond;
}

const ready = start();
ready.catch((error) => self.postMessage({ broken: `Python did not start: ${last(error)}` }));

self.onmessage = async ({ data: { id, request } }) => {
  const respond = await ready;
  const begun = performance.now();
  try {
    respond(request, (message) => self.postMessage({ id, message, milliseconds: performance.now() - begun }));
  } catch (error) {
    self.postMessage({ broken: `Python stopped: ${last(error)}. It starts anew with the next press.` });
  }
};

function last(error) {
  return String(error?.message ?? error).trim().split("\n").pop();
}
