// A curve: what the model says while one number changes.

const STYLES = [["plus", ""], ["minus", "dashed"], ["third", "dotted"]];
const [LEFT, RIGHT, TOP, BOTTOM] = [38, 312, 10, 122];

function mark(name, attributes, text = "") {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  return made;
}

/** Draw the lines of an answer of many rows, and where the row of the form stands. */
export function drawCurve(model, name, xs, content, here) {
  const chart = document.getElementById("whatif-chart");
  const said = content.predictions;
  const lines = [];
  let band = null;
  let [low, high] = [0, 1];
  const quantity = said[0].value !== undefined;
  if (quantity) {
    lines.push({ name: "value", ys: said.map((one) => one.value) });
    if (said[0].interval) band = [0, 1].map((end) => said.map((one) => one.interval[end]));
    const all = [...lines[0].ys, ...(band ? band.flat() : [])];
    [low, high] = [Math.min(...all), Math.max(...all)];
    if (low === high) high = low + 1;
  } else if (content.classes) {
    const weight = content.classes.map((_, k) => Math.max(...said.map((one) => one.probabilities[k])));
    const best = weight.map((_, k) => k).sort((a, b) => weight[b] - weight[a]).slice(0, 3).sort((a, b) => a - b);
    for (const k of best) lines.push({ name: content.classes[k], ys: said.map((one) => one.probabilities[k]) });
  } else {
    const own = (one) => one.labels ?? [one.label];
    const labels = [...new Set(said.flatMap(own))].slice(0, 3);
    for (const label of labels) lines.push({ name: label, ys: said.map((one) => Number(own(one).includes(label))) });
  }
  const x = (value) => LEFT + ((RIGHT - LEFT) * (value - xs[0])) / (xs.at(-1) - xs[0] || 1);
  const y = (value) => BOTTOM - ((BOTTOM - TOP) * (value - low)) / (high - low);
  const path = (ys) => ys.map((one, at) => `${x(xs[at]).toFixed(1)},${y(one).toFixed(1)}`);
  const parts = [];
  for (const tick of [low, (low + high) / 2, high]) {
    parts.push(mark("line", { class: "axis", x1: LEFT, x2: RIGHT, y1: y(tick), y2: y(tick) }));
    const shown = quantity ? tick.toPrecision(3) : `${100 * tick} %`;
    parts.push(mark("text", { x: LEFT - 5, y: y(tick) + 4, "text-anchor": "end" }, shown));
  }
  if (band) parts.push(mark("polygon", { class: "band plus", points: [...path(band[0]), ...path(band[1]).reverse()].join(" ") }));
  lines.forEach(({ ys }, at) => {
    const [color, dash] = STYLES[at];
    parts.push(mark("polyline", { class: `line ${color} ${dash}`, points: path(ys).join(" ") }));
  });
  parts.push(mark("line", { class: "here", x1: x(here), x2: x(here), y1: TOP, y2: BOTTOM }));
  for (const [value, anchor] of [[xs[0], "start"], [xs.at(-1), "end"]])
    parts.push(mark("text", { x: x(value), y: BOTTOM + 16, "text-anchor": anchor }, Number(value.toPrecision(4)).toString()));
  chart.replaceChildren(...parts);
  const caption = document.getElementById("whatif-caption");
  const strokes = ["full line", "dashed line", "dotted line"];
  const told = lines.map((line, at) => (quantity ? "value (line) and its 95 % interval" : `${line.name} (${strokes[at]})`));
  const what = quantity ? "The" : content.classes ? "Probability of" : "Where the model says";
  caption.textContent = `${what} ${told.join(", ")} while ${name} changes; the vertical line is the row above.`;
}
