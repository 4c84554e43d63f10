/** `npm run deploy [-- --env NAME] [wrangler's options]`: the Worker to the account that wrangler is logged in to. */
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { command } from "./lib/command.mjs";
import { configuration } from "./lib/kv.mjs";
import { prepareTools } from "./lib/tools.mjs";
import { UserError, log } from "./lib/output.mjs";

const deploy = command(
  "npm run deploy --",
  "Builds the service and uploads it to the account that wrangler is logged in to. Further options are `wrangler deploy`'s.",
);
deploy.others = [
  "outdir",
  "message",
  "tag",
  "name",
  "var",
  "define",
  "keep-vars",
  "secrets-file",
  "strict",
  "minify",
  "no-bundle",
  "latest",
  "compatibility-date",
  "routes",
  "domains",
  "triggers",
  "logpush",
  "metafile",
].map((name) => `--${name}`);
deploy
  .option("--env <name>", "the environment of wrangler.toml; without it, its top level")
  .option("--dry-run", "build and show what would be uploaded")
  .option("--config <file>", "instead of wrangler.toml")
  .allowUnknownOption()
  .argument("[options...]")
  .action(async (others, { env: environment = "", dryRun, config = "wrangler.toml" }) => {
    const { root, env, wrangler } = await prepareTools();
    const { name, account_id, vars } = await configuration(
      resolve(root, config),
      environment || undefined,
    );
    if (environment === "production") checkPublicOrigin(vars.PUBLIC_ORIGIN, others);
    const account = env.CLOUDFLARE_ACCOUNT_ID || account_id || "of wrangler's login";
    log(
      `${dryRun ? "dry run of the upload" : "deploying"}: account ${account}, ${environment ? `environment ${environment}` : "no environment"}, Worker ${name}`,
    );
    const args = [
      wrangler,
      "deploy",
      "--config",
      config,
      "--env",
      environment,
      ...(dryRun ? ["--dry-run"] : []),
      ...others,
    ];
    const { status } = spawnSync(process.execPath, args, { cwd: root, env, stdio: "inherit" });
    deploy.exitCode = status ?? 1;
  });
export default deploy;

/**
 * Timeline addresses are stored: those of production begin with an origin that somebody chose.
 * @param {unknown} configured of wrangler.toml
 * @param {string[]} others options for wrangler, whose `--var` goes before
 */
function checkPublicOrigin(configured, others) {
  const given = others.map((each) => each.match(/^(?:--var=)?PUBLIC_ORIGIN:(.*)$/)?.[1]);
  const origin = `${given.findLast((each) => each !== undefined) ?? configured ?? ""}`.trim();
  if (/^https?:\/\/([\w-]+\.)*[\w-]+(:\d+)?\/*$/.test(origin) && URL.canParse(origin)) return;
  const problem = origin === "" ? "is not set" : `is not an origin: \`${origin}\``;
  throw new UserError(
    `\`PUBLIC_ORIGIN\` of the environment production ${problem}. Without it, each timeline address begins with the host that its create was sent to, for good. Set it in wrangler.toml to an origin such as https://pledges.example`,
  );
}
