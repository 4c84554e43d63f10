/**
 * What is inside of what ships: the crates that are linked, the standard library, and the npm packages that are bundled.
 * By cargo's own resolver: cargo-about and cargo-cyclonedx also list the crates of macros, which run at build time alone.
 */
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import satisfies from "spdx-satisfies";
import { UserError } from "./output.mjs";
import { run } from "./run.mjs";
import { WASM } from "./rust.mjs";

/** The licences that a part may have, each of which only asks that its text goes along. */
export const ALLOWED = ["Apache-2.0", "BSD-3-Clause", "BSL-1.0", "MIT", "Unicode-3.0", "Unlicense"];

/** `folder`: where its sources are; `needs`: the purls of the parts that it calls; `sha256`: of the archive in the registry @typedef {{name: string, version: string, license: string, purl: string, authors: string[], folder?: string, sha256?: string, needs: string[]}} Part */

/** The parts of the wasm that these features of the crate give, by name. @param {import("./tools.mjs").Tools} tools @returns {Promise<Part[]>} */
export async function linkedParts({ root, wasm }, features) {
  const cargo = (...args) =>
    run(wasm.cargo, [...args, "--locked", "--no-default-features", "--features", features], {
      cwd: root,
      env: wasm.env,
    });
  const tree = await cargo(
    "tree",
    "--edges",
    "normal,no-proc-macro",
    "--target",
    WASM,
    "--prefix",
    "none",
    "--format",
    "{p}",
  );
  const linked = new Set(tree.split("\n").map((line) => line.split(" ").slice(0, 2).join(" ")));
  const { packages, resolve } = JSON.parse(
    await cargo("metadata", "--format-version", "1", "--filter-platform", WASM),
  );
  const crates = packages.filter(
    ({ name, version, source }) => source && linked.has(`${name} v${version}`),
  );
  const byId = new Map(crates.map((crate) => [crate.id, crate]));
  const needs = ({ id }) =>
    resolve.nodes
      .find((node) => node.id === id)
      .dependencies.filter((other) => byId.has(other))
      .map((other) => purlOf(byId.get(other)));
  const sums = checksums(root);
  const parts = crates.map((crate) => ({
    ...crate,
    license: crate.license?.replaceAll("/", " OR ") ?? "NOASSERTION",
    purl: purlOf(crate),
    folder: dirname(crate.manifest_path),
    sha256: sums[`${crate.name} ${crate.version}`],
    needs: needs(crate),
  }));
  return [...parts, standardLibrary(wasm.release)];
}

const purlOf = ({ name, version }) => `pkg:cargo/${name}@${version}`;

const standardLibrary = (version) => ({
  name: "std",
  version,
  license: "MIT OR Apache-2.0",
  purl: `pkg:generic/rust-std@${version}`,
  authors: ["The Rust Project contributors"],
  needs: [],
});

const checksums = (root) =>
  Object.fromEntries(
    [
      ...readFileSync(join(root, "Cargo.lock"), "utf8").matchAll(
        /^name = "(.+)"\nversion = "(.+)"\nsource = .+\nchecksum = "(\w+)"/gm,
      ),
    ].map(([, name, version, sum]) => [`${name} ${version}`, sum]),
  );

/** The npm packages whose code is in the files of a folder: esbuild writes the path of each module above its code. @returns {Part[]} */
export function bundledParts(root, folder) {
  const files = readdirSync(folder, { recursive: true }).filter((name) => /\.c?js$/.test(name));
  const names = files.flatMap((name) =>
    [
      ...readFileSync(join(folder, name), "utf8").matchAll(
        /^\s*\/\/ (?:.*\/)?node_modules\/((?:@[^/\n]+\/)?[^/\n]+)\//gm,
      ),
    ].map(([, name]) => name),
  );
  return [...new Set(names)].sort().map((name) => {
    const home = join(root, "node_modules", name);
    const { version, license, author } = JSON.parse(
      readFileSync(join(home, "package.json"), "utf8"),
    );
    return {
      name,
      version,
      license,
      purl: `pkg:npm/${name.replace("@", "%40")}@${version}`,
      authors: [author?.name ?? author ?? `the authors of ${name}`],
      folder: home,
      needs: [],
    };
  });
}

/** @param {Part[]} parts @throws {UserError} that names each whose licence is not in {@link ALLOWED} */
export function checkLicences(parts) {
  const refused = parts
    .filter(({ license }) => !isAllowed(license))
    .map(({ name, version, license }) => `${name} ${version} (${license})`);
  if (refused.length > 0)
    throw new UserError(
      `what ships has parts whose licence is not in ALLOWED of scripts/lib/licences.mjs: ${refused.join(", ")}; read it, then add it there or leave the part out`,
    );
}

function isAllowed(license) {
  try {
    return satisfies(license, ALLOWED);
  } catch {
    return false; // no SPDX expression
  }
}

/** The licences of all parts, each text once. @param {string} root whose own licence is the text of MIT @param {Part[]} parts */
export function licenceTexts(root, parts) {
  const users = new Map();
  for (const part of parts)
    for (const text of textsOf(root, part)) users.set(text, [...(users.get(text) ?? []), part]);
  const heading = ({ name, version, license }) =>
    name === "std" ? `the Rust standard library (${license})` : `${name} ${version} (${license})`;
  const sections = [...users].map(
    ([text, parts]) =>
      `${"=".repeat(80)}\n${parts.map(heading).join("\n")}\n${"-".repeat(80)}\n${text}\n`,
  );
  return `impact-pledge contains the parts named below. Where a licence is a choice, the text is that of the one taken.\n\n${sections.join("\n")}`;
}

/** The licence's files; of a choice with MIT that one alone. A part without any gets the text of MIT with its authors. */
function textsOf(root, { name, license, authors, folder }) {
  const files = folder
    ? readdirSync(folder)
        .filter((file) => /^(licen[cs]e|copying|copyright|notice|unlicense)/i.test(file))
        .sort()
    : [];
  const takesMit = license.includes(" OR ") && files.some((file) => /^licen[cs]e-mit/i.test(file));
  const taken = files.filter((file) => !(takesMit && /apache|unlicense|boost/i.test(file)));
  if (taken.length > 0) return taken.map((file) => tidy(readFileSync(join(folder, file), "utf8")));
  if (!/\bMIT\b/.test(license))
    throw new UserError(`${name} brings no text of its licence (${license})`);
  return [
    tidy(readFileSync(join(root, "LICENSE"), "utf8")).replace(
      /^Copyright .*$/m,
      `Copyright (c) ${authors.join(", ") || `the authors of ${name}`}`,
    ),
  ];
}

const tidy = (text) => text.replaceAll(/[ \t\r]+$/gm, "").trim();
