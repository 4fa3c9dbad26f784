/** One topic: its words, its cloud, its documents, the topics near to it. */

import { counted, h, percent } from "./dom.js";
import { bar, colourOf, dot, documentList, message, section, shareButton, topicLink } from "./parts.js";
import { link } from "./route.js";

export async function topicView({ source, topics }, route) {
  const page = await source.topic(route.parts[0]);
  const { topic } = page;
  return [
    h("p", { class: "crumbs" }, h("a", { href: "#/" }, "Topics"), ` / topic ${topic.index}`),
    h(
      "div",
      { class: "heading", style: colourOf(topic) },
      h("h1", { dir: "auto" }, dot(topic), topic.name),
      shareButton(),
    ),
    h(
      "p",
      { class: "lead" },
      `${percent(topic.share)} of all words · the main topic of ${counted(page.n_main, "document")}`,
      topic.class_ ? ` · learned for ${topic.class_}` : "",
    ),
    topic.is_null
      ? message("The null topic takes what belongs to no other: words as in the language at large.")
      : null,
    h(
      "div",
      { class: "columns" },
      h(
        "div",
        { class: "stack" },
        section("Words", h("p", { class: "hint" }, "Most relevant first."), words(topic)),
        topic.nearest.length
          ? section(
              "Nearest words of the language",
              h("p", { class: "hint" }, "By meaning, whether they occur in these documents or not."),
              h("p", { class: "nearest" }, topic.nearest.map(([word]) => word).join(", ")),
            )
          : null,
      ),
      h(
        "div",
        { class: "stack" },
        topic.words.length
          ? section(
              "Cloud",
              h("img", {
                class: "cloud",
                width: 330,
                height: 160,
                src: source.cloud(topic.index),
                loading: "lazy", // its drawing must not hold up the words
                alt: `Cloud of the words of ${topic.name}; the list has the same words`,
              }),
            )
          : null,
        page.similar.length ? section("Similar topics", similar(page.similar, topics)) : null,
        page.labels.length
          ? section(
              "Classes",
              h("p", { class: "hint" }, "The topic's part in each class."),
              classes(page.labels, topic),
            )
          : null,
      ),
    ),
    section(
      "Documents",
      h(
        "p",
        { class: "hint" },
        "Those with the largest part of this topic. ",
        source.analyse ? h("a", { href: link("search", [], { topic: topic.index }) }, "All of them") : null,
      ),
      page.documents.length ? documentList(page.documents, topics) : message("No document has this topic."),
    ),
  ];
}

function words(topic) {
  const largest = topic.words.length ? topic.words[0][1] : 1;
  return h(
    "ol",
    { class: "words-list", style: colourOf(topic) },
    topic.words.map(([word, relevance]) =>
      h(
        "li",
        null,
        h("a", { href: link("search", [], { q: word }), dir: "auto" }, word),
        bar(relevance / largest, topic),
      ),
    ),
  );
}

function similar(pairs, topics) {
  return h(
    "ul",
    { class: "plain" },
    pairs
      .filter(([k]) => topics.has(k))
      .map(([k, cosine]) =>
        h(
          "li",
          null,
          topicLink(topics.get(k)),
          h("span", { class: "score", title: "Cosine of the topics' vectors" }, cosine.toFixed(2)),
        ),
      ),
  );
}

function classes(labels, topic) {
  const largest = labels[0][1];
  return h(
    "ul",
    { class: "classes" },
    labels.map(([label, share]) =>
      h(
        "li",
        null,
        h("span", { class: "share" }, percent(share)),
        h("a", { href: link("search", [], { topic: topic.index, label }), dir: "auto" }, label),
        bar(share / largest, topic),
      ),
    ),
  );
}
