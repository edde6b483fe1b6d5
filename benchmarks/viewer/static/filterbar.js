// The form above the list: a choice for everything that differs, ranges, the order, the search.
// Knows the filters' names; what passes them is decided in filters.js.

import { el } from "./dom.js";
import { CHOICES, RANGES, SORTS, counts, placeOf } from "./filters.js";

const LONGEST_LIST = 400;

function option(value, caption, chosen) {
  return el("option", { value, selected: value === chosen }, caption);
}

function caption(name, value, entries) {
  if (value === "") return "(none)";
  if (name !== "policy") return value;
  return entries.find((entry) => entry.policy === value).player;
}

function choice(name, label, within, chosen) {
  // What no trained policy played is at no step.
  const entries = name === "step" ? within.filter((entry) => entry.hasStep) : within;
  const found = counts(entries, name).slice(0, LONGEST_LIST);
  if (found.length < 2 && chosen === undefined) return null;
  const options = found.map(([value, count]) =>
    option(String(value), `${caption(name, value, entries)} (${count})`, chosen),
  );
  if (name === "result") options.unshift(option("no success", "any without success", chosen));
  const any = option("", `${label}: all`, chosen ?? "");
  return el("select", { name, "aria-label": label, class: chosen ? "set" : null }, any, options);
}

function range(name, label, filters) {
  const field = (end, caption) =>
    el("input", {
      type: "number",
      step: "any",
      name: `${name}_${end}`,
      value: filters[`${name}_${end}`] ?? "",
      placeholder: caption,
      "aria-label": `${label}, ${caption === "from" ? "at least" : "at most"}`,
    });
  return el("span", { class: "range" }, label, field("min", "from"), "–", field("max", "to"));
}

function order(sort, isDescending) {
  const options = SORTS.map(([name, caption]) => option(name, caption, sort));
  const box = el("input", { type: "checkbox", name: "desc", checked: isDescending });
  const turned = el("label", {}, box, "descending");
  return el(
    "span",
    { class: "range" },
    "Sort",
    el("select", { name: "sort", "aria-label": "Sort by" }, options),
    turned,
  );
}

// The search field is made once: it must keep its focus while the rest is drawn again.
export class FilterBar {
  constructor(host, onChange) {
    this.host = host;
    this.onChange = onChange;
    this.search = el("input", {
      type: "search",
      name: "q",
      maxlength: 500,
      placeholder: "Search goals and texts",
      "aria-label": "Search goals, observations, thoughts and actions",
      "aria-keyshortcuts": "/",
      autocomplete: "off",
    });
    this.choices = el("span", { class: "choices" });
    this.more = el("details", { class: "more" }, el("summary", {}, "More"));
    this.fields = el("span", { class: "more-fields" });
    this.more.append(this.fields);
    this.clear = el("button", { type: "button", class: "clear" }, "Clear");
    host.append(this.search, this.choices, this.more, this.clear);
    host.addEventListener("submit", (event) => event.preventDefault());
    host.addEventListener("input", () => {
      this.isOwn = true;
      this.onChange(this.read());
      this.isOwn = false;
    });
    this.clear.addEventListener("click", () => {
      this.search.value = "";
      this.onChange({ filters: this.place, sort: "id", isDescending: false });
    });
  }

  // `within` are the entries of the chosen run: the choices are those that occur in it.
  draw(within, { filters, sort, isDescending }) {
    if (document.activeElement !== this.search) this.search.value = filters.q ?? "";
    this.place = placeOf(filters);
    const focused = this.host.contains(document.activeElement) ? document.activeElement.name : "";
    // What a run writes meanwhile must not close a choice that is open, nor a number half typed.
    const isBusy = focused && focused !== "q" && !this.isOwn;
    if (!isBusy && document.activeElement?.type !== "number") {
      const choices = CHOICES.map(([name, label]) => choice(name, label, within, filters[name]));
      this.choices.replaceChildren(...choices.filter(Boolean));
      this.fields.replaceChildren(
        ...RANGES.map(([name, label]) => range(name, label, filters)),
        order(sort, isDescending),
      );
      if (focused && focused !== "q") this.host.elements[focused]?.focus();
    }
    const asked = Object.keys(filters).length - Object.keys(this.place).length;
    this.clear.hidden = asked === 0 && sort === "id" && !isDescending;
  }

  read() {
    const values = new FormData(this.host);
    const filters = { ...this.place };
    for (const [name, value] of values) {
      if (!["sort", "desc"].includes(name) && value !== "") filters[name] = value;
    }
    return { filters, sort: values.get("sort") ?? "id", isDescending: values.has("desc") };
  }
}
