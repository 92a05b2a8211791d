// A pad to draw on; the drawing is centered and made as small as the pixels of the model.
import { legend } from "./answer.js";

const SAMPLES = 6; // looks per side of a pixel
const BRUSHES = { 8: 0.09 }; // radius, of the side of the pad: strokes as thick as those of the training
const STEP = 0.04; // of the pen that arrow keys move
const ROOM = { 28: 20 / 28 }; // share of the side that training drawings fill; the others all of it

export function setup(model, changed) {
  const pad = document.getElementById("pad");
  const seen = document.getElementById("seen");
  const pen = pad.getContext("2d", { willReadFrequently: true });
  const side = model.side;
  const BRUSH = BRUSHES[side] ?? 0.055;
  const largest = model.features.largest ?? (side === 8 ? 16 : 255);
  const size = pad.width;
  let strokes = []; // each a list of points in [0, 1]
  let drawing = false;
  let cursor = [0.5, 0.5];
  let down = false;
  let shownCursor = false;

  function paint(withCursor) {
    pen.fillStyle = "#ffffff";
    pen.fillRect(0, 0, size, size);
    pen.strokeStyle = pen.fillStyle = "#14171c";
    pen.lineWidth = 2 * BRUSH * size;
    pen.lineCap = pen.lineJoin = "round";
    for (const points of strokes) {
      pen.beginPath();
      points.forEach(([x, y], at) => pen[at ? "lineTo" : "moveTo"](x * size, y * size));
      if (points.length === 1) pen.lineTo(points[0][0] * size + 0.1, points[0][1] * size);
      pen.stroke();
    }
    if (!withCursor) return;
    pen.lineWidth = 2;
    pen.strokeStyle = down ? "#c9601a" : "#2167b8";
    pen.beginPath();
    pen.arc(cursor[0] * size, cursor[1] * size, BRUSH * size + 3, 0, 7);
    pen.stroke();
  }

  /** Ink of every pixel of the model from 0 to 1, or null on an empty pad. */
  function pixels() {
    paint(false);
    const { data } = pen.getImageData(0, 0, size, size);
    const ink = (x, y) => 1 - data[4 * (Math.floor(y) * size + Math.floor(x))] / 255;
    let [left, right, top, bottom] = [size, -1, size, -1];
    for (let y = 0; y < size; y++)
      for (let x = 0; x < size; x++)
        if (ink(x, y) > 0.2) {
          left = Math.min(left, x); right = Math.max(right, x);
          top = Math.min(top, y); bottom = Math.max(bottom, y);
        }
    if (shownCursor) paint(true);
    if (right < 0) return null;
    const reach = Math.max(right - left + 1, bottom - top + 1) / (ROOM[side] ?? 1);
    const [x0, y0] = [(left + right + 1 - reach) / 2, (top + bottom + 1 - reach) / 2];
    const found = new Array(side * side).fill(0);
    for (let row = 0; row < side; row++)
      for (let column = 0; column < side; column++) {
        let sum = 0;
        for (let j = 0; j < SAMPLES; j++)
          for (let i = 0; i < SAMPLES; i++) {
            const x = x0 + (reach * (column + (i + 0.5) / SAMPLES)) / side;
            const y = y0 + (reach * (row + (j + 0.5) / SAMPLES)) / side;
            if (x >= 0 && x < size && y >= 0 && y < size) sum += ink(x, y);
          }
        found[row * side + column] = sum / SAMPLES ** 2;
      }
    return found;
  }

  function show(answer, row) {
    const context = blank(seen);
    const heat = document.getElementById("heat");
    legend(answer?.explanation ?? null);
    if (heat) document.getElementById("heat-box").hidden = !answer;
    if (!row) return;
    row.forEach((value, at) => {
      const gray = Math.round(255 - (235 * value) / largest);
      context.fillStyle = `rgb(${gray} ${gray} ${gray})`;
      context.fillRect(at % side, Math.floor(at / side), 1, 1);
    });
    if (!answer.explanation) return;
    const terms = answer.explanation.terms.filter((term) => term.column !== null && term.adds);
    const most = Math.max(1e-12, ...terms.map((term) => Math.abs(term.adds)));
    const colored = blank(heat);
    const style = getComputedStyle(document.documentElement);
    for (const { column, adds } of terms) {
      colored.globalAlpha = Math.abs(adds) / most;
      colored.fillStyle = style.getPropertyValue(adds > 0 ? "--plus" : "--minus").trim();
      colored.fillRect(column % side, Math.floor(column / side), 1, 1);
    }
    colored.globalAlpha = 1;
    document.querySelector("#details .terms")?.remove(); // pixels are seen, not read
  }

  function blank(canvas) {
    const context = canvas.getContext("2d");
    context.fillStyle = "#ffffff";
    context.fillRect(0, 0, side, side);
    return context;
  }

  const at = (event) => {
    const box = pad.getBoundingClientRect();
    return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
  };
  const clear = () => {
    strokes = [];
    down = false;
    paint(shownCursor);
    changed();
  };
  pad.addEventListener("pointerdown", (event) => {
    pad.setPointerCapture(event.pointerId);
    drawing = true;
    shownCursor = down = false;
    strokes.push([at(event)]);
    paint(false);
  });
  pad.addEventListener("pointermove", (event) => {
    if (!drawing) return;
    for (const one of event.getCoalescedEvents?.() ?? [event]) strokes.at(-1).push(at(one));
    paint(false);
    changed();
  });
  for (const name of ["pointerup", "pointercancel"])
    pad.addEventListener(name, () => {
      if (!drawing) return;
      drawing = false;
      changed();
    });
  pad.addEventListener("focus", () => { shownCursor = !drawing; paint(shownCursor); });
  pad.addEventListener("blur", () => { shownCursor = down = false; paint(false); });
  const MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  pad.addEventListener("keydown", (event) => {
    const move = MOVES[event.key];
    if (move) {
      cursor = cursor.map((one, axis) => Math.min(1 - BRUSH, Math.max(BRUSH, one + STEP * move[axis])));
      if (down) { strokes.at(-1).push(cursor); changed(); }
    } else if (event.key === " ") {
      down = !down;
      if (down) { strokes.push([cursor]); changed(); }
    } else if (event.key === "Delete" || event.key === "Backspace") {
      clear();
    } else return;
    event.preventDefault();
    shownCursor = true;
    paint(true);
  });
  document.getElementById("clear").addEventListener("click", clear);
  paint(false);
  show(null);

  const kept = new Map(); // drawings of the last tries, by their pixels
  return {
    read: () => {
      const found = pixels();
      if (!found) return null;
      const row = found.map((share) => Math.round(share * largest * 100) / 100);
      kept.set(row.join(), strokes.map((points) => points.slice()));
      if (kept.size > 50) kept.delete(kept.keys().next().value);
      return row;
    },
    write: (row) => {
      strokes = (kept.get(row.join()) ?? []).map((points) => points.slice());
      paint(false);
    },
    label: () => "Drawing",
    show,
  };
}
