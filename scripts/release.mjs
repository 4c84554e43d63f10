/**
 * `npm run release`: builds and packs what ships into dist/, builds it again in a fresh clone, compares every byte, and
 * says what goes where. On a maintainer's machine it then pushes a tag; for the tag, `.github/workflows/release.yml` runs it
 * again and publishes. With `--dry-run` nothing leaves dist/.
 */
import { readdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { Option, command } from "./lib/command.mjs";
import { packElsewhere } from "./lib/elsewhere.mjs";
import { git, isTagged, obstacles } from "./lib/obstacles.mjs";
import { pack, sha256 } from "./lib/pack.mjs";
import { prepareTools } from "./lib/tools.mjs";
import { UserError, log, table } from "./lib/output.mjs";
import { npm, run } from "./lib/run.mjs";
import { setVersion, version } from "./lib/version.mjs";

const STAGES = [
  "check the commit",
  "build and pack into dist/",
  "build and pack again in a fresh clone",
  "ask npm what it would publish",
  "hand over",
];
const stage = (index) => log(`[${index + 1}/${STAGES.length}] ${STAGES[index]}`);

async function release({ dryRun }) {
  const tools = await prepareTools();
  const { root } = tools;
  const [dist, tag] = [join(root, "dist"), `v${version(root)}`];
  stage(0);
  const found = await obstacles(root, { remote: !dryRun });
  for (const each of found) log(`    ${dryRun ? "a release would stop here: " : ""}${each}`);
  if (found.length > 0 && !dryRun) throw new UserError("nothing was built or released");
  stage(1);
  await pack(tools, dist);
  stage(2);
  await packElsewhere(tools, dist);
  stage(3);
  await npm(
    [
      "publish",
      join(dist, `impact-pledge-${version(root)}.tgz`),
      "--dry-run",
      "--access",
      "public",
      "--tag",
      tag.includes("-") ? "next" : "latest",
    ],
    { cwd: root, show: true },
  );
  stage(4);
  if (dryRun) log(`    not with --dry-run: ${tag} would be tagged, and the tag pushed`);
  else if (isTagged()) log(`    ${tag} is ready in dist/: the workflow publishes it`);
  else await pushTag(root, tag);
  console.log(
    table(
      ["ARTEFACT", "VERSION", "BYTES", "SHA-256", dryRun ? "WOULD GO TO" : "GOES TO"],
      rows(root, dist),
    ),
  );
}

/** The tag starts the workflow, which publishes: npm links a tarball to the commit and to the run that built it. */
async function pushTag(root, tag) {
  await git(root, "tag", "--annotate", tag, "--message", `Impact Pledge ${tag}`);
  await run("git", ["push", "origin", tag], { cwd: root, show: true });
  log(`    ${tag} is pushed: the workflow publishes it`);
}

function rows(root, dist) {
  const places = [
    [/^impact-pledge-\d.*\.tgz$/, "npm, and the forge's release"],
    [/worker.*\.tgz$/, "the forge's release; Cloudflare by the workflow `deploy`"],
    [/./, "the forge's release"],
  ];
  const row = (file) => [
    basename(file),
    version(root),
    String(statSync(file).size),
    sha256(file),
    places.find(([name]) => name.test(basename(file)))[1],
  ];
  return readdirSync(dist)
    .sort()
    .map((name) => row(join(dist, name)));
}

const dryRun = new Option("--dry-run", "all but publishing: nothing leaves dist/").env(
  "npm_config_dry_run",
); // without `--`, npm takes the option
const program = command("npm run release --", "Builds, packs and releases this commit.")
  .addOption(dryRun)
  .action(release);
program
  .command("pack")
  .description("build and pack into dist/, no more")
  .action(async () => pack(await prepareTools()));
program
  .command("version <version>")
  .description(
    "set the version everywhere, and make what is unreleased in CHANGELOG.md its section",
  )
  .action(async (wanted) => {
    setVersion((await prepareTools()).root, wanted, new Date().toISOString().slice(0, 10));
    log(`the version is ${wanted}; commit it, then run \`npm run release\` on main`);
  });
await program.parseAsync();
