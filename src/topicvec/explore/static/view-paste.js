/** Any text: its topics while one types. */

import { announce, counted, h, paused } from "./dom.js";
import { documentList, message, section, shareButton } from "./parts.js";
import { link, replaceRoute } from "./route.js";
import { colouredText } from "./text.js";
import { chooser, summary } from "./view-document.js";

const LINKED = 4000; // longer texts make addresses that programs cut
let kept = ""; // a long text, for the way back

export async function pasteView({ source, topics }, route) {
  const field = h("textarea", {
    id: "paste",
    rows: 8,
    dir: "auto",
    placeholder: "Paste or type any text…",
    spellcheck: "false",
  });
  field.value = route.query.get("text") ?? kept;
  const results = h("div", { class: "results", "aria-live": "off" });
  const share = h("div", { class: "actions" });
  const analyse = reader(source, topics, field, results, share);
  field.addEventListener("input", paused(80, analyse));
  if (field.value) await analyse();
  return [
    h("h1", null, "Your text"),
    h(
      "p",
      { class: "lead" },
      "Its topics, as the model sees them. The text goes to the program on this computer and nowhere else.",
    ),
    h("section", { class: "card" }, h("label", { for: "paste", class: "unseen" }, "Text"), field, share),
    results,
  ];
}

function reader(source, topics, field, results, share) {
  let waiting = null;
  return async () => {
    waiting?.abort();
    waiting = new AbortController();
    const text = field.value;
    kept = text;
    replaceRoute(link("paste", [], { text: text.length <= LINKED ? text : "" }));
    share.replaceChildren(
      text && text.length <= LINKED
        ? shareButton()
        : h("span", { class: "hint" }, text ? "Too long for a link." : ""),
    );
    if (!text.trim()) {
      results.replaceChildren();
      return;
    }
    try {
      const page = await source.analyse(text, waiting.signal);
      results.replaceChildren(...found(page, topics));
      announce(`${counted(page.view.proportions.length, "topic")} found`);
    } catch (error) {
      if (error.name !== "AbortError") results.replaceChildren(message(error.message));
    }
  };
}

function found(page, topics) {
  const text = colouredText(page.view, topics, null);
  const shown = section(
    "Text",
    text,
    page.cut ? message("Only the beginning is shown; the topics are those of the whole.") : null,
  );
  const legend = chooser(page.view.proportions, topics, text, null, null);
  const similar = page.similar.length
    ? section("Documents like it", documentList(page.similar, topics))
    : null;
  const left = h("div", { class: "stack" }, summary(page.summary), shown);
  return [h("div", { class: "columns wide-first" }, left, legend), similar].filter(Boolean);
}
