/** The state of the page is its address: #/document/17?topic=3 */

/** Read an address. */
export function parseRoute(hash) {
  const [path, query] = hash.replace(/^#\/?/, "").split("?", 2);
  const parts = path.split("/").filter(Boolean).map(decoded);
  return { view: parts[0] ?? "", parts: parts.slice(1), query: new URLSearchParams(query ?? "") };
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // a stray % in an address typed by hand
  }
}

/** Write an address. */
export function link(view, parts = [], query = {}) {
  const path = ["#", view, ...parts.map(encodeURIComponent)].filter((part) => part !== "").join("/");
  const given = Object.entries(query).filter(
    ([, value]) => value !== "" && value !== null && value !== undefined,
  );
  const search = new URLSearchParams(given).toString();
  return (path === "#" ? "#/" : path) + (search && `?${search}`);
}

/** Change the address without a new entry in the history and without drawing anew. */
export function replaceRoute(address) {
  history.replaceState(history.state, "", address);
}
