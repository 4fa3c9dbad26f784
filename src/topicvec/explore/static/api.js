/** The page of the JSON API, drawn from its own description. */

import { h } from "./dom.js";

const description = await (await fetch("/api/openapi.json")).json();
document
  .getElementById("endpoints")
  .replaceChildren(
    ...Object.entries(description.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => endpoint(path, method, operation)),
    ),
  );
document
  .getElementById("records")
  .replaceChildren(
    ...Object.entries(description.components.schemas).map(([name, schema]) => record(name, schema)),
  );

function endpoint(path, method, operation) {
  const body = operation.requestBody?.content["application/json"].schema.properties ?? {};
  const given = [
    ...operation.parameters,
    ...Object.entries(body).map(([name, schema]) => ({
      name,
      in: "body",
      description: "",
      required: true,
      schema,
    })),
  ];
  const content = operation.responses[200].content;
  const gives = content["application/json"] ? shape(content["application/json"].schema) : "an SVG picture";
  return h(
    "section",
    { class: "card endpoint" },
    h("h2", null, h("span", { class: "method" }, method.toUpperCase()), path),
    h("p", null, operation.summary, ". Gives ", h("code", null, gives), "."),
    given.length
      ? table(
          ["name", "in", "type", "meaning"],
          given.map((each) => [each.name, each.in, shape(each.schema), each.description]),
        )
      : null,
    trial(path, method, given),
  );
}

/** A form that asks the question and shows the answer. */
function trial(path, method, given) {
  const fields = given.map((each) => {
    const start = each.in === "path" ? "1" : "";
    const control =
      each.in === "body"
        ? h("textarea", { name: each.name, rows: 2 })
        : h("input", { name: each.name, value: start, placeholder: String(each.schema.default ?? "") });
    return h("label", null, each.name, control);
  });
  const answer = h("div", { "aria-live": "polite" });
  const form = h(
    "form",
    { class: "try", "aria-label": `Try ${method} ${path}` },
    fields,
    h("button", { type: "submit" }, "Try"),
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const response = await fetch(...request(path, method, given, new FormData(form)));
    const text = await response.text();
    answer.replaceChildren(
      h(
        "pre",
        { tabindex: "0", "aria-label": "Answer" },
        `${response.status}\n${pretty(text).slice(0, 20000)}`,
      ),
    );
  });
  return [form, answer];
}

function request(path, method, given, values) {
  let address = path;
  const query = new URLSearchParams();
  const body = {};
  for (const { name, in: place } of given) {
    const value = values.get(name);
    if (place === "path") address = address.replace(`{${name}}`, encodeURIComponent(value));
    else if (place === "body") body[name] = value;
    else if (value) query.set(name, value);
  }
  if (method === "post")
    return [
      address,
      { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) },
    ];
  return [query.size ? `${address}?${query}` : address];
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 1);
  } catch {
    return text; // a picture
  }
}

function record(name, schema) {
  return h(
    "section",
    { class: "card record" },
    h("h3", null, name),
    table(
      ["field", "type"],
      Object.entries(schema.properties).map(([field, kind]) => [field, shape(kind)]),
    ),
  );
}

function table(head, rows) {
  return h(
    "div",
    { class: "scroll", tabindex: "0", role: "group", "aria-label": `Table of ${head[0]}s` },
    h(
      "table",
      null,
      h(
        "thead",
        null,
        h(
          "tr",
          null,
          head.map((cell) => h("th", { scope: "col" }, cell)),
        ),
      ),
      h(
        "tbody",
        null,
        rows.map((row) =>
          h(
            "tr",
            null,
            row.map((cell, i) => h("td", null, i === 3 ? cell : h("code", null, cell))),
          ),
        ),
      ),
    ),
  );
}

/** A type in few words. */
function shape(schema) {
  if (schema.$ref) return schema.$ref.split("/").pop();
  if (schema.anyOf) return schema.anyOf.map(shape).join(" | ");
  if (schema.prefixItems)
    return `[${schema.prefixItems.map(shape).join(", ")}]${schema.description ? ` (${schema.description})` : ""}`;
  if (schema.type === "array") return `${shape(schema.items)}[]`;
  return schema.type;
}
