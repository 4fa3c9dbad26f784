/** The explorer: records come from the server that sent this file. */

import { start } from "./shell.js";

const kept = new Map(); // answers do not change while the server runs

async function ask(path, options) {
  const response = await fetch(`api/${path}`, options);
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(answer.error ?? `The server answered ${response.status}.`);
  return answer;
}

function remember(path) {
  if (!kept.has(path)) {
    kept.set(path, ask(path));
    kept.get(path).catch(() => kept.delete(path));
  }
  return kept.get(path);
}

const query = (values) =>
  new URLSearchParams(
    Object.entries(values).filter(([, value]) => value !== "" && value !== null && value !== undefined),
  ).toString();

start({
  overview: () => remember("overview"),
  topic: (k) => remember(`topics/${Number(k)}`),
  document: (i) => remember(`documents/${Number(i)}`),
  text: (i, from) => ask(`documents/${Number(i)}/text?${query({ start: from })}`),
  search: (values) => remember(`documents?${query(values)}`),
  cloud: (k) => (k === null ? "api/cloud.svg" : `api/topics/${Number(k)}/cloud.svg`),
  analyse: (text, signal) =>
    ask("analyse", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ text }),
      signal,
    }),
  api: "api",
});
