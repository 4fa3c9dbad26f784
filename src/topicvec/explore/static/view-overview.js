/** The first page: the map of topics, and the list of them. */

import { announce, counted, h, number, percent } from "./dom.js";
import { topicMap } from "./map.js";
import { bar, colourOf, dot } from "./parts.js";
import { link, replaceRoute } from "./route.js";

const ORDERS = {
  share: ["Largest first", (a, b) => rank(a) - rank(b) || b.share - a.share],
  name: ["By name", (a, b) => a.name.localeCompare(b.name)],
};

/** Topics that tell something stand before background, and that before the null topic. */
function rank(topic) {
  return topic.is_null ? 2 : topic.is_background ? 1 : 0;
}

export function overviewView({ source, overview }, route) {
  const facts = [
    counted(overview.n_documents, "document"),
    counted(overview.topics.filter((topic) => !topic.is_null).length, "topic"),
    `${number(overview.n_words)} words`,
  ];
  const behind = overview.topics.filter((topic) => topic.is_background);
  if (behind.length)
    facts.push(`${percent(behind.reduce((sum, topic) => sum + topic.share, 0))} background`);
  return [
    h("h1", { "data-title": "Topics", dir: "auto" }, overview.title),
    h(
      "p",
      { class: "lead" },
      facts.join(" · "),
      overview.note ? h("span", null, ` · ${overview.note}`) : null,
    ),
    h(
      "div",
      { class: "columns wide-first" },
      h(
        "section",
        { class: "card", "aria-labelledby": "map-title" },
        h("h2", { id: "map-title" }, "Map"),
        h("p", { class: "hint" }, "Near topics are similar; the area is the share of all words."),
        topicMap(overview.topics, overview.map_height),
      ),
      list(overview, route),
    ),
    h(
      "section",
      { class: "card cloud-card" },
      h("h2", null, "Cloud"),
      h("p", { class: "hint" }, "Cells are sized by share, words by relevance."),
      h("img", {
        class: "cloud",
        width: 1200,
        height: 640,
        src: source.cloud(null),
        alt: "Cloud of the largest topics; the list has the same words",
        loading: "lazy",
      }),
    ),
    source.api
      ? h("p", { class: "foot-note" }, "For programs: ", h("a", { href: source.api }, "the JSON API"))
      : null,
  ];
}

function list(overview, route) {
  const largest = Math.max(
    ...overview.topics.filter((topic) => !topic.is_null).map((topic) => topic.share),
    1e-9,
  );
  const items = h("ol", { class: "topics" });
  const field = h("input", {
    type: "search",
    "aria-label": "Filter topics by word",
    placeholder: "Filter by word",
    value: route.query.get("q") ?? "",
  });
  const order = h(
    "select",
    { "aria-label": "Order of topics" },
    Object.entries(ORDERS).map(([key, [name]]) =>
      h("option", { value: key, selected: key === route.query.get("order") }, name),
    ),
  );
  const show = () => {
    const wanted = field.value.trim().toLowerCase();
    const found = overview.topics.filter((topic) => matches(topic, wanted)).sort(ORDERS[order.value][1]);
    items.replaceChildren(...found.map((topic) => item(topic, largest, wanted)));
    if (!found.length) items.append(h("li", { class: "message" }, "No topic has such a word."));
    replaceRoute(link("", [], { q: wanted, order: order.value === "share" ? "" : order.value }));
    return found.length;
  };
  for (const control of [field, order])
    control.addEventListener("input", () => announce(counted(show(), "topic")));
  show();
  return h(
    "section",
    { class: "card list-card", "aria-labelledby": "list-title" },
    h("h2", { id: "list-title" }, "Topics"),
    h("div", { class: "controls" }, field, order),
    items,
  );
}

function matches(topic, wanted) {
  return (
    !wanted ||
    topic.name.toLowerCase().includes(wanted) ||
    topic.words.some(([word]) => word.includes(wanted))
  );
}

function item(topic, largest, wanted) {
  const words = topic.words
    .slice(0, 12)
    .map(([word]) => [wanted && word.includes(wanted) ? h("mark", { class: "hit" }, word) : word, " "]);
  return h(
    "li",
    { class: topic.is_null ? "null" : topic.is_background ? "background" : "" },
    h(
      "a",
      { href: link("topic", [topic.index]), style: colourOf(topic) },
      h("span", { class: "share" }, percent(topic.share)),
      h(
        "span",
        { class: "label" },
        dot(topic),
        topic.name,
        topic.is_background ? h("span", { class: "kind" }, " background") : null,
      ),
      bar(topic.share / largest, topic),
      h("span", { class: "words" }, words),
    ),
  );
}
