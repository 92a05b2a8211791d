// Many numbers in one field.
export function setup(model) {
  const field = document.getElementById("numbers");
  return {
    read: () => {
      const words = field.value.split(/[\s,;]+/).filter(Boolean);
      if (!words.length) return null;
      const wrong = words.find((word) => !Number.isFinite(Number(word)));
      if (wrong !== undefined) throw new Error(`${wrong} is no number`);
      if (words.length !== model.features.n_features)
        throw new Error(`${model.features.n_features} numbers are needed, there are ${words.length}`);
      return words.map(Number);
    },
    write: (row) => { field.value = row.join(" "); },
    label: (row) => row.slice(0, 12).join(" "),
    show: () => {},
  };
}
