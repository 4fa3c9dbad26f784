/** One document: its text in colours, its mixture, a summary, documents like it. */

import { counted, h } from "./dom.js";
import { documentList, message, mixture, section, shareButton } from "./parts.js";
import { link, replaceRoute } from "./route.js";
import { colouredText, highlight } from "./text.js";

const CUT = "The report holds the beginning of this text only.";

export async function documentView({ source, topics }, route) {
  const index = Number(route.parts[0]);
  const page = await source.document(index);
  const text = colouredText(page.view, topics, (from) => source.text(index, from));
  const asked = route.query.get("topic");
  const legend = chooser(page.view.proportions, topics, text, asked === null ? null : Number(asked), (k) =>
    link("document", [index], { topic: k }),
  );
  const facts = [page.view.label, page.view.id, counted(page.n_words, "word")].filter(Boolean);
  return [
    h("p", { class: "crumbs" }, h("a", { href: link("search") }, "Documents"), ` / ${index + 1}`),
    h(
      "div",
      { class: "heading" },
      h("h1", { dir: "auto" }, page.title || page.view.id),
      h(
        "div",
        { class: "actions" },
        h("a", { class: "button", href: link("compare", [index]) }, "Compare"),
        shareButton(),
      ),
    ),
    h("p", { class: "lead", dir: "auto" }, facts.join(" · ")),
    h(
      "div",
      { class: "columns wide-first" },
      h(
        "div",
        { class: "stack" },
        summary(page.summary),
        h("section", { class: "card", "aria-label": "Text" }, text, page.cut ? message(CUT) : null),
      ),
      legend,
    ),
    page.similar.length
      ? section("Similar documents", documentList(page.similar, topics, { compareWith: index }))
      : null,
  ];
}

/** The mixture, each topic a button that singles out its words in the text. */
export function chooser(proportions, topics, text, first, address) {
  let chosen = null;
  const holder = h("section", { class: "card sticky" }, h("h2", null, "Topics"));
  if (!proportions.some(([k]) => topics.has(k))) {
    holder.append(message("No word of this text is known."));
    return holder;
  }
  const choose = (k) => {
    chosen = chosen === k ? null : k;
    highlight(text, chosen);
    for (const button of holder.querySelectorAll("button"))
      button.setAttribute("aria-pressed", String(Number(button.dataset.topic) === chosen));
    if (address) replaceRoute(address(chosen));
  };
  holder.append(
    h("p", { class: "hint" }, "Press one to see its words alone."),
    mixture(proportions, topics, { choose }),
  );
  if (first !== null && topics.has(first)) choose(first);
  return holder;
}

/** The sentences that say most. */
export function summary(sentences) {
  if (!sentences.length) return null;
  return section(
    "Summary",
    h("p", { class: "hint" }, "The sentences nearest to the topics of the whole."),
    h(
      "ol",
      { class: "summary" },
      sentences.map((sentence) => h("li", { dir: "auto" }, h("span", null, sentence[0]))),
    ),
  );
}
