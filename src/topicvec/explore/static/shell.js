/** The frame around the views: header, theme, and the way from an address to a view. */

import { announce, h } from "./dom.js";
import { message } from "./parts.js";
import { link, parseRoute } from "./route.js";
import { compareView } from "./view-compare.js";
import { documentView } from "./view-document.js";
import { overviewView } from "./view-overview.js";
import { pasteView } from "./view-paste.js";
import { searchView } from "./view-search.js";
import { topicView } from "./view-topic.js";

const VIEWS = {
  "": overviewView,
  topic: topicView,
  document: documentView,
  search: searchView,
  paste: pasteView,
  compare: compareView,
};
const THEMES = ["auto", "light", "dark"];

/** Show the pages of a source of records: a server, or what a report holds. */
export async function start(source) {
  applyTheme(remembered());
  let overview;
  try {
    overview = await source.overview();
  } catch (error) {
    document.getElementById("main").replaceChildren(failure(error));
    return;
  }
  const topics = new Map(overview.topics.map((topic) => [topic.index, topic]));
  const context = { source, overview, topics };
  document.getElementById("header").replaceChildren(...header(context));
  await follow(context);
}

function header({ source, overview }) {
  const pages = [
    ["", "Topics"],
    ["search", "Documents"],
    source.analyse ? ["paste", "Your text"] : null,
    ["compare", "Compare"],
  ].filter(Boolean);
  return [
    h(
      "div",
      { class: "brand" },
      h("a", { href: "#/", class: "wordmark" }, "topicvec"),
      h("span", { class: "title", dir: "auto" }, overview.title),
    ),
    h(
      "nav",
      { "aria-label": "Pages" },
      pages.map(([view, name]) => h("a", { href: link(view), "data-view": view }, name)),
    ),
    searchForm(),
    themeButton(),
  ];
}

function searchForm() {
  const field = h("input", {
    type: "search",
    name: "q",
    placeholder: "Search documents",
    "aria-label": "Search documents",
    maxlength: 500,
  });
  const form = h("form", { role: "search", class: "find" }, field);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    location.hash = link("search", [], { q: field.value.trim() });
  });
  return form;
}

async function follow(context) {
  const scrolls = new Map(); // where each address was left, for the way back
  let [shown, clicked, first] = [location.hash, false, true];
  document.addEventListener("click", (event) => {
    clicked = Boolean(event.target.closest?.("a[href^='#']"));
  });
  addEventListener("scroll", () => scrolls.set(shown, scrollY), { passive: true });
  const go = async () => {
    shown = location.hash;
    if (shown === "#main") return;
    await draw(context, parseRoute(shown), first);
    scrollTo(0, clicked || first ? 0 : (scrolls.get(shown) ?? 0));
    [clicked, first] = [false, false];
  };
  addEventListener("hashchange", go);
  await go();
}

let turn = 0;

async function draw(context, route, first) {
  turn += 1;
  const mine = turn;
  const main = document.getElementById("main");
  const view = VIEWS[route.view];
  let content;
  try {
    content = view
      ? await view(context, route)
      : [h("h1", null, "No such page"), message(h("a", { href: "#/" }, "To the topics"))];
  } catch (error) {
    content = failure(error);
  }
  if (mine !== turn) return; // one has gone on meanwhile
  main.replaceChildren(...[content].flat().filter(Boolean));
  main.className = `view-${route.view || "overview"}`;
  mark(route.view);
  const heading = main.querySelector("h1");
  document.title = [heading?.dataset.title ?? heading?.textContent, "topicvec"].filter(Boolean).join(" · ");
  if (first) return;
  heading?.setAttribute("tabindex", "-1");
  if (!main.contains(document.activeElement)) heading?.focus({ preventScroll: true });
  announce(document.title);
}

function failure(error) {
  return h(
    "div",
    null,
    h("h1", null, "This cannot be shown"),
    message(error.message),
    message(h("a", { href: "#/" }, "To the topics")),
  );
}

function mark(view) {
  for (const anchor of document.querySelectorAll("nav a")) {
    const here = anchor.dataset.view === (view === "topic" ? "" : view === "document" ? "search" : view);
    if (here) anchor.setAttribute("aria-current", "page");
    else anchor.removeAttribute("aria-current");
  }
}

function themeButton() {
  const button = h("button", { type: "button", class: "quiet theme" });
  const name = () => {
    button.textContent = { auto: "◐ Auto", light: "☀ Light", dark: "☾ Dark" }[remembered()];
    button.setAttribute("aria-label", `Colours: ${remembered()}. Change`);
  };
  button.addEventListener("click", () => {
    const next = THEMES[(THEMES.indexOf(remembered()) + 1) % THEMES.length];
    applyTheme(next);
    name();
  });
  name();
  return button;
}

let theme = null;

function remembered() {
  if (theme) return theme;
  try {
    theme = localStorage.getItem("topicvec-theme");
  } catch {
    theme = "auto"; // a page from disk may have no storage
  }
  return THEMES.includes(theme) ? theme : "auto";
}

function applyTheme(chosen) {
  theme = chosen;
  document.documentElement.dataset.theme = chosen;
  try {
    localStorage.setItem("topicvec-theme", chosen);
  } catch {
    // then it lasts as long as the page
  }
}
