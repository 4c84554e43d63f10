/**
 * Runs test rows for the validation rules and for forms. Uses only the language itself, so it works in any
 * JavaScript engine. Returns the wrong results, and the number of checks.
 */
export function triedRows({ validate, validateAt, validateBytes }, readForm, { rules, forms }) {
  const wrong = [],
    count = { bytes: 0, values: 0, forms: 0 };

  function check(kind, name, seen, expected) {
    count[kind] += 1;
    if (seen !== expected) wrong.push(`${kind}: ${name}: ${seen} instead of ${expected}`);
  }

  for (const { name, bytes, json, issues } of rules) {
    const short = (found) => JSON.stringify(found.map(({ path, code }) => ({ path, code })));
    const expected = short(issues);
    check("bytes", name, short(validateBytes(new Uint8Array(bytes))), expected);
    if (json === undefined) continue;
    check("values", name, short(validate(JSON.parse(json))), expected);
    check(
      "values",
      `${name}, serialized`,
      short(validate({ toJSON: () => JSON.parse(json) })),
      expected,
    );
    check("values", `${name}, at its place`, short(validateAt("", JSON.parse(json))), expected);
  }
  for (const { name, controls, payload, json, problems, optional } of forms) {
    const found = readForm(controls, { optional });
    const named = problems.map(([control, pointer, code]) => [
      control === null ? null : controls[control][0],
      pointer,
      code,
    ]);
    check(
      "forms",
      name,
      JSON.stringify(found.issues.map((issue) => [issue.name, issue.pointer, issue.code])),
      JSON.stringify(named),
    );
    check(
      "forms",
      name,
      JSON.stringify(sorted(found.payload)),
      JSON.stringify(sorted(json === undefined ? payload : JSON.parse(json))),
    );
  }
  return { wrong, count };
}

/** Returns a copy of the value in which the members of objects are sorted by name. */
function sorted(value) {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => [name, sorted(member)]),
  );
}
