/** Reads the options of the form's functions: each is checked by its name, before anything is touched. */

/** @param {Record<string, string | ((value) => unknown)>} kinds by name: the types that `typeof` gives, or what throws */
export function checkOptions(kinds, options) {
  for (const [name, value] of Object.entries(options)) {
    const kind = Object.hasOwn(kinds, name) && kinds[name];
    if (!kind)
      throw new TypeError(
        `\`${name}\` is not an option here; the options are \`${Object.keys(kinds).join("`, `")}\``,
      );
    if (value === undefined) continue;
    if (typeof kind === "function") kind(value);
    else if (value === null || !kind.includes(typeof value))
      throw new TypeError(`\`${name}\` must be a ${kind}`);
  }
  return options;
}
