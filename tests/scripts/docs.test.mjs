/** Files, tests and links that the pages of `docs` name exist. */
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";

const ROOT = join(import.meta.dirname, "../..");
const read = (file) => readFileSync(join(ROOT, file), "utf8");

/** Each `tests/…` or `proofs/…` of a page, with the names of tests in it. */
function namedTests(page) {
  const groups = page.matchAll(/`((?:tests|proofs)\/[^`]+)`: (`[^`]+`(?:, `[^`]+`)*)/g);
  return [...groups].flatMap(([, file, names]) =>
    [...names.matchAll(/`([^`]+)`/g)].map(([, name]) => ({ file, name })),
  );
}

for (const page of ["docs/security.md", "docs/reliability.md"]) {
  test(`${page}: every test that it names is there`, () => {
    const named = namedTests(read(page));
    assert.ok(named.length >= 10, `only ${named.length} tests are named`);
    assert.deepEqual(
      named.filter(
        ({ file, name }) => !(existsSync(join(ROOT, file)) && read(file).includes(name)),
      ),
      [],
    );
  });
}

test("every link between the pages leads somewhere", () => {
  const pages = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    ...readdirSync(join(ROOT, "docs"))
      .filter((name) => name.endsWith(".md"))
      .map((name) => `docs/${name}`),
  ];
  const links = pages.flatMap((page) =>
    [...read(page).matchAll(/\]\((?!https?:)([^)#]+)[^)]*\)/g)].map(([, to]) => ({ page, to })),
  );
  assert.ok(links.length > 10);
  assert.deepEqual(
    links.filter(({ page, to }) => !existsSync(join(ROOT, page, "..", to))),
    [],
  );
});
