/** What is missing for a release. Each check returns texts that say what is wrong and what to do. */

/** @typedef {import("./release-facts.mjs").ReleaseFacts} ReleaseFacts */

const SEMVER = /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/;
const EXACT = /^\d+\.\d+\.\d+/;
const SHOWN = 3;

/**
 * Returns the problems of a release.
 * @param {ReleaseFacts} facts
 * @param {{tag?: string}} [options] `tag`: the tag that is to be published
 * @returns {string[]}
 */
export const problemsOf = (facts, { tag } = {}) => [
  ...ofVersions(facts),
  ...ofChangelog(facts),
  ...ofGit(facts, tag),
  ...facts.packages.flatMap((one) => ofPackage(facts, one)),
  ...ofOperators(facts),
];

/** @param {ReleaseFacts} facts */
function ofVersions({ version, versions }) {
  if (!SEMVER.test(version)) return [`Cargo.toml has no version such as 1.2.3, but \`${version}\``];
  const others = versions.filter((one) => one.version !== version);
  return others.map(
    ({ file, version: found }) =>
      `${file} has ${found ?? "no version"}, not ${version}: run \`npm run release -- --set ${version}\``,
  );
}

/** @param {ReleaseFacts} facts */
function ofChangelog({ version, section, unreleased }) {
  if (!section)
    return [
      `CHANGELOG.md has no section \`## [${version}] - DATE\`: run \`npm run release -- --set ${version}\``,
    ];
  const problems = [];
  if (!section.date) problems.push(`CHANGELOG.md's section ${version} has no date`);
  if (!section.text) problems.push(`CHANGELOG.md's section ${version} is empty`);
  if (unreleased)
    problems.push(
      `CHANGELOG.md has lines below \`## [Unreleased]\`: move them to ${version}, or choose the next version`,
    );
  return problems;
}

/** @param {ReleaseFacts} facts @param {string} [tag] */
function ofGit({ git, version }, tag) {
  if (!git) return ["this is no git repository, so nothing says what would be published"];
  const problems = [];
  if (git.changed.length > 0)
    problems.push(
      `${listed(git.changed)} ${git.changed.length === 1 ? "is" : "are"} not committed: commit or remove them`,
    );
  if (git.tagged && git.tagged !== git.commit)
    problems.push(
      `the tag v${version} is at another commit (${git.tagged.slice(0, 8)}): a version is released once, so choose the next one`,
    );
  if (tag === undefined) return problems;
  if (tag !== `v${version}`) problems.push(`the tag ${tag} does not name the version ${version}`);
  if (!git.isOnMain) problems.push("the tagged commit is not on main");
  return problems;
}

/** @param {ReleaseFacts} facts @param {ReleaseFacts["packages"][number]} one */
function ofPackage({ version, section }, one) {
  const build = "run `npm run build -- service`";
  if ("missing" in one) return [`${one.folder} is not built: ${build}`];
  const problems = [];
  if (one.version !== version)
    problems.push(`${one.folder} has the version ${one.version}, not ${version}: ${build}`);
  else if (one.newer.length > 0)
    problems.push(`${one.folder} is older than ${listed(one.newer)}: ${build}`);
  if (section && !one.changelog.includes(section.text))
    problems.push(`${one.folder} has another CHANGELOG.md: ${build}`);
  if (one.access !== "public" || !one.provenance)
    problems.push(
      `${one.folder}/package.json does not ask for public access and provenance in \`publishConfig\``,
    );
  const loose = Object.entries(one.dependencies).filter(([, range]) => !EXACT.test(range));
  for (const [name, range] of loose)
    problems.push(`${one.folder} depends on ${name} in no exact version (${range})`);
  return problems;
}

/** @param {ReleaseFacts} facts */
const ofOperators = ({ operators }) =>
  operators.changedMigrations.map(
    (name) => `the migration ${name} was released and has changed since: add another one instead`,
  );

/** Names some items, and counts the rest. @param {string[]} items */
function listed(items) {
  const named = items.slice(0, SHOWN).join(", ");
  return items.length > SHOWN ? `${named} and ${items.length - SHOWN} more` : named;
}
