// Tokens with their tags, marginals as heat, and the second-best labelling.
import { element } from "./answer.js";

const short = (share) => (share < 0.005 ? "0" : (100 * share).toFixed(0)) + " %";
const HUES = 6; // colors of types of chunks
const COLUMNS = 12; // labels that the table of marginals shows at most

// Chunks of labels such as B-PER I-PER O as { start, end, type, share }; null where labels are no chunks.
export function spans(labels, shares, classes) {
  const parts = classes.map((name) => /^([BIES])(?:-(.+))?$|^O$/.exec(String(name)));
  if (parts.some((part) => !part) || !classes.some((name) => /^[BI]/.test(name))) return null;
  const found = [];
  let open = null;
  labels.forEach((label, at) => {
    const [, prefix, type = ""] = parts[classes.indexOf(label)] ?? [];
    if (!prefix) return (open = null);
    const share = shares ? shares[at][classes.indexOf(label)] : NaN;
    if (open && "IE".includes(prefix) && open.type === type) {
      open.end = at + 1;
      open.share = Math.min(open.share, share);
    } else {
      found.push((open = { start: at, end: at + 1, type, share }));
    }
    if ("ES".includes(prefix)) open = null;
  });
  return found;
}

export function setup(model) {
  const field = document.getElementById("sentence");
  const form = field.dataset.form;
  const word = (token) => (typeof token === "string" ? token : Array.isArray(token) ? token[0] : Object.values(token)[0]);

  function table(answer, tokens) {
    const second = answer.top?.[1]?.labels;
    const shares = answer.probabilities;
    let shown = [];
    if (shares?.length) {
      const weight = model.classes.map((_, k) => Math.max(...shares.map((row) => row[k])));
      shown = weight.map((_, k) => k).sort((a, b) => weight[b] - weight[a]).slice(0, COLUMNS).sort((a, b) => a - b);
    }
    const head = element("tr", {}, ...["token", "tag", "second best"].slice(0, second ? 3 : 2).map((name) => element("th", { scope: "col" }, name)));
    head.append(...shown.map((k) => element("th", { scope: "col" }, `P(${model.classes[k]})`)));
    const rows = tokens.map((token, at) => {
      const row = element("tr", {}, element("th", { scope: "row" }, word(token)), element("td", { class: "said" }, String(answer.labels[at])));
      if (second) {
        const same = second[at] === answer.labels[at];
        row.append(element("td", same ? { class: "quiet" } : { class: "other" }, same ? "same" : String(second[at])));
      }
      for (const k of shown) {
        const share = shares[at][k];
        const cell = element("td", { class: model.classes[k] === answer.labels[at] ? "share said" : "share" }, short(share));
        cell.style.setProperty("--strength", (60 * share).toFixed(1));
        row.append(cell);
      }
      return row;
    });
    const told = shown.length ? "Tags, the second-best labelling, and the probability of every label" : "Tags and the second-best labelling";
    return [
      element("h3", { id: "heat-title" }, told),
      element(
        "div",
        { class: "scroll tall", tabindex: "0", role: "region", "aria-labelledby": "heat-title" },
        element("table", { class: "heat", "aria-labelledby": "heat-title" }, element("thead", {}, head), element("tbody", {}, ...rows)),
      ),
    ];
  }

  // The sentence as text, chunks on the color of their type.
  function text(found, tokens) {
    const types = [...new Set(model.classes.map((name) => /-(.+)$/.exec(String(name))?.[1] ?? ""))].sort();
    const parts = [];
    let at = 0;
    const plain = (end) => end > at && parts.push(tokens.slice(at, end).map(word).join(" ") + " ");
    for (const { start, end, type, share } of found) {
      plain(start);
      const told = Number.isNaN(share) ? type : `${type} ${short(share)}`.trim();
      const mark = element("mark", { class: "span" }, tokens.slice(start, end).map(word).join(" "), " ", element("b", {}, told));
      mark.style.setProperty("--hue", String(Math.round((360 / HUES) * (types.indexOf(type) % HUES))));
      parts.push(mark, " ");
      at = end;
    }
    plain(tokens.length);
    return element("p", { class: "spans tall", tabindex: "0", role: "region", "aria-label": "Chunks in their text" }, ...parts);
  }

  function show(answer, tokens) {
    if (!answer) return;
    const found = spans(answer.labels, answer.probabilities, model.classes);
    if (found) return document.getElementById("details").replaceChildren(text(found, tokens), ...table(answer, tokens));
    const chips = tokens.map((token, at) => element("li", {}, word(token), element("b", {}, String(answer.labels[at]))));
    document.getElementById("details").replaceChildren(element("ul", { class: "tags tall", "aria-label": "Tokens and their tags" }, ...chips), ...table(answer, tokens));
  }

  return {
    read: () => {
      if (!field.value.trim()) return null;
      if (form === "words") return field.value.trim().split(/\s+/);
      return field.value.trim().split(/\n/).filter((line) => line.trim()).map((line) => line.trim().split(/\s+/));
    },
    write: (tokens) => {
      field.value = form === "words" ? tokens.join(" ") : tokens.map((token) => token.join(" ")).join("\n");
    },
    label: (tokens) => tokens.map(word).join(" "),
    show,
  };
}
