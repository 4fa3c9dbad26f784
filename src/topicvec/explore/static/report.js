/** The report: records come from the page itself. */

import { start } from "./shell.js";

const records = JSON.parse(document.getElementById("records").textContent);

function known(table, index, what) {
  const found = table[Number(index)];
  if (!found) throw new Error(`This report has no ${what} with the number ${index}.`);
  return found;
}

/** A document as a card of a list. */
function card({ index, title, view, snippet }) {
  return {
    index,
    id: view.id,
    label: view.label,
    title,
    snippet,
    proportions: view.proportions,
    score: null,
  };
}

function search({ q = "", topic = "", label = "", n = 20, offset = 0 }) {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  const found = Object.values(records.documents).filter((page) => fits(page, words, topic, label));
  if (topic !== "") found.sort((a, b) => part(b, topic) - part(a, topic));
  return {
    total: found.length,
    offset: Number(offset),
    documents: found.slice(offset, Number(offset) + n).map(card),
  };
}

const part = (page, topic) => page.view.proportions.find(([k]) => k === Number(topic))?.[1] ?? 0;

function fits(page, words, topic, label) {
  if (label && page.view.label !== label) return false;
  if (topic !== "" && part(page, topic) < 0.05) return false;
  if (!words.length) return true;
  const text = `${page.view.id} ${page.view.spans.map(([piece]) => piece).join("")}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

function topicPage(index) {
  const page = known(records.topics, index, "topic");
  return {
    ...page,
    topic: records.overview.topics.find((topic) => topic.index === page.index),
    documents: page.documents.map((i) => card(records.documents[i])),
  };
}

function documentPage(index) {
  const page = known(records.documents, index, "document");
  return { ...page, similar: page.similar.map(([i, score]) => ({ ...card(records.documents[i]), score })) };
}

start({
  overview: async () => records.overview,
  topic: async (k) => topicPage(k),
  document: async (i) => documentPage(i),
  search: async (values) => search(values),
  cloud: (k) => `data:image/svg+xml,${encodeURIComponent(records.clouds[k === null ? "all" : k])}`,
});
