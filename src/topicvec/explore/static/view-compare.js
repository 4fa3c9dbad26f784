/** Two documents side by side. */

import { h, percent } from "./dom.js";
import { bar, dot, documentList, message, section, shareButton } from "./parts.js";
import { link } from "./route.js";
import { colouredText, highlight } from "./text.js";

export async function compareView({ source, topics }, route) {
  const chosen = [0, 1].map((side) => (route.parts[side] === undefined ? null : Number(route.parts[side])));
  const pages = await Promise.all(chosen.map((index) => (index === null ? null : source.document(index))));
  const texts = pages.map(
    (page, side) => page && colouredText(page.view, topics, (from) => source.text(chosen[side], from)),
  );
  const both = pages.every(Boolean);
  return [
    h("div", { class: "heading" }, h("h1", null, "Compare"), both ? shareButton() : null),
    both ? shared(pages, topics, texts) : h("p", { class: "lead" }, "Choose two documents."),
    h(
      "div",
      { class: "columns even" },
      [0, 1].map((side) => column(side, chosen, pages, texts, source, topics)),
    ),
  ];
}

function column(side, chosen, pages, texts, source, topics) {
  const name = side ? "Second document" : "First document";
  const page = pages[side];
  const picker = finder(name, side, chosen, source, topics);
  if (!page) return section(name, picker);
  const title = h(
    "h3",
    { dir: "auto" },
    h("a", { href: link("document", [chosen[side]]) }, page.title || page.view.id),
  );
  return section(
    name,
    title,
    h("p", { class: "facts", dir: "auto" }, [page.view.label, page.view.id].filter(Boolean).join(" · ")),
    h("details", null, h("summary", null, "Choose another"), picker),
    texts[side],
  );
}

/** A search whose results become one side of the comparison. */
function finder(name, side, chosen, source, topics) {
  const field = h("input", {
    type: "search",
    "aria-label": `Find the ${name.toLowerCase()}`,
    placeholder: "Find a document",
    maxlength: 500,
  });
  const results = h("div", { class: "results" });
  const form = h("form", { class: "controls" }, field, h("button", { type: "submit" }, "Find"));
  const show = async () => {
    const found = await source.search({ q: field.value.trim(), n: 5 });
    results.replaceChildren(
      found.documents.length ? documentList(found.documents, topics) : message("Nothing found."),
    );
    for (const anchor of results.querySelectorAll("h3 a"))
      anchor.href = address(side, chosen, Number(anchor.hash.split("/")[2]));
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    show();
  });
  return h("div", null, form, results);
}

function address(side, chosen, index) {
  const [one, other] = side ? [chosen[0], index] : [index, chosen[1]];
  return one === null ? link("compare", [index]) : link("compare", other === null ? [one] : [one, other]);
}

/** The two mixtures against each other, and what they have in common. */
function shared(pages, topics, texts) {
  const [first, second] = pages.map((page) => new Map(page.view.proportions));
  const all = [...new Set([...first.keys(), ...second.keys()])].filter((k) => topics.has(k));
  const common = all.reduce((sum, k) => sum + Math.min(first.get(k) ?? 0, second.get(k) ?? 0), 0);
  const size = (k) => (first.get(k) ?? 0) + (second.get(k) ?? 0);
  const rows = all
    .filter((k) => size(k) >= 0.04)
    .sort((a, b) => size(b) - size(a))
    .slice(0, 10);
  const largest = Math.max(...rows.flatMap((k) => [first.get(k) ?? 0, second.get(k) ?? 0]), 1e-9);
  const body = h(
    "tbody",
    null,
    rows.map((k) => row(topics.get(k), first.get(k) ?? 0, second.get(k) ?? 0, largest, texts)),
  );
  return section(
    `${percent(common)} of their topics in common`,
    h(
      "table",
      { class: "butterfly" },
      h(
        "thead",
        null,
        h(
          "tr",
          null,
          ["First", "Topic", "Second"].map((name) => h("th", { scope: "col" }, name)),
        ),
      ),
      body,
    ),
  );
}

const shown = (share) => (share ? percent(share) : "–");

function row(topic, left, right, largest, texts) {
  const button = h(
    "button",
    { type: "button", class: "quiet", "aria-pressed": "false", title: "Show only the words of this topic" },
    dot(topic),
    topic.name,
  );
  button.addEventListener("click", () => {
    const on = button.getAttribute("aria-pressed") !== "true";
    for (const other of button.closest("table").querySelectorAll("button"))
      other.setAttribute("aria-pressed", "false");
    button.setAttribute("aria-pressed", String(on));
    for (const text of texts) highlight(text, on ? topic.index : null);
  });
  return h(
    "tr",
    null,
    h(
      "td",
      { class: "left" },
      h("span", { class: "share" }, shown(left)),
      left ? bar(left / largest, topic) : null,
    ),
    h("th", { scope: "row" }, button),
    h(
      "td",
      { class: "right" },
      right ? bar(right / largest, topic) : null,
      h("span", { class: "share" }, shown(right)),
    ),
  );
}
