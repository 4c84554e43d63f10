/** A page without a bundler: the package's files as they are. */
const HTML = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>A page</title><script type="module" src="/page.mjs"></script></head><body></body></html>
`;

/**
 * Paths for names: an import map would stand in the page, where the policy lets no script stand.
 */
const named = (text) =>
  text.replaceAll(
    /"impact-pledge(\/[a-z]+)?"/g,
    (_, entry = "/index") => `"/impact-pledge${entry}.js"`,
  );

/** @type {import("../main.mjs").Environment[]} */
export const environments = [
  {
    name: "page",
    version: async (workspace) => `Chromium ${await workspace.browser.version()}`,
    async run(workspace) {
      workspace.copy();
      workspace.write("index.html", HTML);
      workspace.change("entries.mjs", named);
      workspace.copyPackage("impact-pledge");
      await workspace.mustShow(`${await workspace.serve(".")}/`);
    },
  },
];
