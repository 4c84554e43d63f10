/** What must be true of a commit before it is released. */
import { run } from "./run.mjs";
import { released, version, versions } from "./version.mjs";

export const git = async (root, ...args) => (await run("git", args, { cwd: root })).trim();

/** In the workflow of a tag? */
export const isTagged = (env = process.env) => env.GITHUB_REF_TYPE === "tag";

/** Why this commit cannot be released, each as a sentence. `remote`: ask origin, too. @returns {Promise<string[]>} */
export async function obstacles(root, { remote = false, env = process.env } = {}) {
  const tag = `v${version(root)}`;
  const changes = await git(root, "status", "--porcelain");
  const all = [
    ...versionObstacles(root),
    changes &&
      `the work tree has changes (${changes.split("\n").length} lines of \`git status\`); commit them`,
    ...(isTagged(env)
      ? await tagObstacles(root, tag, env)
      : await branchObstacles(root, tag, remote)),
  ];
  return all.filter(Boolean);
}

function versionObstacles(root) {
  const wanted = version(root);
  const differing = Object.entries(versions(root)).filter(([, each]) => each !== wanted);
  return [
    differing.length > 0 &&
      `Cargo.toml has version ${wanted}, but ${differing.map(([file, each]) => `${file} ${each}`).join(", ")}`,
    released(root)[0] !== wanted &&
      `CHANGELOG.md's newest section is not of ${wanted}; \`npm run release -- version VERSION\` makes one`,
  ];
}

async function tagObstacles(root, tag, env) {
  const onMain = await git(root, "merge-base", "--is-ancestor", "HEAD", "origin/main").then(
    () => true,
    () => false,
  );
  return [
    env.GITHUB_REF_NAME !== tag &&
      `the tag is ${env.GITHUB_REF_NAME}, and the version's would be ${tag}`,
    !onMain && "the tag is not on main",
  ];
}

async function branchObstacles(root, tag, remote) {
  const branch = await git(root, "branch", "--show-current");
  const tags = remote ? await git(root, "ls-remote", "--tags", "origin").catch(() => null) : "";
  return [
    branch !== "main" && `the branch is ${branch || "none"}, not main`,
    (await git(root, "tag", "--list", tag)) && `the tag ${tag} exists`,
    tags === null && "not logged in: git cannot read origin",
    tags?.split("\n").some((line) => line.endsWith(`refs/tags/${tag}`)) &&
      `the tag ${tag} exists in origin`,
  ];
}
