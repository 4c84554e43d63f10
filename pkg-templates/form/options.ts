/* Reads the options of the form's functions: each is checked by its name, before anything is touched. */

/** By name: the types that `typeof` gives, or what throws. */
type Kinds = Readonly<Record<string, string | ((value: never) => unknown)>>;

export function checkOptions<Options extends object>(kinds: Kinds, options: Options): Options {
  for (const [name, value] of Object.entries(options)) {
    const kind = Object.hasOwn(kinds, name) && kinds[name];
    if (!kind)
      throw new TypeError(
        `\`${name}\` is not an option here; the options are \`${Object.keys(kinds).join("`, `")}\``,
      );
    if (value === undefined) continue;
    if (typeof kind === "function") kind(value as never);
    else if (value === null || !kind.includes(typeof value))
      throw new TypeError(`\`${name}\` must be a ${kind}`);
  }
  return options;
}
