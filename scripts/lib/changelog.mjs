/** Reads CHANGELOG.md, which follows Keep a Changelog. */

/**
 * A section of the changelog. `version` and `date` are undefined for what is unreleased; `upgrade`: what an operator must do.
 * @typedef {{version?: string, date?: string, text: string, upgrade: string}} Section
 */

const HEADING = /^## \[(.+?)\](?: - (\d{4}-\d\d-\d\d))?\r?$/m;

/** Returns the sections, the newest first. @param {string} changelog @returns {Section[]} */
export function sectionsOf(changelog) {
  const [, ...parts] = changelog.split(/^(?=## \[)/m);
  return parts.map((part) => {
    const [heading = "", name, date] = part.match(HEADING) ?? [];
    const text = part.slice(heading.length).trim();
    const version = name === "Unreleased" ? undefined : name;
    return { version, date, text, upgrade: upgradeOf(text) };
  });
}

/** Returns the list below the heading `### Upgrade …`, or an empty text. */
const upgradeOf = (text) =>
  text
    .split(/^(?=### )/m)
    .find((part) => part.startsWith("### Upgrade"))
    ?.replace(/^.*\n/, "")
    .trim() ?? "";

/**
 * Adds the heading of a version below `## [Unreleased]`, so that what was unreleased belongs to the version.
 * @param {string} changelog @param {string} version @param {string} date such as `2026-11-30`
 */
export const withVersion = (changelog, version, date) =>
  changelog.replace(
    /^## \[Unreleased\]\r?$/m,
    (heading) => `${heading}\n\n## [${version}] - ${date}`,
  );
