// Outputs that are neither pictures nor geometry: their first rows as a table.

import { formatCount, formatNumber } from "./values.js";
import { make } from "./dom.js";

const ROWS_AT_MOST = 100;

export function tableElement(header) {
  const rows = (Array.isArray(header.rows) ? header.rows : []).slice(0, ROWS_AT_MOST).map((row) => (Array.isArray(row) ? row : [row]));
  const columns = rows.reduce((most, row) => Math.max(most, row.length), header.components || 1);
  const title = columns === 1 ? [header.output ?? "value"] : Array.from({ length: columns }, (_, k) => `${header.output ?? ""}[${k}]`);
  const body = rows.map((row, k) => make("tr", {}, make("th", { scope: "row", text: formatCount(k) }), row.map((x) => make("td", { text: formatNumber(x ?? NaN, 7) }))));
  const facts = [
    `${formatCount(header.count)} ${header.count === 1 ? "value" : "values"}`,
    typeof header.min === "number" ? `from ${formatNumber(header.min, 6)} to ${formatNumber(header.max, 6)}` : null,
    header.nan ? header.nan === 1 ? "1 is not a number" : `${formatCount(header.nan)} are not numbers` : null,
    header.count > rows.length ? `first ${rows.length} shown` : null,
  ];
  return make("div", { class: "table-card" },
    make("p", { class: "table-facts", text: facts.filter(Boolean).join(" · ") }),
    make("div", { class: "table-scroll" },
      make("table", {}, make("thead", {}, make("tr", {}, make("th", { text: "" }), title.map((text) => make("th", { scope: "col", text })))), make("tbody", {}, body))));
}
