/** `npm run deploy [-- --env NAME] [wrangler's options]`: a Worker to the account that wrangler is logged in to. */
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { command } from "./lib/command.mjs";
import { DASHBOARD, configOnService, whatRemains } from "./lib/dashboard-config.mjs";
import { configuration } from "./lib/kv.mjs";
import { prepareTools } from "./lib/tools.mjs";
import { UserError, log } from "./lib/output.mjs";

const deploy = command(
  "npm run deploy --",
  "Builds the service, or the dashboard, and uploads it to the account that wrangler is logged in to. Further options are `wrangler deploy`'s.",
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
  .option("--dashboard", "the dashboard of that environment's service, which is deployed before it")
  .option("--dry-run", "build and show what would be uploaded")
  .option("--config <file>", `instead of wrangler.toml; with --dashboard, of ${DASHBOARD}`)
  .allowUnknownOption()
  .argument("[options...]")
  .action(async (others, { env: environment = "", dashboard, dryRun, config }) => {
    const tools = await prepareTools();
    const file = config ?? (dashboard ? DASHBOARD : "wrangler.toml");
    const settings = await configuration(resolve(tools.root, file), environment || undefined);
    if (!dashboard) check(settings, environment, variables(settings.vars, others));
    const account = tools.env.CLOUDFLARE_ACCOUNT_ID || settings.account_id || "of wrangler's login";
    log(
      `${dryRun ? "dry run of the upload" : "deploying"}: account ${account}, ${environment ? `environment ${environment}` : "no environment"}, Worker ${settings.name}`,
    );
    const isBound = dashboard && !dryRun;
    const from = isBound ? await configOnService(tools, file, environment) : file;
    deploy.exitCode = upload(tools, from, environment, dryRun ? ["--dry-run", ...others] : others);
    if (isBound && deploy.exitCode === 0)
      console.log(await whatRemains(tools, settings, environment));
  });
export default deploy;

/** @param {import("./lib/tools.mjs").Tools} tools @param {string[]} others options @returns {number} wrangler's exit code */
function upload({ root, env, wrangler }, config, environment, others) {
  const args = [wrangler, "deploy", "--config", config, "--env", environment, ...others];
  return spawnSync(process.execPath, args, { cwd: root, env, stdio: "inherit" }).status ?? 1;
}

/**
 * The text of each variable: that of wrangler's `--var`, else of wrangler.toml; empty if it is not set.
 * @param {Record<string, unknown>} configured
 * @param {string[]} others options for wrangler
 */
function variables(configured, others) {
  const given = others.flatMap((option) => [...option.matchAll(/^(?:--var=)?([A-Z_]+):(.*)$/g)]);
  const all = { ...configured, ...Object.fromEntries(given.map(([, name, text]) => [name, text])) };
  return (name) => `${all[name] ?? ""}`.trim();
}

/**
 * Refuses settings that nobody wants in this environment.
 * @param {import("wrangler").Unstable_Config} settings
 * @param {string} environment
 * @param {(name: string) => string} variable
 */
function check({ queues, send_email }, environment, variable) {
  const isQueued = (queues.producers ?? []).some(({ binding }) => binding === "NOTIFICATIONS");
  if (isQueued || environment === "production") checkPublicOrigin(variable, environment);
  for (const name of ["MAIL_FROM", "MAIL_TEST_TO"])
    if (variable(name) !== "" && !ADDRESS.test(variable(name)))
      throw new UserError(
        `\`${name}\` is no e-mail address: \`${variable(name)}\`. Set it in wrangler.toml as \`pledges@shop.example\``,
      );
  const hasSender = variable("MAIL_FROM") !== "";
  if (isQueued && !hasSender)
    throw new UserError(
      "e-mails are queued, and `MAIL_FROM` is not set: none would be sent. Set it in wrangler.toml, or take the queue `NOTIFICATIONS` out",
    );
  if (hasSender && !isQueued)
    throw new UserError(
      "`MAIL_FROM` is set, and the queue `NOTIFICATIONS` is not bound: no e-mail would be sent. Take the `#` from the lines of wrangler.toml that bind it",
    );
  if (isQueued && !send_email.some(({ name }) => name === "EMAIL"))
    log(
      "e-mails go by Resend, as `send_email` binds no `EMAIL`: the Worker needs the secret RESEND_API_KEY, and /healthz shows if it is missing",
    );
}

const ADDRESS = /^[^\s@<>,;]+@[\w-]+(\.[\w-]+)+$/;

/**
 * Timeline addresses are stored, and e-mails have them: those of production begin with an origin that somebody chose.
 * @param {(name: string) => string} variable
 * @param {string} environment
 */
function checkPublicOrigin(variable, environment) {
  const origin = variable("PUBLIC_ORIGIN");
  if (/^https?:\/\/([\w-]+\.)*[\w-]+(:\d+)?\/*$/.test(origin) && URL.canParse(origin)) return;
  const problem = origin === "" ? "is not set" : `is not an origin: \`${origin}\``;
  const place = environment && ` of the environment ${environment}`;
  throw new UserError(
    `\`PUBLIC_ORIGIN\`${place} ${problem}. Without it, each timeline address begins with the host that its create was sent to, for good, and no e-mail is sent. Set it in wrangler.toml to an origin such as https://pledges.example`,
  );
}
