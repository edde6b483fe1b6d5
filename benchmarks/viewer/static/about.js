// What is known of the chosen run, what of the files could not be read, and two runs' options side by
// side.

import { el } from "./dom.js";
import { number, plural, points } from "./marks.js";

// What could not be read, a sentence each. It is drawn again only where that has changed.
export function drawProblems(host, problems, count) {
  const state = JSON.stringify(problems);
  if (host.dataset.state === state) return;
  host.dataset.state = state;
  host.hidden = count === 0;
  const title = el("summary", {}, `${plural(count, "problem")} in the files; all else is shown`);
  const more = count - problems.length;
  const lines = more ? [...problems, `and ${number(more)} more`] : problems;
  host.replaceChildren(title, el("ul", {}, lines.map((line) => el("li", {}, line))));
}

function table(rows, names) {
  const head = ["Option", ...names].map((name) => el("th", { scope: "col" }, name));
  const lines = rows.map(([option, ...values]) => {
    const [group, name] = [option.slice(0, option.lastIndexOf(".") + 1), option.split(".").at(-1)];
    const parts = name.split(/(?<=_)/).flatMap((part) => [part, el("wbr")]);
    const caption = [el("span", { class: "quiet" }, group), ...parts];
    return el(
      "tr",
      {},
      el("th", { scope: "row" }, caption),
      values.map((value) => el("td", {}, value ?? "–")),
    );
  });
  const all = el("table", {}, el("thead", {}, el("tr", {}, head)), el("tbody", {}, lines));
  return el("div", { class: "options-scroller", tabindex: 0, role: "region" }, all);
}

// [option, one's value, other's value] of all options: those that differ, those that one run alone
// has, and those that are the same.
function compared(one, other) {
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  const rows = names.map((name) => [name, one[name], other[name]]);
  const isShared = ([, a, b]) => a !== undefined && b !== undefined;
  return {
    differing: rows.filter((row) => isShared(row) && row[1] !== row[2]),
    alone: rows.filter((row) => !isShared(row)),
    alike: rows.filter(([, a, b]) => a === b),
  };
}

function drawOptions(found, names) {
  const { differing, alone, alike } = compared(...found);
  const differ = `${plural(differing.length, "option")} differ${differing.length === 1 ? "s" : ""}`;
  const parts = [el("summary", {}, differ)];
  if (differing.length) parts.push(table(differing, names));
  const folded = [
    ["alone", alone, "of one run alone"],
    ["alike", alike, "the same"],
  ];
  for (const [kind, rows, caption] of folded.filter(([, rows]) => rows.length)) {
    const title = el("summary", {}, `${number(rows.length)} ${rows.length === 1 ? "is" : "are"} ${caption}`);
    parts.push(el("details", { class: kind }, title, table(rows, names)));
  }
  return el("details", { class: "differing" }, parts);
}

// How much better the second run did, task by task, as `agentgym compare` tells it.
function drawGain(gain, [first, second]) {
  if (!gain) return el("p", { class: "gain" }, "No paired gain: they have no last evaluation on the same tasks.");
  const { low, high, p, tasks, better, worse, of } = gain;
  const moments = [...new Set(of)].filter(Boolean).join(" against ");
  const value = `${points(gain.gain)} points (${points(low)} to ${points(high)})`;
  const caption = [
    ` over ${first}: 95% interval, paired over ${plural(tasks, "task")}`,
    `p ${p < 1e-4 ? "< 0.0001" : p.toFixed(4)}`,
    `better on ${number(better)}, worse on ${number(worse)}`,
    ...(moments ? [moments] : []),
  ];
  return el("p", { class: "gain" }, `${second} gains `, el("strong", {}, value), caption.join(" · "));
}

// The box above the curve. It is drawn again where it tells of something else only, so that what is
// open stays open.
export class About {
  constructor(host, source, { onCompare }) {
    this.host = host;
    this.source = source;
    this.onCompare = onCompare;
  }

  draw(entries, run, vs) {
    const others = entries.runs.filter((one) => one.has_options && one !== run);
    const names = others.map(({ name }) => name);
    const state = run ? JSON.stringify([run.name, run.about, vs?.name, names]) : "";
    if (this.state === state) return;
    const isOpen = this.host.querySelector("details")?.open && this.name === run?.name;
    this.state = state;
    this.name = run?.name;
    const facts = run ? Object.entries(run.about) : [];
    this.host.hidden = facts.length === 0;
    const rows = facts.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]);
    const title = el("summary", {}, run ? run.full : "");
    const box = el("details", { open: isOpen }, title, el("dl", {}, rows));
    const chooser = run?.has_options && others.length ? this.chooser(others, vs) : null;
    this.options = el("div", { class: "options", hidden: !vs });
    this.host.replaceChildren(el("div", { class: "about-line" }, box, chooser), this.options);
    if (vs) this.compare(entries, run, vs);
  }

  chooser(others, vs) {
    const options = others.map(({ name, full }) =>
      el("option", { value: name, selected: name === vs?.name }, full),
    );
    const none = el("option", { value: "" }, vs ? "End the comparison" : "Compare with a run …");
    const label = { "aria-label": "Compare with another run", class: vs ? "set" : null };
    const select = el("select", { name: "vs", ...label }, none, options);
    select.addEventListener("change", () => this.onCompare(select.value));
    return el("label", { class: "compared" }, vs ? "compared with" : null, select);
  }

  async compare(entries, run, vs) {
    const { options } = this;
    const numbers = [run, vs].map((one) => entries.runs.indexOf(one));
    const names = [run.full, vs.full];
    const [gain, ...found] = await Promise.all([
      this.source.gain(...numbers),
      ...numbers.map((number) => this.source.options(number)),
    ]);
    options.replaceChildren(drawGain(gain, names), drawOptions(found, names));
  }
}
