/** Describes a release to the person who makes it. */
import { table } from "./output.mjs";

/** @typedef {import("./release-facts.mjs").ReleaseFacts} ReleaseFacts @typedef {import("./release-facts.mjs").PackageFacts} PackageFacts */

const ORDER = [
  "1. `npx impact-pledge-service migrate`: the local tables.",
  "2. `npx impact-pledge-service deploy --env staging`, then `--env production`: the service, the ledger's migrations, the dashboard.",
];

/**
 * @param {ReleaseFacts} facts
 * @param {string[]} problems
 * @param {string[]} registry what the registry says; empty if it was not asked
 */
export function reportOf(facts, problems, registry) {
  const packages = built(facts);
  return [
    `Release ${facts.version}${facts.section?.date ? ` of ${facts.section.date}` : ""}, commit ${facts.git?.commit.slice(0, 12) ?? "unknown"}, after ${facts.git?.previous ?? "no earlier release"}`,
    packages.length > 0 && sizes(packages),
    ...packages.map(publication),
    registry.length > 0
      ? registry.join("\n")
      : "The registry was not asked whether these versions exist (`--online` asks).",
    `For operators:\n${operators(facts)
      .map((line) => `  ${line}`)
      .join("\n")}`,
    problems.length > 0
      ? `Not ready:\n${problems.map((problem) => `- ${problem}`).join("\n")}`
      : publishing(facts),
  ]
    .filter(Boolean)
    .join("\n\n");
}

/** @param {ReleaseFacts} facts */
function publishing({ version, git }) {
  const first = git?.previous
    ? ""
    : 'This is the first release: npm trusts a workflow only for a package that exists, so see "The first release" in CONTRIBUTING.md.\n\n';
  const ready =
    git?.isOnMain === false ? "Ready, but this commit is not on main: merge it first." : "Ready.";
  return `${first}${ready} To publish: git tag --annotate v${version} --message v${version} && git push origin v${version}`;
}

/** @param {ReleaseFacts} facts @returns {PackageFacts[]} */
export const built = ({ packages }) => packages.flatMap((one) => ("missing" in one ? [] : [one]));

const kilobytes = (bytes) =>
  `${(bytes / 1000).toLocaleString("en", { maximumFractionDigits: 1, minimumFractionDigits: 1 })} KB`;

/** @param {PackageFacts[]} packages */
const sizes = (packages) =>
  table(
    ["PACKAGE", "FILES", "RAW", "GZIP", "BROTLI", "DEPENDENCIES", "NODE"],
    packages.map(({ name, version, files, unpacked, gzip, brotli, dependencies, node }) => [
      `${name}@${version}`,
      String(files),
      ...[unpacked, gzip, brotli].map(kilobytes),
      String(Object.keys(dependencies).length),
      node ?? "any",
    ]),
  );

/** @param {PackageFacts} one */
function publication({ name, file, distTag, access, provenance, largest }) {
  const big = largest.map(({ path, size }) => `${path} ${kilobytes(size)}`).join(", ");
  const how = `${access ?? "no"} access, ${provenance ? "with" : "without"} provenance, dist-tag ${distTag}`;
  return `${name}: ${file}, ${how}\n  largest files: ${big}`;
}

/** @param {ReleaseFacts} facts */
function operators({ operators: { migrations, settings, upgrade } }) {
  const changed = settings.flatMap(({ file, added, removed }) => [
    ...added.map((name) => `setting added in ${file}: ${name}`),
    ...removed.map((name) => `setting removed from ${file}: ${name}`),
  ]);
  return [
    `migrations of the ledger: ${migrations.join(", ") || "none"}`,
    ...(changed.length > 0 ? changed : ["settings: none added, none removed"]),
    ...ORDER,
    ...(upgrade ? ["From the changelog:", ...upgrade.split("\n")] : []),
  ];
}

/**
 * Returns what the workflow publishes, as JSON. Two builds of one commit give the same bytes.
 * @param {ReleaseFacts} facts
 */
export const planOf = (facts) => ({
  version: facts.version,
  commit: facts.git?.commit,
  packages: built(facts).map(
    ({ name, version, file, distTag, access, provenance, files, unpacked, gzip, brotli }) => ({
      name,
      version,
      file,
      distTag,
      access,
      provenance,
      files,
      bytes: { raw: unpacked, gzip, brotli },
    }),
  ),
  operators: facts.operators,
});
