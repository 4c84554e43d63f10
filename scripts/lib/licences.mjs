/**
 * Collects the licences of third-party code in the packages: linked crates, Rust's standard library, and bundled npm
 * packages. deny.toml lists the licences that a crate may have.
 */
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { UserError } from "./output.mjs";
import { run } from "./run.mjs";
import { WASM } from "../setup/toolchain.mjs";

/**
 * Third-party code that is included in a package. `folder`: where the code's sources are
 * @typedef {{name: string, version?: string, license: string, authors: string[], folder?: string}} Part
 */

/**
 * Returns the crates that are linked into the WebAssembly with these features, and Rust's standard library.
 * @param {import("../setup/tools.mjs").Tools} tools
 * @returns {Promise<Part[]>}
 */
export async function linkedParts({ root, wasm }, features) {
  const cargo = (...args) =>
    run(wasm.cargo, [...args, "--locked", "--no-default-features", "--features", features], {
      cwd: root,
      env: wasm.env,
    });
  const edges = ["--edges", "normal,no-proc-macro", "--target", WASM]; // macros run only while compiling
  const tree = await cargo("tree", ...edges, "--prefix", "none", "--format", "{p}");
  const linked = new Set(tree.split("\n").map((line) => line.split(" ").slice(0, 2).join(" ")));
  const metadata = await cargo("metadata", "--format-version", "1", "--filter-platform", WASM);
  const crates = JSON.parse(metadata).packages.filter(
    ({ name, version, source }) => source && linked.has(`${name} v${version}`),
  );
  const parts = crates.map(({ name, version, license, authors, manifest_path }) => ({
    name,
    version,
    license: license?.replaceAll("/", " OR ") ?? "no licence named",
    authors,
    folder: dirname(manifest_path),
  }));
  return [...parts, STANDARD_LIBRARY];
}

const STANDARD_LIBRARY = {
  name: "the Rust standard library",
  license: "MIT OR Apache-2.0",
  authors: ["The Rust Project contributors"],
};

/**
 * Returns the npm packages whose code is bundled into the files of a folder. esbuild writes the path of each
 * module above its code.
 * @returns {Part[]}
 */
export function bundledParts(root, folder) {
  const files = readdirSync(folder, { encoding: "utf8", recursive: true }).filter((name) =>
    /\.c?js$/.test(name),
  );
  const names = files.flatMap((name) =>
    [
      ...readFileSync(join(folder, name), "utf8").matchAll(
        /^\s*\/\/ (?:.*\/)?node_modules\/((?:@[^/\n]+\/)?[^/\n]+)\//gm,
      ),
    ].map(([, name]) => name),
  );
  return partsNamed(root, names);
}

/** Returns the npm packages with these names. @param {string} root @param {string[]} names @returns {Part[]} */
export const partsNamed = (root, names) =>
  [...new Set(names)].sort().map((name) => {
    const home = join(root, "node_modules", name);
    const { version, license, author } = JSON.parse(
      readFileSync(join(home, "package.json"), "utf8"),
    );
    return {
      name,
      version,
      license,
      authors: [author?.name ?? author ?? `the authors of ${name}`],
      folder: home,
    };
  });

/**
 * Returns the licence texts of all parts. A text that several parts share appears only once.
 * @param {string} root the folder of the clone; its licence file supplies the text of the MIT licence
 * @param {Part[]} parts
 */
export function licenceTexts(root, parts) {
  const users = new Map();
  for (const part of parts)
    for (const text of textsOf(root, part)) users.set(text, [...(users.get(text) ?? []), part]);
  const heading = ({ name, version, license }) =>
    `${[name, version].filter(Boolean).join(" ")} (${license})`;
  const sections = [...users].map(
    ([text, parts]) =>
      `${"=".repeat(80)}\n${parts.map(heading).join("\n")}\n${"-".repeat(80)}\n${text}\n`,
  );
  return `impact-pledge contains the parts named below. If a part offers a choice of licences, only the text of the chosen licence is included.\n\n${sections.join("\n")}`;
}

/**
 * Returns the texts of a part's licence files. If the part offers a choice that includes MIT, returns only MIT's
 * text. A part without licence files gets the text of MIT with the part's authors.
 * @param {string} root
 * @param {Part} part
 */
function textsOf(root, { name, license, authors, folder }) {
  const files = folder
    ? readdirSync(folder)
        .filter((file) => /^(licen[cs]e|copying|copyright|notice|unlicense)/i.test(file))
        .sort()
    : [];
  const takesMit = license.includes(" OR ") && files.some((file) => /^licen[cs]e-mit/i.test(file));
  const taken = files.filter((file) => !(takesMit && /apache|unlicense|boost/i.test(file)));
  if (taken.length > 0)
    return taken.map((file) => tidy(readFileSync(join(folder ?? "", file), "utf8")));
  if (!/\bMIT\b/.test(license))
    throw new UserError(`${name} has no file with the text of its licence (${license})`);
  return [
    tidy(readFileSync(join(root, "LICENSE"), "utf8")).replace(
      /^Copyright .*$/m,
      `Copyright (c) ${authors.join(", ") || `the authors of ${name}`}`,
    ),
  ];
}

const tidy = (text) => text.replaceAll(/[ \t\r]+$/gm, "").trim();
