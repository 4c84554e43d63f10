/** The project's version: that of Cargo.toml. The package's manifest is made from it; what else has it is changed with it. */
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "./output.mjs";

const LOCKED = /^name = "impact-pledge"\r?\nversion = "(.+)"/m;
const VERSION = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?$/;
const UNRELEASED = /^## \[Unreleased\]$/m;

/** Each file that has the version, and the text around it. */
const places = (root) => [
  ["Cargo.toml", /^version = "(.+)"/m],
  ["Cargo.lock", LOCKED],
  ["fuzz/Cargo.lock", LOCKED],
  ["openapi.yaml", /^ {2}version: (.+)$/m],
  ...readdirSync(join(root, "examples"), { withFileTypes: true })
    .filter((each) => each.isDirectory())
    .map(({ name }) => [`examples/${name}/package.json`, /^ +"impact-pledge": "(.+)"/m]),
];

const read = (root, file) => readFileSync(join(root, file), "utf8");

/** @param {string} root @returns {Record<string, string | undefined>} what each file says */
export const versions = (root) =>
  Object.fromEntries(
    places(root).map(([file, pattern]) => [file, read(root, file).match(pattern)?.[1]]),
  );

export const version = (root) => versions(root)["Cargo.toml"];

/** The versions that the changelog has a section of, newest first. */
export const released = (root) =>
  [...read(root, "CHANGELOG.md").matchAll(/^## \[(\d.*)\] - \d{4}-\d\d-\d\d$/gm)].map(
    ([, version]) => version,
  );

/** Sets it everywhere; what was unreleased in the changelog becomes this version's section. @param {string} wanted @param {string} date as YYYY-MM-DD */
export function setVersion(root, wanted, date) {
  if (!VERSION.test(wanted))
    throw new UserError(`\`${wanted}\` is no version such as 1.2.3 or 1.2.3-rc.1`);
  if (released(root).includes(wanted))
    throw new UserError(`CHANGELOG.md has a section of ${wanted} already`);
  if (!UNRELEASED.test(read(root, "CHANGELOG.md")))
    throw new UserError("CHANGELOG.md has no section `## [Unreleased]`");
  for (const [file, pattern] of places(root))
    edit(root, file, pattern, (text, old) => text.replace(old, () => wanted));
  edit(root, "CHANGELOG.md", UNRELEASED, (text) => `${text}\n\n## [${wanted}] - ${date}`);
}

function edit(root, file, pattern, change) {
  const before = read(root, file);
  if (!pattern.test(before)) throw new UserError(`${file} has no version where it should be`);
  writeFileSync(join(root, file), before.replace(pattern, change));
}
