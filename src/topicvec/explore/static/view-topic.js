/** One topic: its words, its cloud, its documents, the topics near to it. */

import { announce, counted, h, percent } from "./dom.js";
import { bar, colourOf, dot, documentList, message, section, shareButton, topicLink } from "./parts.js";
import { link, replaceRoute } from "./route.js";

const SHOWN = 30; // words of a topic
const STEPS = 20; // of the slider from telling words to frequent ones

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
    topic.is_background
      ? message("Background: its words say nothing of what the documents are about.")
      : null,
    topic.is_null
      ? message("The null topic takes what belongs to no other: words as in the language at large.")
      : null,
    h(
      "div",
      { class: "columns" },
      h(
        "div",
        { class: "stack" },
        section("Words", ...words(page, route)),
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

/** The words as the model ranks them, and a slider that ranks them otherwise. */
function words({ topic, frequencies }, route) {
  const hint = h("p", { class: "hint", id: "balance-hint" });
  const list = h("ol", { class: "words-list", style: colourOf(topic) });
  if (!frequencies.length) {
    list.replaceChildren(...wordRows(topic.words, topic));
    return [list];
  }
  const slider = h("input", {
    type: "range",
    id: "balance",
    min: 0,
    max: 1,
    step: 1 / STEPS,
    "aria-describedby": "balance-hint",
  });
  const reset = h("button", { type: "button", class: "quiet" }, "Model’s ranking");
  const show = (balance) => {
    const ranked = balance === null ? topic.words : byBalance(frequencies, balance);
    list.replaceChildren(...wordRows(ranked, topic));
    slider.value = balance ?? nearestBalance(frequencies, topic.words);
    slider.setAttribute("aria-valuetext", balance === null ? "as the model ranks them" : said(balance));
    hint.textContent =
      balance === null ? "Most relevant first, as the model ranks them." : `${said(balance)} first (λ = ${balance}).`;
    reset.hidden = balance === null;
  };
  const choose = (balance) => {
    show(balance);
    replaceRoute(link("topic", [topic.index], { balance }));
  };
  slider.addEventListener("input", () => choose(Number(slider.value)));
  slider.addEventListener("change", () => announce(`First words: ${firstWords(list)}`));
  reset.addEventListener("click", () => {
    choose(null);
    slider.focus(); // the button goes
    announce(`First words: ${firstWords(list)}`);
  });
  show(balanceOf(route));
  return [
    hint,
    h(
      "div",
      { class: "balance" },
      h(
        "div",
        { class: "balance-head" },
        h("label", { for: "balance" }, "Telling or frequent first"),
        reset,
      ),
      h(
        "div",
        { class: "balance-range" },
        h("span", { "aria-hidden": "true" }, "telling"),
        slider,
        h("span", { "aria-hidden": "true" }, "frequent"),
      ),
    ),
    list,
  ];
}

/** The position of the slider that an address has; null for the model's own ranking. */
function balanceOf(route) {
  const given = route.query.get("balance");
  const value = Number(given);
  return given === null || given === "" || !(value >= 0 && value <= 1) ? null : value;
}

function said(balance) {
  if (balance === 0) return "Words that hardly occur elsewhere";
  if (balance === 1) return "Words frequent in the topic";
  return balance < 0.5 ? "Telling words" : balance > 0.5 ? "Frequent words" : "Telling and frequent words";
}

const firstWords = (list) =>
  [...list.querySelectorAll("a")]
    .slice(0, 3)
    .map((each) => each.textContent)
    .join(", ");

/** Words by λ log p(w|k) + (1 − λ) log (p(w|k) / p(w)), as LDAvis has it, with its exponential. */
function byBalance(frequencies, balance) {
  return frequencies
    .map(([word, inside, lift]) => [word, balance * inside + (1 - balance) * lift, inside])
    .sort((one, other) => other[1] - one[1] || other[2] - one[2])
    .slice(0, SHOWN)
    .map(([word, relevance]) => [word, Math.exp(relevance)]);
}

/** Where the slider brings up most of the words that the model ranks first. */
function nearestBalance(frequencies, ranked) {
  const own = new Set(ranked.map(([word]) => word));
  const shared = (step) => byBalance(frequencies, step / STEPS).filter(([word]) => own.has(word)).length;
  const counts = Array.from({ length: STEPS + 1 }, (_, step) => shared(step));
  return counts.indexOf(Math.max(...counts)) / STEPS;
}

function wordRows(ranked, topic) {
  const largest = ranked.length ? ranked[0][1] : 1;
  return ranked.map(([word, relevance]) =>
    h(
      "li",
      null,
      h("a", { href: link("search", [], { q: word }), dir: "auto" }, word),
      bar(relevance / largest, topic),
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
