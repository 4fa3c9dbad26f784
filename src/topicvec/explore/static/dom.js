/** Elements from plain values. Strings become text nodes: no text can become markup. */

const SVG_NAMES = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") setStyle(element, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  put(element, children);
  return element;
}

/** Append children, however deep they are in lists. */
function put(element, children) {
  for (const child of children) {
    if (Array.isArray(child)) put(element, child);
    else if (child !== null && child !== undefined && child !== false) element.append(child);
  }
}

/** Style through the object model: the content-security policy forbids style attributes. */
function setStyle(element, properties) {
  for (const [name, value] of Object.entries(properties)) element.style.setProperty(name, value);
}

/** Make an HTML element. */
export function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** Make an SVG element. */
export function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG_NAMES, tag), attributes, children);
}

/** Say something to those who listen. */
export function announce(message) {
  document.getElementById("status").textContent = message;
}

/** Run a function once its calls have paused. */
export function paused(milliseconds, action) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...values), milliseconds);
  };
}

const NUMBERS = new Intl.NumberFormat("en");

/** 18846 → "18,846". */
export const number = (value) => NUMBERS.format(value);

/** 0.1234 → "12%"; small shares keep a decimal. */
export function percent(value) {
  const hundredths = 100 * value;
  return `${hundredths < 9.95 ? hundredths.toFixed(1) : Math.round(hundredths)}%`;
}

/** 1, "word" → "1 word"; 2, "word" → "2 words". */
export const counted = (n, noun) => `${number(n)} ${noun}${n === 1 ? "" : "s"}`;
