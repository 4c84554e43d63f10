/** `npm run release`: shows what a release would publish and what is missing, or sets its version. */
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { withVersion } from "./lib/changelog.mjs";
import { InvalidArgumentError, command } from "./lib/command.mjs";
import { UserError, jsonLine } from "./lib/output.mjs";
import { root } from "./lib/places.mjs";
import { problemsOf } from "./lib/release-checks.mjs";
import { inScratch, releaseFacts } from "./lib/release-facts.mjs";
import { built, planOf, reportOf } from "./lib/release-report.mjs";
import { npm } from "./lib/run.mjs";
import { setVersion } from "./lib/versions.mjs";

const ABOUT =
  "Shows what would be published, and fails if something is missing. The workflow `release` publishes, when a tag such as v1.2.3 is pushed; it runs this command first.";

const program = command("npm run release --", ABOUT)
  .option("--dry-run", "pack both packages, and report")
  .option(
    "--out <dir>",
    "with --dry-run: keep the tarballs, `release.json` and `notes.md` in this new folder",
  )
  .option("--tag <tag>", "with --dry-run: the tag that is to be published, such as v1.2.3")
  .option("--online", "with --dry-run: also ask the npm registry whether the versions exist")
  .option("--json", "with --dry-run: print JSON")
  .option(
    "--set <version>",
    "write this version into all files that have it, and into the changelog",
    readVersion,
  );

program.action(async ({ dryRun, set, ...options }) => {
  if (set) return writeVersion(set);
  if (!dryRun)
    throw new UserError(
      "nothing is published from here: push a tag such as v1.2.3, and the workflow `release` publishes. `--dry-run` shows what",
    );
  const { out } = options;
  program.exitCode = out
    ? await dryRunIn(newFolder(resolve(out)), options)
    : await inScratch((folder) => dryRunIn(folder, options));
});

/** @returns {Promise<number>} the exit code */
async function dryRunIn(folder, { out, tag, online, json }) {
  const facts = await releaseFacts(root, folder);
  const { registry, problems: taken } = online
    ? await askRegistry(built(facts))
    : { registry: [], problems: [] };
  const problems = [...problemsOf(facts, { tag }), ...taken];
  const plan = planOf(facts);
  if (out) {
    writeFileSync(join(folder, "release.json"), `${JSON.stringify(plan, null, 2)}\n`);
    writeFileSync(join(folder, "notes.md"), `${facts.section?.text ?? ""}\n`);
  }
  program.terminal.out(
    json
      ? `${jsonLine({ ...plan, registry, problems })}\n`
      : `${reportOf(facts, problems, registry)}\n`,
  );
  return problems.length > 0 ? 1 : 0;
}

/** @param {import("./lib/release-facts.mjs").PackageFacts[]} packages */
async function askRegistry(packages) {
  const registry = [];
  const problems = [];
  for (const { name, version } of packages) {
    const found = await published(name);
    registry.push(`${name} on npm: ${found.join(", ") || "not published yet"}`);
    if (found.includes(version))
      problems.push(`${name}@${version} is published already: choose the next version`);
  }
  return { registry, problems };
}

/** Returns the versions of a package on npm. */
async function published(name) {
  const said = await npm(["view", name, "versions", "--json"], { cwd: root }).catch((error) => {
    if (error.output?.includes("E404")) return "[]";
    throw new UserError(
      `the npm registry can't be asked about ${name}: ${error.message.split("\n")[0]}`,
    );
  });
  return [JSON.parse(said)].flat();
}

function writeVersion(version) {
  const files = setVersion(root, version);
  const changelog = join(root, "CHANGELOG.md");
  const text = readFileSync(changelog, "utf8");
  const today = new Date().toISOString().slice(0, 10);
  if (!text.includes(`\n## [${version}]`))
    writeFileSync(changelog, withVersion(text, version, today));
  program.terminal.out(
    `${version} is in ${files.length} files and in CHANGELOG.md. Build, and run the tests.\n`,
  );
}

function readVersion(text) {
  if (/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/.test(text)) return text;
  throw new InvalidArgumentError("It must be a version such as 1.2.3 or 1.2.3-rc.1.");
}

/** Creates the folder for `--out`. Never writes among other files. */
function newFolder(folder) {
  mkdirSync(folder, { recursive: true });
  if (readdirSync(folder).length === 0) return folder;
  throw new UserError(`${folder} is not empty: name a new folder`);
}

export default program;
