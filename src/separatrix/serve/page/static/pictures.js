// An image from a file, and the labels of its pixels in color.
import { element } from "./answer.js";

const SIDE = 64; // pixels of the longer side that are sent
const color = (at, n) => `hsl(${Math.round((360 * at) / Math.max(1, n))} 65% 55%)`;

export function setup(model, changed) {
  const field = document.getElementById("picture");
  const seen = document.getElementById("seen");
  const shown = document.getElementById("labels");
  let pixels = null;
  let name = "";

  function write(row) {
    pixels = row;
    [seen.height, seen.width] = [row.length, row[0].length];
    const pen = seen.getContext("2d");
    row.forEach((line, y) => line.forEach((pixel, x) => {
      const [r, g, b] = (Array.isArray(pixel) ? pixel : [pixel, pixel, pixel]).map((share) => Math.round(255 * share));
      pen.fillStyle = `rgb(${r} ${g ?? r} ${b ?? r})`;
      pen.fillRect(x, y, 1, 1);
    }));
  }

  field.addEventListener("change", async () => {
    if (!field.files.length) return;
    const image = await createImageBitmap(field.files[0]);
    name = field.files[0].name;
    const scale = Math.min(1, SIDE / Math.max(image.width, image.height));
    const [width, height] = [image.width, image.height].map((side) => Math.max(1, Math.round(side * scale)));
    const canvas = new OffscreenCanvas(width, height);
    const pen = canvas.getContext("2d");
    pen.drawImage(image, 0, 0, width, height);
    const { data } = pen.getImageData(0, 0, width, height);
    const channels = model.features.n_channels;
    const pixel = (at) => {
      const rgb = [data[at], data[at + 1], data[at + 2]].map((value) => value / 255);
      if (channels === 1) return rgb.reduce((sum, one) => sum + one, 0) / 3;
      return Array.from({ length: channels }, (_, k) => rgb[k] ?? 1);
    };
    write(Array.from({ length: height }, (_, y) => Array.from({ length: width }, (_, x) => pixel(4 * (y * width + x)))));
    changed();
  });

  return {
    read: () => pixels,
    write,
    said: (answer) => [...new Set(answer.image.flat())].map(String).join(", "),
    label: () => name || "Image",
    show: (answer) => {
      if (!answer) return;
      [shown.height, shown.width] = [answer.image.length, answer.image[0].length];
      const pen = shown.getContext("2d");
      const colors = new Map(model.classes.map((label, at) => [String(label), color(at, model.classes.length)]));
      answer.image.forEach((line, y) => line.forEach((label, x) => {
        pen.fillStyle = colors.get(String(label));
        pen.fillRect(x, y, 1, 1);
      }));
      const items = [...colors].map(([label, css]) => {
        const swatch = element("span", { class: "swatch" });
        swatch.style.background = css;
        return element("li", {}, swatch, ` ${label}`);
      });
      document.getElementById("label-colors").replaceChildren(...items);
    },
  };
}
