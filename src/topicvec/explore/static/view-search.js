/** Find documents: by meaning, by words, by topic, by class. */

import { announce, counted, h, number } from "./dom.js";
import { documentList, message } from "./parts.js";
import { link } from "./route.js";

const PAGE = 20;

export async function searchView({ source, overview, topics }, route) {
  const asked = Object.fromEntries(
    ["q", "topic", "label"].map((name) => [name, route.query.get(name) ?? ""]),
  );
  const found = await source.search({ ...asked, n: PAGE });
  const results = h("div", { class: "results" });
  const grow = (part) => {
    results.append(documentList(part.documents, topics));
    const next = part.offset + part.documents.length;
    if (next < part.total) results.append(moreButton(next));
  };
  const moreButton = (offset) => {
    const button = h("button", { type: "button", class: "more" }, "Show more");
    button.addEventListener("click", async () => {
      const part = await source.search({ ...asked, n: PAGE, offset });
      button.remove();
      grow(part);
      announce(`${number(Math.min(offset + PAGE, part.total))} of ${counted(part.total, "document")}`);
    });
    return button;
  };
  grow(found);
  return [
    h("h1", { "data-title": asked.q ? `“${asked.q}”` : "Documents" }, "Documents"),
    form(asked, overview),
    h("h2", { class: "unseen" }, "Found"),
    h("p", { class: "lead", role: "status" }, tally(found, asked, overview)),
    found.documents.length ? results : message("Nothing found. Try other words, or fewer of them."),
  ];
}

function tally(found, asked, overview) {
  if (asked.q && found.documents.length) return "The nearest first.";
  return found.total === overview.n_documents
    ? counted(found.total, "document")
    : `${number(found.total)} of ${counted(overview.n_documents, "document")}`;
}

function form(asked, overview) {
  const field = h("input", {
    type: "search",
    name: "q",
    value: asked.q,
    placeholder: "What are you looking for?",
    "aria-label": "Search for",
    maxlength: 500,
    class: "large",
  });
  const topic = choice(
    "topic",
    "Topic",
    [["", "Any topic"], ...overview.topics.map((each) => [String(each.index), each.name])],
    asked.topic,
  );
  const label = overview.labels.length
    ? choice(
        "label",
        "Class",
        [["", "Any class"], ...overview.labels.map((each) => [each, each])],
        asked.label,
      )
    : null;
  const made = h(
    "form",
    { class: "controls", "aria-label": "Search documents" },
    field,
    topic,
    label,
    h("button", { type: "submit" }, "Search"),
  );
  const go = () => {
    const values = { q: field.value.trim(), topic: topic.value, label: label?.value ?? "" };
    location.hash = link("search", [], values);
  };
  made.addEventListener("submit", (event) => {
    event.preventDefault();
    go();
  });
  for (const control of [topic, label]) control?.addEventListener("change", go);
  return made;
}

function choice(name, title, options, chosen) {
  return h(
    "select",
    { name, "aria-label": title },
    options.map(([value, text]) => h("option", { value, selected: value === chosen }, text)),
  );
}
