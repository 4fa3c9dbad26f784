/** The parts that several views show: topic names, bars, cards, mixtures. */

import { h, percent } from "./dom.js";
import { link } from "./route.js";

const LEAST = 0.02; // of a document; less is hardly more than what the prior gives every topic

/** A heading of a section with what belongs to it. */
export function section(title, ...content) {
  return h("section", { class: "card" }, h("h2", null, title), ...content);
}

/** The colour of a topic, for its style. */
export const colourOf = (topic) => ({ "--topic": topic.colour });

/** A small round sign in the topic's colour. */
export const dot = (topic) =>
  h("span", { class: "dot", style: colourOf(topic), "data-sign": topic.sign % 4, "aria-hidden": "true" });

/** The name of a topic, leading to it. */
export function topicLink(topic) {
  return h(
    "a",
    { class: "topic-name", href: link("topic", [topic.index]), style: colourOf(topic) },
    dot(topic),
    topic.name,
  );
}

/** A bar; the number stands beside it, so the bar itself says nothing to a screen reader. */
export function bar(share, topic) {
  const length = `${Math.max(0.5, Math.min(100, 100 * share))}%`;
  return h(
    "span",
    { class: "bar", "aria-hidden": "true" },
    h("span", { style: { ...(topic ? colourOf(topic) : {}), width: length } }),
  );
}

/** The topics of a document as one strip. */
export function strip(proportions, topics) {
  const known = proportions.filter(([k, share]) => topics.has(k) && share >= LEAST);
  const rest = 1 - known.reduce((sum, [, share]) => sum + share, 0);
  const words = known.slice(0, 3).map(([k, share]) => `${topics.get(k).name} ${percent(share)}`);
  return h(
    "span",
    { class: "strip", role: "img", "aria-label": `Topics: ${words.join("; ")}` },
    known.map(([k, share]) =>
      h("span", {
        style: { ...colourOf(topics.get(k)), "flex-grow": share },
        title: `${topics.get(k).name} ${percent(share)}`,
      }),
    ),
    rest > 0.01 ? h("span", { style: { "flex-grow": rest }, title: `others ${percent(rest)}` }) : null,
  );
}

/** The topics of a document, one a line; with `choose`, each is a button that singles it out. */
export function mixture(proportions, topics, { chosen = null, choose = null, most = 10 } = {}) {
  const known = proportions.filter(([k, share], i) => topics.has(k) && (share >= LEAST || !i)).slice(0, most);
  const largest = known.length ? known[0][1] : 1;
  return h(
    "ul",
    { class: "mixture" },
    known.map(([k, share]) =>
      h("li", null, mixtureRow(topics.get(k), share, share / largest, chosen, choose)),
    ),
  );
}

function mixtureRow(topic, share, length, chosen, choose) {
  const inside = [
    h("span", { class: "share" }, percent(share)),
    h("span", { class: "label" }, dot(topic), topic.name),
    bar(length, topic),
  ];
  if (!choose) return h("a", { class: "row", href: link("topic", [topic.index]) }, inside);
  const pressed = String(chosen === topic.index);
  return [
    h(
      "button",
      {
        class: "row",
        type: "button",
        "aria-pressed": pressed,
        "data-topic": topic.index,
        onclick: () => choose(topic.index),
        title: "Show only the words of this topic",
      },
      inside,
    ),
    h(
      "a",
      { class: "open", href: link("topic", [topic.index]), "aria-label": `Open topic ${topic.name}` },
      "→",
    ),
  ];
}

/** Documents as a list of cards. */
export function documentList(cards, topics, { compareWith = null } = {}) {
  return h(
    "ul",
    { class: "documents" },
    cards.map((card) => h("li", null, documentCard(card, topics, compareWith))),
  );
}

function documentCard(card, topics, compareWith) {
  const facts = [card.label, card.id].filter(Boolean).join(" · ");
  return h(
    "article",
    { class: "document" },
    h("h3", null, h("a", { href: link("document", [card.index]), dir: "auto" }, card.title || card.id)),
    h(
      "p",
      { class: "facts" },
      h("span", { dir: "auto" }, facts),
      card.score === null || card.score === undefined
        ? null
        : h("span", { class: "score", title: "How near, from 0 to 1" }, card.score.toFixed(2)),
    ),
    card.snippet ? h("p", { class: "snippet", dir: "auto" }, card.snippet) : null,
    h(
      "div",
      { class: "foot" },
      strip(card.proportions, topics),
      compareWith === null ? null : h("a", { href: link("compare", [compareWith, card.index]) }, "Compare"),
    ),
  );
}

/** Something to read where there is nothing to show. */
export const message = (...words) => h("p", { class: "message" }, ...words);

/** A button that copies the address of what is shown. */
export function shareButton() {
  const button = h("button", { type: "button", class: "quiet copy" }, "Copy link");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      button.textContent = "Link copied";
    } catch {
      button.textContent = "Copy the address above"; // no permission, as in a file
    }
  });
  return button;
}
