// The page: reads the input, asks the service, shows the answer, remembers the last tries.
import { details, problem, verdict } from "./answer.js";

const model = JSON.parse(document.getElementById("model").textContent);
const { setup } = await import(`./${model.page}.js`);
const form = document.getElementById("form");
const answerBox = document.querySelector(".answer");
const QUIET = 200; // milliseconds without a key before the service is asked
const SETTLED = 700; // and before a try counts as one
const REMEMBERED = 10;

let asked = 0;
let timer = 0;
let settling = 0;
const tries = [];

/** Ask the service; an error of it, or of the network, is thrown with words for people. */
async function ask(request) {
  let response;
  try {
    response = await fetch("/v1/predict", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: model.name, ...request }),
    });
  } catch {
    throw new Error("The service does not answer.");
  }
  const content = await response.json();
  if (!response.ok) {
    const { field, message } = content.error;
    throw new Error(field ? `${field}: ${message}` : message);
  }
  return content;
}

/** Predict what the form holds now. */
async function predict() {
  clearTimeout(timer);
  const number = ++asked;
  let row;
  try {
    row = input.read();
  } catch (error) {
    problem(error.message);
    return;
  }
  if (row === null) {
    verdict(model, null);
    details(model, null);
    input.show(null);
    problem("");
    return;
  }
  answerBox.classList.add("stale");
  try {
    const content = await ask({ rows: [row], ...model.wanted });
    if (number !== asked) return; // a later question is under way
    const [answer] = content.predictions;
    answer.classes = content.classes;
    problem("");
    verdict(model, answer);
    details(model, answer);
    input.show(answer, row);
    clearTimeout(settling);
    settling = setTimeout(() => remember(row, answer), SETTLED);
  } catch (error) {
    if (number === asked) problem(error.message);
  } finally {
    if (number === asked) answerBox.classList.remove("stale");
  }
}

function changed() {
  clearTimeout(timer);
  clearTimeout(settling);
  timer = setTimeout(predict, QUIET);
}

function remember(row, answer) {
  const key = JSON.stringify(row);
  const at = tries.findIndex((one) => one.key === key);
  if (at >= 0) tries.splice(at, 1);
  tries.unshift({ key, row, said: input.said(answer, row), label: input.label(row) });
  tries.length = Math.min(tries.length, REMEMBERED);
  const list = document.getElementById("history");
  list.replaceChildren(
    ...tries.map((one) => {
      const item = document.createElement("li");
      const button = document.createElement("button");
      button.type = "button";
      const text = document.createElement("span");
      text.textContent = one.label;
      const said = document.createElement("b");
      said.textContent = one.said;
      button.append(text, said);
      button.addEventListener("click", () => {
        input.write(one.row);
        predict();
      });
      item.append(button);
      return item;
    }),
  );
  document.getElementById("history-empty").hidden = true;
}

const said = (answer) => String(answer.label ?? answer.value?.toPrecision(4) ?? (answer.labels?.join(" ") || "(none)"));
const input = { said, ...setup(model, changed, ask) };
form.addEventListener("submit", (event) => {
  event.preventDefault();
  predict();
});
form.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    predict();
  }
});
form.addEventListener("input", changed);
document.getElementById("origin").textContent = location.origin;
if (input.begin) predict();
document.documentElement.dataset.ready = "";
