/** Builds the site of the documentation. */
import { join } from "node:path";
import { replaceFolder } from "./cache.mjs";
import { UserError, log } from "./output.mjs";

/** Builds the site into build/site/. @param {string} root the clone */
export async function buildSite(root) {
  // Loaded here, because the other parts need none of the packages that make the site.
  const { buildSite: build } = await import("../../www/site/build.js");
  const { problemsOf } = await import("../../www/site/check.js");
  const folder = join(root, "build", "site");
  await replaceFolder(folder, join(root, "build"), async (fresh) => {
    await build(root, fresh);
    const problems = problemsOf(fresh);
    if (problems.length > 0) throw new UserError(problems.join("\n"));
  });
  log("build/site/: the site");
}
