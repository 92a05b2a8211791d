// A form for the row of a table, and a slider: what if one of its numbers were another?
import { drawCurve } from "./chart.js";

const POINTS = 41;
const PAUSE = 120;

export function setup(model, changed, ask) {
  const fields = model.fields.map((field) => ({ ...field, input: document.getElementById(field.id) }));
  const slider = document.getElementById("whatif");
  const chooser = document.getElementById("whatif-column");
  let timer = 0;
  let drawn = 0;

  const value = ({ kind, values, input }) => {
    const text = input.value;
    if (kind === "number") return text === "" ? null : Number(text);
    if (text === "" && kind !== "text") return null;
    if (kind === "flag") return text === "true";
    return values.length ? JSON.parse(text) : text;
  };
  const row = (change = {}) => {
    const found = fields.map((field) => (field.name in change ? change[field.name] : value(field)));
    if (model.as_array) return found.map((one) => one ?? 0);
    return Object.fromEntries(fields.map((field, at) => [field.name, found[at]]));
  };
  const chosen = () => fields.find((field) => field.id === chooser.value);

  /** Where the slider stands, for the chosen column. */
  function place() {
    const field = chosen();
    const now = Number(field.input.value || field.start);
    slider.min = Math.min(field.low, now);
    slider.max = Math.max(field.high, now);
    slider.step = field.step;
    slider.value = now;
    tell();
  }
  function tell() {
    document.getElementById("whatif-value").textContent = slider.value;
    slider.setAttribute("aria-valuetext", `${chosen().name} ${slider.value}`);
  }
  function later() {
    clearTimeout(timer);
    timer = setTimeout(draw, PAUSE);
  }
  async function draw() {
    const number = ++drawn;
    const field = chosen();
    const [low, high] = [Number(slider.min), Number(slider.max)];
    const xs = Array.from({ length: POINTS }, (_, at) => low + ((high - low) * at) / (POINTS - 1));
    const request = { rows: xs.map((x) => row({ [field.name]: x })) };
    if (model.probabilities) request.probabilities = true;
    try {
      const content = await ask(request);
      if (number === drawn) drawCurve(model, field.name, xs, content, Number(slider.value));
    } catch {
      // The answer beside the form tells what is wrong.
    }
  }

  if (slider) {
    chooser.addEventListener("input", () => { place(); later(); });
    slider.addEventListener("input", () => {
      chosen().input.value = slider.value;
      tell();
      later();
    });
    for (const { input } of fields) input.addEventListener("input", () => { place(); later(); });
    place();
    draw();
  }
  return {
    begin: true,
    read: () => {
      for (const { kind, name, input } of fields)
        if (kind === "number" && (input.validity.badInput || !Number.isFinite(Number(input.value))))
          throw new Error(`${name}: a number is needed`);
      return row();
    },
    write: (old) => {
      fields.forEach(({ name, kind, values, input }, at) => {
        const one = model.as_array ? old[at] : old[name];
        if (one === null) input.value = "";
        else input.value = values.length && kind !== "number" ? JSON.stringify(one) : String(one);
      });
      if (slider) { place(); later(); }
    },
    label: (old) => Object.values(old).map((one) => one ?? "–").join(", "),
    show: () => {},
  };
}
