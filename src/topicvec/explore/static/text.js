/** A text with its words in the colours of their topics. */

import { h, percent } from "./dom.js";
import { colourOf } from "./parts.js";

/** Show spans [text, topic, probability]; `more(start)` fetches what follows. */
export function colouredText(part, topics, more) {
  const body = h("div", { class: "text", dir: "auto" }, marked(part.spans, topics));
  const frame = h("div", { class: "text-frame" }, body);
  if (part.next !== null) frame.append(moreButton(part.next, body, topics, more));
  return frame;
}

function marked(spans, topics) {
  return spans.map(([text, k, probability]) => {
    const topic = topics.get(k);
    if (!topic || topic.is_null || topic.is_background) return text;
    const style = { ...colourOf(topic), "--sure": probability };
    return h(
      "mark",
      {
        style,
        "data-topic": k,
        "data-sign": topic.sign % 4,
        title: `${topic.name} · ${percent(probability)}`,
      },
      text,
    );
  });
}

function moreButton(start, body, topics, more) {
  const button = h("button", { type: "button", class: "more" }, "Show more of the text");
  button.addEventListener("click", async () => {
    button.disabled = true;
    const part = await more(start);
    body.append(...marked(part.spans, topics));
    button.remove();
    if (part.next !== null) body.parentNode.append(moreButton(part.next, body, topics, more));
  });
  return button;
}

/** Single out the words of one topic; null shows all colours again. */
export function highlight(frame, k) {
  frame.dataset.only = k === null ? "" : "on";
  for (const mark of frame.querySelectorAll("mark"))
    mark.classList.toggle("chosen", k !== null && Number(mark.dataset.topic) === k);
}
