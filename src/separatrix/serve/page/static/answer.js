// How an answer is shown: the verdict in words, and tables with bars.

const box = (id) => document.getElementById(id);

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "class") made.className = value;
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

export const percent = (share) => `${(100 * share).toFixed(share > 0.0995 && share < 0.9995 ? 1 : 2)} %`;
export const signed = (x) => {
  if (x === null) return "−∞";
  const sign = Math.abs(x) < 0.0005 ? "" : x < 0 ? "−" : "+";
  return sign + Math.abs(x).toFixed(3);
};

/** Show what is wrong, or that nothing is. */
export function problem(message) {
  box("problem").textContent = message;
  box("problem").hidden = !message;
}

/** The answer in a sentence, read out by screen readers. */
export function verdict(model, answer) {
  if (answer === null) {
    box("verdict").replaceChildren(element("p", { class: "quiet" }, "Nothing predicted yet."));
    return;
  }
  const parts = [];
  const inSequence = answer.top?.[0]?.labels !== undefined;
  if (answer.label !== undefined) {
    parts.push(element("strong", {}, String(answer.label)));
    const top = answer.top?.find((one) => one.label === answer.label);
    if (top) parts.push(element("p", {}, `with probability ${percent(top.probability)}`));
  } else if (answer.image) {
    const seen = [...new Set(answer.image.flat())].map(String).sort();
    parts.push(element("p", {}, `${answer.image.length} × ${answer.image[0].length} pixels, labels ${seen.join(", ")}`));
  } else if (answer.labels && !inSequence && model.page !== "sentence") {
    parts.push(element("strong", {}, answer.labels.join(", ") || "(no label)"));
  } else if (answer.value !== undefined) {
    parts.push(element("strong", {}, answer.value.toPrecision(5)));
    if (answer.interval) {
      const [low, high] = answer.interval.map((end) => end.toPrecision(4));
      parts.push(element("p", {}, `95 % interval: ${low} to ${high}`));
    }
  } else if (inSequence) {
    const [best, second] = answer.top;
    const share = best?.probability;
    if (typeof share === "number") parts.push(element("p", {}, `Best labelling: probability ${percent(share)}`));
    if (second) {
      const told = typeof second.probability === "number"
        ? `probability ${percent(second.probability)}`
        : `score lower by ${(best.score - second.score).toFixed(3)}`;
      parts.push(element("p", {}, `Second best: ${told}`));
    }
  }
  box("verdict").replaceChildren(...parts);
}

/** Tables below the verdict: classes by probability, and what adds to the score. */
export function details(model, answer) {
  const parts = [];
  if (answer?.top?.[0]?.label !== undefined) parts.push(ranking(model, answer));
  if (answer?.explanation?.terms) parts.push(terms(answer.explanation));
  box("details").replaceChildren(...parts);
}

function ranking(model, answer) {
  const rows = answer.top.map(({ label, probability }) => {
    const bar = element("i");
    bar.style.width = `${100 * probability}%`;
    return element(
      "tr",
      label === answer.label || answer.labels?.includes(label) ? { class: "said" } : {},
      element("th", { scope: "row" }, String(label)),
      element("td", { class: "bar" }, element("span", { class: "track" }, bar)),
      element("td", { class: "n" }, percent(probability)),
    );
  });
  const more = model.classes.length - rows.length;
  const told = `Probabilities${more > 0 ? ` (the best of ${model.classes.length} classes)` : ""}`;
  return element("table", { class: "bars" }, element("caption", {}, told), element("tbody", {}, ...rows));
}

function terms(explanation) {
  const { terms: found } = explanation;
  // The intercept is no news, and of a quantity often larger than all the rest.
  const told = found.filter((term) => term.name !== "(intercept)");
  const most = Math.max(1e-12, ...told.map((term) => Math.abs(term.adds ?? 0)));
  const rows = found.map(({ name, adds }) => {
    const bar = element("i", { class: (adds ?? -1) < 0 ? "minus" : "plus" });
    const width = Math.min(50, (50 * Math.abs(adds ?? most)) / most);
    bar.style.width = `${width}%`;
    bar.style.left = `${(adds ?? -1) < 0 ? 50 - width : 50}%`;
    return element(
      "tr",
      {},
      element("th", { scope: "row" }, name),
      element("td", { class: "bar" }, element("span", { class: "track two" }, bar)),
      element("td", { class: "n" }, signed(adds)),
    );
  });
  const heading = explanation.for === null
    ? "What adds to the value"
    : `What speaks for ${explanation.for} (+) and for ${explanation.against} (−)`;
  const shown = element("table", { class: "bars terms" }, element("caption", {}, heading), element("tbody", {}, ...rows));
  const parts = element("div", {}, shown);
  if (explanation.unknown.length) {
    const words = explanation.unknown.slice(0, 20).join(", ");
    const more = explanation.unknown.length > 20 ? ` and ${explanation.unknown.length - 20} more` : "";
    parts.append(element("p", { class: "note" }, `Unknown to the model: ${words}${more}`));
  }
  return parts;
}

/** Who the colors speak for. */
export function legend(explanation) {
  const shown = document.getElementById("legend");
  shown.hidden = !explanation;
  if (!explanation) return;
  shown.querySelector("[data-for]").textContent = String(explanation.for);
  shown.querySelector("[data-against]").textContent = String(explanation.against);
}
