/** The map of topics: near topics are similar, the area of a bubble is its share. */

import { h, percent, svg } from "./dom.js";
import { colourOf } from "./parts.js";
import { link } from "./route.js";

const WIDTH = 1000;
const LINE = 1.14; // height of a line
const SMALLEST = 9; // pixels of the smallest label

/** Draw the map; places and radii come with the topics. It stands upright on narrow screens. */
export function topicMap(topics, height) {
  const upright = matchMedia("(max-width: 40rem)").matches;
  const shown = topics
    .filter((topic) => topic.place !== null)
    .map((topic) => ({ topic, place: placed(topic.place, height, upright) }));
  const scale = Math.min(innerWidth - 64, 760) / WIDTH;
  const card = h("div", { class: "map-card", hidden: true, "aria-hidden": "true" });
  const bubbles = shown.map((each) => bubble(each, card, scale));
  bubbles.forEach((node, i) => node.setAttribute("tabindex", i ? "-1" : "0"));
  const tall = Math.round(WIDTH * (upright ? 1 / height : height));
  const picture = svg(
    "svg",
    {
      viewBox: `0 0 ${WIDTH} ${tall}`,
      class: "map",
      role: "group",
      "aria-label": "Map of topics; arrow keys move between them",
    },
    bubbles,
  );
  picture.addEventListener("keydown", (event) => move(event, shown, bubbles));
  return h("div", { class: "map-frame" }, picture, card);
}

/** Centre and radius in units of the picture; upright, the axes change places. */
function placed([x, y, radius], height, upright) {
  return (upright ? [y / height, x / height, radius / height] : [x, y, radius]).map((value) => value * WIDTH);
}

function bubble({ topic, place }, card, scale) {
  const [x, y, radius] = place;
  const node = svg(
    "a",
    {
      href: link("topic", [topic.index]),
      class: "bubble",
      style: colourOf(topic),
      "aria-label": `${topic.name}, ${percent(topic.share)}`,
      transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`,
    },
    svg("circle", { r: radius.toFixed(1) }),
    label(topic, radius, SMALLEST / scale),
  );
  for (const kind of ["pointerenter", "focus"])
    node.addEventListener(kind, () => showCard(card, topic, place));
  for (const kind of ["pointerleave", "blur"])
    node.addEventListener(kind, () => {
      card.hidden = true;
    });
  return node;
}

/** As many parts of the name as fit into the bubble, in the largest size that fits. */
function label(topic, radius, smallest) {
  for (const n of [3, 2, 1]) {
    const words = topic.name.split(", ").slice(0, n);
    const size = Math.min(fitting(words, radius), 30);
    if (size >= smallest * (n > 1 ? 1.2 : 1)) return lines(words, size);
  }
  return null;
}

/** The largest size at which every line is within the circle. */
function fitting(words, radius) {
  const sizes = words.map((word, i) => {
    const far = (Math.abs(i - (words.length - 1) / 2) + 0.5) * LINE; // of a line's outer edge, in font sizes
    return radius / Math.hypot(far, wide(word) / 2);
  });
  return 0.95 * Math.min(...sizes);
}

let pen = null;

/** The width of a word, in font sizes. */
function wide(word) {
  if (!pen) {
    pen = document.createElement("canvas").getContext("2d");
    pen.font = `500 100px ${getComputedStyle(document.body).fontFamily}`;
  }
  return pen.measureText(word).width / 100;
}

function lines(words, size) {
  const first = (0.35 - ((words.length - 1) / 2) * LINE) * size;
  return svg(
    "text",
    { "font-size": size.toFixed(1), "aria-hidden": "true" },
    words.map((word, i) => svg("tspan", { x: 0, y: (first + i * LINE * size).toFixed(1) }, word)),
  );
}

function showCard(card, topic, [x, y, radius]) {
  const words = topic.words
    .slice(0, 10)
    .map(([word]) => word)
    .join(", ");
  card.replaceChildren(h("strong", { style: colourOf(topic) }, percent(topic.share)), ` ${words}`);
  const scale = card.parentNode.clientWidth / WIDTH;
  const left = x < WIDTH / 2;
  card.style.setProperty("left", left ? `${(x + radius + 8) * scale}px` : "auto");
  card.style.setProperty("right", left ? "auto" : `${(WIDTH - x + radius + 8) * scale}px`);
  card.style.setProperty("top", `${y * scale}px`);
  card.hidden = false;
}

const DIRECTIONS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** Move the focus to the nearest bubble in the direction of an arrow key. */
function move(event, shown, bubbles) {
  const direction = DIRECTIONS[event.key];
  const from = bubbles.indexOf(event.target.closest(".bubble"));
  if (!direction || from < 0) return;
  event.preventDefault();
  const to = nearest(shown, from, direction);
  if (to < 0) return;
  bubbles[from].setAttribute("tabindex", "-1");
  bubbles[to].setAttribute("tabindex", "0");
  bubbles[to].focus();
}

function nearest(shown, from, [right, down]) {
  const [x, y] = shown[from].place;
  let best = -1;
  let least = Number.POSITIVE_INFINITY;
  shown.forEach(({ place }, i) => {
    const [dx, dy] = [place[0] - x, place[1] - y];
    const along = dx * right + dy * down;
    const across = Math.abs(dx * down) + Math.abs(dy * right);
    if (i !== from && along > 0 && along + 2 * across < least) [best, least] = [i, along + 2 * across];
  });
  return best;
}
