// A text, its words colored by what they add.
import { element, legend, signed } from "./answer.js";

const WEAKEST = 4; // percent of color below which a word stays plain
const STRONGEST = 55;

export function setup() {
  const field = document.getElementById("text");
  const shown = document.getElementById("words");
  const empty = shown.innerHTML;

  function show(answer, text) {
    const words = answer?.explanation?.words;
    legend(words ? answer.explanation : null);
    if (!words) {
      shown.innerHTML = empty;
      return;
    }
    const letters = Array.from(text); // places count characters, not halves of them
    const most = Math.max(1e-12, ...words.map(([, , share]) => Math.abs(share)));
    const parts = [];
    let end = 0;
    for (const [first, last, share] of words) {
      parts.push(letters.slice(end, first).join(""));
      const word = letters.slice(first, last).join("");
      const strength = (STRONGEST * Math.abs(share)) / most;
      if (strength < WEAKEST) parts.push(word);
      else {
        const mark = element("mark", { class: `word ${share > 0 ? "for" : "against"}`, title: signed(share) }, word);
        mark.style.setProperty("--strength", strength.toFixed(1));
        parts.push(mark);
      }
      end = last;
    }
    parts.push(letters.slice(end).join(""));
    shown.replaceChildren(...parts);
  }

  return {
    read: () => (field.value.trim() ? field.value : null),
    write: (text) => { field.value = text; },
    label: (text) => text.slice(0, 80),
    show,
  };
}
